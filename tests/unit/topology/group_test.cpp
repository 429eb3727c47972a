// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include <algorithm>

#include "nodes.hpp"

namespace peercoll {
namespace {

using Groups = std::vector<std::vector<int>>;

constexpr PlaceLevel all_levels[] = {PlaceLevel::None, PlaceLevel::Cache, PlaceLevel::Numa, PlaceLevel::Package};

RankPlace at(int package, int numa, int cache) {
    return {package, numa, cache, -1, 1};
}

// Rank r sits on cache `caches[r]`; two caches a NUMA node, two NUMA nodes a package.
std::vector<RankPlace> on_caches(const std::vector<int>& caches) {
    std::vector<RankPlace> places;
    for (const int cache : caches) {
        places.push_back(at(cache / 4, cache / 2, cache));
    }
    return places;
}

struct Case {
    const char* situation;
    std::vector<RankPlace> places;
    std::optional<PlaceLevel> wanted;
    PlaceLevel level;
    Groups groups;
};

TEST(GroupingRanks, FollowsTheLevelAskedForOrTheFinestThatDivides) {
    const auto any = std::nullopt;
    const std::vector<RankPlace> filled = on_caches({0, 0, 1, 1, 2, 2, 4, 4});
    const std::vector<RankPlace> interleaved = on_caches({5, 0, 5, 0, 2, 5});
    const std::vector<Case> cases = {
        {"filled, by cache", filled, PlaceLevel::Cache, PlaceLevel::Cache, {{0, 1}, {2, 3}, {4, 5}, {6, 7}}},
        {"filled, by NUMA node", filled, PlaceLevel::Numa, PlaceLevel::Numa, {{0, 1, 2, 3}, {4, 5}, {6, 7}}},
        {"filled, by package", filled, PlaceLevel::Package, PlaceLevel::Package, {{0, 1, 2, 3, 4, 5}, {6, 7}}},
        {"filled, flat", filled, PlaceLevel::None, PlaceLevel::None, {{0, 1, 2, 3, 4, 5, 6, 7}}},
        {"filled, any", filled, any, PlaceLevel::Cache, {{0, 1}, {2, 3}, {4, 5}, {6, 7}}},
        {"interleaved, by cache", interleaved, PlaceLevel::Cache, PlaceLevel::Cache, {{0, 2, 5}, {1, 3}, {4}}},
        {"interleaved, by NUMA node", interleaved, PlaceLevel::Numa, PlaceLevel::Numa, {{0, 2, 5}, {1, 3}, {4}}},
        {"interleaved, by package", interleaved, PlaceLevel::Package, PlaceLevel::Package, {{0, 2, 5}, {1, 3, 4}}},
        {"one rank a cache, any", on_caches({0, 1, 2, 3}), any, PlaceLevel::Numa, {{0, 1}, {2, 3}}},
        {"one rank a cache, by cache", on_caches({3, 2, 1}), PlaceLevel::Cache, PlaceLevel::Cache, {{0}, {1}, {2}}},
        {"one rank a NUMA node, any", on_caches({0, 2, 4, 6}), any, PlaceLevel::Package, {{0, 1}, {2, 3}}},
        {"one rank a package, any", on_caches({0, 4, 8}), any, PlaceLevel::None, {{0, 1, 2}}},
        {"all on one cache, any", on_caches({3, 3, 3}), any, PlaceLevel::None, {{0, 1, 2}}},
        {"all on one cache, by cache", on_caches({3, 3, 3}), PlaceLevel::Cache, PlaceLevel::Cache, {{0, 1, 2}}},
        {"a single rank, any", on_caches({7}), any, PlaceLevel::None, {{0}}},
        {"a single rank, by cache", on_caches({7}), PlaceLevel::Cache, PlaceLevel::Cache, {{0}}},
        {"no rank, any", {}, any, PlaceLevel::None, {}},
        {"no rank, by cache", {}, PlaceLevel::Cache, PlaceLevel::None, {}},
    };
    for (const Case& one : cases) {
        const Grouping grouping = group_ranks(one.places, one.wanted);
        EXPECT_EQ(grouping.groups, one.groups) << one.situation;
        EXPECT_EQ(grouping.level, one.level) << one.situation;
    }
}

TEST(GroupingRanks, ByALevelAtWhichOneRankHasNoPlaceIsOneGroup) {
    std::vector<RankPlace> places = on_caches({0, 0, 4, 4});
    places[2].cache = -1;
    const Grouping grouping = group_ranks(places, PlaceLevel::Cache);
    EXPECT_EQ(grouping.groups, (Groups{{0, 1, 2, 3}}));
    EXPECT_EQ(grouping.level, PlaceLevel::None);
}

TEST(GroupingRanks, TakesTheNextCoarserLevelWhereOneRankHasNoPlaceAtTheFinest) {
    std::vector<RankPlace> places = on_caches({0, 0, 2, 2, 4, 4});
    places[5].cache = -1;
    const Grouping by_numa = group_ranks(places, std::nullopt);
    EXPECT_EQ(by_numa.level, PlaceLevel::Numa);
    EXPECT_EQ(by_numa.groups, (Groups{{0, 1}, {2, 3}, {4, 5}}));
    places[5].numa = -1;
    const Grouping by_package = group_ranks(places, std::nullopt);
    EXPECT_EQ(by_package.level, PlaceLevel::Package);
    EXPECT_EQ(by_package.groups, (Groups{{0, 1, 2, 3}, {4, 5}}));
    places[5].package = -1;
    EXPECT_EQ(group_ranks(places, std::nullopt).groups, (Groups{{0, 1, 2, 3, 4, 5}}));
}

TEST(GroupingRanks, TakesNumaNodesAsFinerWhereOneCacheSpansTwoOfThem) {
    // Sub-NUMA clustering: a package with one L3 and two NUMA nodes.
    const Grouping grouping =
        group_ranks({at(0, 0, 0), at(0, 0, 0), at(0, 1, 0), at(0, 1, 0), at(1, 2, 1), at(1, 3, 1)}, std::nullopt);
    EXPECT_EQ(grouping.level, PlaceLevel::Numa);
    EXPECT_EQ(grouping.groups, (Groups{{0, 1}, {2, 3}, {4}, {5}}));
}

TEST(GroupingRanks, NamesTheInnermostOfLevelsThatDivideAlike) {
    const Grouping grouping = group_ranks({at(0, 0, 0), at(1, 1, 1), at(0, 0, 0)}, std::nullopt);
    EXPECT_EQ(grouping.level, PlaceLevel::Cache);
    EXPECT_EQ(grouping.groups, (Groups{{0, 2}, {1}}));
}

// 1000 ranks dealt like cards to 24 caches: group g is g, g + 24, g + 48, ...
TEST(GroupingRanks, DealsAThousandRanksOnto24Caches) {
    std::vector<int> caches;
    for (int rank = 0; rank < 1000; ++rank) {
        caches.push_back(rank % 24);
    }
    Groups expected(24);
    for (int rank = 0; rank < 1000; ++rank) {
        expected[static_cast<std::size_t>(rank % 24)].push_back(rank);
    }
    const Grouping grouping = group_ranks(on_caches(caches), std::nullopt);
    EXPECT_EQ(grouping.level, PlaceLevel::Cache);
    EXPECT_EQ(grouping.groups, expected);
}

TEST(GroupingRanks, IsAlwaysAPartitionInOrder) {
    // Places without any pattern, some of them unknown: a linear congruence serves as dice.
    unsigned dice = 1;
    const auto roll = [&dice](int sides) {
        dice = dice * 1664525U + 1013904223U;
        return static_cast<int>(dice >> 16) % sides;
    };
    for (int size = 0; size < 40; ++size) {
        std::vector<RankPlace> places;
        for (int rank = 0; rank < size; ++rank) {
            places.push_back(at(roll(3), roll(5), roll(40) == 0 ? -1 : roll(9)));
        }
        for (int choice = -1; choice < 4; ++choice) {
            const Grouping grouping = group_ranks(
                places, choice < 0 ? std::nullopt : std::optional(all_levels[static_cast<std::size_t>(choice)]));
            std::vector<int> all;
            int previous_first = -1;
            for (const std::vector<int>& group : grouping.groups) {
                ASSERT_FALSE(group.empty());
                EXPECT_GT(group.front(), previous_first);
                previous_first = group.front();
                EXPECT_TRUE(std::is_sorted(group.begin(), group.end()));
                all.insert(all.end(), group.begin(), group.end());
            }
            std::vector<int> everyone(static_cast<std::size_t>(size));
            std::iota(everyone.begin(), everyone.end(), 0);
            EXPECT_THAT(all, testing::UnorderedElementsAreArray(everyone));
        }
    }
}

TEST(GroupingRanks, OfARealPlacementGroupsByTheCachesOfTheNode) {
    // One rank a core on the first 32 cores of a node with 8 cores an L3, dealt round robin over its four L3 caches.
    const std::unique_ptr<Topology> topology = load_node(node_file("epyc_2_sockets_128_cores"));
    ASSERT_TRUE(topology);
    std::vector<RankPlace> places;
    Groups expected(4);
    for (int rank = 0; rank < 32; ++rank) {
        places.push_back(topology->place_of({static_cast<unsigned>(8 * (rank % 4) + rank / 4)}));
        expected[static_cast<std::size_t>(rank % 4)].push_back(rank);
    }
    EXPECT_EQ(group_ranks(places, std::nullopt).groups, expected);
}

}  // namespace
}  // namespace peercoll
