// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/host/stream_copy.hpp"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace peercoll {

namespace {

void plain_copy(void* destination, const void* source, std::size_t bytes) {
    std::memcpy(destination, source, bytes);
}

}  // namespace

void stream_copy(void* destination, const void* source, std::size_t bytes) {
#if defined(__x86_64__)
    constexpr std::size_t line = 64;
    constexpr std::size_t vector = sizeof(__m128i);
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
    for (; bytes >= line; bytes -= line, to += line, from += line) {
        const auto* in = reinterpret_cast<const __m128i*>(from);
        auto* out = reinterpret_cast<__m128i*>(to);
        static_assert(line == 4 * vector);
        const __m128i a = _mm_loadu_si128(in);
        const __m128i b = _mm_loadu_si128(in + 1);
        const __m128i c = _mm_loadu_si128(in + 2);
        const __m128i d = _mm_loadu_si128(in + 3);
        _mm_stream_si128(out, a);
        _mm_stream_si128(out + 1, b);
        _mm_stream_si128(out + 2, c);
        _mm_stream_si128(out + 3, d);
    }
    std::memcpy(to, from, bytes);
    _mm_sfence();
#else
    std::memcpy(destination, source, bytes);
#endif
}

CopyFunction copy_by(Stores stores) {
    return stores == Stores::Streaming ? stream_copy : plain_copy;
}

}  // namespace peercoll
