// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/reduction/reference.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <type_traits>

#include "collectives/reduction/wide_float_types.hpp"
#include "tests/unit/reduction/half_reference.hpp"

namespace peercoll::test {
namespace {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

template <class T>
T get(const Bytes& bytes, std::size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    return value;
}

// An x87 number has 10 bytes; the 6 behind it stay the zeros they were.
template <class T>
void put(Bytes& bytes, std::size_t at, T value) {
    const bool x87 = std::is_same_v<T, long double> && std::numeric_limits<long double>::digits == 64;
    std::memcpy(bytes.data() + at, &value, x87 ? 10 : sizeof(T));
}

// ---- Folding one element ----

template <class T>
T fold_integers(peercoll_op_t op, const std::vector<T>& in) {
    Int128 exact = in[0];
    UInt128 modular = static_cast<UInt128>(exact);
    for (std::size_t k = 1; k < in.size(); ++k) {
        const Int128 next = in[k];
        const UInt128 bits = static_cast<UInt128>(next);
        switch (op) {
            case PEERCOLL_SUM:
                modular += bits;
                break;
            case PEERCOLL_PROD:
                modular *= bits;
                break;
            case PEERCOLL_MIN:
                exact = next < exact ? next : exact;
                modular = static_cast<UInt128>(exact);
                break;
            case PEERCOLL_MAX:
                exact = next > exact ? next : exact;
                modular = static_cast<UInt128>(exact);
                break;
            case PEERCOLL_BAND:
                modular &= bits;
                break;
            case PEERCOLL_BOR:
                modular |= bits;
                break;
            case PEERCOLL_BXOR:
                modular ^= bits;
                break;
            case PEERCOLL_LAND:
                modular = (modular != 0 && bits != 0) ? 1 : 0;
                break;
            case PEERCOLL_LOR:
                modular = (modular != 0 || bits != 0) ? 1 : 0;
                break;
            case PEERCOLL_LXOR:
                modular = ((modular != 0) != (bits != 0)) ? 1 : 0;
                break;
            default:
                throw std::logic_error("no expected value for this operation on integers");
        }
    }
    return static_cast<T>(modular);
}

template <class T>
T one_nan(T value) {
    return value != value ? static_cast<T>(std::numeric_limits<float>::quiet_NaN()) : value;
}

template <class T>
T fold_floats_unnormalised(peercoll_op_t op, const std::vector<T>& in) {
    // volatile: each step is rounded to T, in this order.
    volatile T value = in[0];
    for (std::size_t k = 1; k < in.size(); ++k) {
        const T left = value;
        const T right = in[k];
        switch (op) {
            case PEERCOLL_SUM:
                value = left + right;
                break;
            case PEERCOLL_PROD:
                value = left * right;
                break;
            case PEERCOLL_MIN:
                value = left < right ? left : right;
                break;
            case PEERCOLL_MAX:
                value = left > right ? left : right;
                break;
            default:
                throw std::logic_error("no expected value for this operation on floats");
        }
    }
    return value;
}

template <class T>
T fold_floats(peercoll_op_t op, const std::vector<T>& in) {
    const T value = fold_floats_unnormalised(op, in);
    return op == PEERCOLL_SUM || op == PEERCOLL_PROD ? one_nan(value) : value;
}

template <class T>
struct ComplexNumber {
    T real, imaginary;
};

template <class T>
ComplexNumber<T> fold_complex(peercoll_op_t op, const std::vector<ComplexNumber<T>>& in) {
    volatile T real = in[0].real, imaginary = in[0].imaginary;
    for (std::size_t k = 1; k < in.size(); ++k) {
        const T a = real, b = imaginary, c = in[k].real, d = in[k].imaginary;
        if (op == PEERCOLL_SUM) {
            real = a + c;
            imaginary = b + d;
        } else {
            volatile T ac = a * c, bd = b * d, ad = a * d, bc = b * c;
            real = ac - bd;
            imaginary = ad + bc;
        }
    }
    return {one_nan<T>(real), one_nan<T>(imaginary)};
}

template <class V, class I>
struct PairOf {
    V value;
    I index;
};

template <class V, class I>
PairOf<V, I> fold_pairs(peercoll_op_t op, const std::vector<PairOf<V, I>>& in) {
    PairOf<V, I> best = in[0];
    for (std::size_t k = 1; k < in.size(); ++k) {
        const PairOf<V, I>& next = in[k];
        const bool better = op == PEERCOLL_MINLOC ? best.value < next.value : best.value > next.value;
        if (better) {
            continue;
        }
        if (best.value == next.value && best.index <= next.index) {
            continue;
        }
        best = next;
    }
    return best;
}

// ---- Values ----

using Random = std::mt19937_64;

template <class T>
T random_number(Random& random) {
    const std::uint64_t choice = random() % 64;
    if constexpr (std::is_integral_v<T>) {
        switch (choice) {
            case 0:
            case 1:
            case 2:
            case 3:
                return 0;
            case 4:
                return std::numeric_limits<T>::min();
            case 5:
                return std::numeric_limits<T>::max();
            case 6:
                return static_cast<T>(-1);
            case 7:  // true only in its highest byte
                return static_cast<T>(std::uint64_t{1} << (8 * sizeof(T) - 1));
            default:
                return static_cast<T>(random());
        }
    } else {
        const float infinity = std::numeric_limits<float>::infinity();
        switch (choice) {
            case 0:
                return static_cast<T>(0.0f);
            case 1:
                return static_cast<T>(-0.0f);
            case 2:
                return static_cast<T>(random() % 8 ? 1.0f : infinity);
            case 3:
                return static_cast<T>(random() % 8 ? -1.0f : -infinity);
            case 4:
                return static_cast<T>(random() % 8 ? 3.0f : -std::numeric_limits<float>::quiet_NaN());
            case 5:
            case 6:
            case 7:
                return static_cast<T>(std::numeric_limits<float>::denorm_min() * static_cast<float>(random() % 1000));
            default: {
                // Full fractions and different exponents, so that sums and products are rounded.
                const T fraction =
                    static_cast<T>(static_cast<std::int64_t>(random())) / static_cast<T>(9.2233720368547758e18);
                return fraction * static_cast<T>(std::ldexp(1.0, static_cast<int>(random() % 13) - 6));
            }
        }
    }
}

std::uint16_t random_half(HalfFormat format, Random& random) {
    switch (random() % 4) {
        case 0:  // any bits: infinities and NaNs with payloads among them
            return random() % 8 ? nearest_half(format, static_cast<double>(random() % 33) - 16)
                                : static_cast<std::uint16_t>(random());
        case 1:  // subnormal results
            return static_cast<std::uint16_t>(random() & (0x8000 | ((2 << format.fraction_bits) - 1)));
        default:
            return nearest_half(format, random_number<double>(random));
    }
}

// Few different values, so that there are ties.
template <class V>
V pair_value(Random& random) {
    return random() % 2 ? random_number<V>(random) : static_cast<V>(static_cast<int>(random() % 5) - 2);
}

// ---- From datatype to C++ type ----

// Calls `with` for the kind of the datatype, with the C++ type of its parts.
template <class With>
void dispatch(peercoll_datatype_t datatype, With&& with) {
    switch (datatype) {
        case PEERCOLL_INT8:
            return with.template integer<std::int8_t>();
        case PEERCOLL_UINT8:
        case PEERCOLL_BYTE:
        case PEERCOLL_BOOL:
        case PEERCOLL_LOGICAL8:
            return with.template integer<std::uint8_t>();
        case PEERCOLL_INT16:
            return with.template integer<std::int16_t>();
        case PEERCOLL_UINT16:
            return with.template integer<std::uint16_t>();
        case PEERCOLL_LOGICAL16:
            return with.template integer<std::int16_t>();
        case PEERCOLL_INT32:
            return with.template integer<std::int32_t>();
        case PEERCOLL_UINT32:
            return with.template integer<std::uint32_t>();
        case PEERCOLL_LOGICAL32:
            return with.template integer<std::int32_t>();
        case PEERCOLL_INT64:
            return with.template integer<std::int64_t>();
        case PEERCOLL_UINT64:
            return with.template integer<std::uint64_t>();
        case PEERCOLL_LOGICAL64:
            return with.template integer<std::int64_t>();
        case PEERCOLL_FLOAT16:
            return with.half(kFloat16);
        case PEERCOLL_BFLOAT16:
            return with.half(kBFloat16);
        case PEERCOLL_FLOAT32:
            return with.template floating<float>();
        case PEERCOLL_FLOAT64:
            return with.template floating<double>();
        case PEERCOLL_COMPLEX_FLOAT32:
            return with.template complex<float>();
        case PEERCOLL_COMPLEX_FLOAT64:
            return with.template complex<double>();
#if PEERCOLL_HAS_FLOAT80
        case PEERCOLL_FLOAT80:
            return with.template floating<Float80>();
        case PEERCOLL_COMPLEX_FLOAT80:
            return with.template complex<Float80>();
        case PEERCOLL_PAIR_FLOAT80_INT32:
            return with.template pair<Float80, std::int32_t>();
#endif
#if PEERCOLL_HAS_FLOAT128
        case PEERCOLL_FLOAT128:
            return with.template floating<Float128>();
        case PEERCOLL_COMPLEX_FLOAT128:
            return with.template complex<Float128>();
#endif
        case PEERCOLL_PAIR_FLOAT32_INT32:
            return with.template pair<float, std::int32_t>();
        case PEERCOLL_PAIR_FLOAT64_INT32:
            return with.template pair<double, std::int32_t>();
        case PEERCOLL_PAIR_INT64_INT32:
            return with.template pair<std::int64_t, std::int32_t>();
        case PEERCOLL_PAIR_INT32_INT32:
            return with.template pair<std::int32_t, std::int32_t>();
        case PEERCOLL_PAIR_INT16_INT32:
            return with.template pair<std::int16_t, std::int32_t>();
        case PEERCOLL_PAIR_FLOAT32_FLOAT32:
            return with.template pair<float, float>();
        case PEERCOLL_PAIR_FLOAT64_FLOAT64:
            return with.template pair<double, double>();
        default:
            throw std::logic_error("no reference for this datatype");
    }
}

struct Maker {
    Random random;
    std::size_t count;
    Bytes bytes;

    template <class Make>
    void fill(std::size_t element_bytes, Make&& make) {
        bytes.assign(count * element_bytes, 0);
        for (std::size_t i = 0; i < count; ++i) {
            make(i * element_bytes);
        }
    }
    template <class T>
    void integer() {
        fill(sizeof(T), [&](std::size_t at) { put(bytes, at, random_number<T>(random)); });
    }
    template <class T>
    void floating() {
        fill(sizeof(T), [&](std::size_t at) { put(bytes, at, random_number<T>(random)); });
    }
    void half(HalfFormat format) {
        fill(2, [&](std::size_t at) { put(bytes, at, random_half(format, random)); });
    }
    template <class T>
    void complex() {
        fill(2 * sizeof(T), [&](std::size_t at) {
            put(bytes, at, random_number<T>(random));
            put(bytes, at + sizeof(T), random_number<T>(random));
        });
    }
    // Padding is dirty: none of it may reach a result.
    template <class V, class I>
    void pair() {
        using P = PairOf<V, I>;
        fill(sizeof(P), [&](std::size_t at) {
            std::memset(bytes.data() + at, 0xee, sizeof(P));
            put(bytes, at, pair_value<V>(random));
            put(bytes, at + offsetof(P, index), static_cast<I>(static_cast<int>(random() % 7) - 2));
        });
    }
};

struct Folder {
    peercoll_op_t op;
    const std::vector<Bytes>& inputs;
    std::size_t n_inputs;
    Bytes result;

    template <class E, class Read, class Write>
    void each(std::size_t element_bytes, Read&& read, Write&& write) {
        const std::size_t count = inputs[0].size() / element_bytes;
        result.assign(count * element_bytes, 0);
        std::vector<E> in(n_inputs);
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t k = 0; k < n_inputs; ++k) {
                in[k] = read(inputs[k], i * element_bytes);
            }
            write(i * element_bytes, in);
        }
    }
    template <class T>
    void integer() {
        each<T>(sizeof(T), get<T>, [&](std::size_t at, const auto& in) { put(result, at, fold_integers(op, in)); });
    }
    template <class T>
    void floating() {
        each<T>(sizeof(T), get<T>, [&](std::size_t at, const auto& in) { put(result, at, fold_floats(op, in)); });
    }
    void half(HalfFormat format) {
        each<float>(
            2,
            [&](const Bytes& bytes, std::size_t at) {
                return static_cast<float>(half_value(format, get<std::uint16_t>(bytes, at)));
            },
            [&](std::size_t at, const auto& in) {
                put(result, at, nearest_half(format, static_cast<double>(fold_floats_unnormalised(op, in))));
            });
    }
    template <class T>
    void complex() {
        each<ComplexNumber<T>>(
            2 * sizeof(T),
            [](const Bytes& bytes, std::size_t at) {
                return ComplexNumber<T>{get<T>(bytes, at), get<T>(bytes, at + sizeof(T))};
            },
            [&](std::size_t at, const auto& in) {
                const ComplexNumber<T> value = fold_complex(op, in);
                put(result, at, value.real);
                put(result, at + sizeof(T), value.imaginary);
            });
    }
    template <class V, class I>
    void pair() {
        using P = PairOf<V, I>;
        each<P>(
            sizeof(P),
            [](const Bytes& bytes, std::size_t at) {
                return P{get<V>(bytes, at), get<I>(bytes, at + offsetof(P, index))};
            },
            [&](std::size_t at, const auto& in) {
                const P best = fold_pairs(op, in);
                put(result, at, best.value);
                put(result, at + offsetof(P, index), best.index);
            });
    }
};

}  // namespace

Bytes make_input(peercoll_datatype_t datatype, std::size_t input, std::size_t count) {
    Maker maker{Random(1000 * static_cast<std::uint64_t>(datatype) + input), count, {}};
    dispatch(datatype, maker);
    return maker.bytes;
}

Bytes expected_fold(peercoll_op_t op, peercoll_datatype_t datatype, const std::vector<Bytes>& inputs,
                    std::size_t n_inputs) {
    if (n_inputs == 1 || op == PEERCOLL_NO_OP) {
        return inputs[0];
    }
    if (op == PEERCOLL_REPLACE) {
        return inputs[n_inputs - 1];
    }
    Folder folder{op, inputs, n_inputs, {}};
    dispatch(datatype, folder);
    return folder.result;
}

}  // namespace peercoll::test
