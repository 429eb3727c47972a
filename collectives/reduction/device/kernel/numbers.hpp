// SPDX-License-Identifier: BSD-3-Clause
// What the element types are made of.
//
// A kernel's arithmetic K is a struct of static members, as on the host:
//     Element    one element in memory
//     Part       of which an element consists; the C type's alignment
//     Value      one element in registers
//     Value unpack(Element), Element pack(Value)     pack also brings it to its one representation (a NaN, padding)
//     Value combine(a, b)                            a op b
#pragma once

#include "collectives/reduction/device/kernel/platform.hpp"

namespace peercoll::device {

typedef unsigned char UInt8;
typedef unsigned short UInt16;
typedef unsigned UInt32;
typedef unsigned long long UInt64;
typedef signed char Int8;
typedef short Int16;
typedef int Int32;
typedef long long Int64;

template <class To, class From>
PEERCOLL_DEVICE To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    union {
        From from;
        To to;
    } pun = {from};
    return pun.to;
}

// A type that is its own representation in registers.
template <class T>
struct Scalar {
    using Element = T;
    using Part = T;
    using Value = T;
    PEERCOLL_DEVICE T unpack(T element) { return element; }
    PEERCOLL_DEVICE T pack(T value) { return value; }
};

// What folds whole vectors in K's place: operations on bits may do so in larger elements.
template <class K>
struct InVectors {
    using Kernel = K;
};

}  // namespace peercoll::device
