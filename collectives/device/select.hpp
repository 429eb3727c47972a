// SPDX-License-Identifier: BSD-3-Clause
// What is done about a call whose buffers may be on devices: a pure function of facts that all ranks share.
#pragma once

#include "collectives/device/device_segment.hpp"
#include "collectives/device/island_schedule.hpp"
#include "plugin/common/inline_list.hpp"

#include <peercoll/peercoll.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace peercoll {

// How many ranks launch work. Auto: one for each device, or one for all where the message is small.
enum class Executors : std::uint8_t { Auto, One, PerDevice, PerRank };

// What is done with device buffers: folds by kernels that read and write all ranks' buffers, or copies through host
// memory around a host algorithm. One-shot: each device reads all inputs and writes its own ranks' outputs. Two-shot:
// each device reads a part of all inputs and writes that part of all outputs. Fused: the better of the two. Where no
// device reaches all buffers, all but Staged mean folds by island (island_schedule.hpp), if that is worth it.
enum class DeviceAlgorithm : std::uint8_t { Auto, Fused, OneShot, TwoShot, Staged };

// A rank that acts for others: its device folds elements [first, last) of all inputs into all outputs, or into those of
// the ranks on its device alone.
struct Executor {
    int rank = 0;
    std::uint32_t device = 0;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    bool own_outputs = false;
    bool operator==(const Executor&) const = default;
};

struct DeviceChoice {
    enum class Path : std::uint8_t { Host, Staged, Islands, Fused };
    static constexpr std::size_t most_executors = PEERCOLL_FOLD_MOST;
    Path path = Path::Host;
    InlineList<Executor, most_executors> executors;
    bool single_copy = true;  // of Host and Staged: false if a buffer is pinned memory
    const char* reason = "";  // why not Fused, for people
    IslandSchedule islands;   // of Islands
};

struct DeviceSituation {
    peercoll_collective_t collective = PEERCOLL_ALLREDUCE;
    int root = 0;             // of a broadcast
    std::uint64_t count = 0;  // elements; a broadcast's are bytes
    std::size_t element_bytes = 1;
    std::vector<const DeviceArrival*> arrivals;  // by rank
    // Whether the executor's kernels on device `from` reach what `owner` has on device `to`.
    std::function<bool(int executor, std::uint32_t from, int owner, std::uint32_t to)> may_reach;
    DeviceAlgorithm algorithm = DeviceAlgorithm::Auto;
    Executors executors = Executors::Auto;
    IslandFacts islands;
};

DeviceChoice select_device(const DeviceSituation& situation);

}  // namespace peercoll
