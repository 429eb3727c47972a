// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/host_staging.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <new>

#include <fmt/format.h>

namespace peercoll {

namespace {
constexpr std::align_val_t alignment{64};
constexpr std::size_t smallest = 4096;
}  // namespace

HostStaging::~HostStaging() {
    for (const Block& block : blocks_)
        if (!block.lent) release(block);
}

void HostStaging::release(const Block& block) noexcept {
    if (block.pinned) block.runtime->unregister_host(block.device, block.memory);
    ::operator delete(block.memory, alignment);
}

Status HostStaging::take(const peercoll_device_runtime_t* runtime, std::int32_t device, std::size_t bytes,
                         std::byte*& memory) {
    memory = nullptr;
    const std::lock_guard lock(mutex_);
    blocks_.reserve(blocks_.size() + 1);
    Block* best = nullptr;
    for (Block& block : blocks_)
        if (!block.lent && block.bytes >= bytes && block.runtime == runtime && block.device == device &&
            (best == nullptr || block.bytes < best->bytes))
            best = &block;
    if (best != nullptr) {
        best->lent = true;
        kept_ -= best->bytes;
        memory = best->memory;
        return {};
    }
    if (bytes > std::numeric_limits<std::size_t>::max() / 2)  // which rounding up might make a small number
        return {PEERCOLL_ERR_OUT_OF_MEMORY, fmt::format("no {} bytes of host memory to stage a buffer in", bytes)};
    // Powers of two up to a mebibyte, whole mebibytes above, so that messages of similar size find the same block.
    constexpr std::size_t mebibyte = std::size_t{1} << 20;
    const std::size_t rounded =
        bytes <= mebibyte ? std::bit_ceil(std::max(bytes, smallest)) : (bytes + mebibyte - 1) / mebibyte * mebibyte;
    Block block{static_cast<std::byte*>(::operator new(rounded, alignment, std::nothrow)),
                rounded,
                runtime,
                device,
                false,
                true};
    if (block.memory == nullptr)
        return {PEERCOLL_ERR_OUT_OF_MEMORY, fmt::format("no {} bytes of host memory to stage a buffer in", rounded)};
    // Not the runtime's own pinned memory: the system refuses to copy that from process to process.
    if (runtime != nullptr && PEERCOLL_DEVICE_HAS(runtime, register_host) &&
        PEERCOLL_DEVICE_HAS(runtime, unregister_host)) {
        std::uint64_t device_address = 0;
        block.pinned =
            runtime->register_host(device, block.memory, rounded, &device_address, nullptr) == PEERCOLL_SUCCESS;
    }
    blocks_.push_back(block);
    memory = block.memory;
    return {};
}

bool HostStaging::give_back(std::byte* memory) noexcept {
    const std::lock_guard lock(mutex_);
    const auto block = std::find_if(blocks_.begin(), blocks_.end(),
                                    [&](const Block& one) { return one.memory == memory && one.lent; });
    if (block == blocks_.end()) return false;
    block->lent = false;
    kept_ += block->bytes;
    if (kept_ > most_kept) {
        kept_ -= block->bytes;
        release(*block);
        blocks_.erase(block);
    }
    return true;
}

}  // namespace peercoll
