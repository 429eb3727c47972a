// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/stream_pool.hpp"

#include <algorithm>
#include <new>

namespace peercoll {

namespace {

Status status_of(peercoll_status_t code, const peercoll_reason_t& reason) {
    if (code == PEERCOLL_SUCCESS) return {};
    return {code, reason.text};
}

}  // namespace

LentStream::~LentStream() {
    if (stream_ != nullptr) pool_->give_back({runtime_, device_, stream_});
}

Status LentStream::copy(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
    peercoll_reason_t reason{};
    return status_of(runtime_->copy(stream_, to, from, bytes, &reason), reason);
}

Status LentStream::query() {
    peercoll_reason_t reason{};
    const peercoll_status_t code = runtime_->stream_query(stream_, &reason);
    // Asked in a loop: no sentence for the answer that is none.
    static const Status busy{PEERCOLL_ERR_BUSY, "work is under way"};
    return code == PEERCOLL_ERR_BUSY ? busy : status_of(code, reason);
}

Status LentStream::synchronize() {
    peercoll_reason_t reason{};
    return status_of(runtime_->stream_synchronize(stream_, &reason), reason);
}

StreamPool::~StreamPool() {
    for (const Spare& spare : spare_) spare.runtime->stream_destroy(spare.stream);
}

Status StreamPool::take(const peercoll_device_runtime_t& runtime, std::int32_t device, LentStream& lent) {
    peercoll_stream_t stream = nullptr;
    {
        const std::lock_guard lock(mutex_);
        const auto found = std::find_if(spare_.begin(), spare_.end(), [&](const Spare& spare) {
            return spare.runtime == &runtime && spare.device == device;
        });
        if (found != spare_.end()) {
            stream = found->stream;
            spare_.erase(found);
        }
    }
    if (stream == nullptr) {
        peercoll_reason_t reason{};
        if (Status status = status_of(runtime.stream_create(device, &stream, &reason), reason); !status.ok())
            return status;
    }
    // Without the lock: what `lent` had goes back now.
    lent = LentStream(this, &runtime, device, stream);
    return {};
}

void StreamPool::give_back(const Spare& spare) noexcept {
    try {
        const std::lock_guard lock(mutex_);
        spare_.push_back(spare);
    } catch (const std::bad_alloc&) {
        spare.runtime->stream_destroy(spare.stream);
    }
}

}  // namespace peercoll
