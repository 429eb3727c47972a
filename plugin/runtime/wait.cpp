// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/wait.hpp"

#include <sched.h>

#include <thread>

namespace peercoll {

namespace {
constexpr std::chrono::microseconds nap{20};
constexpr std::chrono::microseconds long_turn{250};  // longer than copying takes of what a segment holds
constexpr std::size_t worth_a_turn = std::size_t{64} << 10;
constexpr std::uint32_t polls_between_clock_reads = 256;
}  // namespace

WaitPolicy WaitPolicy::make(WaitMode mode, For what) {
    WaitPolicy policy;
    policy.spins = 8192;
    policy.progress_after = 256;
    policy.progress_every = 64;
    if (what == For::CrowdedRanks && mode != WaitMode::Spin) policy.gives_way_above = worth_a_turn;
    if (mode == WaitMode::Auto && what == For::CrowdedRanks) mode = WaitMode::Yield;
    switch (mode) {
        case WaitMode::Auto:
            if (what == For::Wire) policy.spins = policy.progress_after = 8;
            break;
        case WaitMode::Spin:
            policy.spins = UINT32_MAX;
            break;
        case WaitMode::Yield:
        case WaitMode::Sleep:
            policy.spins = 16;
            policy.progress_after = 16;
            policy.progress_every = 16;
            policy.sleeps = mode == WaitMode::Sleep;
            break;
    }
    return policy;
}

bool Waiter::be_patient(std::uint32_t& idle, Start& start) {
    // The host's progress takes long and may itself yield: not before the first yield, and never together with one.
    if (idle % policy_.progress_every == 0 && idle != policy_.spins) {
        on_idle_();
    } else if (idle >= policy_.spins) {
        // A long wait has to hand over the processor: the awaited rank may need it, or the user's threads.
        if (policy_.sleeps && idle > 2 * policy_.spins)
            std::this_thread::sleep_for(nap);
        else
            ::sched_yield();
    }
    if (idle % polls_between_clock_reads != 0) return true;
    const auto now = std::chrono::steady_clock::now();
    if (!start.set) {
        start = {now, now, true};
        return true;
    }
    // Wrapped around, the count would start spinning again.
    if (idle > UINT32_MAX / 2 && policy_.spins != UINT32_MAX) idle = policy_.spins + 1;
    if (now - start.last_check < check_every_) return true;
    start.last_check = now;
    return on_check_(now - start.begin);
}

bool Waiter::give_turn() {
    const auto begin = std::chrono::steady_clock::now();
    ::sched_yield();
    return std::chrono::steady_clock::now() - begin < long_turn;
}

}  // namespace peercoll
