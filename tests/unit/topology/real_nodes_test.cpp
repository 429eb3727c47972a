// SPDX-License-Identifier: BSD-3-Clause
// Real nodes, from files that are not part of this repository (CMake: PEERCOLL_REAL_NODES). Expected places were read
// from the files.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "nodes.hpp"

namespace peercoll {
namespace {

using testing::Contains;
using testing::HasSubstr;

class RealNode : public testing::Test {
protected:
    void SetUp() override {
        if (!std::filesystem::is_directory(PEERCOLL_REAL_NODES)) {
            GTEST_SKIP() << "no folder '" << PEERCOLL_REAL_NODES << "' with files of real nodes";
        }
    }
    static std::unique_ptr<Topology> load(const std::string& name) {
        return load_node(std::string(PEERCOLL_REAL_NODES) + "/" + name + ".xml", true);
    }
};

// One rank a core, on `cores` cores of one processor each: their groups by shared cache.
std::vector<std::vector<int>> cache_groups(const Topology& topology, unsigned cores) {
    std::vector<RankPlace> places;
    for (unsigned core = 0; core < cores; ++core) {
        places.push_back(topology.place_of({core}));
    }
    return group_ranks(places, PlaceLevel::Cache).groups;
}

void expect_equal_groups(const std::vector<std::vector<int>>& groups, std::size_t count, std::size_t size) {
    ASSERT_EQ(groups.size(), count);
    for (std::size_t group = 0; group < count; ++group) {
        ASSERT_EQ(groups[group].size(), size);
        EXPECT_EQ(groups[group].front(), static_cast<int>(group * size));
        EXPECT_EQ(groups[group].back(), static_cast<int>(group * size + size - 1));
    }
}

TEST_F(RealNode, EveryFileLoadsAndIsDescribedInLessThan120Lines) {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(PEERCOLL_REAL_NODES)) {
        if (entry.path().extension() == ".xml") {
            ++files;
            const std::unique_ptr<Topology> topology = load_node(entry.path(), true);
            ASSERT_TRUE(topology);
            const std::vector<std::string> lines = topology->describe();
            EXPECT_LT(lines.size(), 120U) << entry.path();
            EXPECT_THAT(lines, Contains(HasSubstr("Package 0"))) << entry.path();
        }
    }
    EXPECT_GT(files, 0);
}

TEST_F(RealNode, Epyc7763Has16CachesOf8Cores) {
    const auto topology = load("epyc_7763_2_sockets_128_cores");
    ASSERT_TRUE(topology);
    expect_equal_groups(cache_groups(*topology, 128), 16, 8);
    EXPECT_EQ(topology->place_of(processors(8, 15)), (RankPlace{0, 0, 1, -1, 8}));
}

TEST_F(RealNode, Epyc9654Has24CachesOf8Cores) {
    const auto topology = load("epyc_9654_2_sockets_192_cores");
    ASSERT_TRUE(topology);
    expect_equal_groups(cache_groups(*topology, 192), 24, 8);
    // PUs c and c + 192 are one core.
    EXPECT_EQ(topology->place_of({100, 292}), (RankPlace{1, 0, 12, 100, 2}));
}

TEST_F(RealNode, XeonMaxHasTwoCachesOf40Cores) {
    const auto topology = load("xeon_max_9460_2_sockets");
    ASSERT_TRUE(topology);
    expect_equal_groups(cache_groups(*topology, 80), 2, 40);
}

TEST_F(RealNode, Power8HasNoSharedCacheAndRanksAreGroupedByNumaNode) {
    const auto topology = load("power8_4xP100_nvlink_distances");
    ASSERT_TRUE(topology);
    EXPECT_EQ(topology->place_of({8}), (RankPlace{0, 0, -1, 1, 1}));
    const Grouping grouping = group_ranks(
        {topology->place_of({0}), topology->place_of({80}), topology->place_of({8}), topology->place_of({88})},
        std::nullopt);
    EXPECT_EQ(grouping.level, PlaceLevel::Numa);
    EXPECT_EQ(grouping.groups, (std::vector<std::vector<int>>{{0, 2}, {1, 3}}));
}

TEST_F(RealNode, Power8ShowsItsTwoNvlinkIslands) {
    const auto topology = load("power8_4xP100_nvlink_distances");
    ASSERT_TRUE(topology);
    EXPECT_THAT(topology->describe(),
                Contains("    nvml0      1000000    40000        0        0      40000          0"));
}

TEST_F(RealNode, Dgx2JoinsAllSixteenGpusThroughNvswitches) {
    const auto topology = load("nvidia_dgx2_16xV100_nvswitch");
    ASSERT_TRUE(topology);
    EXPECT_THAT(topology->describe(),
                Contains(testing::AllOf(HasSubstr("NVLinkBandwidth"), HasSubstr("150000 between any two of"),
                                        HasSubstr("nvml0, "), HasSubstr(", nvml15"))));
}

TEST_F(RealNode, TiogaHasAGpuBesideEachCacheInAnotherOrder) {
    const auto topology = load("llnl_tioga_8xMI250X_gcd");
    ASSERT_TRUE(topology);
    // Two processors a core, c and c + 64; 8 cores an L3, 16 a NUMA node.
    EXPECT_EQ(topology->place_of({20, 84}), (RankPlace{0, 1, 2, 20, 2}));
    const std::vector<std::string> lines = topology->describe();
    const auto cache = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
        return line.find("L3 cache 0:") != std::string::npos;
    });
    ASSERT_GT(lines.end() - cache, 2);
    EXPECT_THAT(cache[2], HasSubstr("rsmi4"));
}

TEST_F(RealNode, LassenGroupsTheCoresOfAnL3ByTwos) {
    const auto topology = load("llnl_lassen_power9_4xV100");
    ASSERT_TRUE(topology);
    // Core 0 has PUs 8-11 and core 1 PUs 12-15, both of L3 0.
    EXPECT_EQ(topology->place_of(processors(8, 15)), (RankPlace{0, 0, 0, -1, 8}));
    EXPECT_EQ(topology->place_of(processors(12, 15)), (RankPlace{0, 0, 0, 1, 4}));
    EXPECT_EQ(topology->place_of(processors(12, 16)), (RankPlace{0, 0, -1, -1, 5}));
}

}  // namespace
}  // namespace peercoll
