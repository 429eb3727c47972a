// SPDX-License-Identifier: BSD-3-Clause
// NodeTree: the reduction plan's level of nodes: a balanced binary tree that keeps the nodes' order, whatever their
// number.
//
//   5 nodes:   ((0 1) 2) (3 4)        the first 2r are paired, so that a power of two is left
//   6 nodes:   ((0 1) (2 3)) (4 5)
//   8 nodes:   ((0 1) (2 3)) ((4 5) (6 7))
//
// Every schedule between nodes evaluates this expression, so its bits do not depend on which one was chosen.
#pragma once

#include "collectives/reduction/host_kernels.hpp"

#include <cstddef>

namespace peercoll {

class NodeTree {
public:
    explicit NodeTree(int nodes);

    int nodes() const { return nodes_; }
    // Leaves of the full tree that is left when the first nodes are paired: the largest power of two that fits.
    int leaves() const { return leaves_; }
    int levels() const { return levels_; }
    int pairs() const { return nodes_ - leaves_; }
    // The second one of a pair: it takes part through the first.
    bool is_second(int node) const { return node < 2 * pairs() && node % 2 == 1; }
    bool is_first(int node) const { return node < 2 * pairs() && node % 2 == 0; }
    int leaf_of(int node) const { return node < 2 * pairs() ? node / 2 : node - pairs(); }
    // The node that stands for a leaf.
    int node_of(int leaf) const { return leaf < pairs() ? 2 * leaf : leaf + pairs(); }

    // out = the expression over one input of each node, in their order. `out` may be the same address as one of them.
    void evaluate(FoldFunction fold, std::size_t element_bytes, void* out, const void* const* inputs,
                  std::size_t count) const;

private:
    int nodes_;
    int leaves_ = 1;
    int levels_ = 0;
};

}  // namespace peercoll
