// SPDX-License-Identifier: BSD-3-Clause
#include "tests/collectives/allreduce_runner.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace peercoll::test {

bool AllreduceRunner::run(const ReductionCase& wanted, std::size_t from, std::size_t count, bool in_place,
                          Compare compare) {
    const std::size_t bytes = count * wanted.element_bytes;
    const std::byte* values = wanted.inputs[rank_].data() + from * wanted.element_bytes;
    // Different from call to call and from rank to rank, and a multiple of every type's alignment.
    const std::size_t offset = (calls_ + rank_) % 4 * 16;
    ++calls_;

    std::byte* output = output_.place(bytes, offset);
    std::byte* input = in_place ? output : input_.place(bytes, 48 - offset);
    if (!in_place) {
        std::memset(output, 0x5A, bytes);  // what an earlier call left must not pass for a result
    }
    std::memcpy(input, values, bytes);

    const auto describe = [&] {
        return testing::Message() << wanted.name() << ", elements " << from << " to " << from + count
                                  << (in_place ? ", in place" : "") << ", call " << calls_;
    };
    const peercoll_status_t status = plugin.allreduce(input, output, count, wanted.datatype, wanted.op, comm_);
    if (status != PEERCOLL_SUCCESS) {
        ADD_FAILURE() << describe() << ": " << succeeded(status).message();
        return false;
    }
    const std::byte* expected = wanted.expected.data() + from * wanted.element_bytes;
    const auto wrong = compare == Compare::Values ? first_different_value(wanted.datatype, output, expected, count)
                                                  : first_different_bits(wanted.datatype, output, expected, count);
    if (wrong) {
        ADD_FAILURE() << describe() << ": element " << *wrong << " of the result is wrong\n"
                      << "expected bytes "
                      << testing::PrintToString(std::vector<std::byte>(expected + *wrong * wanted.element_bytes,
                                                                       expected + (*wrong + 1) * wanted.element_bytes))
                      << "\n     but are "
                      << testing::PrintToString(std::vector<std::byte>(output + *wrong * wanted.element_bytes,
                                                                       output + (*wrong + 1) * wanted.element_bytes));
        return false;
    }
    if (!output_.guards_are_whole() || (!in_place && !input_.guards_are_whole())) {
        ADD_FAILURE() << describe() << ": bytes outside the buffers were written";
        return false;
    }
    if (!in_place && std::memcmp(input, values, bytes) != 0) {
        ADD_FAILURE() << describe() << ": the input was changed";
        return false;
    }
    return true;
}

}  // namespace peercoll::test
