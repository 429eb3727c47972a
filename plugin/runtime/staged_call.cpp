// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/staged_call.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace peercoll {

namespace {

std::uint64_t number(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address);
}

}  // namespace

StagedCall::StagedCall(Node& node, ProcessDevices& devices, const Call& call, bool agreed)
    : node_(&node), devices_(&devices), call_(&call) {
    if (call.kind == PEERCOLL_ALLREDUCE) {
        source_ = devices.classify(call.source);
        destination_ = call.source == call.destination ? source_ : devices.classify(call.destination);
        total_ = call.count;
        element_bytes_ = call.element_bytes;
    } else {
        destination_ = devices.classify(call.broadcast.buffer);
        source_ = destination_;
        total_ = call.broadcast.bytes;
        element_bytes_ = 1;
    }
    agreed_ = agreed;
    unit_ = agreed ? std::max<std::size_t>(1, piece_bytes / element_bytes_) : total_;
}

std::size_t StagedCall::pieces() const {
    return (total_ + unit_ - 1) / unit_;
}

std::size_t StagedCall::units_of(std::size_t piece) const {
    return std::min(unit_, total_ - first_of(piece));
}

Progress StagedCall::fail(Status status) {
    status_ = std::move(status);
    return Progress::Failed;
}

bool StagedCall::is_staged(const ClassifiedMemory& memory) const {
    // Pinned memory is for processors, but others may want to copy from it, unless all know that they must not.
    return memory.on_device() || (memory.pinned() && !agreed_);
}

Status StagedCall::prepare(Piece& slot) {
    if (!is_staged(destination_) && !is_staged(source_)) return {};  // others stage, this rank need not
    const ClassifiedMemory& device = destination_.on_device() ? destination_ : source_;
    if (device.on_device())
        if (Status status = devices_->streams().take(*device.runtime, device.info.device, slot.stream); !status.ok())
            return status;
    if (destination_.on_device() && source_.on_device() && source_.runtime != destination_.runtime)
        if (Status status = devices_->streams().take(*source_.runtime, source_.info.device, slot.source_stream);
            !status.ok())
            return status;
    return slot.memory.take(devices_->staging(), device.on_device() ? device.runtime : nullptr, device.info.device,
                            std::min(unit_, total_) * element_bytes_);
}

Status StagedCall::copy(LentStream& stream, void* to, const void* from, std::size_t bytes) {
    if (stream) return stream.copy(number(to), number(from), bytes);
    std::memcpy(to, from, bytes);
    return {};
}

Status StagedCall::copy_in(std::size_t piece) {
    Piece& slot = slots_[piece % 2];
    const std::size_t offset = first_of(piece) * element_bytes_;
    const std::size_t bytes = units_of(piece) * element_bytes_;
    if (slot.source_stream)
        if (Status status = slot.stream.query(); !status.ok()) return status;
    slot.call = *call_;
    if (call_->kind == PEERCOLL_BROADCAST) {
        slot.call.broadcast.bytes = bytes;
        slot.call.broadcast.buffer = is_staged(destination_) ? slot.memory.get() : call_->broadcast.buffer + offset;
        if (!is_staged(destination_) || call_->broadcast.root != node_->team->rank()) return {};
        return copy(slot.stream, slot.memory.get(), call_->broadcast.buffer + offset, bytes);
    }
    slot.call.count = units_of(piece);
    slot.call.destination = is_staged(destination_) ? slot.memory.get() : call_->destination + offset;
    if (!is_staged(source_)) {
        slot.call.source = call_->source + offset;
        return {};
    }
    // Into what becomes the result, which then is reduced in place.
    slot.call.source = slot.call.destination;
    return copy(slot.source_stream ? slot.source_stream : slot.stream, slot.call.destination, call_->source + offset,
                bytes);
}

Status StagedCall::copy_out(std::size_t piece) {
    if (!is_staged(destination_)) return {};
    Piece& slot = slots_[piece % 2];
    const std::size_t offset = first_of(piece) * element_bytes_;
    const std::size_t bytes = units_of(piece) * element_bytes_;
    if (call_->kind == PEERCOLL_ALLREDUCE)
        return copy(slot.stream, call_->destination + offset, slot.memory.get(), bytes);
    if (call_->broadcast.root == node_->team->rank()) return {};
    return copy(slot.stream, call_->broadcast.buffer + offset, slot.memory.get(), bytes);
}

Progress StagedCall::progress() {
    switch (stage_) {
        case Stage::Begin:
            for (std::size_t slot = 0; slot < std::min<std::size_t>(2, pieces()); ++slot)
                if (Status status = prepare(slots_[slot]); !status.ok()) return fail(std::move(status));
            stage_ = Stage::Prepare;
            return Progress::Advanced;
        case Stage::Prepare:
            // This piece, and the next one while this one is operated on; its slot's stream keeps the order with what
            // is still copied out of it.
            for (; copied_in_ < std::min(pieces(), piece_ + 1); ++copied_in_) {
                Status status = copy_in(copied_in_);
                if (status.code() == PEERCOLL_ERR_BUSY) return Progress::Pending;
                if (!status.ok()) return fail(std::move(status));
            }
            stage_ = Stage::CopyIn;
            return Progress::Advanced;
        case Stage::CopyIn: {
            Piece& slot = slots_[piece_ % 2];
            if (LentStream& stream = slot.source_stream ? slot.source_stream : slot.stream; stream) {
                Status status = stream.query();
                if (status.code() == PEERCOLL_ERR_BUSY) return Progress::Pending;
                if (!status.ok()) return fail(std::move(status));
            }
            for (; copied_in_ < std::min(pieces(), piece_ + 2); ++copied_in_) {
                Status status = copy_in(copied_in_);
                if (status.code() == PEERCOLL_ERR_BUSY) break;  // it is for later: this piece can go on
                if (!status.ok()) return fail(std::move(status));
            }
            operation_.emplace(*node_->team, node_->agreed, node_->trials, slot.call);
            stage_ = Stage::Operate;
            return Progress::Advanced;
        }
        case Stage::Operate: {
            const Progress state = operation_->progress();
            if (state != Progress::Done) return state;
            algorithm_ = operation_->algorithm();
            operation_.reset();
            if (Status status = copy_out(piece_); !status.ok()) return fail(std::move(status));
            ++piece_;
            stage_ = piece_ < pieces() ? Stage::Prepare : Stage::Drain;
            return Progress::Advanced;
        }
        case Stage::Drain:
            for (Piece& slot : slots_) {
                if (!slot.stream) continue;
                Status status = slot.stream.query();
                if (status.code() == PEERCOLL_ERR_BUSY) return Progress::Pending;
                if (!status.ok()) return fail(std::move(status));
            }
            return Progress::Done;
    }
    return Progress::Failed;
}

}  // namespace peercoll
