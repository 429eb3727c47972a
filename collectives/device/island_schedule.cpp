// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/device/island_schedule.hpp"

#include "collectives/device/select.hpp"

#include <algorithm>
#include <utility>

namespace peercoll {

namespace {

using Kind = IslandActor::Kind;
constexpr std::size_t nobody = SIZE_MAX;

bool is_on_device(const BufferFact& fact) {
    return fact.kind == BufferFact::Shareable || fact.kind == BufferFact::Unshareable;
}

// ---- Who acts for which buffer ----

class Actors {
public:
    explicit Actors(const DeviceSituation& situation) : situation_(&situation) {
        const auto ranks = static_cast<int>(situation.arrivals.size());
        const bool all = situation.collective == PEERCOLL_ALLREDUCE;
        of_source.assign(situation.arrivals.size(), nobody);
        of_destination = of_source;
        for (int rank = 0; rank < ranks; ++rank) {
            const DeviceArrival& arrival = *situation.arrivals[static_cast<std::size_t>(rank)];
            if (all || rank == situation.root) add(rank, arrival.source, of_source);
            if (all || rank != situation.root) add(rank, arrival.destination, of_destination);
        }
    }
    // False if a rank would have to act for two devices.
    bool assign() {
        std::vector<IslandActor> candidates = devices();
        while (true) {
            std::size_t most = 0;
            const IslandActor* best = nullptr;
            for (const IslandActor& candidate : candidates) {
                const auto reached =
                    static_cast<std::size_t>(std::count_if(buffers_.begin(), buffers_.end(), [&](const Buffer& buffer) {
                        return is_left(buffer) && reaches(candidate, buffer);
                    }));
                if (reached > most) {
                    most = reached;
                    best = &candidate;
                }
            }
            if (best == nullptr) break;
            take(*best, [&](const Buffer& buffer) { return reaches(*best, buffer); });
        }
        // Nobody reaches what is left but its own rank.
        for (const Buffer& left : buffers_) {
            if (!is_left(left)) continue;
            IslandActor actor{Kind::Processor, left.rank, 0};
            if (is_on_device(*left.fact)) actor = {Kind::Copies, left.rank, left.fact->device};
            take(actor, [&](const Buffer& buffer) {
                return buffer.rank == actor.rank && is_on_device(*buffer.fact) == is_on_device(*left.fact) &&
                       (actor.kind == Kind::Processor || buffer.fact->device == actor.device);
            });
        }
        for (auto one = all.begin(); one != all.end(); ++one)
            for (auto other = one + 1; other != all.end(); ++other)
                if (one->rank == other->rank && one->kind != Kind::Processor && other->kind != Kind::Processor)
                    return false;
        return true;
    }

    std::vector<IslandActor> all;
    std::vector<std::size_t> of_source;  // by rank; `nobody` where the collective does not read it
    std::vector<std::size_t> of_destination;

private:
    struct Buffer {
        int rank;
        const BufferFact* fact;
        std::vector<std::size_t>* actor_of;  // of_source or of_destination
    };
    void add(int rank, const BufferFact& fact, std::vector<std::size_t>& actor_of) {
        buffers_.push_back({rank, &fact, &actor_of});
    }
    static std::size_t& actor_of(const Buffer& buffer) {
        return (*buffer.actor_of)[static_cast<std::size_t>(buffer.rank)];
    }
    static bool is_left(const Buffer& buffer) { return actor_of(buffer) == nobody; }

    // One for each device with buffers, in the order of these.
    std::vector<IslandActor> devices() const {
        std::vector<IslandActor> list;
        for (const Buffer& buffer : buffers_) {
            if (!is_on_device(*buffer.fact)) continue;
            const IslandActor actor{Kind::Kernels, situation_->islands.executor_of(buffer.fact->device),
                                    buffer.fact->device};
            if (std::find(list.begin(), list.end(), actor) == list.end()) list.push_back(actor);
        }
        return list;
    }
    bool reaches(const IslandActor& actor, const Buffer& buffer) const {
        if (buffer.fact->kind == BufferFact::Shareable)
            return situation_->may_reach(actor.rank, actor.device, buffer.rank, buffer.fact->device);
        // Kernels work only where the whole buffer is: a copy that goes too far is refused, a kernel ends the context.
        return buffer.fact->kind == BufferFact::Unshareable && buffer.fact->allocation_id != 0 &&
               buffer.rank == actor.rank && buffer.fact->device == actor.device;
    }
    template <typename Takes>
    void take(const IslandActor& actor, const Takes& takes) {
        for (const Buffer& buffer : buffers_)
            if (is_left(buffer) && takes(buffer)) actor_of(buffer) = all.size();
        all.push_back(actor);
    }

    const DeviceSituation* situation_;
    std::vector<Buffer> buffers_;
};

// ---- Steps ----

void add_step(IslandRound& round, IslandStep step) {
    step.turn = round.steps_of[step.actor]++;
    if (step.cell >= 0) round.writers.push_back(round.steps.size());
    round.steps.push_back(std::move(step));
}

// The next cell, written by `actor` with the fold of `inputs` as one block.
int add_value(IslandRound& round, std::size_t actor, std::vector<IslandStep::Input> inputs) {
    const int cell = static_cast<int>(round.writers.size());
    IslandStep step;
    step.actor = actor;
    step.block_ends = {static_cast<std::uint32_t>(inputs.size())};
    step.inputs = std::move(inputs);
    step.cell = cell;
    add_step(round, std::move(step));
    return cell;
}

// Neighbours in a block of the plan whose sources one actor reaches.
struct Run {
    std::size_t actor = 0;
    std::vector<int> ranks;
};

std::vector<Run> runs_of(const std::vector<int>& block, const Actors& actors) {
    std::vector<Run> runs;
    for (const int rank : block) {
        const std::size_t actor = actors.of_source[static_cast<std::size_t>(rank)];
        if (runs.empty() || runs.back().actor != actor) runs.push_back({actor, {}});
        runs.back().ranks.push_back(rank);
    }
    return runs;
}

// How many of the first runs become one value, each going on from the one before; what is behind them crosses rank by
// rank, unless it is the finisher's own.
struct Merge {
    std::size_t runs = 0;
    std::size_t crossings = 0;
};

Merge best_merge(const std::vector<Run>& runs, std::size_t finisher, const Actors& actors, bool rounds_blocks) {
    const auto crossings = [&](std::size_t merged) {
        std::size_t sum = merged;
        for (std::size_t i = merged; i < runs.size(); ++i)
            if (runs[i].actor != finisher) sum += runs[i].ranks.size();
        return sum;
    };
    Merge best{0, crossings(0)};
    for (std::size_t merged = 1; merged <= runs.size(); ++merged) {
        const Run& last = runs[merged - 1];
        const bool folds = merged > 1 || last.ranks.size() > 1;
        if (folds && actors.all[last.actor].kind == Kind::Copies) break;
        if (rounds_blocks && folds && runs.size() > 1) break;
        if (crossings(merged) < best.crossings) best = {merged, crossings(merged)};
    }
    return best;
}

bool has_destinations(const Actors& actors, std::size_t actor) {
    return std::find(actors.of_destination.begin(), actors.of_destination.end(), actor) != actors.of_destination.end();
}

std::vector<int> destinations_of(const Actors& actors, std::size_t actor) {
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank < actors.of_destination.size(); ++rank)
        if (actors.of_destination[rank] == actor) ranks.push_back(static_cast<int>(rank));
    return ranks;
}

// The finisher's step, and those that take the result from its cell.
void add_end(IslandRound& round, IslandStep last, const Actors& actors) {
    last.outputs = destinations_of(actors, last.actor);
    bool others = false;
    for (std::size_t actor = 0; actor < actors.all.size(); ++actor)
        others = others || (actor != last.actor && has_destinations(actors, actor));
    const int cell = static_cast<int>(round.writers.size());
    if (others) last.cell = cell;
    const std::size_t finisher = last.actor;
    add_step(round, std::move(last));
    for (std::size_t actor = 0; actor < actors.all.size(); ++actor) {
        if (actor == finisher || !has_destinations(actors, actor)) continue;
        IslandStep take;
        take.actor = actor;
        take.inputs = {IslandStep::cell_input(cell)};
        take.block_ends = {1};
        take.outputs = destinations_of(actors, actor);
        add_step(round, std::move(take));
    }
}

IslandRound allreduce_round(const DeviceSituation& situation, const Actors& actors, std::size_t finisher) {
    IslandRound round;
    round.steps_of.assign(actors.all.size(), 0);
    IslandStep last;
    last.actor = finisher;
    for (const std::vector<int>& block : situation.islands.plan->blocks()) {
        const std::vector<Run> runs = runs_of(block, actors);
        const Merge merge = best_merge(runs, finisher, actors, situation.islands.rounds_blocks);
        int value = -1;
        for (std::size_t i = 0; i < merge.runs; ++i) {
            std::vector<IslandStep::Input> inputs;
            if (value >= 0) inputs.push_back(IslandStep::cell_input(value));
            for (const int rank : runs[i].ranks) inputs.push_back(IslandStep::rank_input(rank));
            value = add_value(round, runs[i].actor, std::move(inputs));
        }
        if (value >= 0) last.inputs.push_back(IslandStep::cell_input(value));
        for (std::size_t i = merge.runs; i < runs.size(); ++i)
            for (const int rank : runs[i].ranks)
                last.inputs.push_back(
                    runs[i].actor == finisher
                        ? IslandStep::rank_input(rank)
                        : IslandStep::cell_input(add_value(round, runs[i].actor, {IslandStep::rank_input(rank)})));
        last.block_ends.push_back(static_cast<std::uint32_t>(last.inputs.size()));
    }
    add_end(round, std::move(last), actors);
    return round;
}

IslandRound broadcast_round(const DeviceSituation& situation, const Actors& actors) {
    IslandRound round;
    round.steps_of.assign(actors.all.size(), 0);
    IslandStep step;
    step.actor = actors.of_source[static_cast<std::size_t>(situation.root)];
    step.inputs = {IslandStep::rank_input(situation.root)};
    step.block_ends = {1};
    add_end(round, std::move(step), actors);
    return round;
}

std::size_t values_of(const DeviceSituation& situation, const Actors& actors, std::size_t finisher) {
    std::size_t sum = 0;
    for (const std::vector<int>& block : situation.islands.plan->blocks())
        sum += best_merge(runs_of(block, actors), finisher, actors, situation.islands.rounds_blocks).crossings;
    return sum;
}

// Those for which the fewest values cross; of these the devices, if there are any.
std::vector<std::size_t> finishers(const DeviceSituation& situation, const Actors& actors, std::size_t& values) {
    values = SIZE_MAX;
    std::vector<std::size_t> best;
    for (const Kind kind : {Kind::Kernels, Kind::Processor}) {
        for (std::size_t actor = 0; actor < actors.all.size(); ++actor) {
            if (actors.all[actor].kind != kind) continue;
            const std::size_t crossing = values_of(situation, actors, actor);
            if (crossing < values) best.clear();
            values = std::min(values, crossing);
            const bool alike = best.empty() || actors.all[best.front()].kind == kind;
            if (crossing == values && alike) best.push_back(actor);
        }
    }
    return best;
}

// ---- Whether it is worth it ----

// Ranks whose buffer is on a device, and how many actors have such buffers.
struct Crossings {
    std::size_t ranks = 0;
    std::size_t actors = 0;
};

Crossings crossings(const Actors& actors, const std::vector<std::size_t>& actor_of) {
    Crossings sum;
    for (std::size_t actor = 0; actor < actors.all.size(); ++actor) {
        if (actors.all[actor].kind == Kind::Processor) continue;
        const auto ranks = static_cast<std::size_t>(std::count(actor_of.begin(), actor_of.end(), actor));
        sum.ranks += ranks;
        sum.actors += ranks > 0 ? 1 : 0;
    }
    return sum;
}

}  // namespace

std::optional<IslandSchedule> schedule_islands(const DeviceSituation& situation) {
    if (!situation.islands.executor_of) return std::nullopt;
    Actors actors(situation);
    if (!actors.assign()) return std::nullopt;
    // A result crosses once for each actor instead of once for each rank.
    const Crossings out = crossings(actors, actors.of_destination);
    if (out.actors >= out.ranks) return std::nullopt;

    IslandSchedule schedule;
    if (situation.collective == PEERCOLL_BROADCAST) {
        schedule.rounds.push_back(broadcast_round(situation, actors));
    } else {
        std::size_t values = 0;
        const std::vector<std::size_t> list = finishers(situation, actors, values);
        if (list.empty() || values >= crossings(actors, actors.of_source).ranks) return std::nullopt;
        for (const std::size_t finisher : list) schedule.rounds.push_back(allreduce_round(situation, actors, finisher));
    }
    for (const IslandRound& round : schedule.rounds) {
        schedule.cells = std::max(schedule.cells, round.writers.size());
        schedule.most_steps =
            std::max(schedule.most_steps, *std::max_element(round.steps_of.begin(), round.steps_of.end()));
    }
    schedule.actors = std::move(actors.all);
    return schedule;
}

}  // namespace peercoll
