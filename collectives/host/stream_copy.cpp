// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/host/stream_copy.hpp"

#include "collectives/host/prefetch.hpp"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace peercoll {

namespace {

constexpr std::size_t line = 64;

void plain_copy(void* destination, const void* source, std::size_t bytes) {
    std::memcpy(destination, source, bytes);
}

#if defined(__x86_64__)
// Whole lines to a destination that begins with one. A line that is stored at once need not wait for its other parts in
// a buffer of the processor, of which there are few.
__attribute__((target("avx512f"))) void stream_lines_at_once(char* to, const char* from, std::size_t bytes) {
    for (; bytes >= line; bytes -= line, to += line, from += line)
        _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
}

void stream_lines_in_parts(char* to, const char* from, std::size_t bytes) {
    for (; bytes >= line; bytes -= line, to += line, from += line) {
        const auto* in = reinterpret_cast<const __m128i*>(from);
        auto* out = reinterpret_cast<__m128i*>(to);
        static_assert(line == 4 * sizeof(__m128i));
        const __m128i a = _mm_loadu_si128(in);
        const __m128i b = _mm_loadu_si128(in + 1);
        const __m128i c = _mm_loadu_si128(in + 2);
        const __m128i d = _mm_loadu_si128(in + 3);
        _mm_stream_si128(out, a);
        _mm_stream_si128(out + 1, b);
        _mm_stream_si128(out + 2, c);
        _mm_stream_si128(out + 3, d);
    }
}
#endif

}  // namespace

void stream_piece(void* destination, const void* source, std::size_t bytes) {
#if defined(__x86_64__)
    auto* to = static_cast<char*>(destination);
    const auto* from = static_cast<const char*>(source);
    const std::size_t head = -reinterpret_cast<std::uintptr_t>(to) % line;
    if (bytes < head + line) {
        std::memcpy(to, from, bytes);
        return;
    }
    std::memcpy(to, from, head);
    to += head;
    from += head;
    bytes -= head;
    if (__builtin_cpu_supports("avx512f"))
        stream_lines_at_once(to, from, bytes);
    else
        stream_lines_in_parts(to, from, bytes);
    const std::size_t lines = bytes / line * line;
    std::memcpy(to + lines, from + lines, bytes - lines);
#else
    std::memcpy(destination, source, bytes);
#endif
}

void stream_fence() {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

void stream_copy(void* destination, const void* source, std::size_t bytes) {
    stream_piece(destination, source, bytes);
    stream_fence();
}

void copy_piece_of_many(void* destination, const void* source, std::size_t bytes) {
    constexpr std::size_t ahead = 2048;
    auto* to = static_cast<char*>(destination);
    const auto* from = static_cast<const char*>(source);
    for (; bytes >= line; bytes -= line, to += line, from += line) {
        // Also behind the end of the source: asking for a line there is no access.
        prefetch_to_read(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(from) + ahead));
        std::memcpy(to, from, line);
    }
    std::memcpy(to, from, bytes);
}

CopyFunction copy_by(Stores stores) {
    return stores == Stores::Streaming ? stream_copy : plain_copy;
}

}  // namespace peercoll
