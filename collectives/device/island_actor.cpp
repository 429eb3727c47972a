// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/device/island_actor.hpp"

#include <algorithm>
#include <cstring>

namespace peercoll {

namespace {

// A look at a stream takes about a microsecond, so it is worth one only now and then where a flag is awaited.
constexpr std::uint32_t looks_between_queries = 4096;

std::uint64_t number(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address);
}

// The inputs of a step as ranks 0, 1, 2, ... of a plan of its own.
ReductionPlan plan_of(const IslandStep& step) {
    std::vector<std::vector<int>> blocks;
    int next = 0;
    for (const std::uint32_t end : step.block_ends) {
        blocks.emplace_back();
        while (next < static_cast<int>(end)) blocks.back().push_back(next++);
    }
    return ReductionPlan(std::move(blocks));
}

}  // namespace

IslandActorWork::IslandActorWork(const IslandOperation& operation, std::size_t actor)
    : operation_(&operation), actor_(&operation.schedule.actors[actor]), index_(actor) {
    for (const IslandRound& round : operation.schedule.rounds) {
        std::vector<Step>& steps = steps_.emplace_back();
        for (const IslandStep& step : round.steps)
            if (step.actor == actor) steps.push_back({&step, is_device() ? ReductionPlan() : plan_of(step)});
    }
    for (std::size_t slot = 0; slot < lanes_.size(); ++slot) lanes_[slot].chunk = slot;
    if (!is_device()) fold_ = find_fold(operation.work.op, operation.work.datatype);
}

std::size_t IslandActorWork::first_byte(std::uint64_t chunk) const {
    return operation_->chunks[chunk].begin * operation_->work.element_bytes;
}

std::size_t IslandActorWork::bytes_of(std::uint64_t chunk) const {
    return operation_->chunks[chunk].count() * operation_->work.element_bytes;
}

// -- Preparing a device -----------------------------------------------------------------------------------------------

Status IslandActorWork::map_buffers(ExecutorMappings& mappings) {
    DeviceTeam& team = *operation_->team;
    const auto ranks = static_cast<std::size_t>(team.size());
    std::vector<bool> reads(ranks);
    std::vector<bool> writes(ranks);
    for (const std::vector<Step>& steps : steps_) {
        for (const Step& one : steps) {
            for (const IslandStep::Input& input : one.step->inputs)
                if (!input.is_cell) reads[static_cast<std::size_t>(input.index)] = true;
            for (const int rank : one.step->outputs) writes[static_cast<std::size_t>(rank)] = true;
        }
    }
    const auto map = [&](int owner, const BufferFact& fact, const peercoll_memory_handle_t& handle, const void* own,
                         std::uint64_t& address) -> Status {
        if (address != 0) return {};
        if (fact.kind == BufferFact::Shareable) return mappings.map(*runtime_, device_, owner, fact, handle, address);
        address = number(own);  // this rank's, since nobody else reaches it
        return {};
    };
    mappings.answer_wanted();  // an executor's own memory may be wanted by another, which would wait for this one
    for (; mapped_ranks_ < team.size(); ++mapped_ranks_) {
        const DeviceArrival& arrival = team.arrival(mapped_ranks_);
        const auto rank = static_cast<std::size_t>(mapped_ranks_);
        if (reads[rank])
            if (Status status =
                    map(mapped_ranks_, arrival.source, arrival.source_handle, operation_->work.source, sources_[rank]);
                !status.ok())
                return status;
        if (writes[rank])
            if (Status status = map(mapped_ranks_, arrival.destination, arrival.destination_handle,
                                    operation_->work.destination, destinations_[rank]);
                !status.ok())
                return status;
    }
    return {};
}

Status IslandActorWork::prepare(ExecutorMappings& mappings) {
    DeviceTeam& team = *operation_->team;
    if (runtime_ == nullptr) {
        runtime_ = team.peers().local_runtime(actor_->device);
        device_ = team.peers().local_device(actor_->device);
        if (runtime_ == nullptr) return {PEERCOLL_ERR_NOT_SUPPORTED, "the device's runtime is not there"};
        sources_.assign(static_cast<std::size_t>(team.size()), 0);
        destinations_ = sources_;
    }
    pool_ = team.pool_address(*runtime_, device_);
    if (actor_->kind == IslandActor::Kind::Kernels) {
        if (!PEERCOLL_DEVICE_HAS(runtime_, fold) || !PEERCOLL_DEVICE_HAS(runtime_, can_fold))
            return {PEERCOLL_ERR_NOT_SUPPORTED, "the device's runtime runs no reductions"};
        if (runtime_->can_fold(device_, operation_->work.datatype, operation_->work.op) == 0)
            return {PEERCOLL_ERR_NOT_SUPPORTED, "the device has no kernel for this datatype and operation"};
        mirrored_ = pool_ == 0;
        if (mirrored_)
            if (Status status = team.mirror_of_pool(*runtime_, device_, pool_); !status.ok()) return status;
        flagged_ = !mirrored_ && team.turns_flag(*runtime_, device_, 0) != 0;
    }
    if (Status status = map_buffers(mappings); !status.ok()) return status;
    for (std::size_t slot = 0; slot < std::min<std::uint64_t>(lanes_.size(), operation_->chunks.size()); ++slot)
        if (Status status = team.process().streams->take(*runtime_, device_, lanes_[slot].stream); !status.ok())
            return status;
    return {};
}

// -- Working ----------------------------------------------------------------------------------------------------------

Status IslandActorWork::advance(bool& moved) {
    for (Lane& lane : lanes_)
        if (Status status = advance(lane, moved); !status.ok()) return status;
    return {};
}

Status IslandActorWork::advance(Lane& lane, bool& moved) {
    if (lane.chunk >= operation_->chunks.size()) return {};
    const std::vector<Step>& steps = steps_for(lane.chunk);
    while (lane.next < steps.size()) {
        const Step& one = steps[lane.next];
        if (lane.next == 0 && !slot_is_free(lane.chunk)) return {};
        if (!inputs_are_there(lane.chunk, *one.step)) break;
        lane.started = operation_->turn_after(lane.chunk, lane.next, steps.size());
        ++lane.next;
        moved = true;
        count(lane.chunk, *one.step);
        if (!is_device()) {
            compute(lane.chunk, one);
            publish(lane);
        } else if (Status status =
                       actor_->kind == IslandActor::Kind::Kernels ? fold(lane, *one.step) : copy(lane, *one.step);
                   !status.ok()) {
            return status;
        }
    }
    std::atomic<std::uint64_t>& turns = operation_->turns(index_, lane.chunk);
    if (turns.load(std::memory_order_acquire) < lane.started)
        if (Status status = look_at(lane); !status.ok()) return status;
    if (lane.next == steps.size() && turns.load(std::memory_order_acquire) >= operation_->end_of(lane.chunk)) {
        lane.chunk += lanes_.size();
        lane.next = 0;
        moved = true;
    }
    return {};
}

// Every actor is done with the chunk that had the slot before.
bool IslandActorWork::slot_is_free(std::uint64_t chunk) const {
    if (chunk < lanes_.size()) return true;
    for (std::size_t actor = 0; actor < operation_->schedule.actors.size(); ++actor)
        if (operation_->turns(actor, chunk).load(std::memory_order_acquire) < operation_->end_of(chunk - lanes_.size()))
            return false;
    return true;
}

bool IslandActorWork::inputs_are_there(std::uint64_t chunk, const IslandStep& step) const {
    const IslandRound& round = operation_->schedule.round(chunk);
    for (const IslandStep::Input& input : step.inputs) {
        if (!input.is_cell) continue;
        const IslandStep& writer = round.steps[round.writers[static_cast<std::size_t>(input.index)]];
        if (writer.actor == index_) continue;  // before, on the same stream
        if (operation_->turns(writer.actor, chunk).load(std::memory_order_acquire) <
            operation_->turn_after(chunk, writer.turn, round.steps_of[writer.actor]))
            return false;
    }
    return true;
}

void IslandActorWork::publish(const Lane& lane) const {
    operation_->turns(index_, lane.chunk).store(lane.started, std::memory_order_release);
}

// For devices that do not write their turns, and for errors.
Status IslandActorWork::look_at(Lane& lane) {
    if (flagged_ && ++looks_ % looks_between_queries != 0) return {};
    Status status = lane.stream.query();
    if (status.code() == PEERCOLL_ERR_BUSY) return {};
    if (!status.ok()) return status;
    publish(lane);
    return {};
}

bool IslandActorWork::is_idle() {
    return std::none_of(lanes_.begin(), lanes_.end(),
                        [](Lane& lane) { return lane.stream && lane.stream.query().code() == PEERCOLL_ERR_BUSY; });
}

void IslandActorWork::count(std::uint64_t chunk, const IslandStep& step) {
    if (!is_device()) return;
    const std::size_t bytes = bytes_of(chunk);
    if (step.cell >= 0) crossings_.written += bytes;
    for (const IslandStep::Input& input : step.inputs)
        if (input.is_cell) crossings_.read += bytes;
}

// -- Steps ------------------------------------------------------------------------------------------------------------

void IslandActorWork::compute(std::uint64_t chunk, const Step& one) const {
    const IslandStep& step = *one.step;
    std::byte* pool = operation_->team->pool().memory;
    std::byte* destination = operation_->work.destination + first_byte(chunk);
    std::vector<const void*> inputs;
    for (const IslandStep::Input& input : step.inputs)
        inputs.push_back(input.is_cell ? pool + operation_->cell(chunk, input.index)
                                       : operation_->work.source + first_byte(chunk));
    std::byte* result = step.cell >= 0 ? pool + operation_->cell(chunk, step.cell) : destination;
    const std::size_t bytes = bytes_of(chunk);
    if (inputs.size() > 1)
        one.plan.evaluate(fold_, operation_->work.element_bytes, result, inputs.data(),
                          operation_->chunks[chunk].count());
    else if (inputs.front() != result)
        std::memcpy(result, inputs.front(), bytes);
    if (!step.outputs.empty() && result != destination) std::memcpy(destination, result, bytes);
}

// Of one input to one output, as is all that such an actor does.
Status IslandActorWork::copy(Lane& lane, const IslandStep& step) const {
    const std::byte* pool = operation_->team->pool().memory;
    const std::size_t offset = first_byte(lane.chunk);
    const IslandStep::Input& input = step.inputs.front();
    const std::uint64_t from = input.is_cell ? number(pool + operation_->cell(lane.chunk, input.index))
                                             : sources_[static_cast<std::size_t>(input.index)] + offset;
    const std::uint64_t to = step.cell >= 0 ? number(pool + operation_->cell(lane.chunk, step.cell))
                                            : destinations_[static_cast<std::size_t>(step.outputs.front())] + offset;
    return lane.stream.copy(to, from, bytes_of(lane.chunk));
}

Status IslandActorWork::fold(Lane& lane, const IslandStep& step) {
    const std::byte* pool = operation_->team->pool().memory;
    const std::size_t offset = first_byte(lane.chunk);
    const std::size_t bytes = bytes_of(lane.chunk);
    std::vector<std::uint64_t> inputs;
    std::vector<std::uint64_t> outputs;
    for (const IslandStep::Input& input : step.inputs) {
        if (!input.is_cell) {
            inputs.push_back(sources_[static_cast<std::size_t>(input.index)] + offset);
            continue;
        }
        const std::size_t cell = operation_->cell(lane.chunk, input.index);
        inputs.push_back(pool_ + cell);
        if (!mirrored_) continue;
        if (Status status = lane.stream.copy(pool_ + cell, number(pool + cell), bytes); !status.ok()) return status;
    }
    for (const int rank : step.outputs) outputs.push_back(destinations_[static_cast<std::size_t>(rank)] + offset);
    if (step.cell >= 0) outputs.push_back(pool_ + operation_->cell(lane.chunk, step.cell));

    peercoll_fold_t fold{};
    fold.struct_size = sizeof fold;
    fold.datatype = operation_->work.datatype;
    fold.op = operation_->work.op;
    fold.count = operation_->chunks[lane.chunk].count();
    fold.n_inputs = static_cast<std::uint32_t>(inputs.size());
    fold.n_outputs = static_cast<std::uint32_t>(outputs.size());
    fold.n_blocks = static_cast<std::uint32_t>(step.block_ends.size());
    fold.inputs = inputs.data();
    fold.outputs = outputs.data();
    fold.block_ends = step.block_ends.data();
    if (flagged_) fold.flag = operation_->team->turns_flag(*runtime_, device_, lane.chunk % IslandOperation::slots);
    fold.flag_value = lane.started;
    peercoll_reason_t reason{};
    const peercoll_status_t code = runtime_->fold(lane.stream.get(), &fold, &reason);
    if (code != PEERCOLL_SUCCESS) return {code, reason.text};
    if (!mirrored_ || step.cell < 0) return {};
    const std::size_t cell = operation_->cell(lane.chunk, step.cell);
    return lane.stream.copy(number(pool + cell), pool_ + cell, bytes);
}

}  // namespace peercoll
