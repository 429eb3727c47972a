// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/broadcast/select.hpp"

#include "collectives/host/segment_layout.hpp"

#include <limits>

namespace peercoll {

namespace {

using List = Candidates<BroadcastAlgorithm>;
using Choice = Candidate<BroadcastAlgorithm>;

constexpr std::size_t KiB = 1024;
constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
constexpr int many = std::numeric_limits<int>::max();

constexpr Choice packets{BroadcastAlgorithm::Packets, Stores::Cached};
constexpr Choice staged{BroadcastAlgorithm::Staged, Stores::Cached};
constexpr Choice staged_streaming{BroadcastAlgorithm::Staged, Stores::Streaming};
constexpr Choice single_copy{BroadcastAlgorithm::SingleCopy, Stores::Cached};

// The first row that fits: at most so many ranks, at most so many bytes.
struct Row {
    int ranks;
    std::size_t bytes;
    List candidates;
};

// From measurements on 2 cores (AMD) and 16 cores (Intel), see README, Figures. With many readers the system's single
// copies hinder each other, because they lock the same pages of the root; with few it depends on the machine.
constexpr Row table[] = {
    {many, 512, {packets}},
    {2, 16 * KiB, {staged}},
    {2, 512 * KiB, {staged, single_copy}},
    {2, any, {staged, staged_streaming, single_copy}},
    {many, 512 * KiB, {staged}},
    {many, any, {staged, staged_streaming}},
};

const List& from_table(const BroadcastSituation& situation) {
    for (const Row& row : table)
        if (situation.ranks <= row.ranks && situation.bytes <= row.bytes) return row.candidates;
    return std::end(table)[-1].candidates;
}

Choice possible(Choice choice, const BroadcastSituation& situation) {
    const bool automatic = situation.forced == BroadcastAlgorithm::Auto;
    if (choice.algorithm == BroadcastAlgorithm::Packets && situation.bytes > packet_max_bytes) choice = staged;
    if (choice.algorithm == BroadcastAlgorithm::SingleCopy && !situation.single_copy) choice = staged;
    if (choice.algorithm == BroadcastAlgorithm::Staged && situation.groups && automatic)
        choice.algorithm = BroadcastAlgorithm::Grouped;
    if (choice.algorithm == BroadcastAlgorithm::Grouped && !situation.groups)
        choice.algorithm = BroadcastAlgorithm::Staged;
    return choice;
}

}  // namespace

Candidates<BroadcastAlgorithm> select_broadcast(const BroadcastSituation& situation) {
    if (situation.forced != BroadcastAlgorithm::Auto) return {possible({situation.forced, Stores::Cached}, situation)};
    List list;
    for (const Choice& choice : from_table(situation)) list.add(possible(choice, situation));
    return list;
}

}  // namespace peercoll
