// SPDX-License-Identifier: BSD-3-Clause
// MINLOC and MAXLOC of pairs, in the layout of the C struct. An element is taken as words of 32 bits, so that it is
// plain which of them are padding: those are written as zeros.
#pragma once

#include "collectives/reduction/device/kernel/floats.hpp"

namespace peercoll::device {

template <unsigned n>
struct Words {
    UInt32 word[n];
};

// How V lies in words from `at` on.
template <class V>
struct InWords {
    static_assert(sizeof(V) == 4, "the general case is one word");
    PEERCOLL_DEVICE V get(const UInt32* at) { return bits_as<V>(*at); }
    PEERCOLL_DEVICE void put(UInt32* at, V value) { *at = bits_as<UInt32>(value); }
};
template <>
struct InWords<Int16> {
    PEERCOLL_DEVICE Int16 get(const UInt32* at) { return static_cast<Int16>(static_cast<UInt16>(*at)); }
    PEERCOLL_DEVICE void put(UInt32* at, Int16 value) { *at = static_cast<UInt16>(value); }
};
template <class V>
struct InTwoWords {
    PEERCOLL_DEVICE V get(const UInt32* at) { return bits_as<V>(at[0] | static_cast<UInt64>(at[1]) << 32); }
    PEERCOLL_DEVICE void put(UInt32* at, V value) {
        const UInt64 bits = bits_as<UInt64>(value);
        at[0] = static_cast<UInt32>(bits);
        at[1] = static_cast<UInt32>(bits >> 32);
    }
};
template <>
struct InWords<double> : InTwoWords<double> {};
template <>
struct InWords<Int64> : InTwoWords<Int64> {};

template <class V, class I>
struct Located {
    V value;
    I index;
};

template <class V, class I, class Better>
struct Pair {
    static constexpr unsigned index_at = sizeof(V) > 4 ? 2 : 1;
    static constexpr unsigned words = 2 * index_at;
    using Element = Words<words>;
    using Part = UInt32;
    using Value = Located<V, I>;
    PEERCOLL_DEVICE Value unpack(Element element) {
        return {InWords<V>::get(element.word), InWords<I>::get(element.word + index_at)};
    }
    PEERCOLL_DEVICE Element pack(Value pair) {
        Element element = {};
        InWords<V>::put(element.word, pair.value);
        InWords<I>::put(element.word + index_at, pair.index);
        return element;
    }
    // The later one unless the earlier one is better, or equal with an index that is not larger.
    PEERCOLL_DEVICE Value combine(Value a, Value b) {
        const bool first = Better::than(a.value, b.value) | ((a.value == b.value) & (a.index <= b.index));
        return {first ? a.value : b.value, first ? a.index : b.index};
    }
};

struct Smaller {
    template <class V>
    PEERCOLL_DEVICE bool than(V a, V b) {
        return a < b;
    }
};
struct Larger {
    template <class V>
    PEERCOLL_DEVICE bool than(V a, V b) {
        return a > b;
    }
};

}  // namespace peercoll::device
