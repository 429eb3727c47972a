// SPDX-License-Identifier: BSD-3-Clause
// Host memory through which device memory is staged: pinned where a runtime gives some, and kept for the next time,
// because pinning a page takes longer than copying it.
#pragma once

#include "plugin/common/status.hpp"

#include <peercoll/device.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace peercoll {

class HostStaging {
public:
    // So much is kept when it is given back.
    static constexpr std::size_t most_kept = std::size_t{256} << 20;

    HostStaging() = default;
    // Must be destroyed before the runtimes are closed.
    ~HostStaging();
    HostStaging(const HostStaging&) = delete;
    HostStaging& operator=(const HostStaging&) = delete;

    // At least `bytes`, 64-byte aligned, not zeroed. Null runtime, or one that cannot pin it: plain memory.
    Status take(const peercoll_device_runtime_t* runtime, std::int32_t device, std::size_t bytes, std::byte*& memory);
    // False if `memory` is none of ours.
    bool give_back(std::byte* memory) noexcept;

private:
    struct Block {
        std::byte* memory;
        std::size_t bytes;
        const peercoll_device_runtime_t* runtime;  // it was asked for; null: none
        std::int32_t device;
        bool pinned;  // registered with the runtime
        bool lent;
    };
    static void release(const Block& block) noexcept;

    std::mutex mutex_;
    std::vector<Block> blocks_;
    std::size_t kept_ = 0;  // bytes of the blocks that are not lent
};

// Staging for one collective.
class StagedBytes {
public:
    StagedBytes() = default;
    StagedBytes(StagedBytes&& other) noexcept { swap(other); }
    StagedBytes& operator=(StagedBytes&& other) noexcept {
        StagedBytes(std::move(other)).swap(*this);
        return *this;
    }
    StagedBytes(const StagedBytes&) = delete;
    StagedBytes& operator=(const StagedBytes&) = delete;
    ~StagedBytes() {
        if (memory_ != nullptr) pool_->give_back(memory_);
    }
    Status take(HostStaging& pool, const peercoll_device_runtime_t* runtime, std::int32_t device, std::size_t bytes) {
        *this = StagedBytes{};
        pool_ = &pool;
        return pool.take(runtime, device, bytes, memory_);
    }
    std::byte* get() const { return memory_; }

private:
    void swap(StagedBytes& other) noexcept {
        std::swap(pool_, other.pool_);
        std::swap(memory_, other.memory_);
    }
    HostStaging* pool_ = nullptr;
    std::byte* memory_ = nullptr;
};

}  // namespace peercoll
