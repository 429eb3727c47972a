// SPDX-License-Identifier: BSD-3-Clause
// A /dev/shm that is too small, full, or closed: a slower path or none, the same on all ranks, and never a SIGBUS.
#include "tests/faults/sandbox.hpp"
#include "tests/faults/small_job.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

// Runs the ranks in a mount namespace of their own.
void run_ranks_with_dev_shm(const std::string& mount_options, bool full, int ranks, const RankFunction& function) {
    const auto enter = [&] {
        Refusal refusal = enter_private_dev_shm(mount_options);
        return refusal.empty() && full ? fill_dev_shm() : refusal;
    };
    if (const Refusal refusal = tried(enter); !refusal.empty()) {
        GTEST_SKIP() << refusal;
    }
    GroupRules outer;
    outer.deadline = std::chrono::seconds(90) * patience;
    run_ranks(
        1,
        [&](Rank&) {
            ASSERT_EQ(enter(), "");
            run_ranks(ranks, function);
        },
        outer);
}

class DevShm : public testing::TestWithParam<int> {};

TEST_P(DevShm, OfOneMegabyteGivesASmallerSegmentThatWorks) {
    run_ranks_with_dev_shm("size=1m", false, GetParam(), [](Rank& rank) {
        const Context context({"segment=shm", "peer_check=1s"});
        const Comm comm(context, rank.exchange());
        run_small_job(rank, comm.get());
        EXPECT_GT(context.counter("segment.bytes"), 0U);
        EXPECT_LE(context.counter("segment.bytes"), 1U << 20);
    });
}

TEST_P(DevShm, OfOneMegabyteWorksWithEveryAlgorithm) {
    for (const char* algorithm : {"packets", "slots", "staged", "single_copy"}) {
        SCOPED_TRACE(algorithm);
        run_ranks_with_dev_shm("size=1m", false, GetParam(), [&](Rank& rank) {
            const Context context(
                {"segment=shm", "peer_check=1s", "allreduce_algorithm=" + std::string(algorithm), "single_copy=off"});
            const Comm comm(context, rank.exchange());
            run_small_job(rank, comm.get());
        });
    }
}

TEST_P(DevShm, ThatCommunicatorsUseUpServesWhatFitsAndRefusesTheRestOnAllRanksAlike) {
    run_ranks_with_dev_shm("size=1m", false, GetParam(), [](Rank& rank) {
        const Context context({"segment=shm", "peer_check=1s"});
        std::vector<std::unique_ptr<Comm>> comms;
        int served = 0;
        int refusals = 0;
        for (int i = 0; i < 24 && rank.failures() == 0; ++i) {
            comms.push_back(std::make_unique<Comm>(context, rank.exchange(0)));
            const auto status = run_small_job_or_agree(rank, comms.back()->get(), rank.exchange(1));
            (status == PEERCOLL_SUCCESS ? served : refusals) += 1;
        }
        EXPECT_GE(served, 1);
        EXPECT_GE(refusals, 1) << "24 segments cannot fit a megabyte";
        comms.clear();
        const Comm again(context, rank.exchange(0));
        run_small_job(rank, again.get());
    });
}

TEST_P(DevShm, ThatIsFullRefusesOnAllRanksAlikeWhenItIsDemanded) {
    run_ranks_with_dev_shm("size=64k", true, GetParam(), [](Rank& rank) {
        const Context context({"segment=shm", "peer_check=1s"});
        const Comm comm(context, rank.exchange(0));
        EXPECT_EQ(run_small_job_or_agree(rank, comm.get(), rank.exchange(1)), PEERCOLL_ERR_NOT_SUPPORTED);
    });
}

TEST_P(DevShm, ThatIsFullIsNotNeeded) {
    run_ranks_with_dev_shm("size=64k", true, GetParam(), [](Rank& rank) {
        const Context context({"peer_check=1s"});
        const Comm comm(context, rank.exchange());
        run_small_job(rank, comm.get());
    });
}

TEST_P(DevShm, ThatNobodyMayEnterIsNotNeeded) {
    run_ranks_with_dev_shm("size=1m,mode=0000", false, GetParam(), [](Rank& rank) {
        const Context context({"peer_check=1s"});
        const Comm comm(context, rank.exchange());
        run_small_job(rank, comm.get());
    });
}

INSTANTIATE_TEST_SUITE_P(Ranks, DevShm, testing::Values(2, 4));

}  // namespace
}  // namespace peercoll::test
