// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/core/call_counts.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <string_view>

namespace {

constexpr std::array<std::string_view, 11> names{
    "allocation", "host_allocation", "host_registration", "export", "import", "enable", "stream", "launch",
    "copy",       "reduction",       "synchronisation"};
static_assert(static_cast<std::size_t>(peercoll::simulator::Call::Synchronisation) + 1 == names.size());

std::array<std::atomic<std::uint64_t>, names.size()> counts{};

}  // namespace

namespace peercoll::simulator {

void note_call(Call what) {
    counts[static_cast<std::size_t>(what)].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace peercoll::simulator

std::uint64_t peercoll_simulator_calls(const char* name) {
    const auto* const found = std::find(names.begin(), names.end(), std::string_view(name));
    if (found == names.end()) {
        return ~std::uint64_t{0};
    }
    return counts[static_cast<std::size_t>(std::distance(names.begin(), found))].load(std::memory_order_relaxed);
}
