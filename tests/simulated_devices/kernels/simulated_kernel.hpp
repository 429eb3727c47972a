// SPDX-License-Identifier: BSD-3-Clause
// PEERCOLL_KERNEL for simulated devices: a function that runs the whole grid, one thread after another, on memory that
// the simulator has translated. Comes before the kernels' source, which has no header.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>

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
bool translate_all(const peercoll_simulated_launch* launch, Parameters& p, std::size_t element_bytes, bool counts) {
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
    return translate(launch, p.flag, sizeof(std::uint64_t), true) &&
           (!counts || translate(launch, p.counter, sizeof(std::uint32_t), true));
}

// body(parameters, position) is a thread of the kernel, complete(parameters, position) what each block ends with.
template <class Position, class Parameters, class Body, class Complete>
bool run_grid(Parameters p, const peercoll_simulated_launch* launch, unsigned blocks, std::size_t element_bytes,
              Body body, Complete complete) {
    if (!translate_all(launch, p, element_bytes, blocks > 1)) {
        return false;
    }
    const unsigned threads = launch->block[0];
    for (unsigned block = 0; block < blocks; ++block) {
        const unsigned long long first = 1ull * block * threads;
        for (unsigned thread = 0; thread < threads; ++thread) {
            body(p, Position{first + thread, 1ull * blocks * threads, blocks, block, thread, threads});
        }
        complete(p, Position{first, 1ull * blocks * threads, blocks, block, 0, threads});
    }
    return true;
}

// A kernel that stays (collectives/reduction/device/kernel/standby.hpp): its first block, for the whole grid.
template <class Parameters, class Mailbox, class Words, class Position, class Body, class Complete, class Unpack>
void run_standing(const void* given, const peercoll_simulated_launch* launch, std::size_t element_bytes, Body body,
                  Complete complete, Unpack unpack) {
    using Clock = std::chrono::steady_clock;
    Parameters s;
    std::memcpy(&s, given, sizeof(s));
    if (!translate(launch, s.mailbox, Mailbox::bytes, true)) {
        return;
    }
    auto* const mailbox = reinterpret_cast<std::uint64_t*>(s.mailbox);
    const auto say = [&](unsigned place, unsigned number) {
        __atomic_store_n(mailbox + place, std::uint64_t{number}, __ATOMIC_RELEASE);
    };
    auto fold = s.first;
    unsigned blocks = launch->grid[0];
    for (unsigned number = s.number;;) {
        if (!run_grid<Position>(fold, launch, blocks, element_bytes, body, complete)) {
            return;
        }
        const auto since = Clock::now();
        Words words;
        for (unsigned seen = 0; seen < Mailbox::words;) {
            for (seen = 0; seen < Mailbox::words; ++seen) {
                const std::uint64_t word = __atomic_load_n(mailbox + seen, __ATOMIC_ACQUIRE);
                if (word >> 32 != number + 1) {
                    break;
                }
                words.word[seen] = static_cast<unsigned>(word);
            }
            if (seen == Mailbox::words) {
                break;
            }
            if (Clock::now() - since > std::chrono::nanoseconds(s.patience)) {
                say(Mailbox::left_at, s.number);
                return;
            }
            std::this_thread::yield();
        }
        ++number;
        say(Mailbox::taken_at, number);
        blocks = words.task.blocks;
        if (blocks == 0) {
            say(Mailbox::left_at, s.number);
            return;
        }
        unpack(words.task, fold);
    }
}

}  // namespace peercoll::simulated_kernels

#define PEERCOLL_VISIBLE __attribute__((visibility("default")))
#define PEERCOLL_KERNEL(name, element_bytes, ...)                                                          \
    extern "C" {                                                                                           \
    PEERCOLL_VISIBLE void name(void* parameters, const peercoll_simulated_launch* launch) {                \
        peercoll::FoldParameters p;                                                                        \
        std::memcpy(&p, parameters, sizeof(p));                                                            \
        peercoll::simulated_kernels::run_grid<peercoll::device::Position>(                                 \
            p, launch, launch->grid[0], element_bytes, [](const auto& q, auto at) { __VA_ARGS__(q, at); }, \
            [](const auto& q, auto at) { peercoll::device::complete(q, at); });                            \
    }                                                                                                      \
    PEERCOLL_VISIBLE extern const std::size_t name##_parameter_bytes;                                      \
    const std::size_t name##_parameter_bytes = sizeof(peercoll::FoldParameters);                           \
    }

// Names that the kernels' source defines behind this header, so they are looked up where a kernel is.
#define PEERCOLL_STANDBY_KERNEL(name, element_bytes, ...)                                                      \
    extern "C" {                                                                                               \
    PEERCOLL_VISIBLE void name(void* parameters, const peercoll_simulated_launch* launch) {                    \
        peercoll::simulated_kernels::run_standing<peercoll::StandbyParameters, peercoll::StandbyMailbox,       \
                                                  peercoll::device::StandbyWords, peercoll::device::Position>( \
            parameters, launch, element_bytes, [](const auto& p, auto at) { __VA_ARGS__(p, at); },             \
            [](const auto& p, auto at) { peercoll::device::complete(p, at); },                                 \
            [](const auto& task, auto& p) {                                                                    \
                peercoll::device::unpack_scalars(task, p);                                                     \
                for (unsigned i = 0; i < peercoll::StandbyTask::most_addresses; ++i) {                         \
                    peercoll::device::unpack_address(task, i, p);                                              \
                }                                                                                              \
            });                                                                                                \
    }                                                                                                          \
    PEERCOLL_VISIBLE extern const std::size_t name##_parameter_bytes;                                          \
    const std::size_t name##_parameter_bytes = sizeof(peercoll::StandbyParameters);                            \
    PEERCOLL_VISIBLE extern const char name##_stays;                                                           \
    const char name##_stays = 1;                                                                               \
    }
