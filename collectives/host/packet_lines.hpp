// SPDX-License-Identifier: BSD-3-Clause
// Writing a message into packet lines, and reading it out.
#pragma once

#include "collectives/host/prefetch.hpp"
#include "collectives/host/segment_layout.hpp"

#include <cstring>

namespace peercoll {

inline std::size_t packet_lines_of(std::size_t bytes) {
    return (bytes + packet_payload - 1) / packet_payload;
}

// Only the last line's step is set: whoever reads it sees everything that was written before it, and lines that nobody
// looks at before they are whole stay with their writer. The others' steps stay what they were, steps of the past; so
// no data can be taken for a step.
//
// Copies of a known size become a few moves; a call of memcpy for each line would cost more than the line.
inline void write_packet(PacketLine* line, const std::byte* message, std::size_t bytes, std::uint64_t step) {
    for (; bytes > packet_payload; bytes -= packet_payload, message += packet_payload, ++line)
        std::memcpy(line->payload, message, packet_payload);
    if (bytes == 8)
        std::memcpy(line->payload, message, 8);
    else
        std::memcpy(line->payload, message, bytes);
    line->step.store(step, std::memory_order_release);
}

// The whole message of `lines` lines can be read.
inline bool packet_has_come(const PacketLine* line, std::size_t lines, std::uint64_t step) {
    return line[lines - 1].step.load(std::memory_order_acquire) == step;
}

// Fetches a message that has come.
inline void packet_soon(const PacketLine* line, std::size_t lines) {
    for (std::size_t i = 0; i + 1 < lines; ++i) prefetch_to_read(line + i);
}

inline void read_packet(const PacketLine* line, std::byte* message, std::size_t bytes) {
    for (; bytes > packet_payload; bytes -= packet_payload, message += packet_payload, ++line)
        std::memcpy(message, line->payload, packet_payload);
    if (bytes == 8)
        std::memcpy(message, line->payload, 8);
    else
        std::memcpy(message, line->payload, bytes);
}

}  // namespace peercoll
