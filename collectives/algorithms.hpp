// SPDX-License-Identifier: BSD-3-Clause
// The algorithms by name. The same words force one (options allreduce_algorithm, broadcast_algorithm), count its uses
// (statistics) and name its file.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace peercoll {

enum class AllreduceAlgorithm : std::uint8_t { Auto, Packets, Slots, Staged, Grouped, SingleCopy };
inline constexpr auto allreduce_algorithm_names =
    std::to_array<std::string_view>({"auto", "packets", "slots", "staged", "grouped", "single_copy"});

enum class BroadcastAlgorithm : std::uint8_t { Auto, Packets, Staged, Grouped, SingleCopy };
inline constexpr auto broadcast_algorithm_names =
    std::to_array<std::string_view>({"auto", "packets", "staged", "grouped", "single_copy"});

}  // namespace peercoll
