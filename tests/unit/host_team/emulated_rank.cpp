// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/host_team/emulated_rank.hpp"

#include "collectives/allreduce/grouped.hpp"
#include "collectives/allreduce/packets.hpp"
#include "collectives/allreduce/single_copy.hpp"
#include "collectives/allreduce/slots.hpp"
#include "collectives/allreduce/staged.hpp"
#include "collectives/broadcast/packets.hpp"
#include "collectives/broadcast/single_copy.hpp"
#include "collectives/broadcast/staged.hpp"

#include <algorithm>
#include <cstring>

namespace peercoll::test {

namespace {

template <typename Task>
std::function<Progress()> run(Task task) {
    return [task = std::move(task)]() mutable { return task.progress(); };
}

std::function<Progress()> task_of(const Job& job, HostTeam& team, const AllreduceArguments& arguments) {
    switch (job.allreduce) {
        case AllreduceAlgorithm::Packets:
            return run(AllreducePackets(team, arguments));
        case AllreduceAlgorithm::Slots:
            return run(AllreduceSlots(team, arguments, job.stores));
        case AllreduceAlgorithm::Staged:
            return run(AllreduceStaged(team, arguments, job.stores));
        case AllreduceAlgorithm::Grouped:
            return run(AllreduceGrouped(team, arguments, job.stores));
        case AllreduceAlgorithm::SingleCopy:
            return run(AllreduceSingleCopy(team, arguments));
        case AllreduceAlgorithm::Auto:
            break;
    }
    return [] { return Progress::Failed; };
}

std::function<Progress()> task_of(const Job& job, HostTeam& team, const BroadcastArguments& arguments) {
    switch (job.broadcast) {
        case BroadcastAlgorithm::Packets:
            return run(BroadcastPackets(team, arguments));
        case BroadcastAlgorithm::Staged:
            return run(BroadcastStaged(team, arguments, BroadcastStaged::Shape::Flat, job.stores));
        case BroadcastAlgorithm::Grouped:
            return run(BroadcastStaged(team, arguments, BroadcastStaged::Shape::Grouped, job.stores));
        case BroadcastAlgorithm::SingleCopy:
            return run(BroadcastSingleCopy(team, arguments));
        case BroadcastAlgorithm::Auto:
            break;
    }
    return [] { return Progress::Failed; };
}

}  // namespace

Program Program::make(EmulatedTeam& team, std::vector<Job> jobs, std::uint64_t seed) {
    Program program{std::move(jobs), {}, seed};
    for (std::size_t number = 0; number < program.jobs.size(); ++number)
        program.expected.push_back(expected_of(program.jobs[number], number, team, seed));
    return program;
}

void EmulatedRank::begin() {
    const Job& job = program_->jobs[job_];
    if (EmulatedReader* reader = team_->reader(rank_)) reader->refuses = job.refusing_rank == rank_;
    if (job.time_agreement)
        begin_time_agreement(job);
    else if (job.kind == PEERCOLL_ALLREDUCE)
        begin_allreduce(job);
    else
        begin_broadcast(job);
}

void EmulatedRank::begin_allreduce(const Job& job) {
    const std::vector<std::byte> input = input_of(job, job_, rank_, program_->seed);
    source_ = Buffer(job.bytes(), (job_ * 7 + static_cast<std::size_t>(rank_)) % 9);
    std::memcpy(source_.data(), input.data(), input.size());
    result_ = source_.data();
    if (!job.in_place) {
        destination_ = Buffer(job.bytes(), (job_ * 5 + static_cast<std::size_t>(rank_)) % 11);
        std::memset(destination_.data(), 0xEE, job.bytes());
        result_ = destination_.data();
    }
    HostTeam& team = (*team_)[rank_];
    AllreduceArguments arguments;
    arguments.source = source_.data();
    arguments.destination = result_;
    arguments.count = job.count;
    arguments.element_bytes = job.element_bytes();
    arguments.fold = find_fold(job.op, job.datatype);
    arguments.plan = op_is_commutative(job.op) || team.plan().keeps_rank_order() ? &team.plan() : &team_->rank_order();
    task_ = task_of(job, team, arguments);
}

void EmulatedRank::begin_broadcast(const Job& job) {
    destination_ = Buffer(job.count, (job_ * 5 + static_cast<std::size_t>(rank_)) % 11);
    result_ = destination_.data();
    if (rank_ == job.root) {
        const std::vector<std::byte> input = input_of(job, job_, rank_, program_->seed);
        std::memcpy(result_, input.data(), input.size());
    } else {
        std::memset(result_, 0xEE, job.count);
    }
    task_ = task_of(job, (*team_)[rank_], BroadcastArguments{result_, job.count, job.root});
}

void EmulatedRank::begin_time_agreement(const Job& job) {
    TimeAgreement::Times mine;
    const std::vector<std::byte> input = input_of(job, job_, rank_, program_->seed);
    std::memcpy(&mine, input.data(), sizeof mine);
    destination_ = Buffer(sizeof mine, 0);
    result_ = destination_.data();
    task_ = [this, task = TimeAgreement((*team_)[rank_], mine, mine.size(), 90)]() mutable {
        const Progress state = task.progress();
        if (state == Progress::Done) std::memcpy(result_, &task.agreed(), sizeof task.agreed());
        return state;
    };
}

void EmulatedRank::end() {
    const std::vector<std::byte>& expected = program_->expected[job_];
    const auto [wrong, right] = std::mismatch(result_, result_ + expected.size(), expected.begin());
    if (right != expected.end())
        failure_ = "rank " + std::to_string(rank_) + ", job " + std::to_string(job_) + " (" +
                   program_->jobs[job_].name() + "): wrong from byte " + std::to_string(wrong - result_) + " on";
    task_ = nullptr;
    source_ = Buffer();
    destination_ = Buffer();
    ++job_;
}

Progress EmulatedRank::step() {
    if (!task_) begin();
    const Progress state = task_();
    if (state == Progress::Failed)
        failure_ = "rank " + std::to_string(rank_) + ", job " + std::to_string(job_) + " (" +
                   program_->jobs[job_].name() + ") failed";
    if (state == Progress::Done) end();
    return state;
}

}  // namespace peercoll::test
