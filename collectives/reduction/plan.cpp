// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/reduction/plan.hpp"

#include "collectives/reduction/input_list.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace peercoll {

namespace {
// A piece of a block's partial result: small enough to stay in L1, large enough to amortise the calls.
constexpr std::size_t piece_bytes = 4096;
constexpr std::size_t max_blocks_on_stack = 16;
constexpr std::size_t line = 64;
}  // namespace

ReductionPlan::ReductionPlan(std::vector<std::vector<int>> blocks) : blocks_(std::move(blocks)) {
    std::vector<int> reading;
    for (const auto& block : blocks_) reading.insert(reading.end(), block.begin(), block.end());
    keeps_rank_order_ = std::is_sorted(reading.begin(), reading.end());
    flat_ = blocks_.size() == 1 && keeps_rank_order_;
}

ReductionPlan ReductionPlan::in_rank_order(int ranks) {
    std::vector<int> block(static_cast<std::size_t>(ranks));
    std::iota(block.begin(), block.end(), 0);
    return ReductionPlan({block});
}

void ReductionPlan::evaluate_blocks(FoldFunction fold, std::size_t element_bytes, void* out, const void* const* inputs,
                                    std::size_t count) const {
    // Partial results of all blocks, a piece at a time, so that `out` is written only after every input of that piece
    // was read. Those of a small message lie close together.
    const std::size_t piece = std::min(count, std::max<std::size_t>(1, piece_bytes / element_bytes));
    const std::size_t partial_bytes = (piece * element_bytes + line - 1) / line * line;
    alignas(64) std::array<std::byte, max_blocks_on_stack * piece_bytes> on_stack;
    std::vector<std::byte> on_heap;
    std::byte* partials = on_stack.data();
    if (blocks_.size() * partial_bytes > on_stack.size()) {
        on_heap.resize(blocks_.size() * partial_bytes);
        partials = on_heap.data();
    }
    std::size_t longest = 0;
    for (const auto& block : blocks_) longest = std::max(longest, block.size());
    InputList block_inputs(std::max(longest, blocks_.size()));
    for (std::size_t done = 0; done < count; done += piece) {
        const std::size_t now = std::min(piece, count - done);
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            const auto& block = blocks_[b];
            for (std::size_t i = 0; i < block.size(); ++i)
                block_inputs[i] = static_cast<const std::byte*>(inputs[block[i]]) + done * element_bytes;
            fold(partials + b * partial_bytes, block_inputs.data(), block.size(), now);
        }
        for (std::size_t b = 0; b < blocks_.size(); ++b) block_inputs[b] = partials + b * partial_bytes;
        fold(static_cast<std::byte*>(out) + done * element_bytes, block_inputs.data(), blocks_.size(), now);
    }
}

}  // namespace peercoll
