// SPDX-License-Identifier: BSD-3-Clause
// One input to all outputs, any bytes at any addresses: broadcast, and the operations that choose a rank's value. Moves
// pieces as wide as the addresses are equally far from a multiple of that, at most 16 bytes.
#pragma once

#include "collectives/reduction/device/kernel/numbers.hpp"
#include "collectives/reduction/device/kernel/steps.hpp"

namespace peercoll::device {

template <class Piece>
PEERCOLL_DEVICE Piece load_if(bool wanted, Address address) {
    if constexpr (sizeof(Piece) == sizeof(Vector)) {
        return load_vector_if(wanted, address);
    } else {
        return wanted ? load<Piece>(address) : Piece{};
    }
}

template <class Piece>
PEERCOLL_DEVICE void store_piece(Address address, Piece piece) {
    if constexpr (sizeof(Piece) == sizeof(Vector)) {
        store_vector(address, piece);
    } else {
        store<Piece>(address, piece);
    }
}

template <class Piece>
PEERCOLL_DEVICE void copy_pieces(const FoldParameters& p, Position at) {
    PEERCOLL_NO_UNROLL
    for (Steps steps = first_steps(p, at); steps.begin < p.steps; go_on(p, at, steps)) {
        PEERCOLL_NO_UNROLL
        for (unsigned long long step = steps.begin + at.lane; step < steps.end; step += at.lanes) {
            const unsigned long long byte = p.head + step * sizeof(Piece);
            const Piece piece = load_if<Piece>(true, p.inputs[0] + byte);
            PEERCOLL_NO_UNROLL
            for (unsigned j = 0; j < p.n_outputs; ++j) {
                store_piece(p.outputs[j] + byte, piece);
            }
        }
    }
}

PEERCOLL_DEVICE void copy(const FoldParameters& p, Position at) {
    switch (p.width) {
        case 16:
            copy_pieces<Vector>(p, at);
            break;
        case 8:
            copy_pieces<UInt64>(p, at);
            break;
        case 4:
            copy_pieces<UInt32>(p, at);
            break;
        case 2:
            copy_pieces<UInt16>(p, at);
            break;
        default:
            copy_pieces<UInt8>(p, at);
            break;
    }
    // The bytes before and behind the pieces, by threads from the grid's end.
    const unsigned long long in_pieces = p.steps * p.width;
    PEERCOLL_NO_UNROLL
    for (unsigned long long i = at.threads - 1 - at.thread; i < p.count - in_pieces; i += at.threads) {
        const unsigned long long byte = i < p.head ? i : i + in_pieces;
        const UInt8 value = load<UInt8>(p.inputs[0] + byte);
        PEERCOLL_NO_UNROLL
        for (unsigned j = 0; j < p.n_outputs; ++j) {
            store<UInt8>(p.outputs[j] + byte, value);
        }
    }
}

}  // namespace peercoll::device
