// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/allreduce/select.hpp"

#include "collectives/host/segment_layout.hpp"

#include <limits>

namespace peercoll {

namespace {

using List = Candidates<AllreduceAlgorithm>;
using Choice = Candidate<AllreduceAlgorithm>;

constexpr std::size_t KiB = 1024;
constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
constexpr int many = std::numeric_limits<int>::max();

constexpr Choice packets{AllreduceAlgorithm::Packets, Stores::Cached};
constexpr Choice slots{AllreduceAlgorithm::Slots, Stores::Cached};
constexpr Choice slots_streaming{AllreduceAlgorithm::Slots, Stores::Streaming};
constexpr Choice staged{AllreduceAlgorithm::Staged, Stores::Cached};
constexpr Choice staged_streaming{AllreduceAlgorithm::Staged, Stores::Streaming};
constexpr Choice single_copy{AllreduceAlgorithm::SingleCopy, Stores::Cached};

// The first row that fits: at most so many ranks, at most so many bytes.
struct Row {
    int ranks;
    std::size_t bytes;
    List candidates;
};

// From measurements on 2 cores (AMD) and 16 cores (Intel), see README, Figures. With two ranks slots read no more than
// any other. Large messages differ from machine to machine: on one the system's copies are the fastest, on the other
// the slowest; streaming stores help where memory is the limit and hurt where the caches would have held the result.
constexpr Row table[] = {
    {2, packet_payload, {packets}},
    {2, 64 * KiB, {slots}},
    {2, 512 * KiB, {slots, single_copy}},
    {2, 1024 * KiB, {slots, staged, staged_streaming, single_copy}},
    {2, 4096 * KiB, {slots, slots_streaming, staged_streaming, single_copy}},
    {2, any, {slots_streaming, slots, staged_streaming, single_copy}},
    {4, 128, {packets}},
    {4, 2 * KiB, {slots}},
    {8, 64, {packets}},
    {8, 512, {slots}},
    {8, 256 * KiB, {staged}},
    {8, any, {staged, staged_streaming, single_copy}},
    {many, 128, {packets}},
    {many, 1024 * KiB, {staged}},
    {many, any, {staged, staged_streaming, single_copy}},
};

const List& from_table(const AllreduceSituation& situation) {
    for (const Row& row : table)
        if (situation.ranks <= row.ranks && situation.bytes <= row.bytes) return row.candidates;
    return std::end(table)[-1].candidates;
}

Choice possible(Choice choice, const AllreduceSituation& situation) {
    if (choice.algorithm == AllreduceAlgorithm::Packets && situation.bytes > packet_max_bytes) return slots;
    if (choice.algorithm == AllreduceAlgorithm::SingleCopy && !situation.single_copy) choice = staged;
    if (choice.algorithm == AllreduceAlgorithm::Staged && situation.groups &&
        situation.forced == AllreduceAlgorithm::Auto)
        choice.algorithm = AllreduceAlgorithm::Grouped;
    if (choice.algorithm == AllreduceAlgorithm::Grouped && !situation.groups)
        choice.algorithm = AllreduceAlgorithm::Staged;
    return choice;
}

}  // namespace

Candidates<AllreduceAlgorithm> select_allreduce(const AllreduceSituation& situation) {
    if (situation.forced != AllreduceAlgorithm::Auto) return {possible({situation.forced, Stores::Cached}, situation)};
    List list;
    for (const Choice& choice : from_table(situation)) list.add(possible(choice, situation));
    return list;
}

}  // namespace peercoll
