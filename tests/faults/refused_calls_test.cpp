// SPDX-License-Identifier: BSD-3-Clause
// System calls that containers and policies refuse, on all ranks or on one: another path, the same on all, and no hang.
#include "tests/collectives/algorithm_rules.hpp"
#include "tests/faults/sandbox.hpp"
#include "tests/faults/small_job.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

constexpr int everybody = -1;

bool concerns(int who, const Rank& rank) {
    return who == everybody || who == rank.rank();
}

// {ranks, the rank it happens to}
class RefusedCalls : public testing::TestWithParam<std::tuple<int, int>> {
protected:
    int ranks() const { return std::get<0>(GetParam()); }
    int who() const { return std::get<1>(GetParam()); }

    void expect_no_single_copy(const std::function<Refusal()>& restrict_rank, const OptionList& more_options = {}) {
        if (const Refusal refusal = tried(restrict_rank); !refusal.empty()) {
            GTEST_SKIP() << refusal;
        }
        run_ranks(ranks(), [&](Rank& rank) {
            if (concerns(who(), rank)) {
                ASSERT_EQ(restrict_rank(), "");
            }
            OptionList options{"allreduce_algorithm=single_copy", "broadcast_algorithm=single_copy", "peer_check=1s"};
            options.insert(options.end(), more_options.begin(), more_options.end());
            const Context context(options);
            const Comm comm(context, rank.exchange());
            run_small_job(rank, comm.get());
            EXPECT_GT(context.counter("allreduce.served"), 0U);
            EXPECT_EQ(context.counter("allreduce.algorithm.single_copy"), 0U);
            EXPECT_EQ(context.counter("broadcast.algorithm.single_copy"), 0U);
        });
    }
};

TEST(AllowedCalls, AreUsedForSingleCopyWhereNothingIsRefused) {
    if (!machine_allows_single_copy()) {
        GTEST_SKIP() << "this machine lets no process read another's memory";
    }
    run_ranks(2, [](Rank& rank) {
        const Context context({"allreduce_algorithm=single_copy", "broadcast_algorithm=single_copy", "peer_check=1s"});
        const Comm comm(context, rank.exchange());
        run_small_job(rank, comm.get());
        EXPECT_GT(context.counter("allreduce.algorithm.single_copy"), 0U);
        EXPECT_GT(context.counter("broadcast.algorithm.single_copy"), 0U);
    });
}

TEST_P(RefusedCalls, ReadingOtherProcessesMemory) {
    expect_no_single_copy([] { return refuse_system_calls({SYS_process_vm_readv, SYS_process_vm_writev}, EPERM); });
}

TEST_P(RefusedCalls, ReadingOtherProcessesMemoryAsIfTheSystemHadNoSuchCall) {
    expect_no_single_copy([] { return refuse_system_calls({SYS_process_vm_readv, SYS_process_vm_writev}, ENOSYS); });
}

// A broadcast writes too.
TEST_P(RefusedCalls, WritingOtherProcessesMemory) {
    const auto restrict_rank = [] { return refuse_system_calls({SYS_process_vm_writev}, EPERM); };
    if (const Refusal refusal = tried(restrict_rank); !refusal.empty()) {
        GTEST_SKIP() << refusal;
    }
    run_ranks(ranks(), [&](Rank& rank) {
        if (concerns(who(), rank)) {
            ASSERT_EQ(restrict_rank(), "");
        }
        const Context context({"broadcast_algorithm=single_copy", "peer_check=1s"});
        const Comm comm(context, rank.exchange());
        run_small_job(rank, comm.get());
    });
}

TEST_P(RefusedCalls, AnotherUserNamespace) {
    expect_no_single_copy(&enter_user_namespace);
}

TEST_P(RefusedCalls, AnotherUserNamespaceWithSharedMemoryInDevShm) {
    expect_no_single_copy(&enter_user_namespace, {"segment=shm"});
}

TEST_P(RefusedCalls, AnonymousSharedMemory) {
    for (const int error : {EPERM, ENOSYS, EACCES}) {
        const auto restrict_rank = [error] { return refuse_system_calls({SYS_memfd_create}, error); };
        if (const Refusal refusal = tried(restrict_rank); !refusal.empty()) {
            GTEST_SKIP() << refusal;
        }
        run_ranks(ranks(), [&](Rank& rank) {
            if (concerns(who(), rank)) {
                ASSERT_EQ(restrict_rank(), "");
            }
            const Context any({"peer_check=1s"});
            const Comm served(any, rank.exchange(0));
            run_small_job(rank, served.get());
            const Context memfd({"peer_check=1s", "segment=memfd"});
            const Comm demanded(memfd, rank.exchange(0));
            run_small_job_or_agree(rank, demanded.get(), rank.exchange(1));
        });
    }
}

// Where neither kind of shared memory is to be had, nobody is served, and everybody knows it.
TEST_P(RefusedCalls, EverySharedMemory) {
    const auto restrict_rank = [] { return refuse_system_calls({SYS_memfd_create, SYS_open, SYS_openat}, EACCES); };
    if (const Refusal refusal = tried(restrict_rank); !refusal.empty()) {
        GTEST_SKIP() << refusal;
    }
    GroupRules rules;
    rules.look_for_leaks = false;  // it would open files
    run_ranks(
        ranks(),
        [&](Rank& rank) {
            if (concerns(who(), rank)) {
                ASSERT_EQ(restrict_rank(), "");
            }
            const Context context({"peer_check=1s"});
            const Comm comm(context, rank.exchange(0));
            EXPECT_EQ(run_small_job_or_agree(rank, comm.get(), rank.exchange(1)), PEERCOLL_ERR_NOT_SUPPORTED);
        },
        rules);
}

TEST_P(RefusedCalls, ReservingSharedMemory) {
    const auto restrict_rank = [] { return refuse_system_calls({SYS_fallocate}, EOPNOTSUPP); };
    if (const Refusal refusal = tried(restrict_rank); !refusal.empty()) {
        GTEST_SKIP() << refusal;
    }
    run_ranks(ranks(), [&](Rank& rank) {
        if (concerns(who(), rank)) {
            ASSERT_EQ(restrict_rank(), "");
        }
        const Context context({"peer_check=1s"});
        const Comm comm(context, rank.exchange(0));
        run_small_job_or_agree(rank, comm.get(), rank.exchange(1));
    });
}

std::string name_of(const testing::TestParamInfo<std::tuple<int, int>>& info) {
    const int who = std::get<1>(info.param);
    return (who == everybody ? "everybody" : "rank_" + std::to_string(who)) + "_of_" +
           std::to_string(std::get<0>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Who, RefusedCalls,
                         testing::Values(std::tuple{2, everybody}, std::tuple{2, 0}, std::tuple{2, 1},
                                         std::tuple{4, everybody}, std::tuple{4, 0}, std::tuple{4, 2}),
                         name_of);

}  // namespace
}  // namespace peercoll::test
