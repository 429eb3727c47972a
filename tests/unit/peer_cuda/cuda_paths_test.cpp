// SPDX-License-Identifier: BSD-3-Clause
// Paths proven by the CUDA backend, on simulated nodes: those that hold, and those whose driver says so wrongly.
#include "tests/unit/cuda_device/application.hpp"
#include "tests/unit/peer_devices/party.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <vector>

namespace peercoll::test {
namespace {

using testing::HasSubstr;

// Ranks on a node, each with its devices in use; `look` has what they have found.
void on_node(const std::string& node, const std::vector<std::vector<int>>& devices,
             const std::function<void(Rank&, const DevicePeers&)>& look, const std::vector<const char*>& visible = {}) {
    run_ranks(static_cast<int>(devices.size()), [&](Rank& rank) {
        if (!visible.empty()) ::setenv("CUDA_VISIBLE_DEVICES", visible[static_cast<std::size_t>(rank.rank())], 1);
        Application application({.node = node});
        for (const int device : devices[static_cast<std::size_t>(rank.rank())]) application.use(device);
        peercoll_reason_t reason{};
        ASSERT_EQ(cuda_device().open(&reason), PEERCOLL_SUCCESS) << reason.text;
        {
            ProofCache cache;
            Party party(rank.exchange(), cuda_device());
            const Status status = party.set_up({}, cache);
            ASSERT_TRUE(status.ok()) << status.sentence();
            look(rank, *party.peers);
            const std::uint64_t trials = cache.trials();
            ASSERT_TRUE(party.set_up({}, cache).ok());
            EXPECT_EQ(cache.trials(), trials) << "known by now";
            look(rank, *party.peers);
            EXPECT_EQ(cache.kept(), 0U);
        }
        EXPECT_TRUE(rank.exchange().meet());
        cuda_device().close();
    });
}

bool reach_each_other(const DevicePeers& peers, int a, std::uint32_t on_a, int b, std::uint32_t on_b) {
    const bool there = peers.may_reach(a, on_a, b, on_b);
    EXPECT_EQ(peers.may_reach(b, on_b, a, on_a), there) << "both ends alike";
    return there;
}

TEST(CudaPaths, OfRanksOnOneDeviceAreProven) {
    on_node("devices 1\n", {{0}, {0}, {0}}, [](Rank&, const DevicePeers& peers) {
        ASSERT_EQ(peers.devices().size(), 1U);
        EXPECT_TRUE(peers.may_reach(0, 0, 1, 0));
        EXPECT_TRUE(peers.may_reach(0, 0, 2, 0));
        EXPECT_THAT(peers.path_text(1, 2), HasSubstr("proven by kernel stores and copies, both ways"));
    });
}

TEST(CudaPaths, BetweenTwoDevicesAreProven) {
    on_node("devices 2\n", {{0}, {1}}, [](Rank&, const DevicePeers& peers) {
        EXPECT_TRUE(reach_each_other(peers, 0, 0, 1, 1));
        EXPECT_THAT(peers.path_text(0, 1), HasSubstr("direct loads and stores (proven by"));
    });
}

TEST(CudaPaths, BetweenTwoDevicesOfOneProcessAreProven) {
    on_node("devices 2\n", {{0, 1}},
            [](Rank&, const DevicePeers& peers) { EXPECT_TRUE(reach_each_other(peers, 0, 0, 0, 1)); });
}

TEST(CudaPaths, ThatLoseStoresAreNotUsed) {
    on_node("devices 2\npath all all loses_stores\n", {{0}, {1}}, [](Rank&, const DevicePeers& peers) {
        EXPECT_FALSE(reach_each_other(peers, 0, 0, 1, 1));
        EXPECT_THAT(peers.path_text(0, 1), HasSubstr("a kernel's stores did not arrive"));
    });
}

TEST(CudaPaths, ThatLoseCopiesTooAreNotUsed) {
    on_node("devices 2\npath all all loses_all\n", {{0}, {1}}, [](Rank&, const DevicePeers& peers) {
        EXPECT_FALSE(reach_each_other(peers, 0, 0, 1, 1));
        EXPECT_THAT(peers.path_text(0, 1), HasSubstr("staged through host memory"));
    });
}

TEST(CudaPaths, ThatLoseDataInOneDirectionAreUsedInNone) {
    on_node("devices 2\npath 0 1 loses_all\n", {{0}, {1}},
            [](Rank&, const DevicePeers& peers) { EXPECT_FALSE(reach_each_other(peers, 0, 0, 1, 1)); });
}

TEST(CudaPaths, WhoseHandlesAreRefusedAreNotUsed) {
    on_node("devices 1\nipc refused\n", {{0}, {0}}, [](Rank&, const DevicePeers& peers) {
        EXPECT_FALSE(peers.may_reach(0, 0, 1, 0));
        EXPECT_THAT(peers.path_text(0, 1), HasSubstr("staged through host memory"));
    });
}

TEST(CudaPaths, OfTwoIslandsStayInside) {
    on_node("devices 4\npath 0-1 2-3 no\npath 2-3 0-1 no\n", {{0}, {1}, {2}, {3}}, [](Rank&, const DevicePeers& peers) {
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < 4; ++b)
                EXPECT_EQ(reach_each_other(peers, a, static_cast<std::uint32_t>(a), b, static_cast<std::uint32_t>(b)),
                          a / 2 == b / 2)
                    << a << " " << b;
        EXPECT_THAT(peers.path_text(1, 2), HasSubstr("no peer access"));
    });
}

// As Slurm starts jobs: each rank sees its own device alone, as number 0.
TEST(CudaPaths, BetweenDevicesOfRanksThatSeeOnlyTheirOwnAreProven) {
    on_node("devices 2\n", {{0}, {0}},
            [](Rank&, const DevicePeers& peers) {
                ASSERT_EQ(peers.devices().size(), 2U);
                EXPECT_TRUE(reach_each_other(peers, 0, 0, 1, 1));
                EXPECT_THAT(peers.path_text(0, 1), HasSubstr("direct loads and stores (proven by"));
            },
            {"0", "1"});
}

TEST(CudaPaths, BetweenDevicesOfWhichOneRankSeesBothAreProven) {
    on_node("devices 2\n", {{0}, {1}},
            [](Rank&, const DevicePeers& peers) { EXPECT_TRUE(reach_each_other(peers, 0, 0, 1, 1)); }, {"0", "0,1"});
}

TEST(CudaPaths, ToAnUnseenDeviceThatLoseStoresAreNotUsed) {
    on_node("devices 2\npath all all loses_stores\n", {{0}, {0}},
            [](Rank&, const DevicePeers& peers) {
                EXPECT_FALSE(reach_each_other(peers, 0, 0, 1, 1));
                EXPECT_THAT(peers.path_text(0, 1), HasSubstr("a kernel's stores did not arrive"));
            },
            {"0", "1"});
}

TEST(CudaPaths, ToAnUnseenDeviceOutOfReachAreNotUsed) {
    on_node("devices 2\npath all all no\n", {{0}, {0}},
            [](Rank&, const DevicePeers& peers) {
                EXPECT_FALSE(reach_each_other(peers, 0, 0, 1, 1));
                EXPECT_THAT(peers.path_text(0, 1), HasSubstr("cannot reach each other"));
            },
            {"0", "1"});
}

TEST(CudaPaths, ToAnUnseenDeviceAreNotUsedWhereTheDriverMapsNoneOfThose) {
    on_node("devices 2\nhidden_import refused\n", {{0}, {0}},
            [](Rank&, const DevicePeers& peers) {
                EXPECT_FALSE(reach_each_other(peers, 0, 0, 1, 1));
                EXPECT_THAT(peers.path_text(0, 1), HasSubstr("CUDA_VISIBLE_DEVICES"));
            },
            {"0", "1"});
}

}  // namespace
}  // namespace peercoll::test
