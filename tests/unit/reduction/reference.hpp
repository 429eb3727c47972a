// SPDX-License-Identifier: BSD-3-Clause
// What a fold must give, byte for byte, computed one element at a time and with none of the code under test.
#pragma once

#include <peercoll/peercoll.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace peercoll::test {

using Bytes = std::vector<unsigned char>;

// `count` elements for input number `input`: numbers of all magnitudes, and here and there zeros of both signs,
// infinities, NaNs with payloads, extreme integers, equal values with different indices. The same in every run.
Bytes make_input(peercoll_datatype_t datatype, std::size_t input, std::size_t count);

// The first n_inputs of `inputs` folded. Integers: exact in 128 bits, then cut to size. Floats: in their own type.
// Halves: in float, then rounded by search.
Bytes expected_fold(peercoll_op_t op, peercoll_datatype_t datatype, const std::vector<Bytes>& inputs,
                    std::size_t n_inputs);

}  // namespace peercoll::test
