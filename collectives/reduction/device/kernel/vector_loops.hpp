// SPDX-License-Identifier: BSD-3-Clause
// The fast path: vectors of 16 bytes, at addresses that are all equally far from a multiple of 16. Each input is read
// once and each output written once, n * (inputs + outputs) bytes in all, which is also the floor. One vector of each
// input is under way in a thread; more of them made it slower on an H200, since fewer threads then fit.
#pragma once

#include "collectives/reduction/device/kernel/plan_fold.hpp"
#include "collectives/reduction/device/kernel/steps.hpp"

namespace peercoll::device {

PEERCOLL_DEVICE void store_to_all(const FoldParameters& p, unsigned long long byte, Vector vector) {
    PEERCOLL_NO_UNROLL
    for (unsigned j = 0; j < p.n_outputs; ++j) {
        store_vector(p.outputs[j] + byte, vector);
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
    PEERCOLL_NO_UNROLL
    for (Steps steps = first_steps(p, at); steps.begin < p.steps; go_on(p, at, steps)) {
        PEERCOLL_NO_UNROLL
        for (unsigned long long step = steps.begin + at.lane; step < steps.end; step += at.lanes) {
            const unsigned long long byte = first_byte + step * sizeof(Vector);
            Vector inputs[n];
            PEERCOLL_UNROLL
            for (unsigned k = 0; k < n; ++k) {
                inputs[k] = load_vector_if(true, p.inputs[k] + byte);
            }
            store_to_all(p, byte, fold_vectors<K, n>(inputs));
        }
    }
}

// Any number of inputs in any blocks: the vectors at `byte`.
template <class K>
PEERCOLL_DEVICE Vector fold_plan(const FoldParameters& p, unsigned long long byte) {
    constexpr unsigned together = 4;
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
    return result(fold);
}

template <class K>
PEERCOLL_DEVICE void fold_any_blocks(const FoldParameters& p, Position at, unsigned long long first_byte) {
    PEERCOLL_NO_UNROLL
    for (Steps steps = first_steps(p, at); steps.begin < p.steps; go_on(p, at, steps)) {
        PEERCOLL_NO_UNROLL
        for (unsigned long long step = steps.begin + at.lane; step < steps.end; step += at.lanes) {
            const unsigned long long byte = first_byte + step * sizeof(Vector);
            store_to_all(p, byte, fold_plan<K>(p, byte));
        }
    }
}

}  // namespace peercoll::device
