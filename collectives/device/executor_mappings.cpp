// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/device/executor_mappings.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace peercoll {

void write_reason(std::string_view sentence, ExecutorRecord& record) {
    const std::size_t n = std::min(sentence.size(), sizeof record.reason - 1);
    std::memcpy(record.reason, sentence.data(), n);
    record.reason[n] = '\0';
}

std::string read_reason(const ExecutorRecord& record) {
    return {record.reason, ::strnlen(record.reason, sizeof record.reason)};
}

// -- Executors --------------------------------------------------------------------------------------------------------

Status ExecutorMappings::map(const peercoll_device_runtime_t& runtime, std::int32_t device, int owner,
                             const BufferFact& fact, const peercoll_memory_handle_t& handle, std::uint64_t& address) {
    if (const DeviceTeam::Mapped* mapped = team_->find_mapped(owner, device, fact.allocation_id)) {
        address = mapped->base + fact.offset;
        sizes_ |= mapped->bytes;
        return {};
    }
    MappingCache& mappings = *team_->process().mappings;
    const ProcessIdentity& process = team_->identity(owner);
    OwnedDescriptor descriptor;
    if (mappings.needs_descriptor(runtime, device, process, handle)) {
        if (team_->process().channel == nullptr)
            return {PEERCOLL_ERR_NOT_SUPPORTED, "there is no socket to receive a descriptor of the memory by"};
        ExecutorRecord& record = team_->executor(team_->rank());
        if (!awaits_descriptor_) {
            awaits_descriptor_ = true;
            record.wanted_allocation.store(handle.allocation_id, std::memory_order_relaxed);
            record.wanted_rank.store(owner, std::memory_order_release);
        }
        descriptor = team_->process().channel->take(handle.allocation_id, process);
        if (!descriptor && team_->executor(owner).cannot_send.load(std::memory_order_acquire) == handle.allocation_id)
            return {PEERCOLL_ERR_NOT_SUPPORTED,
                    fmt::format("rank {} could not send a descriptor of its memory", owner)};
        if (!descriptor) {
            static const Status awaited{PEERCOLL_ERR_BUSY, "a descriptor is awaited"};
            return awaited;
        }
        record.wanted_rank.store(-1, std::memory_order_relaxed);
        awaits_descriptor_ = false;
    }
    std::uint64_t base = 0;
    Status status = mappings.map(team_->mapping_use(), runtime, device, process, handle, descriptor.get(), base);
    if (!status.ok()) return status;
    team_->note_mapped(owner, {fact.allocation_id, device, base, handle.bytes});
    sizes_ |= handle.bytes;
    address = base + fact.offset;
    return {};
}

void ExecutorMappings::give_verdict(const Status& status, std::uint64_t step) {
    ExecutorRecord& record = team_->executor(team_->rank());
    record.able = status.ok() ? 1 : 0;
    write_reason(status.sentence(), record);
    record.wanted_rank.store(-1, std::memory_order_relaxed);
    team_->host().publish(step);
}

// -- All ranks --------------------------------------------------------------------------------------------------------

void ExecutorMappings::answer_wanted() {
    if (team_->process().channel == nullptr) return;
    for (std::size_t i = 0; i < executors_.size(); ++i) {
        const ExecutorRecord& record = team_->executor(executors_[i]);
        if (record.wanted_rank.load(std::memory_order_acquire) != team_->rank()) continue;
        const std::uint64_t allocation = record.wanted_allocation.load(std::memory_order_relaxed);
        if (answered_.empty()) answered_.resize(executors_.size());
        if (answered_[i] == allocation) continue;
        const Status status = send_descriptor(allocation, executors_[i]);
        if (status.code() == PEERCOLL_ERR_BUSY) continue;
        answered_[i] = allocation;
        if (!status.ok()) team_->executor(team_->rank()).cannot_send.store(allocation, std::memory_order_release);
    }
}

Status ExecutorMappings::send_descriptor(std::uint64_t allocation, int executor) {
    const DeviceArrival& mine = team_->arrival(team_->rank());
    const BufferFact& fact = mine.source.allocation_id == allocation ? mine.source : mine.destination;
    const peercoll_device_runtime_t* runtime = team_->peers().local_runtime(fact.device);
    if (runtime == nullptr || fact.allocation_id != allocation)
        return {PEERCOLL_ERR_INVALID_ARGUMENT, "the allocation is none of this collective"};
    const OwnedDescriptor descriptor = team_->process().exports->descriptor(*runtime, allocation);
    if (!descriptor) return {PEERCOLL_ERR_NOT_SUPPORTED, "the allocation has no descriptor"};
    return team_->process().channel->send(team_->address(executor), allocation, descriptor.get());
}

bool ExecutorMappings::have_spoken(std::uint64_t step) {
    for (std::size_t i = 0; i < executors_.size(); ++i) {
        if (executors_[i] == team_->rank() || team_->host().has_reached(executors_[i], step)) continue;
        answer_wanted();
        return false;
    }
    return true;
}

bool ExecutorMappings::all_able(std::string& reason) const {
    for (std::size_t i = 0; i < executors_.size(); ++i) {
        const ExecutorRecord& record = team_->executor(executors_[i]);
        if (record.able != 0) continue;
        reason = read_reason(record);
        return false;
    }
    return true;
}

}  // namespace peercoll
