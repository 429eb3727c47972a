// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/reduction/copies.hpp"

#include <cstring>

namespace peercoll {
namespace {

template <std::size_t element_bytes, bool last>
void copy_one(void* out, const void* const* inputs, std::size_t n_inputs, std::size_t count) {
    const void* in = inputs[last ? n_inputs - 1 : 0];
    if (out != in && count != 0) {
        std::memcpy(out, in, count * element_bytes);
    }
}

template <bool last>
FoldFunction copy_of_size(std::size_t element_bytes) {
    switch (element_bytes) {
        case 1:
            return copy_one<1, last>;
        case 2:
            return copy_one<2, last>;
        case 4:
            return copy_one<4, last>;
        case 8:
            return copy_one<8, last>;
        case 16:
            return copy_one<16, last>;
        case 32:
            return copy_one<32, last>;
        default:
            return nullptr;
    }
}

}  // namespace

FoldFunction find_copy(peercoll_op_t op, std::size_t element_bytes) {
    switch (op) {
        case PEERCOLL_REPLACE:
            return copy_of_size<true>(element_bytes);
        case PEERCOLL_NO_OP:
            return copy_of_size<false>(element_bytes);
        default:
            return nullptr;
    }
}

}  // namespace peercoll
