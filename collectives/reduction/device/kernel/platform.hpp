// SPDX-License-Identifier: BSD-3-Clause
// All that differs between the compilers of the kernels: CUDA (nvcc, NVRTC), HIP (hipcc, hiprtc), and a plain C++
// compiler, whose kernels the simulated devices run. A kernel is defined by PEERCOLL_KERNEL(name, element_bytes, body),
// body being a function of the parameters and of a Position; PEERCOLL_STANDBY_KERNEL(...) is one that stays on the
// device (standby.hpp), where the platform has such kernels.
#pragma once

#include "collectives/reduction/device/kernel/parameters.hpp"

namespace peercoll::device {

typedef unsigned long long Address;

// 16 bytes, which is what the widest access of a thread moves.
struct alignas(16) Vector {
    unsigned words[4];
};

// A thread in its grid, and in its block.
struct Position {
    unsigned long long thread;
    unsigned long long threads;
    unsigned blocks;
    unsigned block;
    unsigned lane;
    unsigned lanes;
};

#if defined(__HIP__) || defined(__HIPCC_RTC__)

#define PEERCOLL_DEVICE static inline __attribute__((device, always_inline))
#define PEERCOLL_UNROLL _Pragma("unroll")
#define PEERCOLL_NO_UNROLL _Pragma("unroll 1")
// A product and a sum stay two roundings.
#pragma clang fp contract(off)

PEERCOLL_DEVICE float add(float a, float b) {
    return a + b;
}
PEERCOLL_DEVICE double add(double a, double b) {
    return a + b;
}
PEERCOLL_DEVICE float multiply(float a, float b) {
    return a * b;
}
PEERCOLL_DEVICE double multiply(double a, double b) {
    return a * b;
}
#define PEERCOLL_HAS_HALF_CONVERSIONS 1
PEERCOLL_DEVICE float half_to_float(unsigned short bits) {
    union {
        unsigned short bits;
        _Float16 half;
    } pun = {bits};
    return static_cast<float>(pun.half);
}
PEERCOLL_DEVICE unsigned short float_to_half(float value) {
    union {
        _Float16 half;
        unsigned short bits;
    } pun = {static_cast<_Float16>(value)};
    return pun.bits;
}

template <class T>
PEERCOLL_DEVICE T load(Address address) {
    return *reinterpret_cast<const T __attribute__((address_space(1)))*>(address);
}
template <class T>
PEERCOLL_DEVICE void store(Address address, T value) {
    *reinterpret_cast<T __attribute__((address_space(1)))*>(address) = value;
}
typedef unsigned Words4 __attribute__((ext_vector_type(4)));
PEERCOLL_DEVICE Vector load_vector_if(bool wanted, Address address) {
    if (!wanted) {
        return {};
    }
    const Words4 words = load<Words4>(address);
    return {{words.x, words.y, words.z, words.w}};
}
PEERCOLL_DEVICE void store_vector(Address address, Vector vector) {
    store<Words4>(address, Words4{vector.words[0], vector.words[1], vector.words[2], vector.words[3]});
}

PEERCOLL_DEVICE void block_barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
PEERCOLL_DEVICE void system_fence() {
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
}
// The old value.
PEERCOLL_DEVICE unsigned count_up_in_order(Address counter) {
    system_fence();
    const unsigned old = __atomic_fetch_add(reinterpret_cast<unsigned*>(counter), 1u, __ATOMIC_RELAXED);
    system_fence();
    return old;
}
PEERCOLL_DEVICE void reset_counter(Address counter) {
    __atomic_store_n(reinterpret_cast<unsigned*>(counter), 0u, __ATOMIC_RELAXED);
}
PEERCOLL_DEVICE void release_flag(Address flag, unsigned long long value) {
    system_fence();  // what other threads of the block have stored is not this one's to release
    __atomic_store_n(reinterpret_cast<unsigned long long*>(flag), value, __ATOMIC_RELEASE);
}
PEERCOLL_DEVICE Position position() {
    const unsigned lanes = __builtin_amdgcn_workgroup_size_x();
    const unsigned grid = __builtin_amdgcn_grid_size_x();
    const unsigned lane = __builtin_amdgcn_workitem_id_x();
    const unsigned block = __builtin_amdgcn_workgroup_id_x();
    return {1ull * block * lanes + lane, grid, grid / lanes, block, lane, lanes};
}

#define PEERCOLL_KERNEL(name, element_bytes, ...)                                      \
    extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, 256))) void name( \
        const peercoll::FoldParameters parameters) {                                   \
        __VA_ARGS__(parameters, peercoll::device::position());                         \
        peercoll::device::complete(parameters, peercoll::device::position());          \
    }
#define PEERCOLL_STANDBY_KERNEL(name, element_bytes, ...)

#elif defined(__CUDACC__) || defined(__CUDACC_RTC__)

#define PEERCOLL_DEVICE static __device__ __forceinline__
#define PEERCOLL_UNROLL _Pragma("unroll")
#define PEERCOLL_NO_UNROLL _Pragma("unroll 1")

// The intrinsics are never fused.
PEERCOLL_DEVICE float add(float a, float b) {
    return __fadd_rn(a, b);
}
PEERCOLL_DEVICE double add(double a, double b) {
    return __dadd_rn(a, b);
}
PEERCOLL_DEVICE float multiply(float a, float b) {
    return __fmul_rn(a, b);
}
PEERCOLL_DEVICE double multiply(double a, double b) {
    return __dmul_rn(a, b);
}
#define PEERCOLL_HAS_HALF_CONVERSIONS 1
PEERCOLL_DEVICE float half_to_float(unsigned short bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}
PEERCOLL_DEVICE unsigned short float_to_half(float value) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

template <class T>
PEERCOLL_DEVICE T load(Address address) {
    return *reinterpret_cast<const T*>(address);
}
template <class T>
PEERCOLL_DEVICE void store(Address address, T value) {
    *reinterpret_cast<T*>(address) = value;
}
// Volatile: loads stay before the stores that follow them in the source, so that all of them are under way at once. The
// predicate instead of a branch is for the same. Nothing is read twice, so nothing is kept in the first level cache.
PEERCOLL_DEVICE Vector load_vector_if(bool wanted, Address address) {
    unsigned x = 0, y = 0, z = 0, w = 0;
    asm volatile(
        "{ .reg .pred wanted; setp.ne.u32 wanted, %5, 0;\n"
        "@wanted ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4]; }"
        : "+r"(x), "+r"(y), "+r"(z), "+r"(w)
        : "l"(address), "r"(static_cast<unsigned>(wanted))
        : "memory");
    return {{x, y, z, w}};
}
PEERCOLL_DEVICE void store_vector(Address address, Vector vector) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(vector.words[0]), "r"(vector.words[1]),
                 "r"(vector.words[2]), "r"(vector.words[3])
                 : "memory");
}

PEERCOLL_DEVICE void block_barrier() {
    __syncthreads();
}
// The old value. Releases what its block has done, and acquires what the blocks before it have. The scope is that of
// the blocks; the flag's release adds the system's, since causality order goes on through both (PTX memory model).
PEERCOLL_DEVICE unsigned count_up_in_order(Address counter) {
    unsigned old;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(counter) : "memory");
    return old;
}
PEERCOLL_DEVICE void reset_counter(Address counter) {
    *reinterpret_cast<volatile unsigned*>(counter) = 0;
}
PEERCOLL_DEVICE void release_flag(Address flag, unsigned long long value) {
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(flag), "l"(value) : "memory");
}
PEERCOLL_DEVICE Position position() {
    return {1ull * blockIdx.x * blockDim.x + threadIdx.x,
            1ull * gridDim.x * blockDim.x,
            gridDim.x,
            blockIdx.x,
            threadIdx.x,
            blockDim.x};
}

// As a constant, the parameters stay where they are, also when an index is known at run time only.
#define PEERCOLL_KERNEL(name, element_bytes, ...)                                                     \
    extern "C" __global__ void __launch_bounds__(peercoll::FoldParameters::most_threads,              \
                                                 peercoll::FoldParameters::blocks_per_multiprocessor) \
        name(const __grid_constant__ peercoll::FoldParameters parameters) {                           \
        __VA_ARGS__(parameters, peercoll::device::position());                                        \
        peercoll::device::complete(parameters, peercoll::device::position());                         \
    }

// -- For kernels that stay --
#define PEERCOLL_HAS_STANDBY 1

constexpr unsigned warp_lanes = 32;

PEERCOLL_DEVICE bool on_all_lanes(bool condition) {
    return __all_sync(0xffffffffu, condition) != 0;
}
PEERCOLL_DEVICE unsigned from_first_lane(unsigned value) {
    return __shfl_sync(0xffffffffu, value, 0);
}
PEERCOLL_DEVICE unsigned long long nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
PEERCOLL_DEVICE unsigned long long read_system_word(Address address) {
    unsigned long long word;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(word) : "l"(address) : "memory");
    return word;
}
PEERCOLL_DEVICE unsigned long long read_device_word(Address address) {
    unsigned long long word;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(address) : "memory");
    return word;
}
PEERCOLL_DEVICE void write_system_word(Address address, unsigned long long word) {
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(address), "l"(word) : "memory");
}
PEERCOLL_DEVICE void write_device_word(Address address, unsigned long long word) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(word) : "memory");
}
// Between what the first block has read and what it relays, so that the others are ordered behind the host as well.
PEERCOLL_DEVICE void fence_device() {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

#define PEERCOLL_STANDBY_KERNEL(name, element_bytes, ...)                                                  \
    extern "C" __global__ void __launch_bounds__(peercoll::StandbyParameters::threads)                     \
        name(const __grid_constant__ peercoll::StandbyParameters parameters) {                             \
        __shared__ peercoll::device::StandbyWords words;                                                   \
        __shared__ peercoll::FoldParameters task;                                                          \
        peercoll::device::stand_by(                                                                        \
            parameters, peercoll::device::position(), words, task,                                         \
            [](const peercoll::FoldParameters& p, peercoll::device::Position at) { __VA_ARGS__(p, at); }); \
    }

#else  // for simulated devices; whoever compiles this defines both kinds of kernels and forbids contraction

#define PEERCOLL_DEVICE static inline
#define PEERCOLL_UNROLL
#define PEERCOLL_NO_UNROLL

PEERCOLL_DEVICE float add(float a, float b) {
    return a + b;
}
PEERCOLL_DEVICE double add(double a, double b) {
    return a + b;
}
PEERCOLL_DEVICE float multiply(float a, float b) {
    return a * b;
}
PEERCOLL_DEVICE double multiply(double a, double b) {
    return a * b;
}
#define PEERCOLL_HAS_HALF_CONVERSIONS 0

template <class T>
PEERCOLL_DEVICE T load(Address address) {
    T value;
    __builtin_memcpy(&value, reinterpret_cast<const void*>(address), sizeof(T));
    return value;
}
template <class T>
PEERCOLL_DEVICE void store(Address address, T value) {
    __builtin_memcpy(reinterpret_cast<void*>(address), &value, sizeof(T));
}
PEERCOLL_DEVICE Vector load_vector_if(bool wanted, Address address) {
    return wanted ? load<Vector>(address) : Vector{};
}
PEERCOLL_DEVICE void store_vector(Address address, Vector vector) {
    store(address, vector);
}

PEERCOLL_DEVICE void block_barrier() {}
// The old value.
PEERCOLL_DEVICE unsigned count_up_in_order(Address counter) {
    return __atomic_fetch_add(reinterpret_cast<unsigned*>(counter), 1u, __ATOMIC_ACQ_REL);
}
PEERCOLL_DEVICE void reset_counter(Address counter) {
    __atomic_store_n(reinterpret_cast<unsigned*>(counter), 0u, __ATOMIC_RELAXED);
}
PEERCOLL_DEVICE void release_flag(Address flag, unsigned long long value) {
    __atomic_store_n(reinterpret_cast<unsigned long long*>(flag), value, __ATOMIC_RELEASE);
}

#endif

}  // namespace peercoll::device
