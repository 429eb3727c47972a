// SPDX-License-Identifier: BSD-3-Clause
// The path for everything else: one element at a time, moved in pieces. For the edges before and behind the vectors,
// and for addresses that are not equally far from a multiple of 16.
#pragma once

#include "collectives/reduction/device/kernel/plan_fold.hpp"

namespace peercoll::device {

template <class Element, class Piece>
union Pieces {
    static constexpr unsigned count = sizeof(Element) / sizeof(Piece);
    Element element;
    Piece piece[count];
};

template <class Element, class Piece>
PEERCOLL_DEVICE Element load_in_pieces(Address address) {
    Pieces<Element, Piece> pieces;
    PEERCOLL_UNROLL
    for (unsigned i = 0; i < pieces.count; ++i) {
        pieces.piece[i] = load<Piece>(address + i * sizeof(Piece));
    }
    return pieces.element;
}

template <class Element, class Piece>
PEERCOLL_DEVICE void store_in_pieces(Address address, Element element) {
    Pieces<Element, Piece> pieces;
    pieces.element = element;
    PEERCOLL_UNROLL
    for (unsigned i = 0; i < pieces.count; ++i) {
        store<Piece>(address + i * sizeof(Piece), pieces.piece[i]);
    }
}

// Which elements a loop is over: `count` of them, as if those from `skip_at` on, `skipped` in number, were not there.
struct Elements {
    unsigned long long count;
    unsigned long long skip_at;
    unsigned long long skipped;
};

// Threads are taken from the grid's end, since those at its beginning have more vectors.
template <class K, class Piece>
PEERCOLL_DEVICE void fold_elements(const FoldParameters& p, Position at, Elements elements) {
    using Element = typename K::Element;
    constexpr unsigned together = 4;
    PEERCOLL_NO_UNROLL
    for (unsigned long long i = at.threads - 1 - at.thread; i < elements.count; i += at.threads) {
        const unsigned long long byte = (i < elements.skip_at ? i : i + elements.skipped) * sizeof(Element);
        PlanFold<K, Element> fold;
        start(fold);
        Element first = {};
        PEERCOLL_NO_UNROLL
        for (unsigned k = 0; k < p.n_inputs; k += together) {
            Element inputs[together];
            PEERCOLL_UNROLL
            for (unsigned u = 0; u < together; ++u) {
                if (k + u < p.n_inputs) {
                    inputs[u] = load_in_pieces<Element, Piece>(p.inputs[k + u] + byte);
                }
            }
            if (k == 0) {
                first = inputs[0];
            }
            PEERCOLL_UNROLL
            for (unsigned u = 0; u < together; ++u) {
                if (k + u < p.n_inputs) {
                    add_input(fold, k + u, (p.block_starts >> (k + u) & 1) != 0, inputs[u]);
                }
            }
        }
        // One input is a copy, bit for bit.
        const Element out = p.n_inputs == 1 ? first : result(fold);
        PEERCOLL_NO_UNROLL
        for (unsigned j = 0; j < p.n_outputs; ++j) {
            store_in_pieces<Element, Piece>(p.outputs[j] + byte, out);
        }
    }
}

}  // namespace peercoll::device
