// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/peer/device_resources.hpp"

#include <thread>

#include <fmt/format.h>

namespace peercoll {

namespace {

bool is_done(peercoll_status_t code, const peercoll_reason_t& why, std::string& reason) {
    if (code == PEERCOLL_SUCCESS) return true;
    reason = why.text;
    return false;
}

}  // namespace

bool DeviceMemory::allocate(std::size_t bytes, std::string& reason) {
    peercoll_reason_t why{};
    return is_done(runtime_->allocate(device_, bytes, &address_, &why), why, reason);
}

bool PinnedMemory::allocate(std::size_t bytes, std::string& reason) {
    peercoll_reason_t why{};
    if (!is_done(runtime_->allocate_host(device_, bytes, &address_, &why), why, reason)) return false;
    bytes_ = bytes;
    return true;
}

bool DeviceStream::create(std::string& reason) {
    peercoll_reason_t why{};
    return is_done(runtime_->stream_create(device_, &stream_, &why), why, reason);
}

bool DeviceStream::copy(std::uint64_t to, std::uint64_t from, std::size_t bytes, std::string& reason) {
    peercoll_reason_t why{};
    return is_done(runtime_->copy(stream_, to, from, bytes, &why), why, reason);
}

bool DeviceStream::kernel_copy(std::uint64_t to, std::uint64_t from, std::size_t bytes, std::string& reason) {
    const std::uint32_t one_block = 1;
    peercoll_fold_t fold{};
    fold.struct_size = sizeof fold;
    fold.datatype = PEERCOLL_BYTE;
    fold.op = PEERCOLL_NO_OP;
    fold.count = bytes;
    fold.n_inputs = 1;
    fold.n_outputs = 1;
    fold.n_blocks = 1;
    fold.inputs = &from;
    fold.outputs = &to;
    fold.block_ends = &one_block;
    peercoll_reason_t why{};
    return is_done(runtime_->fold(stream_, &fold, &why), why, reason);
}

peercoll_status_t DeviceStream::wait(std::chrono::steady_clock::time_point deadline, std::string& reason) {
    for (;;) {
        peercoll_reason_t why{};
        const peercoll_status_t code = runtime_->stream_query(stream_, &why);
        if (code == PEERCOLL_SUCCESS) return code;
        if (code != PEERCOLL_ERR_BUSY || std::chrono::steady_clock::now() >= deadline) {
            reason = code == PEERCOLL_ERR_BUSY ? "" : why.text;
            return code;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
}

Reachable::~Reachable() {
    if (mapped_) runtime_->release_mapping(&mapping_);
    if (enabled_peer_ >= 0) runtime_->disable_peer(device_, enabled_peer_, nullptr);
}

bool Reachable::import(const peercoll_memory_handle_t& handle, std::string& reason) {
    peercoll_reason_t why{};
    mapped_ = is_done(runtime_->import_memory(device_, &handle, -1, &mapping_, &why), why, reason);
    if (!mapped_ || (mapping_.address != 0 && mapping_.bytes >= handle.bytes)) return mapped_;
    reason = fmt::format("the mapping has {} of {} bytes", mapping_.bytes, handle.bytes);
    return false;
}

bool Reachable::enable(std::uint64_t address, std::int32_t peer, std::string& reason) {
    peercoll_reason_t why{};
    address_ = address;
    if (peer == device_) return true;
    if (!is_done(runtime_->enable_peer(device_, peer, &why), why, reason)) return false;
    enabled_peer_ = peer;
    return true;
}

}  // namespace peercoll
