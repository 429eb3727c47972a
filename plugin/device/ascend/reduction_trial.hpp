// SPDX-License-Identifier: BSD-3-Clause
// A reduction on the device, compared bit by bit with the host's.
#pragma once

#include "plugin/device/ascend/reductions.hpp"

#include <cstddef>
#include <vector>

namespace peercoll::ascend {

// The values that tell, each paired with each: two vectors of the same number of elements.
struct TrialValues {
    std::vector<std::byte> left;
    std::vector<std::byte> right;
    std::size_t count = 0;
};
TrialValues trial_values(peercoll_datatype_t datatype);

// With the device current. False also where it cannot be tried.
bool try_reduction(const AclFunctions& acl, peercoll_datatype_t datatype, peercoll_op_t op, const Reduction& reduction);

}  // namespace peercoll::ascend
