// SPDX-License-Identifier: BSD-3-Clause
// Islands: who does what for device buffers of which no device reaches all, by way of host memory that all ranks share.
// A pure function of facts that all ranks have.
//
// An island is the buffers that one actor reaches. An actor is a device with the rank that launches its kernels, or the
// copies of a rank whose device memory nobody else reaches, or the processor of a rank whose buffer is in host memory.
// For each chunk of the message the islands fold their inputs into values in cells of shared memory; one of them, the
// finisher, folds these and its own inputs into the result; the others take it from its cell.
//
//   island A   in0 in1 --fold--> [cell 0] --+               +--> [cell 1] --copy--> out0 out1
//                                           v               |
//   island B                     in2 in3 --fold, finishes --+--> out2 out3
//
// The expression is the reduction plan's, bit by bit. A value may stand for a whole block of the plan. Or it stands for
// the first inputs of a block, and the next island goes on from there; not for half types, whose blocks are accumulated
// in float: then inputs of a block that no island has as a whole cross one by one. The finisher is the island for which
// the fewest values cross; where several are alike they take turns, chunk by chunk.
//
// Used where that takes fewer crossings than staging each rank's buffer would.
#pragma once

#include "collectives/reduction/plan.hpp"

#include <peercoll/peercoll.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace peercoll {

struct DeviceSituation;

struct IslandActor {
    enum class Kind : std::uint8_t { Kernels, Copies, Processor };
    Kind kind = Kind::Processor;
    int rank = 0;
    std::uint32_t device = 0;  // unless Processor
    bool operator==(const IslandActor&) const = default;
};

struct IslandStep {
    struct Input {
        bool is_cell = false;  // else the source of a rank
        int index = 0;         // of the cell or the rank
        bool operator==(const Input&) const = default;
    };
    static Input cell_input(int cell) { return {true, cell}; }
    static Input rank_input(int rank) { return {false, rank}; }

    std::size_t actor = 0;
    std::vector<Input> inputs;
    std::vector<std::uint32_t> block_ends;  // as peercoll_fold_t's
    std::vector<int> outputs;               // the ranks whose destinations are written
    int cell = -1;                          // that is written too; -1: none
    std::size_t turn = 0;                   // how many steps its actor has before this one
};

// The steps for one chunk. A step reads only cells of steps before it.
struct IslandRound {
    std::vector<IslandStep> steps;
    std::vector<std::size_t> writers;   // by cell: the step that writes it
    std::vector<std::size_t> steps_of;  // by actor: how many; at least one
};

struct IslandSchedule {
    std::vector<IslandActor> actors;  // at most one with a device and one processor for each rank
    std::vector<IslandRound> rounds;  // chunk c goes by rounds[c % size]
    std::size_t cells = 0;            // for a chunk; of all rounds
    std::size_t most_steps = 0;       // of one actor for a chunk
    const IslandRound& round(std::uint64_t chunk) const { return rounds[chunk % rounds.size()]; }
};

// What select_device() adds to its own situation where islands may be used.
struct IslandFacts {
    const ReductionPlan* plan = nullptr;  // of an allreduce
    bool rounds_blocks = false;           // the datatype is accumulated in a wider one inside a block
    // The rank that launches kernels on a device.
    std::function<int(std::uint32_t device)> executor_of;  // none: no islands
};

// Nothing where staging crosses as often, or a rank would have to act for two devices.
std::optional<IslandSchedule> schedule_islands(const DeviceSituation& situation);

}  // namespace peercoll
