// SPDX-License-Identifier: BSD-3-Clause
#include "buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <set>
#include <string>

namespace peercoll::bench {

namespace {

constexpr std::size_t line = 64;
constexpr std::size_t always_warm_limit = std::size_t{1} << 20;
constexpr std::size_t fallback_cache_bytes = std::size_t{32} << 20;

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
std::size_t pitch(std::size_t bytes) {
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

void BufferSet::Free::operator()(std::byte* memory) const {
    std::free(memory);
}

BufferSet::BufferSet(std::size_t buffers, std::size_t message_bytes) : buffers_(buffers) {
    std::size_t offset = 0;
    for (Buffer& buffer : buffers_) {
        buffer.send = offset;
        offset += pitch(message_bytes);
        buffer.receive = offset;
        offset += pitch(message_bytes);
    }
    arena_.reset(static_cast<std::byte*>(std::aligned_alloc(line, offset)));
    if (!arena_) throw std::bad_alloc();
    std::memset(arena_.get(), 0, offset);
}

}  // namespace peercoll::bench
