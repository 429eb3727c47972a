// SPDX-License-Identifier: BSD-3-Clause
// The kernels' source for hiprtc, which needs no header. Arguments as in ../kernels/kernel_parameters.hpp.
#pragma once

namespace peercoll::conformance::hip {

inline constexpr char kernel_source[] = R"hip(
typedef unsigned long long Word;

__device__ inline void store_released(Word to, Word value) {
    __hip_atomic_store(reinterpret_cast<Word *>(to), value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

struct StoreParameters { Word target, value, count, flag, flag_value; };
extern "C" __global__ void peercoll_conformance_store(StoreParameters p) {
    Word *target = reinterpret_cast<Word *>(p.target);
    for (Word i = threadIdx.x; i < p.count; i += blockDim.x) target[i] = p.value + i;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0 && p.flag != 0) store_released(p.flag, p.flag_value);
}

struct CopyParameters { Word target, source, count; };
extern "C" __global__ void peercoll_conformance_copy(CopyParameters p) {
    Word *target = reinterpret_cast<Word *>(p.target);
    const Word *source = reinterpret_cast<const Word *>(p.source);
    for (Word i = threadIdx.x; i < p.count; i += blockDim.x) target[i] = source[i];
}

struct WaitParameters { Word flag, value, looks, result; };
extern "C" __global__ void peercoll_conformance_wait(WaitParameters p) {
    if (threadIdx.x != 0) return;
    bool seen = false;
    for (Word look = 0; look < p.looks && !seen; ++look)
        seen = __hip_atomic_load(reinterpret_cast<Word *>(p.flag), __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == p.value;
    store_released(p.result, seen ? 1 : 2);
}
)hip";

}  // namespace peercoll::conformance::hip
