// SPDX-License-Identifier: BSD-3-Clause
// The fast path: vectors of 16 bytes, at addresses that are all equally far from a multiple of 16. Each input is read
// once and each output written once, n * (inputs + outputs) bytes in all, which is also the floor. A thread has about
// 128 bytes under way before it waits: inputs may be in the memory of another device.
#pragma once

#include "collectives/reduction/device/kernel/plan_fold.hpp"

namespace peercoll::device {

// Vectors number first, first + stride, ... as far as there are as many.
template <unsigned n>
PEERCOLL_DEVICE void store_to_all(const FoldParameters& p, unsigned long long first_byte, unsigned long long first,
                                  unsigned long long stride, const Vector (&vectors)[n]) {
    PEERCOLL_NO_UNROLL
    for (unsigned j = 0; j < p.n_outputs; ++j) {
        const Address out = p.outputs[j] + first_byte;
        PEERCOLL_UNROLL
        for (unsigned u = 0; u < n; ++u) {
            const unsigned long long step = first + u * stride;
            if (step < p.steps) {
                store_vector(out + step * sizeof(Vector), vectors[u]);
            }
        }
    }
}

// n inputs of one block. One input is a copy, bit for bit.
template <class K, unsigned n>
PEERCOLL_DEVICE Vector fold_vectors(const Vector (&inputs)[n]) {
    if constexpr (n == 1) {
        return inputs[0];
    } else {
        using Vectors = Lanes<K, Vector>;
        Vectors out;
        Vectors in[n];
        PEERCOLL_UNROLL
        for (unsigned k = 0; k < n; ++k) {
            in[k].storage = inputs[k];
        }
        PEERCOLL_UNROLL
        for (unsigned lane = 0; lane < Vectors::count; ++lane) {
            typename K::Value value = K::unpack(in[0].element[lane]);
            PEERCOLL_UNROLL
            for (unsigned k = 1; k < n; ++k) {
                value = K::combine(value, K::unpack(in[k].element[lane]));
            }
            out.element[lane] = K::pack(value);
        }
        return out.storage;
    }
}

// The number of inputs is known to the compiler, and they are one block. `first_byte` is where the vectors begin.
template <class K, unsigned n>
PEERCOLL_DEVICE void fold_one_block(const FoldParameters& p, Position at, unsigned long long first_byte) {
    constexpr unsigned together = n == 1 ? 4 : n >= 8 ? 1 : 8 / n;
    PEERCOLL_NO_UNROLL
    for (unsigned long long i = at.thread; i < p.steps; i += together * at.threads) {
        Vector inputs[together][n];
        PEERCOLL_UNROLL
        for (unsigned u = 0; u < together; ++u) {
            const unsigned long long step = i + u * at.threads;
            PEERCOLL_UNROLL
            for (unsigned k = 0; k < n; ++k) {
                inputs[u][k] = load_vector_if(step < p.steps, p.inputs[k] + first_byte + step * sizeof(Vector));
            }
        }
        Vector results[together];
        PEERCOLL_UNROLL
        for (unsigned u = 0; u < together; ++u) {
            results[u] = fold_vectors<K, n>(inputs[u]);
        }
        store_to_all(p, first_byte, i, at.threads, results);
    }
}

// Any number of inputs in any blocks.
template <class K>
PEERCOLL_DEVICE void fold_any_blocks(const FoldParameters& p, Position at, unsigned long long first_byte) {
    constexpr unsigned together = 4;
    PEERCOLL_NO_UNROLL
    for (unsigned long long step = at.thread; step < p.steps; step += at.threads) {
        const unsigned long long byte = first_byte + step * sizeof(Vector);
        PlanFold<K, Vector> fold;
        start(fold);
        PEERCOLL_NO_UNROLL
        for (unsigned k = 0; k < p.n_inputs; k += together) {
            Vector inputs[together];
            PEERCOLL_UNROLL
            for (unsigned u = 0; u < together; ++u) {
                const unsigned input = k + u < p.n_inputs ? k + u : k;
                inputs[u] = load_vector_if(k + u < p.n_inputs, p.inputs[input] + byte);
            }
            PEERCOLL_UNROLL
            for (unsigned u = 0; u < together; ++u) {
                if (k + u < p.n_inputs) {
                    add_input(fold, k + u, (p.block_starts >> (k + u) & 1) != 0, inputs[u]);
                }
            }
        }
        const Vector results[] = {result(fold)};
        store_to_all(p, first_byte, step, at.threads, results);
    }
}

}  // namespace peercoll::device
