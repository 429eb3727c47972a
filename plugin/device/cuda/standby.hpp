// SPDX-License-Identifier: BSD-3-Clause
// The host's side of a fold kernel that stays on the device for the next fold of its stream (what the kernel does:
// collectives/reduction/device/kernel/standby.hpp). All functions are called with the stream's mutex held and its
// context current.
//
// A stream's other work is behind the kernel, so whoever gives a stream anything else dismisses the kernel first; it
// leaves within two microseconds. A task that was posted when the kernel had just left by itself is launched anew, by
// the next look at the stream.
#pragma once

#include "collectives/reduction/device/fold_parameters.hpp"
#include "plugin/common/status.hpp"
#include "plugin/device/cuda/driver_types.hpp"
#include "plugin/device/standby_policy.hpp"

#include <peercoll/device.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace peercoll::cuda {

struct Attachment;
struct Stream;

struct Standby {
    std::atomic<std::uint64_t>* mailbox = nullptr;  // StandbyMailbox, in pinned memory; null until one is needed
    CuAddress mailbox_address = 0;                  // the device's
    std::uint32_t number = 0;                       // of the last task
    std::uint32_t launched = 0;                     // the number that the kernel was launched with
    CuFunction kernel = nullptr;                    // that is there, as far as we know; null: none
    std::uint32_t blocks = 0;                       // of its grid
    // The last task that was posted, and the kernel that does it if nobody has taken it; null: it has been taken.
    CuFunction posted_kernel = nullptr;
    std::uint32_t posted_blocks = 0;
    FoldParameters posted;
    StandbyPolicy policy;
};

// Behind the counter of a stream.
constexpr std::size_t relay_offset = 256;
constexpr std::size_t relay_bytes = StandbyMailbox::words * sizeof(std::uint64_t);

// How many blocks do the fold on a kernel that stays, and how steps are shared among them; 0: it is none for such a
// kernel, since it is large, or has many addresses, or no flag.
std::uint32_t standby_blocks(FoldParameters& parameters, int multiprocessors);

// Gives the fold to the kernel that is there, if it is `standing`. False: there is none that can take it any more; on
// an error of what was given to the stream before, `status`. `ordinary` is the same fold as a kernel that does not
// stay.
bool post_to_standby(Attachment& attachment, Stream& stream, CuFunction standing, CuFunction ordinary,
                     std::uint32_t blocks, const FoldParameters& parameters, Status& status);
// Launches the fold as a kernel that stays for `patience` after each task. The stream has its counter.
Status launch_standby(Attachment& attachment, Stream& stream, CuFunction standing, std::uint32_t blocks,
                      const FoldParameters& parameters, std::chrono::nanoseconds patience);
// For who waits for the last fold: launches it if the kernel had left before it could take it. While a kernel is there
// the stream is busy, whether the fold is done or not; its flag tells.
Status look_after_standby(Attachment& attachment, Stream& stream);
// Makes the kernel leave, once it has taken what was posted. Nothing to do where there is none.
Status dismiss_standby(Attachment& attachment, Stream& stream);
// With nothing running on the stream.
void free_standby(Attachment& attachment, Standby& standby);

}  // namespace peercoll::cuda
