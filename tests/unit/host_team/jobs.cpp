// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/host_team/jobs.hpp"

#include "collectives/allreduce/grouped.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace peercoll::test {

namespace {

constexpr peercoll_datatype_t datatypes[] = {PEERCOLL_UINT8, PEERCOLL_FLOAT32, PEERCOLL_FLOAT64,
                                             PEERCOLL_COMPLEX_FLOAT64};

template <typename Value>
Value random_value(std::mt19937_64& random) {
    if constexpr (std::is_integral_v<Value>)
        return static_cast<Value>(random());
    else
        return std::ldexp(static_cast<Value>(random() >> 40) - Value{0x800000}, static_cast<int>(random() % 40) - 20);
}

template <typename Value>
std::vector<std::byte> random_bytes(std::size_t values, std::mt19937_64& random) {
    std::vector<std::byte> bytes(values * sizeof(Value));
    for (std::size_t i = 0; i < values; ++i) {
        const auto value = random_value<Value>(random);
        std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
    }
    return bytes;
}

template <typename Value>
Value value_at(const std::vector<std::byte>& bytes, std::size_t index) {
    Value value;
    std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
    return value;
}

template <typename Value>
std::vector<std::byte> sum_of(const std::vector<std::vector<std::byte>>& inputs,
                              const std::vector<std::vector<int>>& groups) {
    std::vector<std::byte> result(inputs.front().size());
    for (std::size_t i = 0; i < result.size() / sizeof(Value); ++i) {
        Value total{};
        for (std::size_t g = 0; g < groups.size(); ++g) {
            Value partial{};
            for (std::size_t m = 0; m < groups[g].size(); ++m) {
                const auto value = value_at<Value>(inputs[static_cast<std::size_t>(groups[g][m])], i);
                partial = m == 0 ? value : static_cast<Value>(partial + value);
            }
            total = g == 0 ? partial : static_cast<Value>(total + partial);
        }
        std::memcpy(result.data() + i * sizeof total, &total, sizeof total);
    }
    return result;
}

std::vector<std::byte> longest_of(const std::vector<std::vector<std::byte>>& times) {
    TimeAgreement::Times longest{};
    for (const auto& of_rank : times)
        for (std::size_t i = 0; i < longest.size(); ++i)
            longest[i] = std::max(longest[i], value_at<std::uint64_t>(of_rank, i));
    std::vector<std::byte> bytes(sizeof longest);
    std::memcpy(bytes.data(), &longest, sizeof longest);
    return bytes;
}

class Drawing {
public:
    Drawing(EmulatedTeam& team, std::uint64_t seed) : team_(team), random_(seed) {}
    std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }
    bool once_in(std::size_t times) { return below(times) == 0; }

    Job packets() {
        Job job;
        job.kind = once_in(4) ? PEERCOLL_ALLREDUCE : PEERCOLL_BROADCAST;
        job.datatype = PEERCOLL_UINT8;
        job.allreduce = AllreduceAlgorithm::Packets;
        job.broadcast = BroadcastAlgorithm::Packets;
        job.count = 1 + below(2 * packet_payload);
        job.root = static_cast<int>(below(static_cast<std::size_t>(team_.size())));
        return job;
    }

    Job job(std::size_t most_bytes) {
        Job job;
        if (once_in(2)) job.stores = Stores::Streaming;
        if (once_in(12)) {
            job.time_agreement = true;
            job.kind = PEERCOLL_BROADCAST;
            job.count = sizeof(TimeAgreement::Times);
            return job;
        }
        const bool single_copy = team_.reader(0) != nullptr;
        if (once_in(2)) {
            job.kind = PEERCOLL_BROADCAST;
            job.count = message_bytes(most_bytes);
            job.root = static_cast<int>(below(static_cast<std::size_t>(team_.size())));
            std::vector<BroadcastAlgorithm> can{BroadcastAlgorithm::Staged};
            if (job.count <= packet_max_bytes) can = {BroadcastAlgorithm::Packets, BroadcastAlgorithm::Staged};
            if (team_.groups().size() > 1) can.push_back(BroadcastAlgorithm::Grouped);
            if (single_copy) can.push_back(BroadcastAlgorithm::SingleCopy);
            job.broadcast = can[below(can.size())];
            if (job.broadcast == BroadcastAlgorithm::SingleCopy) job.refusing_rank = refusing_rank();
            return job;
        }
        job.datatype = datatypes[below(std::size(datatypes))];
        if (once_in(8)) job.op = PEERCOLL_REPLACE;
        job.count = std::max<std::size_t>(1, message_bytes(most_bytes) / job.element_bytes());
        job.in_place = once_in(3);
        std::vector<AllreduceAlgorithm> can{AllreduceAlgorithm::Slots, AllreduceAlgorithm::Staged};
        if (job.bytes() <= packet_max_bytes) can.push_back(AllreduceAlgorithm::Packets);
        const bool plan_is_rank_order = job.op == PEERCOLL_REPLACE && !team_[0].plan().keeps_rank_order();
        if (AllreduceGrouped::takes(team_[0], plan_is_rank_order ? team_.rank_order() : team_[0].plan()))
            can.push_back(AllreduceAlgorithm::Grouped);
        if (single_copy) can.push_back(AllreduceAlgorithm::SingleCopy);
        job.allreduce = can[below(can.size())];
        if (job.allreduce == AllreduceAlgorithm::SingleCopy) job.refusing_rank = refusing_rank();
        return job;
    }

private:
    // Tiny ones as often as all others, and often the ends of a packet, a line, a cell.
    std::size_t message_bytes(std::size_t most) {
        constexpr std::size_t ends[] = {
            1, 8, 56, 57, 112, packet_max_bytes, packet_max_bytes + 1, 512, 513, 1024, 1025, 2048, 2049, 4096, 4097};
        if (once_in(3)) return std::min(most, ends[below(std::size(ends))]);
        return once_in(2) ? 1 + below(packet_max_bytes) : 1 + below(most);
    }
    int refusing_rank() { return once_in(3) ? static_cast<int>(below(static_cast<std::size_t>(team_.size()))) : -1; }

    EmulatedTeam& team_;
    std::mt19937_64 random_;
};

}  // namespace

std::size_t Job::element_bytes() const {
    return kind == PEERCOLL_BROADCAST ? 1 : datatype_size(datatype);
}

std::string Job::name() const {
    const std::string refused = refusing_rank < 0 ? "" : ", refused by rank " + std::to_string(refusing_rank);
    if (time_agreement) return "an agreement on times";
    if (kind == PEERCOLL_BROADCAST)
        return "broadcast of " + std::to_string(count) + " bytes from " + std::to_string(root) + " by " +
               std::string(broadcast_algorithm_names[static_cast<std::size_t>(broadcast)]) + refused;
    return std::string("allreduce ") + op_name(op) + " of " + std::to_string(count) + " " + datatype_name(datatype) +
           (in_place ? " in place" : "") + " by " +
           std::string(allreduce_algorithm_names[static_cast<std::size_t>(allreduce)]) + refused;
}

std::vector<Job> random_jobs(EmulatedTeam& team, const JobMix& mix, std::uint64_t seed) {
    Drawing drawing(team, seed);
    std::vector<Job> jobs;
    while (static_cast<int>(jobs.size()) < mix.jobs) {
        const Job job = mix.packets_alone ? drawing.packets() : drawing.job(mix.most_bytes);
        const std::size_t times =
            mix.stretches && drawing.once_in(mix.packets_alone ? 2 : 6) ? 2 + drawing.below(20) : 1;
        jobs.insert(jobs.end(), times, job);
    }
    return jobs;
}

std::vector<std::byte> input_of(const Job& job, std::size_t number, int rank, std::uint64_t seed) {
    std::seed_seq sequence{seed, seed >> 32, static_cast<std::uint64_t>(number), static_cast<std::uint64_t>(rank)};
    std::mt19937_64 random(sequence);
    if (job.kind == PEERCOLL_BROADCAST) return random_bytes<unsigned char>(job.count, random);
    switch (job.datatype) {
        case PEERCOLL_FLOAT32:
            return random_bytes<float>(job.count, random);
        case PEERCOLL_FLOAT64:
            return random_bytes<double>(job.count, random);
        case PEERCOLL_COMPLEX_FLOAT64:
            return random_bytes<double>(2 * job.count, random);
        default:
            return random_bytes<unsigned char>(job.bytes(), random);
    }
}

std::vector<std::byte> expected_of(const Job& job, std::size_t number, EmulatedTeam& team, std::uint64_t seed) {
    if (job.kind == PEERCOLL_BROADCAST && !job.time_agreement) return input_of(job, number, job.root, seed);
    if (job.op == PEERCOLL_REPLACE) return input_of(job, number, team.size() - 1, seed);  // the last rank's
    std::vector<std::vector<std::byte>> inputs;
    for (int rank = 0; rank < team.size(); ++rank) inputs.push_back(input_of(job, number, rank, seed));
    if (job.time_agreement) return longest_of(inputs);
    switch (job.datatype) {
        case PEERCOLL_FLOAT32:
            return sum_of<float>(inputs, team.groups());
        case PEERCOLL_UINT8:
            return sum_of<unsigned char>(inputs, team.groups());
        default:  // a complex sum is two sums
            return sum_of<double>(inputs, team.groups());
    }
}

}  // namespace peercoll::test
