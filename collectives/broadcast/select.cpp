// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/broadcast/select.hpp"

#include "collectives/broadcast/packets.hpp"

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
    BroadcastAlgorithm algorithm;
};

// Measured on 2 cores and on 16 (see README, Figures).
// With more readers the system's single copies hinder each other: they lock the same pages of the root.
constexpr std::array<Row, 5> table{{
    {2, packet_max_bytes, BroadcastAlgorithm::Packets},
    {2, 32 * KiB, BroadcastAlgorithm::Staged},
    {2, any, BroadcastAlgorithm::SingleCopy},
    {many, packet_max_bytes, BroadcastAlgorithm::Packets},
    {many, any, BroadcastAlgorithm::Staged},
}};

BroadcastAlgorithm from_table(const BroadcastSituation& situation) {
    for (const Row& row : table)
        if (situation.ranks <= row.ranks && situation.bytes <= row.bytes) return row.algorithm;
    return BroadcastAlgorithm::Staged;
}

}  // namespace

BroadcastAlgorithm select_broadcast(const BroadcastSituation& situation) {
    BroadcastAlgorithm choice = situation.forced == BroadcastAlgorithm::Auto ? from_table(situation) : situation.forced;
    if (choice == BroadcastAlgorithm::Packets && !BroadcastPackets::takes(situation.bytes))
        choice = BroadcastAlgorithm::Staged;
    if (choice == BroadcastAlgorithm::SingleCopy && !situation.single_copy) choice = BroadcastAlgorithm::Staged;
    if (choice == BroadcastAlgorithm::Staged && situation.groups && situation.forced == BroadcastAlgorithm::Auto)
        choice = BroadcastAlgorithm::Grouped;
    if (choice == BroadcastAlgorithm::Grouped && !situation.groups) choice = BroadcastAlgorithm::Staged;
    return choice;
}

}  // namespace peercoll
