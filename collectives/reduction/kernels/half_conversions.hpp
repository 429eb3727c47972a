// SPDX-License-Identifier: BSD-3-Clause
// FLOAT16 and BFLOAT16 to and from float32, one register of numbers at a time. Rounds to nearest, ties to even. The
// processor's own instructions are used where there are some; the arithmetic below gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace peercoll::kernels {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t lanes = 16;
#elif defined(__AVX2__)
constexpr std::size_t lanes = 8;
#else
constexpr std::size_t lanes = 4;
#endif

typedef float Floats __attribute__((vector_size(lanes * 4)));
typedef std::uint32_t Words __attribute__((vector_size(lanes * 4)));
typedef std::int32_t SignedWords __attribute__((vector_size(lanes * 4)));
typedef std::uint16_t Halves __attribute__((vector_size(lanes * 2)));

inline Halves load_halves(const void* base, std::size_t i) {
    Halves halves;
    __builtin_memcpy(&halves, static_cast<const unsigned char*>(base) + 2 * i, sizeof(halves));
    return halves;
}

inline void store_halves(void* base, std::size_t i, Halves halves) {
    __builtin_memcpy(static_cast<unsigned char*>(base) + 2 * i, &halves, sizeof(halves));
}

// 16 to 32 bits and back, filled with or losing zeros. The compiler's own conversion takes detours on x86.
#if defined(__AVX512F__)
// The unmasked forms pass an undefined value along, at which GCC 12 warns.
constexpr __mmask16 all_lanes = 0xffff;
inline Words to_words(Halves halves) {
    return (Words)_mm512_maskz_cvtepu16_epi32(all_lanes, (__m256i)halves);
}
inline Halves to_halves(Words words) {
    return (Halves)_mm512_maskz_cvtepi32_epi16(all_lanes, (__m512i)words);
}
#elif defined(__AVX2__)
inline Words to_words(Halves halves) {
    return (Words)_mm256_cvtepu16_epi32((__m128i)halves);
}
inline Halves to_halves(Words words) {
    const __m256i packed = _mm256_packus_epi32((__m256i)words, (__m256i)words);  // inside each half of the register
    return (Halves)_mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08));
}
#elif defined(__SSE2__)
inline Words to_words(Halves halves) {
    const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(&halves));
    return (Words)_mm_unpacklo_epi16(low, _mm_setzero_si128());
}
inline Halves to_halves(Words words) {
    // The pack saturates signed numbers, so they are made signed ones of 16 bits first.
    const __m128i extended = _mm_srai_epi32(_mm_slli_epi32((__m128i)words, 16), 16);
    Halves halves;
    _mm_storel_epi64(reinterpret_cast<__m128i*>(&halves), _mm_packs_epi32(extended, extended));
    return halves;
}
#else
inline Words to_words(Halves halves) {
    return __builtin_convertvector(halves, Words);
}
inline Halves to_halves(Words words) {
    return __builtin_convertvector(words, Halves);
}
#endif

struct BFloat16 {
    static Floats widen(Halves halves) { return reinterpret_cast<Floats>(to_words(halves) << 16); }
    // `floats` holds no NaN but the one without payload, which rounding leaves a NaN.
    static Halves narrow(Floats floats) {
        const Words bits = reinterpret_cast<Words>(floats);
        return to_halves((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
    }
};

struct Float16 {
#if defined(__AVX512F__)
    static Floats widen(Halves halves) {
        return (Floats)_mm512_maskz_cvtph_ps(all_lanes, (__m256i)halves);
    }
    static Halves narrow(Floats floats) {
        return (Halves)_mm512_maskz_cvtps_ph(all_lanes, (__m512)floats, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
#elif defined(__F16C__)
    static Floats widen(Halves halves) {
        return (Floats)_mm256_cvtph_ps((__m128i)halves);
    }
    static Halves narrow(Floats floats) {
        return (Halves)_mm256_cvtps_ph((__m256)floats, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
#else
    static Floats widen(Halves halves) {
        const Words bits = to_words(halves);
        const Words sign = (bits & 0x8000) << 16;
        const Words magnitude = (bits & 0x7fff) << 13;  // exponent and fraction where float32 has them
        const Words exponent = magnitude & 0x0f800000;
        const Words normal = magnitude + ((127 - 15) << 23);
        const Words infinite_or_nan = magnitude | 0x7f800000;
        // A subnormal is fraction * 2^-24: put the fraction behind a leading 1 at exponent -14, then take that away.
        const Words with_leading_one = magnitude + ((127 - 14) << 23);
        const Words leading_one = magnitude * 0 + ((127 - 14) << 23);
        const Words subnormal =
            reinterpret_cast<Words>(reinterpret_cast<Floats>(with_leading_one) - reinterpret_cast<Floats>(leading_one));
        const Words finite = exponent == 0 ? subnormal : normal;
        return reinterpret_cast<Floats>(sign | (exponent == 0x0f800000 ? infinite_or_nan : finite));
    }
    // `floats` holds no NaN but the one without payload.
    static Halves narrow(Floats floats) {
        const Words bits = reinterpret_cast<Words>(floats);
        const Words sign = (bits >> 16) & 0x8000;
        const Words magnitude = bits & 0x7fffffff;
        const SignedWords ordered = reinterpret_cast<SignedWords>(magnitude);  // SSE2 compares signed numbers only
        // Half of the last bit kept is added (a little less if that bit is even); the carry may reach the exponent and
        // make infinity of numbers from 65520 on.
        const Words normal = (magnitude - ((127 - 15) << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
        // Below 2^-14 the last bit is worth 2^-24, which is the last bit of float32 at 0.5: the addition rounds.
        const Words half = magnitude * 0 + 0x3f000000;
        const Words subnormal =
            reinterpret_cast<Words>(reinterpret_cast<Floats>(magnitude) + reinterpret_cast<Floats>(half)) - 0x3f000000;
        const Words special = ordered > 0x7f800000 ? (magnitude * 0 + 0x7e00) : (magnitude * 0 + 0x7c00);
        const Words finite = ordered < 0x38800000 ? subnormal : normal;
        return to_halves(sign | (ordered >= 0x47800000 ? special : finite));
    }
#endif
};

}  // namespace
}  // namespace peercoll::kernels
