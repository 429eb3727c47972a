// SPDX-License-Identifier: BSD-3-Clause
#include "tests/collectives/element_types.hpp"
#include "tests/collectives/reference.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace peercoll::test {
namespace {

using Signed128 = __int128;
using Unsigned128 = unsigned __int128;

bool is_bitwise(peercoll_op_t op) {
    return op == PEERCOLL_BAND || op == PEERCOLL_BOR || op == PEERCOLL_BXOR;
}

// ---- Values ----

template <class T>
T exact_float(peercoll_op_t op, std::uint64_t random) {
    switch (op) {
        case PEERCOLL_PROD: {
            constexpr std::array<double, 6> powers{0.5, 1, 2, -0.5, -1, -2};
            return static_cast<T>(powers[random % powers.size()]);
        }
        case PEERCOLL_MIN:
        case PEERCOLL_MAX:
            return static_cast<T>(static_cast<double>(random % 255) / 2 - 63.5);
        default:
            return static_cast<T>(static_cast<int>(random % 15) - 7);
    }
}

// Mostly true for an AND, mostly false for an OR, so that both results occur with up to 8 ranks.
bool exact_truth(peercoll_op_t op, std::uint64_t random) {
    switch (op) {
        case PEERCOLL_LAND:
            return random % 8 != 0;
        case PEERCOLL_LOR:
            return random % 8 == 0;
        default:
            return random % 2 == 0;
    }
}

template <class T>
T exact_value(peercoll_op_t op, std::uint64_t random) {
    if constexpr (is_float<T>) {
        return exact_float<T>(op, random);
    } else if constexpr (is_small_float<T>) {
        return Rounding<T>::rounded(exact_float<float>(op, random));
    } else if constexpr (is_complex<T>) {
        using Part = decltype(T::re);
        if (op == PEERCOLL_PROD) {
            // Up to 8 factors 1 + i are 16.
            constexpr std::array<std::array<int, 2>, 6> factors{{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {1, -1}}};
            const auto& factor = factors[random % factors.size()];
            return {static_cast<Part>(factor[0]), static_cast<Part>(factor[1])};
        }
        return {exact_float<Part>(op, random), exact_float<Part>(op, random >> 20)};
    } else if constexpr (is_pair<T>) {
        // Few values, so that ties occur.
        T pair;
        std::memset(static_cast<void*>(&pair), 0, sizeof(pair));
        pair.value = static_cast<decltype(T::value)>(static_cast<int>(random % 5) - 2);
        pair.index = static_cast<decltype(T::index)>((random >> 20) % 1000);
        return pair;
    } else if constexpr (is_logical<T>) {
        if (!exact_truth(op, random)) {
            return T{0};
        }
        const bool any_nonzero = !std::is_same_v<T, Bool> && op != PEERCOLL_REPLACE && op != PEERCOLL_NO_OP;
        const auto bits = static_cast<decltype(T::bits)>(random >> 20);
        return T{static_cast<decltype(T::bits)>(any_nonzero && bits != 0 ? bits : 1)};
    } else if constexpr (std::is_same_v<T, Byte>) {
        return T{static_cast<std::uint8_t>(random >> 20)};
    } else {
        if (op == PEERCOLL_LAND || op == PEERCOLL_LOR || op == PEERCOLL_LXOR) {
            const auto bits = static_cast<T>(random >> 20);
            return exact_truth(op, random) ? (bits == 0 ? T{1} : bits) : T{0};
        }
        return static_cast<T>(op == PEERCOLL_PROD ? random | 1 : random);  // even factors would soon be 0
    }
}

// ---- One step of the reduction, in a domain where nothing rounds or overflows ----

template <class T>
auto wide(T value) {
    if constexpr (std::is_same_v<T, __float128> || std::is_same_v<T, long double>) {
        return value;
    } else if constexpr (is_float<T>) {
        return static_cast<double>(value);
    } else if constexpr (is_small_float<T>) {
        return static_cast<double>(widened(value));
    } else if constexpr (is_complex<T>) {
        return Complex<decltype(wide(value.re))>{wide(value.re), wide(value.im)};
    } else if constexpr (is_pair<T>) {
        return value;
    } else if constexpr (is_logical<T> || std::is_same_v<T, Byte>) {
        return static_cast<Signed128>(value.bits);
    } else {
        return static_cast<Signed128>(value);
    }
}

template <class T, class Wide>
T narrow(Wide value) {
    if constexpr (is_small_float<T>) {
        return Rounding<T>::rounded(static_cast<float>(value));
    } else if constexpr (is_complex<T>) {
        using Part = decltype(T::re);
        return {static_cast<Part>(value.re), static_cast<Part>(value.im)};
    } else if constexpr (is_pair<T>) {
        return value;
    } else if constexpr (is_logical<T> || std::is_same_v<T, Byte>) {
        return T{static_cast<decltype(T::bits)>(value)};
    } else {
        return static_cast<T>(value);  // modulo 2^n
    }
}

template <class Wide>
Wide arithmetic(peercoll_op_t op, Wide a, Wide b) {
    switch (op) {
        case PEERCOLL_SUM:
            return a + b;
        case PEERCOLL_PROD:
            return a * b;
        case PEERCOLL_MIN:
            return b < a ? b : a;
        case PEERCOLL_MAX:
            return a < b ? b : a;
        default:
            throw std::invalid_argument("no arithmetic operation");
    }
}

Signed128 integer_step(peercoll_op_t op, Signed128 a, Signed128 b) {
    switch (op) {
        case PEERCOLL_SUM:
            return static_cast<Signed128>(static_cast<Unsigned128>(a) + static_cast<Unsigned128>(b));
        case PEERCOLL_PROD:
            return static_cast<Signed128>(static_cast<Unsigned128>(a) * static_cast<Unsigned128>(b));
        case PEERCOLL_LAND:
            return (a != 0 && b != 0) ? 1 : 0;
        case PEERCOLL_LOR:
            return (a != 0 || b != 0) ? 1 : 0;
        case PEERCOLL_LXOR:
            return ((a != 0) != (b != 0)) ? 1 : 0;
        case PEERCOLL_BAND:
            return a & b;
        case PEERCOLL_BOR:
            return a | b;
        case PEERCOLL_BXOR:
            return a ^ b;
        default:
            return arithmetic(op, a, b);
    }
}

template <class Wide>
Wide step(peercoll_op_t op, Wide a, Wide b) {
    if (op == PEERCOLL_REPLACE) {
        return b;
    }
    if (op == PEERCOLL_NO_OP) {
        return a;
    }
    if constexpr (std::is_same_v<Wide, Signed128>) {
        return integer_step(op, a, b);
    } else if constexpr (is_complex<Wide>) {
        if (op == PEERCOLL_SUM) {
            return {a.re + b.re, a.im + b.im};
        }
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    } else if constexpr (is_pair<Wide>) {
        const bool better = op == PEERCOLL_MINLOC ? b.value < a.value : a.value < b.value;
        return better || (a.value == b.value && b.index < a.index) ? b : a;
    } else {
        return arithmetic(op, a, b);
    }
}

template <class T>
void fill_exact(ReductionCase& made, std::uint64_t seed) {
    const std::size_t ranks = made.inputs.size();
    for (std::size_t i = 0; i < made.count; ++i) {
        const T first = exact_value<T>(made.op, mixed(seed ^ mixed(i)));
        auto result = wide(first);
        std::memcpy(made.inputs[0].data() + i * sizeof(T), &first, sizeof(T));
        for (std::size_t rank = 1; rank < ranks; ++rank) {
            const T value = exact_value<T>(made.op, mixed(seed ^ mixed(i) ^ mixed(rank << 40)));
            std::memcpy(made.inputs[rank].data() + i * sizeof(T), &value, sizeof(T));
            result = step(made.op, result, wide(value));
        }
        const T expected = narrow<T>(result);
        std::memcpy(made.expected.data() + i * sizeof(T), &expected, sizeof(T));
    }
}

}  // namespace

bool mpi_defines(peercoll_op_t op, peercoll_datatype_t datatype) {
    if (op == PEERCOLL_REPLACE || op == PEERCOLL_NO_OP) {
        return true;
    }
    return with_element_type(datatype, [op]<class T>(TypeTag<T>) {
        const bool is_integer = std::is_integral_v<T>;
        switch (op) {
            case PEERCOLL_SUM:
            case PEERCOLL_PROD:
                return is_integer || is_float<T> || is_small_float<T> || is_complex<T>;
            case PEERCOLL_MIN:
            case PEERCOLL_MAX:
                return is_integer || is_float<T> || is_small_float<T>;
            case PEERCOLL_LAND:
            case PEERCOLL_LOR:
            case PEERCOLL_LXOR:
                return is_integer || is_logical<T>;
            case PEERCOLL_MINLOC:
            case PEERCOLL_MAXLOC:
                return is_pair<T>;
            default:
                return is_bitwise(op) && (is_integer || std::is_same_v<T, Byte>);
        }
    });
}

ReductionCase make_exact_case(peercoll_datatype_t datatype, peercoll_op_t op, int ranks, std::size_t count,
                              std::uint64_t seed) {
    return with_element_type(datatype, [&]<class T>(TypeTag<T>) {
        ReductionCase made{datatype, op, sizeof(T), count, {}, Elements(count * sizeof(T))};
        for (int rank = 0; rank < ranks; ++rank) {
            made.inputs.emplace_back(count * sizeof(T));
        }
        fill_exact<T>(made, mixed(seed + static_cast<std::uint64_t>(datatype * 100 + op)));
        return made;
    });
}

}  // namespace peercoll::test
