// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/nodes/node_tree.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace peercoll {

namespace {

// Two partial results of each level stay in the nearest cache.
constexpr std::size_t piece_bytes = 1024;

struct Piece {
    FoldFunction fold;
    std::size_t element_bytes;
    std::size_t first;  // element
    std::size_t count;
    const void* const* inputs;
    std::byte* partials;  // two of each level
    std::size_t partial_bytes;

    const void* input(int node) const { return static_cast<const std::byte*>(inputs[node]) + first * element_bytes; }
    const void* fold_two(void* out, const void* left, const void* right) const {
        const std::array<const void*, 2> both = {left, right};
        fold(out, both.data(), both.size(), count);
        return out;
    }
    // The value of the leaves [begin, end), in `out` or where it lies already. `out` is written only when all of its
    // inputs have been read.
    const void* value(const NodeTree& tree, int begin, int end, std::size_t level, void* out) const {
        if (end - begin == 1) {
            const int node = tree.node_of(begin);
            return tree.is_first(node) ? fold_two(out, input(node), input(node + 1)) : input(node);
        }
        const int middle = begin + (end - begin) / 2;
        const void* left = value(tree, begin, middle, level + 1, partials + 2 * level * partial_bytes);
        const void* right = value(tree, middle, end, level + 1, partials + (2 * level + 1) * partial_bytes);
        return fold_two(out, left, right);
    }
};

}  // namespace

NodeTree::NodeTree(int nodes) : nodes_(nodes) {
    while (2 * leaves_ <= nodes_) {
        leaves_ *= 2;
        ++levels_;
    }
}

void NodeTree::evaluate(FoldFunction fold, std::size_t element_bytes, void* out, const void* const* inputs,
                        std::size_t count) const {
    if (nodes_ <= 2) {
        fold(out, inputs, static_cast<std::size_t>(nodes_), count);
        return;
    }
    const std::size_t piece = std::max<std::size_t>(1, piece_bytes / element_bytes);
    const std::size_t partial_bytes = piece * element_bytes;
    std::vector<std::byte> partials((2 * static_cast<std::size_t>(levels_) + 2) * partial_bytes);
    for (std::size_t first = 0; first < count; first += piece) {
        const Piece now{fold,   element_bytes,   first,        std::min(piece, count - first),
                        inputs, partials.data(), partial_bytes};
        now.value(*this, 0, leaves_, 0, static_cast<std::byte*>(out) + first * element_bytes);
    }
}

}  // namespace peercoll
