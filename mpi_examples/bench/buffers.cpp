// SPDX-License-Identifier: BSD-3-Clause
#include "buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

namespace peercoll::bench {

namespace {

constexpr std::size_t always_warm_limit = std::size_t{1} << 20;
constexpr std::size_t fallback_cache_bytes = std::size_t{32} << 20;
constexpr std::size_t largest_device_cache_bytes = std::size_t{128} << 20;

std::string first_word(const std::string& path) {
    std::ifstream file(path);
    std::string word;
    file >> word;
    return word;
}

std::size_t parse_cache_size(const std::string& text) {
    std::size_t end = 0;
    const std::size_t number = text.empty() ? 0 : std::stoull(text, &end);
    if (end < text.size() && text[end] == 'K') return number << 10;
    if (end < text.size() && text[end] == 'M') return number << 20;
    return number;
}

// An odd number of lines between starts, so that buffers do not share their low address bits.
std::size_t pitch(std::size_t bytes, std::size_t line) {
    const std::size_t lines = (bytes + line - 1) / line;
    return (lines + 2 + lines % 2 + 1) * line;
}

}  // namespace

std::size_t default_buffer_count(std::size_t message_bytes, bool back_to_back, int ranks, std::size_t cache_bytes) {
    if (back_to_back) return 8;
    if (message_bytes <= always_warm_limit) return 4;
    const std::size_t per_round = 2 * message_bytes * static_cast<std::size_t>(std::max(ranks, 1));
    return std::clamp((cache_bytes + cache_bytes / 2) / per_round + 1, std::size_t{4}, std::size_t{64});
}

std::size_t last_level_cache_bytes() {
    std::set<std::string> counted;
    std::size_t total = 0;
    for (int cpu = 0;; ++cpu) {
        std::string size;
        std::string sharers;
        for (int index = 0;; ++index) {
            const std::string base = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/", cpu, index);
            const std::string found = first_word(base + "size");
            if (found.empty()) break;
            size = found;
            sharers = first_word(base + "shared_cpu_list");
        }
        if (size.empty()) break;
        if (counted.insert(sharers).second) total += parse_cache_size(size);
    }
    return total == 0 ? fallback_cache_bytes : total;
}

std::size_t default_device_buffer_count(std::size_t message_bytes, int ranks_of_device) {
    const std::size_t per_round = 2 * message_bytes * static_cast<std::size_t>(std::max(ranks_of_device, 1));
    if (message_bytes <= always_warm_limit) return 8;
    return std::clamp(largest_device_cache_bytes / per_round + 1, std::size_t{2}, std::size_t{8});
}

BufferSet::BufferSet(std::size_t buffers, std::size_t message_bytes, Memory& memory)
    : memory_(memory), buffers_(buffers) {
    std::size_t offset = 0;
    for (Buffer& buffer : buffers_) {
        buffer.send = offset;
        offset += pitch(message_bytes, memory.alignment());
        buffer.receive = offset;
        offset += pitch(message_bytes, memory.alignment());
    }
    arena_ = static_cast<std::byte*>(memory.allocate(offset));
}

BufferSet::~BufferSet() {
    memory_.release(arena_);
}

}  // namespace peercoll::bench
