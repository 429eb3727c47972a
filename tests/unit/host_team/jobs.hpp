// SPDX-License-Identifier: BSD-3-Clause
// Jobs: the collectives that all emulated ranks run one after the other, their inputs, and what must come out.
#pragma once

#include "collectives/algorithms.hpp"
#include "collectives/candidates.hpp"
#include "collectives/host/time_agreement.hpp"
#include "tests/unit/host_team/emulated_team.hpp"

#include <peercoll/peercoll.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace peercoll::test {

struct Job {
    peercoll_collective_t kind = PEERCOLL_ALLREDUCE;
    std::size_t count = 1;
    // Allreduce.
    AllreduceAlgorithm allreduce = AllreduceAlgorithm::Slots;
    peercoll_datatype_t datatype = PEERCOLL_FLOAT32;
    peercoll_op_t op = PEERCOLL_SUM;
    bool in_place = false;
    // Broadcast: of `count` bytes.
    BroadcastAlgorithm broadcast = BroadcastAlgorithm::Packets;
    int root = 0;
    // Instead of a collective: the ranks agree on the times of trials.
    bool time_agreement = false;
    // How results are written, by the algorithms that let one choose.
    Stores stores = Stores::Cached;
    // The rank whose single copies the system refuses in this job; -1: none.
    int refusing_rank = -1;

    std::size_t element_bytes() const;
    std::size_t bytes() const { return count * element_bytes(); }
    std::string name() const;
};

// How jobs are drawn.
struct JobMix {
    int jobs = 100;
    std::size_t most_bytes = 12 * 1024;
    // Now and then a stretch of one algorithm, where ranks run ahead of each other as far as it lets them.
    bool stretches = true;
    // Nothing else: only then can a rank be as many messages ahead as there are slots.
    bool packets_alone = false;
};
std::vector<Job> random_jobs(EmulatedTeam& team, const JobMix& mix, std::uint64_t seed);

// What `rank` brings to job number `number`. Floats have exponents so far apart that their sum depends on its order.
std::vector<std::byte> input_of(const Job& job, std::size_t number, int rank, std::uint64_t seed);

// What every rank must have in the end. An allreduce is evaluated one element at a time, straight from the definition
// of the plan: ranks in order inside each group, then the groups in order; rank order where the operation asks for it.
std::vector<std::byte> expected_of(const Job& job, std::size_t number, EmulatedTeam& team, std::uint64_t seed);

}  // namespace peercoll::test
