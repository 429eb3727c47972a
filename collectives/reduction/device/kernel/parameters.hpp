// SPDX-License-Identifier: BSD-3-Clause
// What a fold kernel is started with: its only argument, by value. Written by fill_fold_parameters(), read by the
// kernels; so that both sides see the same bytes, it is made of types of fixed width without their standard names.
#pragma once

namespace peercoll {

struct FoldParameters {
    static constexpr unsigned most = 64;  // inputs, and outputs
    // Threads of a block, at most; and blocks that a multiprocessor runs at once, at least. That leaves 64 registers to
    // a thread, which is what the vectors on their way and their addresses take.
    static constexpr unsigned most_threads = 256;
    static constexpr unsigned blocks_per_multiprocessor = 4;

    unsigned long long inputs[most];   // device addresses
    unsigned long long outputs[most];  // device addresses
    unsigned long long count;          // elements; bytes where the kernel has no larger element (copy, bitwise)
    unsigned long long steps;          // accesses of `width` bytes between the edges; otherwise elements
    unsigned long long tile;           // neighbouring steps that a block makes before it goes on
    unsigned long long block_starts;   // bit k: a block of the plan begins with input k
    unsigned long long flag;           // where flag_value goes once all outputs are written; 0: nowhere
    unsigned long long flag_value;
    unsigned long long counter;  // device address of a uint32 that is 0 before and after; needed by several blocks with
                                 // a flag, one for each kernel that may run at the same time
    unsigned n_inputs;
    unsigned n_outputs;
    // 16: all addresses are equally far from a multiple of 16, vectors are moved between the edges. 1: nothing is
    // aligned. Between: addresses suit the element's parts; for the copy kernel, bytes of its accesses.
    unsigned width;
    unsigned head;  // elements before the first multiple of `width`: the first edge
};

// What a kernel that stays on the device is given next (standby.hpp).
struct StandbyTask {
    static constexpr unsigned most_addresses = 22;
    static constexpr unsigned leave = 0;

    unsigned blocks;  // that work on it, or `leave`
    unsigned n_inputs;
    unsigned n_outputs;
    unsigned width;
    unsigned head;
    unsigned unused;
    unsigned long long count;
    unsigned long long steps;
    unsigned long long tile;
    unsigned long long block_starts;
    unsigned long long flag;
    unsigned long long flag_value;
    unsigned long long counter;
    unsigned long long addresses[most_addresses];  // the inputs', then the outputs'
};

// In host memory that the device reaches: words, then what the kernel says. Positions are in words of 64 bits.
struct StandbyMailbox {
    static constexpr unsigned words = 64;
    static constexpr unsigned taken_at = 72;  // the number of the last task that was taken, behind its flag
    static constexpr unsigned left_at = 80;   // the number that a kernel was launched with: it takes no task any more
    static constexpr unsigned bytes = 4096;
};

// What such a kernel is started with: its only argument, by value.
struct StandbyParameters {
    // Of a block, always: the first block alone does what is small, because telling others takes two microseconds.
    static constexpr unsigned threads = 1024;

    FoldParameters first;
    unsigned long long mailbox;   // device address of the host's words
    unsigned long long relay;     // device memory of as many words, written by the first block for the others
    unsigned long long patience;  // nanoseconds
    unsigned number;              // of the first task; later ones count on
    unsigned unused;
};

static_assert(sizeof(StandbyParameters) <= 4096, "kernel arguments have 4 KiB on every device");

}  // namespace peercoll
