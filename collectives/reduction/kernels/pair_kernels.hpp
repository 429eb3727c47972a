// SPDX-License-Identifier: BSD-3-Clause
// Kernels of MINLOC and MAXLOC: pairs of a value and an index in the layout of the C struct, padding included (a result
// has zeros there).
//
// a stays if its value is better, or equal with an index that is not larger; otherwise the result is b, the later
// input. So a NaN on either side gives b, as in MIN and MAX.
#pragma once

#include "collectives/reduction/kernels/float_kernels.hpp"

namespace peercoll::kernels {
namespace {

template <class V, class I>
struct Pair {
    V value;
    I index;
};

template <class V, class I>
struct PairElement {
    using Value = Pair<V, I>;
    static constexpr std::size_t element_bytes = sizeof(Value);
    static constexpr std::size_t index_byte = __builtin_offsetof(Value, index);

    static Value load(const void* base, std::size_t i) {
        return {load_as<V>(base, i * element_bytes), load_as<I>(base, i * element_bytes + index_byte)};
    }
    static void store(void* base, std::size_t i, Value pair) {
        store_float(base, i * element_bytes, pair.value);
        store_as(base, i * element_bytes + index_byte, pair.index);
        unsigned char* const element = static_cast<unsigned char*>(base) + i * element_bytes;
        if constexpr (index_byte > sizeof(V)) {
            __builtin_memset(element + sizeof(V), 0, index_byte - sizeof(V));
        }
        if constexpr (element_bytes > index_byte + sizeof(I)) {
            __builtin_memset(element + index_byte + sizeof(I), 0, element_bytes - index_byte - sizeof(I));
        }
    }
    // & and | rather than && and ||: no branch that depends on the data.
    static Value choose(bool better, Value a, Value b) {
        const bool first = better | ((a.value == b.value) & (a.index <= b.index));
        return {first ? a.value : b.value, first ? a.index : b.index};
    }
};

template <class V, class I>
struct MinLoc : PairElement<V, I> {
    static Pair<V, I> combine(Pair<V, I> a, Pair<V, I> b) { return PairElement<V, I>::choose(a.value < b.value, a, b); }
};

template <class V, class I>
struct MaxLoc : PairElement<V, I> {
    static Pair<V, I> combine(Pair<V, I> a, Pair<V, I> b) { return PairElement<V, I>::choose(a.value > b.value, a, b); }
};

template <class V, class I>
FoldFunction find_pair(peercoll_op_t op) {
    switch (op) {
        case PEERCOLL_MINLOC:
            return fold<MinLoc<V, I>>;
        case PEERCOLL_MAXLOC:
            return fold<MaxLoc<V, I>>;
        default:
            return nullptr;
    }
}

}  // namespace
}  // namespace peercoll::kernels
