// SPDX-License-Identifier: BSD-3-Clause
// Inputs of every rank for one datatype and operation, and what the allreduce must give.
#pragma once

#include <peercoll/peercoll.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace peercoll::test {

// A vector of elements as bytes, at an address any type may have.
class Elements {
public:
    Elements() = default;
    explicit Elements(std::size_t bytes) : bytes_(bytes), storage_((bytes + sizeof(Unit) - 1) / sizeof(Unit)) {}
    std::byte* data() { return reinterpret_cast<std::byte*>(storage_.data()); }
    const std::byte* data() const { return reinterpret_cast<const std::byte*>(storage_.data()); }
    std::size_t size() const { return bytes_; }

private:
    struct alignas(64) Unit {
        std::byte bytes[64];
    };
    std::size_t bytes_ = 0;
    std::vector<Unit> storage_;
};

struct ReductionCase {
    peercoll_datatype_t datatype;
    peercoll_op_t op;
    std::size_t element_bytes;
    std::size_t count;
    std::vector<Elements> inputs;  // of each rank
    Elements expected;

    std::string name() const;
};

// What MPI defines (MPI 4.0, 6.9.2 and 6.9.4), from the tests' own reading; REPLACE and NO_OP take every datatype.
bool mpi_defines(peercoll_op_t op, peercoll_datatype_t datatype);

// Values for which every partial result is exact in the type itself, so that any association gives the same: integers
// are taken modulo 2^n by wide arithmetic, sums of floats are of small integers, products of powers of two.
ReductionCase make_exact_case(peercoll_datatype_t datatype, peercoll_op_t op, int ranks, std::size_t count,
                              std::uint64_t seed);

// Values whose sum and product depend on the association. Expected is the documented plan: ranks are folded in order
// inside each block, and the blocks in order; half types are accumulated in float inside a block and rounded at its
// end. For sums and products of floats and complex numbers, up to float80.
ReductionCase make_rounding_case(peercoll_datatype_t datatype, peercoll_op_t op,
                                 const std::vector<std::vector<int>>& blocks, std::size_t count, std::uint64_t seed);

// The first element whose value differs; padding does not count, and -0 equals 0. For exact cases.
std::optional<std::size_t> first_different_value(peercoll_datatype_t datatype, const std::byte* left,
                                                 const std::byte* right, std::size_t count);
// The first element of which a bit differs; padding does not count.
std::optional<std::size_t> first_different_bits(peercoll_datatype_t datatype, const std::byte* left,
                                                const std::byte* right, std::size_t count);

// Mixes bits well; the same on all ranks.
constexpr std::uint64_t mixed(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
}

}  // namespace peercoll::test
