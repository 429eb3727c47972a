// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/host_team/schedule.hpp"

#include <random>
#include <string>

namespace peercoll::test {

namespace {

// Chooses who is polled next.
class Scheduler {
public:
    Scheduler(Schedule schedule, std::size_t ranks, std::uint64_t seed)
        : schedule_(schedule), ranks_(ranks), random_(seed), slow_(random_() % ranks) {}

    std::size_t next(Progress last) {
        switch (schedule_) {
            case Schedule::RoundRobin:
                return current_ = (current_ + 1) % ranks_;
            case Schedule::Uniform:
                return current_ = random_() % ranks_;
            case Schedule::Bursts:
                if (left_-- > 0) return current_;
                left_ = static_cast<int>(random_() % 12);
                return current_ = random_() % ranks_;
            case Schedule::AsFarAsItGoes:
                if (last != Progress::Pending) return current_;
                return current_ = random_() % ranks_;
            case Schedule::OneIsSlow:
                if (random_() % 100 == 0) return current_ = slow_;
                if (random_() % 5000 == 0) slow_ = random_() % ranks_;
                return current_ = (slow_ + 1 + random_() % (ranks_ - 1)) % ranks_;
        }
        return 0;
    }

private:
    Schedule schedule_;
    std::size_t ranks_;
    std::mt19937_64 random_;
    std::size_t slow_;
    std::size_t current_ = 0;
    int left_ = 0;
};

std::string where_everybody_is(const std::vector<EmulatedRank>& ranks, const Program& program) {
    std::string text;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        const std::size_t job = ranks[rank].job();
        text += "\n  rank " + std::to_string(rank) + ": job " + std::to_string(job) + " " +
                (ranks[rank].is_done() ? "(at the end)" : program.jobs[job].name());
    }
    return text;
}

}  // namespace

testing::AssertionResult run_all(EmulatedTeam& team, const Program& program, Schedule schedule) {
    std::vector<EmulatedRank> ranks;
    for (int rank = 0; rank < team.size(); ++rank) ranks.emplace_back(team, program, rank);
    Scheduler scheduler(schedule, ranks.size(), program.seed);
    const auto everybody_done = [&] {
        for (const EmulatedRank& rank : ranks)
            if (!rank.is_done()) return false;
        return true;
    };
    // Even the slow rank has its turn many times in so many polls.
    const int patience = 5000 * team.size();
    int idle = 0;
    Progress last = Progress::Pending;
    while (!everybody_done()) {
        EmulatedRank& rank = ranks[scheduler.next(last)];
        last = rank.is_done() ? Progress::Pending : rank.step();
        if (!rank.failure().empty())
            return testing::AssertionFailure() << rank.failure() << where_everybody_is(ranks, program);
        idle = last == Progress::Pending ? idle + 1 : 0;
        if (idle > patience)
            return testing::AssertionFailure() << "nobody gets on any more" << where_everybody_is(ranks, program);
    }
    return testing::AssertionSuccess();
}

}  // namespace peercoll::test
