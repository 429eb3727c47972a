// SPDX-License-Identifier: BSD-3-Clause
// The loops: fold two, three or four inputs in one pass; more of them block by block. Written for the vectoriser of the
// compiler; the same source serves every instruction set.
//
// A kernel K is a struct of static members:
//     Value                      one element in registers
//     element_bytes                     one element in memory
//     Value load(base, i)        no alignment is required
//     Value combine(a, b)        a op b
//     void store(base, i, v)     also brings v to its one representation (a NaN, padding)
#pragma once

#include <cstddef>

// `out` is one of the inputs or apart from them, so an iteration never reads what another one wrote.
#if defined(__clang__)
#define PEERCOLL_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define PEERCOLL_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

namespace peercoll::kernels {
namespace {

// A number at any address, whatever the caller's type. (By memcpy, GCC 12 would move floats as integers, and make
// compare and blend of a minimum.)
template <class T>
struct __attribute__((packed, may_alias)) Anywhere {
    T value;
};

template <class T>
inline T load_as(const void* base, std::size_t byte) {
    return reinterpret_cast<const Anywhere<T>*>(static_cast<const unsigned char*>(base) + byte)->value;
}

template <class T>
inline void store_as(void* base, std::size_t byte, T value) {
    reinterpret_cast<Anywhere<T>*>(static_cast<unsigned char*>(base) + byte)->value = value;
}

template <class K>
void fold_two(void* out, const void* a, const void* b, std::size_t count) {
    PEERCOLL_INDEPENDENT_ITERATIONS
    for (std::size_t i = 0; i < count; ++i) {
        K::store(out, i, K::combine(K::load(a, i), K::load(b, i)));
    }
}

template <class K>
void fold_three(void* out, const void* a, const void* b, const void* c, std::size_t count) {
    PEERCOLL_INDEPENDENT_ITERATIONS
    for (std::size_t i = 0; i < count; ++i) {
        K::store(out, i, K::combine(K::combine(K::load(a, i), K::load(b, i)), K::load(c, i)));
    }
}

template <class K>
void fold_four(void* out, const void* a, const void* b, const void* c, const void* d, std::size_t count) {
    PEERCOLL_INDEPENDENT_ITERATIONS
    for (std::size_t i = 0; i < count; ++i) {
        K::store(out, i,
                 K::combine(K::combine(K::combine(K::load(a, i), K::load(b, i)), K::load(c, i)), K::load(d, i)));
    }
}

// Bytes of the accumulator of fold_many(): so few that the processor, which looks some hundred instructions ahead, asks
// for lines of all inputs at once. They come from other cores, each from another one (16 ranks on 16 cores, 64 KiB:
// 23 us; with blocks of 4 KiB, whose inputs come three after three, 29).
constexpr std::size_t block_bytes = 256;

// The partial results live in a buffer of our own, since `out` may be an input that is still to be read.
template <class K>
void fold_many(void* out, const void* const* inputs, std::size_t n_inputs, std::size_t count) {
    alignas(64) unsigned char partial[block_bytes];
    constexpr std::size_t block_elements = block_bytes / K::element_bytes;
    for (std::size_t begin = 0; begin < count; begin += block_elements) {
        const std::size_t n = count - begin < block_elements ? count - begin : block_elements;
        const std::size_t offset = begin * K::element_bytes;
        const auto part = [&](std::size_t k) { return static_cast<const unsigned char*>(inputs[k]) + offset; };
        unsigned char* const result = static_cast<unsigned char*>(out) + offset;

        fold_four<K>(partial, part(0), part(1), part(2), part(3), n);
        std::size_t k = 4;
        for (; n_inputs - k > 3; k += 3) {
            fold_four<K>(partial, partial, part(k), part(k + 1), part(k + 2), n);
        }
        switch (n_inputs - k) {
            case 1:
                fold_two<K>(result, partial, part(k), n);
                break;
            case 2:
                fold_three<K>(result, partial, part(k), part(k + 1), n);
                break;
            default:
                fold_four<K>(result, partial, part(k), part(k + 1), part(k + 2), n);
                break;
        }
    }
}

// The FoldFunction of kernel K.
template <class K>
void fold(void* out, const void* const* inputs, std::size_t n_inputs, std::size_t count) {
    switch (n_inputs) {
        case 1:
            if (out != inputs[0] && count != 0) {
                __builtin_memcpy(out, inputs[0], count * K::element_bytes);
            }
            return;
        case 2:
            return fold_two<K>(out, inputs[0], inputs[1], count);
        case 3:
            return fold_three<K>(out, inputs[0], inputs[1], inputs[2], count);
        case 4:
            return fold_four<K>(out, inputs[0], inputs[1], inputs[2], inputs[3], count);
        default:
            return fold_many<K>(out, inputs, n_inputs, count);
    }
}

}  // namespace
}  // namespace peercoll::kernels
