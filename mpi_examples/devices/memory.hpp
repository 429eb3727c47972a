// SPDX-License-Identifier: BSD-3-Clause
// Where the buffers of a measurement lie, and how their contents are written and looked at.
#pragma once

#include <cstddef>
#include <functional>

namespace peercoll::devices {

class Memory {
public:
    // `window` is host memory that stands for the bytes [offset, offset + bytes) of a buffer. Offsets are multiples of
    // 16 bytes.
    using Edit = std::function<void(void* window, std::size_t offset, std::size_t bytes)>;
    using Look = std::function<void(const void* window, std::size_t offset, std::size_t bytes)>;

    Memory() = default;
    virtual ~Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    // Throws if there is not enough.
    virtual void* allocate(std::size_t bytes) = 0;
    virtual void release(void* memory) noexcept = 0;

    // Lets `edit` write the whole of `buffer`, in one window or several; done when it returns.
    virtual void write(void* buffer, std::size_t bytes, const Edit& edit) = 0;
    // Lets `look` see the whole of `buffer`.
    virtual void read(const void* buffer, std::size_t bytes, const Look& look) = 0;
    virtual void set(void* buffer, unsigned char value, std::size_t bytes) = 0;

    // Buffers start at multiples of this.
    virtual std::size_t alignment() const = 0;
    // The largest buffer whose contents are replaced between samples; larger ones differ from call to call only because
    // the buffers of a set differ from each other.
    virtual std::size_t largest_rewritten() const = 0;
    virtual bool is_device() const { return true; }
};

class HostMemory : public Memory {
public:
    bool is_device() const override { return false; }
    void* allocate(std::size_t bytes) override;
    void release(void* memory) noexcept override;
    void write(void* buffer, std::size_t bytes, const Edit& edit) override { edit(buffer, 0, bytes); }
    void read(const void* buffer, std::size_t bytes, const Look& look) override { look(buffer, 0, bytes); }
    void set(void* buffer, unsigned char value, std::size_t bytes) override;
    std::size_t alignment() const override { return 64; }
    std::size_t largest_rewritten() const override { return static_cast<std::size_t>(-1); }
};

}  // namespace peercoll::devices
