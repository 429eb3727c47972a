// SPDX-License-Identifier: BSD-3-Clause
// A message's name as the 64 bits that UCX compares:
//
//     63          48 47          32 31               12 11        0
//     | communicator |   sequence   |      source      |   stage   |
#pragma once

#include "plugin/ucx/transport.h"

#include <cstdint>
#include <optional>

namespace peercoll::ucx {

inline constexpr unsigned tag_stage_bits = 12;
inline constexpr unsigned tag_source_bits = 20;
inline constexpr unsigned tag_sequence_bits = 16;
inline constexpr unsigned tag_communicator_bits = 16;
static_assert(tag_stage_bits + tag_source_bits + tag_sequence_bits + tag_communicator_bits == 64);

inline constexpr std::uint64_t tag_source_mask = ((std::uint64_t{1} << tag_source_bits) - 1) << tag_stage_bits;

// Nothing if a part does not fit.
inline std::optional<std::uint64_t> tag_of(const peercoll_message_t& message) {
    if (message.communicator >> tag_communicator_bits != 0 || message.source >> tag_source_bits != 0 ||
        message.stage >> tag_stage_bits != 0) {
        return std::nullopt;
    }
    std::uint64_t tag = message.communicator;
    tag = tag << tag_sequence_bits | (message.sequence & ((1u << tag_sequence_bits) - 1));
    tag = tag << tag_source_bits | message.source;
    return tag << tag_stage_bits | message.stage;
}

}  // namespace peercoll::ucx
