// SPDX-License-Identifier: BSD-3-Clause
// A whole fold: which of the loops for which part of it.
#pragma once

#include "collectives/reduction/device/kernel/element_loops.hpp"
#include "collectives/reduction/device/kernel/vector_loops.hpp"

namespace peercoll::device {

template <class K>
PEERCOLL_DEVICE void fold_all_vectors(const FoldParameters& p, Position at, unsigned long long first_byte) {
    if (p.block_starts == 1) {
        switch (p.n_inputs) {
            case 1:
                return fold_one_block<K, 1>(p, at, first_byte);
            case 2:
                return fold_one_block<K, 2>(p, at, first_byte);
            case 3:
                return fold_one_block<K, 3>(p, at, first_byte);
            case 4:
                return fold_one_block<K, 4>(p, at, first_byte);
            case 5:
                return fold_one_block<K, 5>(p, at, first_byte);
            case 6:
                return fold_one_block<K, 6>(p, at, first_byte);
            case 7:
                return fold_one_block<K, 7>(p, at, first_byte);
            case 8:
                return fold_one_block<K, 8>(p, at, first_byte);
            default:
                break;
        }
    }
    fold_any_blocks<K>(p, at, first_byte);
}

// What is not in vectors.
template <class K>
PEERCOLL_DEVICE void fold_rest(const FoldParameters& p, Position at) {
    using Element = typename K::Element;
    using Part = typename K::Part;
    Elements rest = {p.count, p.count, 0};
    if (p.width == sizeof(Vector)) {
        const unsigned long long in_vectors = p.steps * (sizeof(Vector) / sizeof(Element));
        rest = {p.count - in_vectors, p.head, in_vectors};
    }
    if (p.width >= sizeof(Part)) {
        fold_elements<K, Part>(p, at, rest);
    } else if constexpr (sizeof(Part) > 1) {
        fold_elements<K, UInt8>(p, at, rest);
    }
}

template <class K>
PEERCOLL_DEVICE void fold(const FoldParameters& p, Position at) {
    if (p.width == sizeof(Vector)) {
        fold_all_vectors<typename InVectors<K>::Kernel>(p, at, p.head * sizeof(typename K::Element));
    }
    fold_rest<K>(p, at);
}

// The same without loops of their own for each number of inputs, which small messages do not need.
template <class K>
PEERCOLL_DEVICE void fold_few(const FoldParameters& p, Position at) {
    using Vectors = typename InVectors<K>::Kernel;
    if (p.width == sizeof(Vector)) {
        const unsigned long long first_byte = p.head * sizeof(typename K::Element);
        if (p.n_inputs == 1) {
            fold_one_block<Vectors, 1>(p, at, first_byte);
        } else {
            fold_any_blocks<Vectors>(p, at, first_byte);
        }
    }
    fold_rest<K>(p, at);
}

}  // namespace peercoll::device
