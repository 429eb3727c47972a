// SPDX-License-Identifier: BSD-3-Clause
// The algorithms by name. The same words force one (options allreduce_algorithm, broadcast_algorithm), count its uses
// (statistics) and name its file.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace peercoll {

enum class AllreduceAlgorithm : std::uint8_t { Auto, Packets, TwoShotPackets, Slots, Staged, Grouped, SingleCopy };
inline constexpr std::array<std::string_view, 7> allreduce_algorithm_names{
    "auto", "packets", "two_shot_packets", "slots", "staged", "grouped", "single_copy"};

enum class BroadcastAlgorithm : std::uint8_t { Auto, Packets, Staged, Grouped, SingleCopy };
inline constexpr std::array<std::string_view, 5> broadcast_algorithm_names{"auto", "packets", "staged", "grouped",
                                                                           "single_copy"};

}  // namespace peercoll
