// SPDX-License-Identifier: BSD-3-Clause
// Runs one function in several forked processes, the ranks of a group. Inside, ranks use gtest's EXPECT_ and ASSERT_ as
// usual: what fails there is reported in the parent with the rank's number. The group is bounded in time, and
// afterwards nothing may be left: no child, no file in /dev/shm, no descriptor.
#pragma once

#include "tests/support/exchange.hpp"

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace peercoll::test {

// Sanitizers make everything slower; limits that only stop a hang grow with them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
inline constexpr int patience = sanitized ? 6 : 1;

struct GroupArea;

// What a rank's function is given.
class Rank {
public:
    static constexpr int exchange_count = 16;
    static constexpr int word_count = 64;

    Rank(GroupArea& area, int rank, int size, std::chrono::milliseconds exchange_limit)
        : area_(&area), rank_(rank), size_(size), exchange_limit_(exchange_limit) {}

    int rank() const { return rank_; }
    int size() const { return size_; }

    // An allgather over all ranks. Different indexes are independent of each other.
    Exchange exchange(int index = 0) const { return exchange(index, rank_, size_); }
    // The same over some ranks: `member` is this rank's number among them.
    Exchange exchange(int index, int member, int members) const;

    // A word shared by all ranks and the parent, 0 at the start. Its use is the test's.
    std::atomic<std::uint64_t>& word(int index) const;

    // Failures that this rank has had so far: a loop over many cases gives up early.
    int failures() const;

private:
    GroupArea* area_;
    int rank_;
    int size_;
    std::chrono::milliseconds exchange_limit_;
};

struct RankEnd {
    int exit_code = -1;  // -1 if a signal ended it
    int signal = 0;      // 0 if it exited
    bool killed_for_time = false;
};

// The parent's view while the ranks run.
class Supervision {
public:
    Supervision(GroupArea& area, const std::vector<pid_t>& pids) : area_(&area), pids_(&pids) {}
    pid_t pid(int rank) const { return (*pids_)[static_cast<std::size_t>(rank)]; }
    std::atomic<std::uint64_t>& word(int index) const;

private:
    GroupArea* area_;
    const std::vector<pid_t>* pids_;
};

struct GroupRules {
    std::chrono::milliseconds deadline{60'000 * patience};
    // How long the others may go on after one rank has ended badly.
    std::chrono::milliseconds grace{5'000};
    // How long an allgather waits for the other ranks.
    std::chrono::milliseconds exchange_limit{20'000 * patience};
    // Ranks that the test itself kills. Their end is not a failure.
    std::vector<int> expected_losses{};
    // In builds with a leak checker, each rank asks it at its end. Not where the rank cannot open files any more, and
    // not where it has run foreign libraries that leak.
    bool look_for_leaks = true;
    // Called in the parent about once a millisecond.
    std::function<void(const Supervision&)> supervise{};
};

using RankFunction = std::function<void(Rank&)>;

// Reports every failure as a failure of the current test. May be used inside a rank, for a group in a group.
std::vector<RankEnd> run_ranks(int size, const RankFunction& function, const GroupRules& rules = {});

}  // namespace peercoll::test
