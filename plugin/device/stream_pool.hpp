// SPDX-License-Identifier: BSD-3-Clause
// Streams of our own, lent for one collective at a time: making one takes longer than a small collective.
#pragma once

#include "plugin/common/status.hpp"

#include <peercoll/device.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace peercoll {

class StreamPool;

// A stream that goes back to its pool with the object. What was started on it should be over by then.
class LentStream {
public:
    LentStream() = default;
    LentStream(LentStream&& other) noexcept { swap(other); }
    LentStream& operator=(LentStream&& other) noexcept {
        LentStream(std::move(other)).swap(*this);
        return *this;
    }
    LentStream(const LentStream&) = delete;
    LentStream& operator=(const LentStream&) = delete;
    ~LentStream();

    explicit operator bool() const { return stream_ != nullptr; }
    const peercoll_device_runtime_t& runtime() const { return *runtime_; }
    std::int32_t device() const { return device_; }
    peercoll_stream_t get() const { return stream_; }

    Status copy(std::uint64_t to, std::uint64_t from, std::size_t bytes);
    // PEERCOLL_ERR_BUSY while work is under way.
    Status query();
    Status synchronize();

private:
    friend class StreamPool;
    LentStream(StreamPool* pool, const peercoll_device_runtime_t* runtime, std::int32_t device,
               peercoll_stream_t stream)
        : pool_(pool), runtime_(runtime), device_(device), stream_(stream) {}
    void swap(LentStream& other) noexcept {
        std::swap(pool_, other.pool_);
        std::swap(runtime_, other.runtime_);
        std::swap(device_, other.device_);
        std::swap(stream_, other.stream_);
    }

    StreamPool* pool_ = nullptr;
    const peercoll_device_runtime_t* runtime_ = nullptr;
    std::int32_t device_ = 0;
    peercoll_stream_t stream_ = nullptr;
};

// Thread safe. Must outlive what it lends, and be destroyed before its runtimes are closed.
class StreamPool {
public:
    StreamPool() = default;
    ~StreamPool();
    StreamPool(const StreamPool&) = delete;
    StreamPool& operator=(const StreamPool&) = delete;

    Status take(const peercoll_device_runtime_t& runtime, std::int32_t device, LentStream& lent);

private:
    friend class LentStream;
    struct Spare {
        const peercoll_device_runtime_t* runtime;
        std::int32_t device;
        peercoll_stream_t stream;
    };
    void give_back(const Spare& spare) noexcept;

    std::mutex mutex_;
    std::vector<Spare> spare_;
};

}  // namespace peercoll
