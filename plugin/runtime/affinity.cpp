// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/affinity.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace peercoll {

AffinityMask AffinityMask::of_this_process() {
    AffinityMask mask;
    std::array<std::uint64_t, 1024> all{};  // the kernel refuses a mask smaller than its own
    if (::sched_getaffinity(0, sizeof all, reinterpret_cast<cpu_set_t*>(all.data())) == 0) {
        std::copy_n(all.begin(), mask.words.size(), mask.words.begin());
    } else {
        const long processors = std::clamp(::sysconf(_SC_NPROCESSORS_ONLN), 1L, 1024L);
        for (long i = 0; i < processors; ++i)
            mask.words[static_cast<std::size_t>(i / 64)] |= std::uint64_t{1} << (i % 64);
    }
    return mask;
}

int AffinityMask::count() const {
    int bits = 0;
    for (const std::uint64_t word : words) bits += std::popcount(word);
    return bits;
}

bool is_crowded(const std::vector<AffinityMask>& ranks) {
    AffinityMask together;
    for (const AffinityMask& mask : ranks) {
        for (std::size_t i = 0; i < mask.words.size(); ++i) together.words[i] |= mask.words[i];
        const auto same = std::count(ranks.begin(), ranks.end(), mask);
        if (mask.count() > 0 && same > mask.count()) return true;
    }
    return together.count() > 0 && static_cast<int>(ranks.size()) > together.count();
}

}  // namespace peercoll
