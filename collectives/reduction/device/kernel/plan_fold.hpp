// SPDX-License-Identifier: BSD-3-Clause
// The plan's expression over any number of inputs in blocks, one input after another, for `lanes` elements at once.
#pragma once

#include "collectives/reduction/device/kernel/numbers.hpp"

namespace peercoll::device {

// A vector, or a single element, as elements.
template <class K, class Storage>
union Lanes {
    static constexpr unsigned count = sizeof(Storage) / sizeof(typename K::Element);
    Storage storage;
    typename K::Element element[count];
};

template <class K, class Storage>
struct PlanFold {
    using Value = typename K::Value;
    static constexpr unsigned lanes = Lanes<K, Storage>::count;

    Value block[lanes];   // the fold of the present block
    Value before[lanes];  // the fold of the blocks before it
    bool is_first_block;
};

// A block's result is rounded as if it had been stored, and folded with those of the blocks before it.
template <class K, class Storage>
PEERCOLL_DEVICE void close_block(PlanFold<K, Storage>& fold) {
    PEERCOLL_UNROLL
    for (unsigned lane = 0; lane < fold.lanes; ++lane) {
        const typename K::Value result = K::unpack(K::pack(fold.block[lane]));
        fold.before[lane] = fold.is_first_block ? result : K::combine(fold.before[lane], result);
    }
    fold.is_first_block = false;
}

template <class K, class Storage>
PEERCOLL_DEVICE void start(PlanFold<K, Storage>& fold) {
    fold.is_first_block = true;
    PEERCOLL_UNROLL
    for (unsigned lane = 0; lane < fold.lanes; ++lane) {
        fold.block[lane] = typename K::Value{};
        fold.before[lane] = typename K::Value{};
    }
}

// Input number k; the parameters say whether a block begins with it.
template <class K, class Storage>
PEERCOLL_DEVICE void add_input(PlanFold<K, Storage>& fold, unsigned k, bool begins_block, Storage storage) {
    Lanes<K, Storage> input;
    input.storage = storage;
    if (begins_block) {
        if (k != 0) {
            close_block(fold);
        }
        PEERCOLL_UNROLL
        for (unsigned lane = 0; lane < fold.lanes; ++lane) {
            fold.block[lane] = K::unpack(input.element[lane]);
        }
    } else {
        PEERCOLL_UNROLL
        for (unsigned lane = 0; lane < fold.lanes; ++lane) {
            fold.block[lane] = K::combine(fold.block[lane], K::unpack(input.element[lane]));
        }
    }
}

template <class K, class Storage>
PEERCOLL_DEVICE Storage result(PlanFold<K, Storage>& fold) {
    if (!fold.is_first_block) {
        close_block(fold);
    }
    Lanes<K, Storage> out;
    PEERCOLL_UNROLL
    for (unsigned lane = 0; lane < fold.lanes; ++lane) {
        out.element[lane] = K::pack(fold.is_first_block ? fold.block[lane] : fold.before[lane]);
    }
    return out.storage;
}

}  // namespace peercoll::device
