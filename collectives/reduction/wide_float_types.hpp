// SPDX-License-Identifier: BSD-3-Clause
// The floating point types wider than double, as far as this compiler and processor have them.
#pragma once

#include <cfloat>

namespace peercoll {

#if defined(__x86_64__) && LDBL_MANT_DIG == 64
#define PEERCOLL_HAS_FLOAT80 1
using Float80 = long double;
static_assert(sizeof(Float80) == 16);
#else
#define PEERCOLL_HAS_FLOAT80 0
#endif

#if defined(__SIZEOF_FLOAT128__)
#define PEERCOLL_HAS_FLOAT128 1
using Float128 = __float128;
#elif LDBL_MANT_DIG == 113
#define PEERCOLL_HAS_FLOAT128 1
using Float128 = long double;
#else
#define PEERCOLL_HAS_FLOAT128 0
#endif

constexpr bool has_float80 = PEERCOLL_HAS_FLOAT80 != 0;
constexpr bool has_float128 = PEERCOLL_HAS_FLOAT128 != 0;

}  // namespace peercoll
