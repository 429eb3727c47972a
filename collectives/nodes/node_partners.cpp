// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/nodes/node_partners.hpp"

#include "collectives/nodes/allreduce_doubling.hpp"

#include <algorithm>
#include <bit>

namespace peercoll {

namespace {

// Of a batch, each with a node on either side.
constexpr int distances_at_a_time = 16;

void add_both_sides(int nodes, int node, int distance, std::vector<int>& partners) {
    partners.push_back((node + distance) % nodes);
    partners.push_back((node + nodes - distance) % nodes);
}

void sort_once_each(std::vector<int>& partners) {
    std::sort(partners.begin(), partners.end());
    partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
}

bool is_power(int number) {
    return std::has_single_bit(static_cast<unsigned>(number));
}

}  // namespace

std::vector<int> set_up_partners(int nodes, int node) {
    std::vector<int> partners;
    if (nodes <= most_nodes_in_full) {
        for (int other = 0; other < nodes; ++other)
            if (other != node) partners.push_back(other);
        return partners;
    }
    for (int distance = 1; distance < nodes; distance *= 2) add_both_sides(nodes, node, distance, partners);
    const NodeShare share{nodes, node, 1, 1, nullptr};
    for (int number = 0; number < nodes_doubling::rounds(share); ++number) {
        const Round round = nodes_doubling::round(share, number);
        for (const NodeMessage& message : round.sends) partners.push_back(message.node);
        for (const NodeMessage& message : round.receives) partners.push_back(message.node);
    }
    sort_once_each(partners);
    return partners;
}

bool needs_late_partners(NodeAllreduce algorithm, int nodes) {
    const bool all_with_all = algorithm == NodeAllreduce::Direct || algorithm == NodeAllreduce::RankOrder;
    return all_with_all && late_batches(nodes) > 0;
}

int late_batches(int nodes) {
    if (nodes <= most_nodes_in_full) return 0;
    return (nodes / 2 + distances_at_a_time - 1) / distances_at_a_time;
}

std::vector<int> late_partners(int nodes, int node, int batch) {
    std::vector<int> partners;
    const int first = 1 + batch * distances_at_a_time;
    const int last = std::min(nodes / 2, first + distances_at_a_time - 1);
    for (int distance = first; distance <= last; ++distance)
        if (!is_power(distance) && !is_power(nodes - distance)) add_both_sides(nodes, node, distance, partners);
    sort_once_each(partners);
    return partners;
}

}  // namespace peercoll
