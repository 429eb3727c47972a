// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "collectives/reduction/plan.hpp"

#include <cstddef>

namespace peercoll {

// One allreduce, checked: count > 0, the operation is defined for the datatype.
struct AllreduceArguments {
    const std::byte* source = nullptr;  // == destination: in place
    std::byte* destination = nullptr;
    std::size_t count = 0;
    std::size_t element_bytes = 0;
    FoldFunction fold = nullptr;
    const ReductionPlan* plan = nullptr;  // the communicator's, or rank order for operations that need it

    std::size_t bytes() const { return count * element_bytes; }
};

}  // namespace peercoll
