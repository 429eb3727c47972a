// SPDX-License-Identifier: BSD-3-Clause
// Steps: 1, the verdict; then `most_steps` turns for each chunk; and one that ends the operation.
#include "collectives/device/islands.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace peercoll {

namespace {

using Kind = IslandActor::Kind;

constexpr std::size_t cell_alignment = 512;  // which kernels and memories like

}  // namespace

Islands::Islands(DeviceTeam& team, const DeviceWork& work, IslandSchedule schedule)
    : team_(&team), operation_(std::make_unique<IslandOperation>()), mappings_(team) {
    operation_->team = &team;
    operation_->work = work;
    operation_->schedule = std::move(schedule);
}

HostCrossings Islands::crossings() const {
    HostCrossings sum;
    for (const IslandActorWork& actor : actors_) {
        sum.written += actor.crossings().written;
        sum.read += actor.crossings().read;
    }
    return sum;
}

Progress Islands::begin() {
    IslandOperation& operation = *operation_;
    const DeviceWork& work = operation.work;
    const std::size_t cells = IslandOperation::slots * std::max<std::size_t>(1, operation.schedule.cells);
    operation.cell_bytes = team_->pool().bytes / cells / cell_alignment * cell_alignment;
    operation.chunks = Chunks(work.count, work.element_bytes, operation.cell_bytes);
    if (operation.chunks[0].count() * work.element_bytes > operation.cell_bytes) {
        refused_ = true;
        reason_ = "shared memory is too small for cells of the islands (option segment_size)";
        stage_ = Stage::End;
        return Progress::Done;
    }
    verdict_ = team_->host().begin(operation.chunks.size() * operation.schedule.most_steps + 2) + 1;
    operation.base = verdict_;
    bool executes = false;
    for (std::size_t index = 0; index < operation.schedule.actors.size(); ++index) {
        const IslandActor& actor = operation.schedule.actors[index];
        if (actor.kind != Kind::Processor) mappings_.add_executor(actor.rank);
        if (actor.rank != team_->rank()) continue;
        actors_.emplace_back(operation, index);
        executes = executes || actor.kind != Kind::Processor;
    }
    if (executes)
        team_->trim_mapped();
    else
        team_->host().publish(verdict_);
    stage_ = executes ? Stage::Map : Stage::Verdicts;
    return Progress::Advanced;
}

Progress Islands::map() {
    Status status;
    for (IslandActorWork& actor : actors_)
        if (actor.is_device()) status = actor.prepare(mappings_);  // there is one
    if (status.code() == PEERCOLL_ERR_BUSY) return Progress::Pending;
    mappings_.give_verdict(status, verdict_);
    stage_ = Stage::Verdicts;
    return Progress::Advanced;
}

Progress Islands::hear_verdicts() {
    if (!mappings_.have_spoken(verdict_)) return Progress::Pending;
    if (mappings_.all_able(reason_)) {
        stage_ = Stage::Work;
        return Progress::Advanced;
    }
    refused_ = true;
    team_->host().publish(last_step());
    stage_ = Stage::End;
    return Progress::Done;
}

// -- Work -------------------------------------------------------------------------------------------------------------

bool Islands::all_are_done() {
    const std::uint64_t chunks = operation_->chunks.size();
    const std::uint64_t last = std::min<std::uint64_t>(chunks, IslandOperation::slots);
    for (; done_actors_ < operation_->schedule.actors.size(); ++done_actors_)
        for (std::uint64_t chunk = chunks - last; chunk < chunks; ++chunk)
            if (operation_->turns(done_actors_, chunk).load(std::memory_order_acquire) < operation_->end_of(chunk))
                return false;
    return true;
}

bool Islands::another_has_failed() {
    for (const IslandActor& actor : operation_->schedule.actors) {
        if (actor.kind == Kind::Processor) continue;
        const ExecutorRecord& record = team_->executor(actor.rank);
        if (record.failed.load(std::memory_order_acquire) < verdict_) continue;
        reason_ =
            fmt::format("rank {}, which acts for its island of devices, failed: {}", actor.rank, read_reason(record));
        return true;
    }
    return false;
}

Progress Islands::work() {
    bool moved = false;
    for (IslandActorWork& actor : actors_) {
        const Status status = actor.advance(moved);
        if (status.ok()) continue;
        reason_ = status.sentence();
        ExecutorRecord& record = team_->executor(team_->rank());
        write_reason(reason_, record);
        record.failed.store(verdict_, std::memory_order_release);
        stage_ = Stage::Drain;
        return Progress::Advanced;
    }
    if (all_are_done()) {
        team_->host().publish(last_step());
        stage_ = Stage::End;
        return Progress::Done;
    }
    if (moved) return Progress::Advanced;
    if (!another_has_failed()) return Progress::Pending;
    stage_ = Stage::Drain;
    return Progress::Advanced;
}

Progress Islands::progress() {
    switch (stage_) {
        case Stage::Begin:
            return begin();
        case Stage::Map:
            return map();
        case Stage::Verdicts:
            return hear_verdicts();
        case Stage::Work:
            return work();
        case Stage::Drain:
            // What was started may still write into the buffers, which are the caller's again after this.
            for (IslandActorWork& actor : actors_)
                if (!actor.is_idle()) return Progress::Pending;
            stage_ = Stage::End;
            return Progress::Failed;
        case Stage::End:
            break;
    }
    return Progress::Failed;
}

}  // namespace peercoll
