// SPDX-License-Identifier: BSD-3-Clause
// PEERCOLL_KERNEL for simulated devices: a function that runs the whole grid, one thread after another, on memory that
// the simulator has translated. Comes before the kernels' source, which has no header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/simulated_devices/core/simulated_launch.h"

namespace peercoll::simulated_kernels {

// An address becomes the processor's. False: nobody may access it.
inline bool translate(const peercoll_simulated_launch* launch, unsigned long long& address, std::uint64_t bytes,
                      bool write) {
    void* const here = launch->translate(launch, address, bytes, write ? 1 : 0);
    address = reinterpret_cast<std::uintptr_t>(here);
    return here != nullptr;
}

template <class Parameters>
bool translate_all(const peercoll_simulated_launch* launch, Parameters& p, std::size_t element_bytes) {
    const std::uint64_t bytes = p.count * element_bytes;
    for (unsigned k = 0; k < p.n_inputs; ++k) {
        if (!translate(launch, p.inputs[k], bytes, false)) {
            return false;
        }
    }
    for (unsigned j = 0; j < p.n_outputs; ++j) {
        if (!translate(launch, p.outputs[j], bytes, true)) {
            return false;
        }
    }
    if (p.flag == 0) {
        return true;
    }
    const bool counts = launch->grid[0] > 1;
    return translate(launch, p.flag, sizeof(std::uint64_t), true) &&
           (!counts || translate(launch, p.counter, sizeof(std::uint32_t), true));
}

// body(parameters, position) is a thread of the kernel, complete(parameters, position) what each block ends with.
template <class Parameters, class Position, class Body, class Complete>
void run_grid(const void* given, const peercoll_simulated_launch* launch, std::size_t element_bytes, Body body,
              Complete complete) {
    Parameters p;
    std::memcpy(&p, given, sizeof(p));
    if (!translate_all(launch, p, element_bytes)) {
        return;
    }
    const unsigned blocks = launch->grid[0];
    const unsigned threads = launch->block[0];
    for (unsigned block = 0; block < blocks; ++block) {
        const unsigned long long first = 1ull * block * threads;
        for (unsigned thread = 0; thread < threads; ++thread) {
            body(p, Position{first + thread, 1ull * blocks * threads, blocks, block, thread, threads});
        }
        complete(p, Position{first, 1ull * blocks * threads, blocks, block, 0, threads});
    }
}

}  // namespace peercoll::simulated_kernels

#define PEERCOLL_VISIBLE __attribute__((visibility("default")))
#define PEERCOLL_KERNEL(name, element_bytes, ...)                                                    \
    extern "C" {                                                                                     \
    PEERCOLL_VISIBLE void name(void* parameters, const peercoll_simulated_launch* launch) {          \
        peercoll::simulated_kernels::run_grid<peercoll::FoldParameters, peercoll::device::Position>( \
            parameters, launch, element_bytes, [](const auto& p, auto at) { __VA_ARGS__(p, at); },   \
            [](const auto& p, auto at) { peercoll::device::complete(p, at); });                      \
    }                                                                                                \
    PEERCOLL_VISIBLE extern const std::size_t name##_parameter_bytes;                                \
    const std::size_t name##_parameter_bytes = sizeof(peercoll::FoldParameters);                     \
    }
