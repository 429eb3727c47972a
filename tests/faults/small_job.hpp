// SPDX-License-Identifier: BSD-3-Clause
// A few collectives of all magnitudes with checked results: what has to work in every environment that is served at
// all.
#pragma once

#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace peercoll::test {

// One sum of `count` numbers. The first failure ends it.
inline void check_sum(const Rank& rank, peercoll_comm_t comm, std::size_t count) {
    std::vector<std::int64_t> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = static_cast<std::int64_t>(i) + rank.rank();
    }
    ASSERT_TRUE(succeeded(plugin.allreduce(values.data(), values.data(), count, PEERCOLL_INT64, PEERCOLL_SUM, comm)));
    const std::int64_t ranks = rank.size();
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(values[i], ranks * static_cast<std::int64_t>(i) + ranks * (ranks - 1) / 2) << "element " << i;
    }
}

inline void check_broadcast(const Rank& rank, peercoll_comm_t comm, std::size_t count, int root) {
    std::vector<std::int64_t> values(count, rank.rank() == root ? root + 5 : -1);
    ASSERT_TRUE(succeeded(plugin.broadcast(values.data(), count * sizeof(values[0]), root, comm)));
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(values[i], root + 5) << "element " << i;
    }
}

inline void run_small_job(const Rank& rank, peercoll_comm_t comm) {
    for (const std::size_t count : {1UL, 20UL, 700UL, 20'000UL, 150'000UL, 400'000UL}) {
        SCOPED_TRACE(testing::Message() << count << " numbers");
        check_sum(rank, comm, count);
        if (testing::Test::HasFatalFailure() || rank.failures() > 0) {
            return;
        }
        for (int root = 0; root < rank.size(); ++root) {
            check_broadcast(rank, comm, count, root);
            if (rank.failures() > 0) {
                return;
            }
        }
    }
}

// The first collective of a communicator, in an environment where it may be refused: all ranks get the same answer, it
// is one of the two that are allowed, and if it is served, everything works. Returns the answer.
inline peercoll_status_t run_small_job_or_agree(const Rank& rank, peercoll_comm_t comm, Exchange report) {
    std::int64_t one = 1;
    const peercoll_status_t status = plugin.allreduce(&one, &one, 1, PEERCOLL_INT64, PEERCOLL_SUM, comm);
    std::vector<peercoll_status_t> answers(static_cast<std::size_t>(rank.size()));
    EXPECT_TRUE(report.allgather(&status, answers.data(), sizeof(status)));
    for (const peercoll_status_t answer : answers) {
        EXPECT_EQ(answer, status) << "the ranks got different answers";
    }
    if (status == PEERCOLL_SUCCESS) {
        EXPECT_EQ(one, rank.size());
        run_small_job(rank, comm);
    } else {
        EXPECT_TRUE(refused(status, PEERCOLL_ERR_NOT_SUPPORTED));
    }
    return status;
}

// Time since an arbitrary moment, the same for all processes, for words shared between them.
inline std::uint64_t now_in_milliseconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

}  // namespace peercoll::test
