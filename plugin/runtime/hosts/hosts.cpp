// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/hosts/hosts.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace peercoll {

int Hosts::local_number(int rank) const {
    const std::vector<int>& of_node = ranks[static_cast<std::size_t>(node_of[static_cast<std::size_t>(rank)])];
    return static_cast<int>(std::lower_bound(of_node.begin(), of_node.end(), rank) - of_node.begin());
}

std::vector<std::string> Hosts::describe() const {
    const auto speaking = [this](std::size_t of) {
        return fmt::format("{}", fmt::join(ranks[of].begin(), ranks[of].begin() + wire_ranks, " "));
    };
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < ranks.size(); ++i)
        lines.push_back(fmt::format("  node {}: ranks {}", i, fmt::join(ranks[i], " ")));
    lines.push_back(fmt::format("reduction order: {}",
                                rank_order ? "rank order" : "inside each node, then the nodes as a balanced tree"));
    for (std::size_t a = 0; a < ranks.size(); ++a)
        for (std::size_t b = a + 1; b < ranks.size(); ++b)
            lines.push_back(fmt::format("path node {} - node {}: between ranks {} and {} over {}", a, b, speaking(a),
                                        speaking(b), transport));
    return lines;
}

}  // namespace peercoll
