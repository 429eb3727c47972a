// SPDX-License-Identifier: BSD-3-Clause
// FLOAT16 and BFLOAT16: widened to float32, folded there over all inputs, rounded once. A NaN result is the quiet one
// without payload, for MIN and MAX too; otherwise MIN and MAX follow float_kernels.hpp.
#include "collectives/reduction/kernels/families.hpp"
#include "collectives/reduction/kernels/half_conversions.hpp"

namespace peercoll::kernels {
namespace {

struct Sum {
    static Floats apply(Floats a, Floats b) { return a + b; }
};
struct Prod {
    static Floats apply(Floats a, Floats b) { return a * b; }
};
struct Min {
    static Floats apply(Floats a, Floats b) { return a < b ? a : b; }
};
struct Max {
    static Floats apply(Floats a, Floats b) { return a > b ? a : b; }
};

template <class Format>
inline Halves round_to(Floats value) {
    const Floats nan = Floats{} + __builtin_nanf("");
    // NOLINTNEXTLINE(misc-redundant-expression): only a NaN differs from itself
    return Format::narrow(value == value ? value : nan);
}

// Folds the registers at element i of `n` inputs.
template <class Format, class Op>
inline Floats fold_lanes(const void* const* inputs, std::size_t n, std::size_t i) {
    Floats value = Format::widen(load_halves(inputs[0], i));
    for (std::size_t k = 1; k < n; ++k) {
        value = Op::apply(value, Format::widen(load_halves(inputs[k], i)));
    }
    return value;
}

// The last elements, fewer than a register: through a buffer, by the same arithmetic.
template <class Format, class Op>
void fold_rest(void* out, const void* const* inputs, std::size_t n_inputs, std::size_t begin, std::size_t count) {
    const std::size_t bytes = 2 * (count - begin);
    Floats value{};
    for (std::size_t k = 0; k < n_inputs; ++k) {
        Halves halves{};
        __builtin_memcpy(&halves, static_cast<const unsigned char*>(inputs[k]) + 2 * begin, bytes);
        const Floats next = Format::widen(halves);
        value = k == 0 ? next : Op::apply(value, next);
    }
    const Halves rounded = round_to<Format>(value);
    __builtin_memcpy(static_cast<unsigned char*>(out) + 2 * begin, &rounded, bytes);
}

template <class Format, class Op, std::size_t n_inputs>
void fold_few(void* out, const void* const* inputs, std::size_t whole) {
    const void* in[n_inputs];
    for (std::size_t k = 0; k < n_inputs; ++k) {
        in[k] = inputs[k];
    }
    for (std::size_t i = 0; i < whole; i += lanes) {
        store_halves(out, i, round_to<Format>(fold_lanes<Format, Op>(in, n_inputs, i)));
    }
}

// A block's float32 accumulator, 4 KiB, stays in the first level cache while the inputs stream past it.
template <class Format, class Op>
void fold_many(void* out, const void* const* inputs, std::size_t n_inputs, std::size_t whole) {
    constexpr std::size_t block_elements = 1024;
    Floats partial[block_elements / lanes];
    for (std::size_t begin = 0; begin < whole; begin += block_elements) {
        const std::size_t registers = (whole - begin < block_elements ? whole - begin : block_elements) / lanes;
        for (std::size_t r = 0; r < registers; ++r) {
            partial[r] = fold_lanes<Format, Op>(inputs, 4, begin + r * lanes);
        }
        for (std::size_t k = 4; k < n_inputs; ++k) {
            const void* const in = inputs[k];
            for (std::size_t r = 0; r < registers; ++r) {
                partial[r] = Op::apply(partial[r], Format::widen(load_halves(in, begin + r * lanes)));
            }
        }
        for (std::size_t r = 0; r < registers; ++r) {
            store_halves(out, begin + r * lanes, round_to<Format>(partial[r]));
        }
    }
}

template <class Format, class Op>
void fold(void* out, const void* const* inputs, std::size_t n_inputs, std::size_t count) {
    const std::size_t whole = count / lanes * lanes;
    switch (n_inputs) {
        case 1:
            if (out != inputs[0] && count != 0) {
                __builtin_memcpy(out, inputs[0], 2 * count);
            }
            return;
        case 2:
            fold_few<Format, Op, 2>(out, inputs, whole);
            break;
        case 3:
            fold_few<Format, Op, 3>(out, inputs, whole);
            break;
        case 4:
            fold_few<Format, Op, 4>(out, inputs, whole);
            break;
        default:
            fold_many<Format, Op>(out, inputs, n_inputs, whole);
            break;
    }
    if (whole != count) {
        fold_rest<Format, Op>(out, inputs, n_inputs, whole, count);
    }
}

template <class Format>
FoldFunction find_half(peercoll_op_t op) {
    switch (op) {
        case PEERCOLL_SUM:
            return fold<Format, Sum>;
        case PEERCOLL_PROD:
            return fold<Format, Prod>;
        case PEERCOLL_MIN:
            return fold<Format, Min>;
        case PEERCOLL_MAX:
            return fold<Format, Max>;
        default:
            return nullptr;
    }
}

}  // namespace

namespace PEERCOLL_KERNEL_SET {

FoldFunction find_half_fold(peercoll_op_t op, peercoll_datatype_t datatype) {
    switch (datatype) {
        case PEERCOLL_FLOAT16:
            return find_half<Float16>(op);
        case PEERCOLL_BFLOAT16:
            return find_half<BFloat16>(op);
        default:
            return nullptr;
    }
}

}  // namespace PEERCOLL_KERNEL_SET
}  // namespace peercoll::kernels
