// SPDX-License-Identifier: BSD-3-Clause
// What a selector answers: the algorithm, or a few of which no table can say which is faster on this machine. Then the
// communicator tries them in turn and keeps the best (plugin/runtime/trials.hpp); the bits are the same in any case.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace peercoll {

inline constexpr std::size_t most_candidates = 4;

// How results are written: through the caches, or past them (collectives/host/stream_copy.hpp).
enum class Stores : std::uint8_t { Cached, Streaming };

template <typename Algorithm>
struct Candidate {
    Algorithm algorithm = Algorithm::Auto;
    Stores stores = Stores::Cached;
    bool operator==(const Candidate&) const = default;
};

template <typename Algorithm>
class Candidates {
public:
    constexpr Candidates() = default;
    // At most `most_candidates`.
    constexpr Candidates(std::initializer_list<Candidate<Algorithm>> list) {
        for (const Candidate<Algorithm>& candidate : list) add(candidate);
    }

    constexpr std::size_t size() const { return size_; }
    constexpr const Candidate<Algorithm>& operator[](std::size_t index) const { return list_[index]; }
    constexpr const Candidate<Algorithm>* begin() const { return list_.data(); }
    constexpr const Candidate<Algorithm>* end() const { return list_.data() + size_; }
    // Once only.
    constexpr void add(const Candidate<Algorithm>& candidate) {
        if (std::find(begin(), end(), candidate) == end()) list_[size_++] = candidate;
    }

private:
    std::array<Candidate<Algorithm>, most_candidates> list_{};
    std::size_t size_ = 0;
};

}  // namespace peercoll
