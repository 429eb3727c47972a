// SPDX-License-Identifier: BSD-3-Clause
// The reduction plan: the one expression that every algorithm of a communicator evaluates, so that the bits are the
// same on all ranks, in all runs, whatever the algorithm.
//
//   blocks {0,1,2} {3,4}:   ((x0 op x1) op x2)  op  (x3 op x4)
//
// Ranks are folded in order inside a block, and the blocks' results in order. One block is the left fold in rank order.
#pragma once

#include "collectives/reduction/host_kernels.hpp"

#include <cstddef>
#include <vector>

namespace peercoll {

class ReductionPlan {
public:
    ReductionPlan() = default;
    explicit ReductionPlan(std::vector<std::vector<int>> blocks);
    static ReductionPlan in_rank_order(int ranks);

    const std::vector<std::vector<int>>& blocks() const { return blocks_; }
    bool is_flat() const { return flat_; }
    // True if reading the blocks one after another gives 0, 1, 2, ...: then operations that do not commute may use it.
    bool keeps_rank_order() const { return keeps_rank_order_; }

    // out = the plan's expression over inputs[rank], `count` elements of `element_bytes`. `out` may be the same address
    // as one of the inputs.
    void evaluate(FoldFunction fold, std::size_t element_bytes, void* out, const void* const* inputs,
                  std::size_t count) const {
        if (flat_)
            fold(out, inputs, blocks_.front().size(), count);
        else
            evaluate_blocks(fold, element_bytes, out, inputs, count);
    }

private:
    void evaluate_blocks(FoldFunction fold, std::size_t element_bytes, void* out, const void* const* inputs,
                         std::size_t count) const;

    std::vector<std::vector<int>> blocks_;
    bool flat_ = true;
    bool keeps_rank_order_ = true;
};

}  // namespace peercoll
