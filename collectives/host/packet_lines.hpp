// SPDX-License-Identifier: BSD-3-Clause
// Writing a message into packet lines, and reading it out.
#pragma once

#include "collectives/host/segment_layout.hpp"

#include <cstring>

namespace peercoll {

inline std::size_t packet_lines_of(std::size_t bytes) {
    return (bytes + packet_payload - 1) / packet_payload;
}

// Copies of a known size become a few moves; a call of memcpy for each line would cost more than the line.
inline void write_packet(PacketLine* line, const std::byte* message, std::size_t bytes, std::uint64_t step) {
    for (; bytes > packet_payload; bytes -= packet_payload, message += packet_payload, ++line) {
        std::memcpy(line->payload, message, packet_payload);
        line->step.store(step, std::memory_order_release);
    }
    if (bytes == 8)
        std::memcpy(line->payload, message, 8);
    else
        std::memcpy(line->payload, message, bytes);
    line->step.store(step, std::memory_order_release);
}

inline void read_packet(const PacketLine* line, std::byte* message, std::size_t bytes) {
    for (; bytes > packet_payload; bytes -= packet_payload, message += packet_payload, ++line)
        std::memcpy(message, line->payload, packet_payload);
    if (bytes == 8)
        std::memcpy(message, line->payload, 8);
    else
        std::memcpy(message, line->payload, bytes);
}

// Looks at every line, since lines may become visible in any order on some machines; and before it decides anything, so
// that the cache misses of a message's lines overlap.
inline bool packet_has_come(const PacketLine* line, std::size_t lines, std::uint64_t step) {
    bool all = line->step.load(std::memory_order_acquire) == step;
    for (std::size_t i = 1; i < lines; ++i) all &= line[i].step.load(std::memory_order_acquire) == step;
    return all;
}

}  // namespace peercoll
