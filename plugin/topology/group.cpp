// SPDX-License-Identifier: BSD-3-Clause
// group_ranks: which ranks share a cache, a NUMA node or a package. Policy only; it knows no machine.
#include "plugin/topology/topology.hpp"

#include <numeric>
#include <unordered_map>

namespace peercoll {
namespace {

std::int32_t object_at(const RankPlace& place, PlaceLevel level) {
    switch (level) {
        case PlaceLevel::Cache:
            return place.cache;
        case PlaceLevel::Numa:
            return place.numa;
        case PlaceLevel::Package:
            return place.package;
        case PlaceLevel::None:
            break;
    }
    return -1;
}

Grouping one_group_of_all(std::size_t ranks) {
    Grouping grouping;
    if (ranks > 0) {
        std::vector<int> all(ranks);
        std::iota(all.begin(), all.end(), 0);
        grouping.groups.push_back(std::move(all));
    }
    return grouping;
}

// Nothing if some rank has no place at this level.
std::optional<Grouping> group_at(const std::vector<RankPlace>& places, PlaceLevel level) {
    Grouping grouping;
    grouping.level = level;
    std::unordered_map<std::int32_t, std::size_t> group_of_object;
    // Ranks are taken in ascending order, so groups come out in the order of their smallest rank.
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
        const std::int32_t object = object_at(places[rank], level);
        if (object < 0) {
            return std::nullopt;
        }
        const auto [found, is_new] = group_of_object.try_emplace(object, grouping.groups.size());
        if (is_new) {
            grouping.groups.emplace_back();
        }
        grouping.groups[found->second].push_back(static_cast<int>(rank));
    }
    return grouping;
}

// A hierarchy pays only if there is something to do inside a group and something between groups.
bool has_two_levels(const Grouping& grouping, std::size_t ranks) {
    return grouping.groups.size() >= 2 && grouping.groups.size() < ranks;
}

}  // namespace

Grouping group_ranks(const std::vector<RankPlace>& places, std::optional<PlaceLevel> wanted) {
    if (wanted) {
        const std::optional<Grouping> grouping = group_at(places, *wanted);
        return grouping && !places.empty() ? *grouping : one_group_of_all(places.size());
    }
    // Finest is what has most groups: which level nests in which depends on the machine (one L3 may span two NUMA
    // nodes, one NUMA node two packages). Of levels that divide the ranks alike the innermost name wins.
    Grouping finest = one_group_of_all(places.size());
    for (const PlaceLevel level : {PlaceLevel::Cache, PlaceLevel::Numa, PlaceLevel::Package}) {
        std::optional<Grouping> grouping = group_at(places, level);
        if (grouping && has_two_levels(*grouping, places.size()) && grouping->groups.size() > finest.groups.size()) {
            finest = std::move(*grouping);
        }
    }
    return finest;
}

}  // namespace peercoll
