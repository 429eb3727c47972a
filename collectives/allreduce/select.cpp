// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/allreduce/select.hpp"

#include "collectives/allreduce/packets.hpp"

#include <array>
#include <limits>

namespace peercoll {

namespace {

constexpr std::size_t KiB = 1024;
constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
constexpr int many = std::numeric_limits<int>::max();

// The first row that fits: at most so many ranks, at most so many bytes.
struct Row {
    int ranks;
    std::size_t bytes;
    AllreduceAlgorithm algorithm;
};

// Measured on 2 cores and on 16 (see README, Figures). Two ranks read as much with slots as with any other algorithm.
constexpr std::array<Row, 9> table{{
    {2, packet_max_bytes, AllreduceAlgorithm::Packets},
    {2, 128 * KiB, AllreduceAlgorithm::Slots},
    {2, any, AllreduceAlgorithm::Staged},
    {4, packet_max_bytes, AllreduceAlgorithm::Packets},
    {4, 1 * KiB, AllreduceAlgorithm::Slots},
    {4, any, AllreduceAlgorithm::Staged},
    {many, 256, AllreduceAlgorithm::Packets},
    {many, 1 * KiB, AllreduceAlgorithm::Slots},
    {many, any, AllreduceAlgorithm::Staged},
}};

AllreduceAlgorithm from_table(const AllreduceSituation& situation) {
    for (const Row& row : table)
        if (situation.ranks <= row.ranks && situation.bytes <= row.bytes) return row.algorithm;
    return AllreduceAlgorithm::Staged;
}

}  // namespace

AllreduceAlgorithm select_allreduce(const AllreduceSituation& situation) {
    const bool automatic = situation.forced == AllreduceAlgorithm::Auto;
    AllreduceAlgorithm choice = automatic ? from_table(situation) : situation.forced;
    if (choice == AllreduceAlgorithm::Packets && !AllreducePackets::takes(situation.bytes))
        choice = AllreduceAlgorithm::Slots;
    if (choice == AllreduceAlgorithm::SingleCopy && !situation.single_copy) choice = AllreduceAlgorithm::Staged;
    if (choice == AllreduceAlgorithm::Staged && situation.groups && automatic) choice = AllreduceAlgorithm::Grouped;
    if (choice == AllreduceAlgorithm::Grouped && !situation.groups) choice = AllreduceAlgorithm::Staged;
    return choice;
}

}  // namespace peercoll
