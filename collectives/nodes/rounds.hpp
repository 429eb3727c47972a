// SPDX-License-Identifier: BSD-3-Clause
// What one node does in a schedule between nodes, round by round: messages that start together, and what is computed
// when all of them have arrived. A schedule is a pure function from (nodes, node, round) to such a round, so it runs
// with or without wires.
#pragma once

#include "collectives/host/slices.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace peercoll {

// Where elements lie on a node. Result: what becomes the result, and before that is this node's own contribution.
// Input: the contribution of one rank of this node, where those are not folded first.
enum class Place : std::uint8_t { Result, Scratch, Input };

struct PlacedAt {
    Place place = Place::Result;
    std::size_t at = 0;  // Scratch: first element; Input: the rank's number in its node
};

struct NodeMessage {
    int node = 0;  // the other one
    Slice range;   // of the message that is reduced
    PlacedAt where;
};

// result[range] = the inputs, in this order, as a balanced tree or (flat) from left to right.
struct Combine {
    Slice range;
    std::vector<PlacedAt> inputs;
    bool flat = false;
};

struct Round {
    std::vector<NodeMessage> receives;
    std::vector<NodeMessage> sends;
    std::vector<Combine> combines;
};

// One node's view of what is to be reduced.
struct NodeShare {
    int nodes = 1;
    int node = 0;
    std::size_t count = 0;                                 // elements
    std::size_t granule = 1;                               // elements that stay together
    const std::vector<std::vector<int>>* ranks = nullptr;  // of each node, ascending

    Slice whole() const { return {0, count}; }
    // What node `owner` reduces where each node reduces a part.
    Slice slice(int owner) const {
        return slice_of(count, static_cast<std::size_t>(nodes), static_cast<std::size_t>(owner), granule);
    }
};

}  // namespace peercoll
