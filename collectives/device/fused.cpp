// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/device/fused.hpp"

#include <bit>

#include <fmt/format.h>

namespace peercoll {

namespace {

// Until then no device can be done, because a launch takes longer; its executor may share a core with those who wait.
constexpr std::uint32_t most_rests = 14;

// A look at a stream takes about a microsecond, so it is worth one only now and then where a flag is awaited.
constexpr std::uint32_t looks_between_queries = 4096;

}  // namespace

FusedFold::FusedFold(DeviceTeam& team, const DeviceWork& work, const DeviceChoice& choice)
    : team_(&team), work_(work), choice_(choice), mappings_(team) {
    for (const Executor& executor : choice_.executors) {
        mappings_.add_executor(executor.rank);
        if (executor.rank == team.rank()) mine_ = &executor;
    }
}

Progress FusedFold::progress() {
    switch (stage_) {
        case Stage::Begin:
            base_ = team_->host().begin(2);
            if (executes()) {
                runtime_ = team_->peers().local_runtime(mine_->device);
                device_ = team_->peers().local_device(mine_->device);
                team_->trim_mapped();
                stage_ = Stage::Map;
            } else {
                team_->host().publish(base_ + 1);
                stage_ = Stage::Verdicts;
            }
            return Progress::Advanced;
        case Stage::Map:
            return map();
        case Stage::Verdicts:
            return hear_verdicts();
        case Stage::Launch:
            if (executes())
                if (const Status status = launch(); !status.ok()) fail_on_device(status.sentence());
            team_->recheck_exports();  // while the device works
            stage_ = Stage::Wait;
            return Progress::Advanced;
        case Stage::Wait:
            return wait();
        case Stage::End:
            break;
    }
    return Progress::Failed;
}

// -- Mapping ----------------------------------------------------------------------------------------------------------

Progress FusedFold::map() {
    if (runtime_ == nullptr || !PEERCOLL_DEVICE_HAS(runtime_, fold) || !PEERCOLL_DEVICE_HAS(runtime_, can_fold)) {
        give_verdict({PEERCOLL_ERR_NOT_SUPPORTED, "the device's runtime runs no reductions"});
        return Progress::Advanced;
    }
    if (!team_->can_fold(*runtime_, device_, work_.datatype, work_.op)) {
        give_verdict({PEERCOLL_ERR_NOT_SUPPORTED, "the device has no kernel for this datatype and operation"});
        return Progress::Advanced;
    }
    mappings_.answer_wanted();  // an executor's own memory may be wanted by another, which would wait for this one
    for (; mapped_ranks_ < team_->size(); ++mapped_ranks_) {
        const DeviceArrival& arrival = team_->arrival(mapped_ranks_);
        Status status;
        std::uint64_t address = 0;
        if (sources_.size() == destinations_.size()) {
            status = mappings_.map(*runtime_, device_, mapped_ranks_, arrival.source, arrival.source_handle, address);
            if (status.ok()) sources_.push_back(address);
        }
        if (status.ok()) {
            status = mappings_.map(*runtime_, device_, mapped_ranks_, arrival.destination, arrival.destination_handle,
                                   address);
            if (status.ok()) destinations_.push_back(address);
        }
        if (status.code() == PEERCOLL_ERR_BUSY) return Progress::Pending;
        if (!status.ok()) {
            give_verdict(status);
            return Progress::Advanced;
        }
    }
    give_verdict({});
    return Progress::Advanced;
}

// -- Verdicts ---------------------------------------------------------------------------------------------------------

void FusedFold::give_verdict(const Status& status) {
    mappings_.give_verdict(status, base_ + 1);
    stage_ = Stage::Verdicts;
}

Progress FusedFold::hear_verdicts() {
    if (!mappings_.have_spoken(base_ + 1)) return Progress::Pending;
    if (!mappings_.all_able(reason_)) {
        refused_ = true;
        team_->host().publish(base_ + 2);
        stage_ = Stage::End;
        return Progress::Done;
    }
    stage_ = Stage::Launch;
    return Progress::Advanced;
}

// -- Work -------------------------------------------------------------------------------------------------------------

std::chrono::nanoseconds FusedFold::standby() const {
    // Above, the bytes take longer than a launch.
    constexpr std::uint64_t most_bytes = std::uint64_t{256} << 10;
    if ((mine_->last - mine_->first) * work_.element_bytes > most_bytes) return std::chrono::nanoseconds{0};
    // A kernel of one process keeps those of the others from the device for as long as it stays.
    for (int rank = 0; rank < team_->size(); ++rank) {
        const DeviceArrival& arrival = team_->arrival(rank);
        if (rank != team_->rank() &&
            (arrival.source.device == mine_->device || arrival.destination.device == mine_->device))
            return std::chrono::nanoseconds{0};
    }
    return team_->standby();
}

Status FusedFold::launch() {
    if (Status status = team_->process().streams->take(*runtime_, device_, stream_); !status.ok()) return status;
    Addresses inputs;
    Addresses outputs;
    InlineList<std::uint32_t, PEERCOLL_FOLD_MOST> block_ends;
    const std::uint64_t offset = mine_->first * work_.element_bytes;
    if (work_.collective == PEERCOLL_BROADCAST) {
        inputs.push_back(sources_[static_cast<std::size_t>(work_.root)] + offset);
        block_ends.push_back(1);
    } else {
        for (const std::vector<int>& block : work_.plan->blocks()) {
            for (const int rank : block) inputs.push_back(sources_[static_cast<std::size_t>(rank)] + offset);
            block_ends.push_back(static_cast<std::uint32_t>(inputs.size()));
        }
    }
    for (int rank = 0; rank < team_->size(); ++rank) {
        if (work_.collective == PEERCOLL_BROADCAST && rank == work_.root) continue;
        if (mine_->own_outputs && team_->arrival(rank).destination.device != mine_->device) continue;
        outputs.push_back(destinations_[static_cast<std::size_t>(rank)] + offset);
    }

    peercoll_fold_t fold{};
    fold.struct_size = sizeof fold;
    fold.datatype = work_.datatype;
    fold.op = work_.op;
    fold.count = mine_->last - mine_->first;
    fold.n_inputs = static_cast<std::uint32_t>(inputs.size());
    fold.n_outputs = static_cast<std::uint32_t>(outputs.size());
    fold.n_blocks = static_cast<std::uint32_t>(block_ends.size());
    fold.granularity_log2 =
        static_cast<std::uint32_t>(mappings_.sizes() == 0 ? 0 : std::countr_zero(mappings_.sizes()));
    fold.inputs = inputs.data();
    fold.outputs = outputs.data();
    fold.block_ends = block_ends.data();
    fold.flag = team_->done_flag(*runtime_, device_);
    fold.flag_value = base_ + 2;
    flagged_ = fold.flag != 0;
    fold.standby_ns = static_cast<std::uint64_t>(standby().count());
    fold.stood_by = &stood_by_;
    peercoll_reason_t reason{};
    const peercoll_status_t code = runtime_->fold(stream_.get(), &fold, &reason);
    if (code != PEERCOLL_SUCCESS) return {code, reason.text};
    return {};
}

void FusedFold::fail_on_device(const std::string& reason) {
    reason_ = reason;
    ExecutorRecord& record = team_->executor(team_->rank());
    write_reason(reason, record);
    record.failed.store(base_ + 2, std::memory_order_relaxed);
    record.done.store(base_ + 2, std::memory_order_release);
}

void FusedFold::look_at_stream() {
    ExecutorRecord& record = team_->executor(team_->rank());
    if (!stream_ || record.done.load(std::memory_order_acquire) >= base_ + 2) return;
    if (flagged_ && ++looks_ % looks_between_queries != 0) return;
    const Status status = stream_.query();
    if (status.code() == PEERCOLL_ERR_BUSY) return;
    if (!status.ok())
        fail_on_device(status.sentence());
    else
        record.done.store(base_ + 2, std::memory_order_release);
}

Progress FusedFold::wait() {
    if (executes()) look_at_stream();
    for (const Executor& executor : choice_.executors) {
        const ExecutorRecord& record = team_->executor(executor.rank);
        if (record.done.load(std::memory_order_acquire) < base_ + 2)
            return executes() || ++rests_ > most_rests ? Progress::Pending : Progress::Resting;
        if (record.failed.load(std::memory_order_relaxed) < base_ + 2) continue;
        reason_ = fmt::format("rank {}, which acts for its device, failed: {}", executor.rank, read_reason(record));
        stage_ = Stage::End;
        return Progress::Failed;
    }
    team_->host().publish(base_ + 2);
    stream_ = LentStream{};
    stage_ = Stage::End;
    return Progress::Done;
}

}  // namespace peercoll
