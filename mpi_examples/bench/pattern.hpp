// SPDX-License-Identifier: BSD-3-Clause
// Inputs whose reductions are exact in every element type, whatever the order of evaluation, and the expected results.
//
// The value of an element is a small integer, a hash of (seed, rank, index):
//   sum        0 .. 100/ranks (0 or 1, on the first 100 ranks only, if there are more), so that int8 does not overflow
//   prod       1 or 2, and 2 on at most six ranks
//   min, max   0 .. 100
//   logical    0 or 1, mostly equal on all ranks so that both results appear
//   bitwise    0 .. 127
// A broadcast sends the root's values of `min`.
#pragma once

#include "elements.hpp"

#include <cstddef>
#include <cstdint>

namespace peercoll::bench {

struct Pattern {
    ElementType element = ElementType::Float;
    Operation operation = Operation::Sum;
    int ranks = 1;
};

// A run of elements in host memory: those from index `first` on of a larger buffer.
struct Part {
    void* elements = nullptr;
    std::size_t first = 0;
    std::size_t count = 0;
};
struct ConstPart {
    const void* elements = nullptr;
    std::size_t first = 0;
    std::size_t count = 0;
};

// The input of `rank`.
void fill_input(const Pattern& pattern, std::uint32_t seed, int rank, const Part& part);

// A byte that no expected result consists of.
constexpr unsigned char poison_byte = 0xA5;

// Elements of `part` that differ from the reduction of all ranks' inputs.
std::size_t count_wrong_reduced(const Pattern& pattern, std::uint32_t seed, const ConstPart& part);

// Elements of `part` that differ from the input of `rank`.
std::size_t count_wrong_copied(const Pattern& pattern, std::uint32_t seed, int rank, const ConstPart& part);

}  // namespace peercoll::bench
