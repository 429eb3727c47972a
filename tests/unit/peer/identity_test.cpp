// SPDX-License-Identifier: BSD-3-Clause
// Which ranks are on one node, and which can open each other's memory.
#include "plugin/peer/identity.hpp"

#include "tests/support/process_group.hpp"
#include "tests/unit/gather.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <vector>

namespace peercoll {
namespace {

ProcessIdentity somebody() {
    ProcessIdentity identity;
    identity.boot_id = 11;
    identity.shm_device = 22;
    identity.pid_namespace = 33;
    identity.user_namespace = 44;
    identity.start_time = 55;
    identity.pid = 66;
    identity.uid = 77;
    return identity;
}

ProcessIdentity but(const std::function<void(ProcessIdentity&)>& change) {
    ProcessIdentity identity = somebody();
    change(identity);
    return identity;
}

TEST(Nodes, AreOneForProcessesThatDifferOnlyInPidStartAndNamespaces) {
    EXPECT_EQ(
        nodes_of({somebody(), but([](auto& other) { other.pid = 67; }), but([](auto& other) { other.start_time = 99; }),
                  but([](auto& other) { other.pid_namespace = 1; }),
                  but([](auto& other) { other.user_namespace = 1; })}),
        (std::vector<int>{0, 0, 0, 0, 0}));
}

TEST(Nodes, DifferForAnotherKernelAnotherDevShmAndAnotherUser) {
    EXPECT_EQ(nodes_of({somebody(), but([](auto& other) { other.boot_id = 1; }), somebody(),
                        but([](auto& other) { other.shm_device = 1; }), but([](auto& other) { other.uid = 1; }),
                        but([](auto& other) { other.boot_id = 1; })}),
              (std::vector<int>{0, 1, 0, 2, 3, 1}));
}

TEST(Nodes, AreNumberedInTheOrderOfTheirFirstRank) {
    const ProcessIdentity low = but([](auto& other) { other.boot_id = 1; });
    EXPECT_EQ(nodes_of({somebody(), low}), (std::vector<int>{0, 1}));
    EXPECT_EQ(nodes_of({low, somebody()}), (std::vector<int>{0, 1})) << "whatever the values are";
    EXPECT_EQ(nodes_of({}), std::vector<int>{});
}

TEST(Namespaces, AreSharedOnlyIfBothAre) {
    EXPECT_TRUE(share_namespaces(somebody(), but([](auto& other) { other.pid = 1; })));
    EXPECT_FALSE(share_namespaces(somebody(), but([](auto& other) { other.pid_namespace = 1; })));
    EXPECT_FALSE(share_namespaces(somebody(), but([](auto& other) { other.user_namespace = 1; })));
}

TEST(Identity, OfThisProcessHasEveryFact) {
    const ProcessIdentity self = ProcessIdentity::of_this_process();
    EXPECT_EQ(self.pid, getpid());
    EXPECT_EQ(self.uid, geteuid());
    for (const std::uint64_t fact :
         {self.boot_id, self.shm_device, self.pid_namespace, self.user_namespace, self.start_time})
        EXPECT_NE(fact, 0U);
    const ProcessIdentity again = ProcessIdentity::of_this_process();
    EXPECT_EQ(again.start_time, self.start_time);
    EXPECT_EQ(again.boot_id, self.boot_id);
}

TEST(Identity, OfForkedRanksIsOneNodeOfDifferentProcesses) {
    test::run_ranks(3, [](test::Rank& rank) {
        const auto all = test::gather(rank.exchange(), ProcessIdentity::of_this_process());
        EXPECT_EQ(nodes_of(all), (std::vector<int>{0, 0, 0}));
        EXPECT_NE(all[0].pid, all[1].pid);
        EXPECT_TRUE(share_namespaces(all[0], all[2]));
        for (const ProcessIdentity& one : all) EXPECT_TRUE(is_alive(one, all[static_cast<std::size_t>(rank.rank())]));
        EXPECT_TRUE(rank.exchange().meet());  // nobody ends before all have looked
    });
}

}  // namespace
}  // namespace peercoll
