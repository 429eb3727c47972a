// SPDX-License-Identifier: BSD-3-Clause
#include "tests/collectives/element_types.hpp"
#include "tests/collectives/reference.hpp"

#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace peercoll::test {
namespace {

// Random significands and a few exponents, so that nearly every step of a sum or product rounds, and nothing overflows.
template <class Real>
Real rough_real(peercoll_op_t op, std::uint64_t random) {
    const double fraction = 1 + static_cast<double>(random >> 12) * 0x1p-52;
    const int exponent = op == PEERCOLL_PROD ? 0 : static_cast<int>(random % 7) - 3;
    const double magnitude = std::ldexp(fraction * (op == PEERCOLL_PROD ? 0.75 : 1), exponent);
    return static_cast<Real>((random & 8) != 0 ? -magnitude : magnitude);
}

template <class T>
T rough_value(peercoll_op_t op, std::uint64_t random) {
    if constexpr (is_small_float<T>) {
        return Rounding<T>::rounded(rough_real<float>(op, random));
    } else if constexpr (is_complex<T>) {
        using Part = decltype(T::re);
        return {rough_real<Part>(op, random), rough_real<Part>(op, mixed(random))};
    } else {
        // The low bits of a long double come from a second number.
        return rough_real<T>(op, random) * (1 + rough_real<T>(PEERCOLL_SUM, mixed(random)) * T(0x1p-40));
    }
}

template <class T>
auto accumulator(T value) {
    if constexpr (is_small_float<T>) {
        return widened(value);
    } else {
        return value;
    }
}

template <class T, class Accumulator>
T at_end_of_block(Accumulator value) {
    if constexpr (is_small_float<T>) {
        return Rounding<T>::rounded(value);
    } else {
        return value;
    }
}

template <class Accumulator>
Accumulator rounded_step(peercoll_op_t op, Accumulator a, Accumulator b) {
    if constexpr (is_complex<Accumulator>) {
        if (op == PEERCOLL_SUM) {
            return {a.re + b.re, a.im + b.im};
        }
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    } else {
        return op == PEERCOLL_SUM ? a + b : a * b;
    }
}

// Left to right, in the accumulator of the type, rounded once at the end.
template <class T>
T folded(peercoll_op_t op, const std::vector<T>& values) {
    auto result = accumulator(values.front());
    for (std::size_t i = 1; i < values.size(); ++i) {
        result = rounded_step(op, result, accumulator(values[i]));
    }
    return at_end_of_block<T>(result);
}

template <class T>
T planned(peercoll_op_t op, const std::vector<T>& of_rank, const std::vector<std::vector<int>>& blocks) {
    std::vector<T> results;
    for (const std::vector<int>& block : blocks) {
        std::vector<T> members;
        for (const int rank : block) {
            members.push_back(of_rank[static_cast<std::size_t>(rank)]);
        }
        results.push_back(folded(op, members));
    }
    return folded(op, results);
}

// Padding inside long double is not part of the value: it is zero in what the tests make.
template <class T>
void put(Elements& to, std::size_t index, T value) {
    std::byte* at = to.data() + index * sizeof(T);
    if constexpr (std::is_same_v<T, long double>) {
        std::memcpy(at, &value, 10);
    } else {
        std::memcpy(at, &value, sizeof(T));
    }
}

template <class T>
void fill_rounding(ReductionCase& made, const std::vector<std::vector<int>>& blocks, std::uint64_t seed) {
    std::vector<T> of_rank(made.inputs.size());
    for (std::size_t i = 0; i < made.count; ++i) {
        for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
            of_rank[rank] = rough_value<T>(made.op, mixed(seed ^ mixed(i) ^ mixed(rank << 40)));
            put(made.inputs[rank], i, of_rank[rank]);
        }
        put(made.expected, i, planned(made.op, of_rank, blocks));
    }
}

template <class T>
inline constexpr bool can_round =
    is_small_float<T> || std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, long double> ||
    std::is_same_v<T, Complex<float>> || std::is_same_v<T, Complex<double>>;

template <class T>
bool same_value(T left, T right) {
    if constexpr (is_float<T>) {
        return left == right;
    } else if constexpr (is_small_float<T>) {
        return widened(left) == widened(right);
    } else if constexpr (is_complex<T>) {
        return left.re == right.re && left.im == right.im;
    } else if constexpr (is_pair<T>) {
        return left.value == right.value && left.index == right.index;
    } else {
        return std::memcmp(&left, &right, sizeof(T)) == 0;
    }
}

template <class Part>
bool same_bits(const Part& left, const Part& right) {
    if constexpr (is_complex<Part>) {
        return same_bits(left.re, right.re) && same_bits(left.im, right.im);
    } else if constexpr (is_pair<Part>) {
        return same_bits(left.value, right.value) && same_bits(left.index, right.index);
    } else {
        return std::memcmp(&left, &right, std::is_same_v<Part, long double> ? 10 : sizeof(Part)) == 0;
    }
}

template <class T, class Same>
std::optional<std::size_t> first_different(const std::byte* left, const std::byte* right, std::size_t count,
                                           Same same) {
    if (count == 0 || std::memcmp(left, right, count * sizeof(T)) == 0) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < count; ++i) {
        T a;
        T b;
        std::memcpy(static_cast<void*>(&a), left + i * sizeof(T), sizeof(T));
        std::memcpy(static_cast<void*>(&b), right + i * sizeof(T), sizeof(T));
        if (!same(a, b)) {
            return i;
        }
    }
    return std::nullopt;
}

}  // namespace

ReductionCase make_rounding_case(peercoll_datatype_t datatype, peercoll_op_t op,
                                 const std::vector<std::vector<int>>& blocks, std::size_t count, std::uint64_t seed) {
    std::size_t ranks = 0;
    for (const std::vector<int>& block : blocks) {
        ranks += block.size();
    }
    return with_element_type(datatype, [&]<class T>(TypeTag<T>) -> ReductionCase {
        if constexpr (can_round<T>) {
            ReductionCase made{datatype, op, sizeof(T), count, {}, Elements(count * sizeof(T))};
            for (std::size_t rank = 0; rank < ranks; ++rank) {
                made.inputs.emplace_back(count * sizeof(T));
            }
            fill_rounding<T>(made, blocks, mixed(seed + static_cast<std::uint64_t>(datatype * 100 + op)));
            return made;
        } else {
            throw std::invalid_argument("a datatype that does not round");
        }
    });
}

std::optional<std::size_t> first_different_value(peercoll_datatype_t datatype, const std::byte* left,
                                                 const std::byte* right, std::size_t count) {
    return with_element_type(datatype, [&]<class T>(TypeTag<T>) {
        return first_different<T>(left, right, count, [](const T& a, const T& b) { return same_value(a, b); });
    });
}

std::optional<std::size_t> first_different_bits(peercoll_datatype_t datatype, const std::byte* left,
                                                const std::byte* right, std::size_t count) {
    return with_element_type(datatype, [&]<class T>(TypeTag<T>) {
        return first_different<T>(left, right, count, [](const T& a, const T& b) { return same_bits(a, b); });
    });
}

std::string ReductionCase::name() const {
    const char* type = peercoll_plugin_v1.datatype_name(datatype);
    const char* operation = peercoll_plugin_v1.op_name(op);
    return std::string(operation == nullptr ? "?" : operation) + " of " + (type == nullptr ? "?" : type);
}

}  // namespace peercoll::test
