// SPDX-License-Identifier: BSD-3-Clause
#include "pattern.hpp"

#include <algorithm>

namespace peercoll::bench {

namespace {

// A multiplicative hash with a final mix: cheap enough to be vectorised, uneven enough that a shifted or stale block
// shows.
inline std::uint32_t hash(std::uint32_t seed, std::uint32_t rank, std::uint32_t index) {
    std::uint32_t mixed = (index + 1u) * 0x9E3779B1u + seed * 0x85EBCA77u + rank * 0xC2B2AE3Du;
    mixed ^= mixed >> 15;
    mixed *= 0x2C1B3C6Du;
    return mixed ^ (mixed >> 13);
}

// A hash scaled to 0 .. limit - 1.
inline std::uint32_t below(std::uint32_t hashed, std::uint32_t limit) {
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(hashed) * limit) >> 32);
}

std::int32_t value(const Pattern& pattern, std::uint32_t seed, std::uint32_t rank, std::uint32_t index) {
    const auto ranks = static_cast<std::uint32_t>(pattern.ranks);
    const std::uint32_t hashed = hash(seed, rank, index);
    switch (pattern.operation) {
        case Operation::Sum:
            if (rank >= 100) return 0;
            return static_cast<std::int32_t>(below(hashed, std::max(100 / ranks, 1u) + 1));
        case Operation::Prod:
            return (rank + index) % ranks < 6 ? static_cast<std::int32_t>(1 + below(hashed, 2)) : 1;
        case Operation::Land:
        case Operation::Lor:
        case Operation::Lxor:
            // Every second element is the same on all ranks; of the others, about one rank deviates.
            if (index % 2 == 0) return static_cast<std::int32_t>(below(hash(seed, 0, index), 2));
            return static_cast<std::int32_t>(below(hash(seed, 1, index), 2) ^ (below(hashed, ranks) == 0 ? 1 : 0));
        case Operation::Band:
        case Operation::Bor:
        case Operation::Bxor:
            return static_cast<std::int32_t>(below(hashed, 128));
        case Operation::Min:
        case Operation::Max:
            break;
    }
    return static_cast<std::int32_t>(below(hashed, 101));
}

std::int32_t combine(Operation operation, std::int32_t a, std::int32_t b) {
    switch (operation) {
        case Operation::Sum:
            return a + b;
        case Operation::Prod:
            return a * b;
        case Operation::Min:
            return std::min(a, b);
        case Operation::Max:
            return std::max(a, b);
        case Operation::Land:
            return (a != 0 && b != 0) ? 1 : 0;
        case Operation::Lor:
            return (a != 0 || b != 0) ? 1 : 0;
        case Operation::Lxor:
            return ((a != 0) != (b != 0)) ? 1 : 0;
        case Operation::Band:
            return a & b;
        case Operation::Bor:
            return a | b;
        case Operation::Bxor:
            break;
    }
    return a ^ b;
}

template <typename Expected>
std::size_t count_wrong(const Pattern& pattern, const ConstPart& part, Expected&& expected) {
    return with_type(pattern.element, [&](auto zero) {
        using T = decltype(zero);
        const T* elements = static_cast<const T*>(part.elements);
        const auto first = static_cast<std::uint32_t>(part.first);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < part.count; ++i) {
            // !(a == b) also counts a NaN.
            if (!(elements[i] == static_cast<T>(expected(first + static_cast<std::uint32_t>(i))))) ++wrong;
        }
        return wrong;
    });
}

}  // namespace

void fill_input(const Pattern& pattern, std::uint32_t seed, int rank, const Part& part) {
    // A copy the compiler can prove constant in the loop.
    const Pattern local = pattern;
    with_type(local.element, [&](auto zero) {
        using T = decltype(zero);
        T* elements = static_cast<T*>(part.elements);
        const auto first = static_cast<std::uint32_t>(part.first);
        for (std::size_t i = 0; i < part.count; ++i) {
            elements[i] = static_cast<T>(
                value(local, seed, static_cast<std::uint32_t>(rank), first + static_cast<std::uint32_t>(i)));
        }
    });
}

std::size_t count_wrong_reduced(const Pattern& pattern, std::uint32_t seed, const ConstPart& part) {
    const Pattern local = pattern;
    return count_wrong(local, part, [&](std::uint32_t index) {
        std::int32_t reduced = value(local, seed, 0, index);
        for (int rank = 1; rank < local.ranks; ++rank) {
            reduced = combine(local.operation, reduced, value(local, seed, static_cast<std::uint32_t>(rank), index));
        }
        return reduced;
    });
}

std::size_t count_wrong_copied(const Pattern& pattern, std::uint32_t seed, int rank, const ConstPart& part) {
    const Pattern local = pattern;
    return count_wrong(
        local, part, [&](std::uint32_t index) { return value(local, seed, static_cast<std::uint32_t>(rank), index); });
}

}  // namespace peercoll::bench
