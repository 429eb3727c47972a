// SPDX-License-Identifier: BSD-3-Clause
// The one place that waits. Polls a task; while nothing moves it spins, calls the host's progress, then yields or
// sleeps, and now and then looks whether it should go on waiting at all. Also lets other ranks of a shared processor
// finish before the caller goes on.
#pragma once

#include "collectives/task.hpp"
#include "plugin/runtime/options.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace peercoll {

struct WaitPolicy {
    // In polls of a task that does not move. A poll with its pause takes about 20 to 50 ns.
    std::uint32_t spins = 0;           // before the first yield
    std::uint32_t progress_after = 0;  // before the host's progress is first called ...
    std::uint32_t progress_every = 0;  // ... and between two calls; a power of two
    bool sleeps = false;               // short sleeps instead of yields
    // A message of more bytes is worth a turn of the processor for whoever has yet to read it: see Waiter::give_way().
    std::size_t gives_way_above = SIZE_MAX;

    // What a rank waits for.
    enum class For : std::uint8_t {
        Ranks,         // of this node, each with a processor of its own: an answer takes less than a system call
        CrowdedRanks,  // more of them than processors: the awaited rank may need this one's
        Wire           // of other nodes: an answer takes long, and the kernel needs a processor to bring it
    };
    static WaitPolicy make(WaitMode mode, For what);
};

class Waiter {
public:
    // `on_idle` runs the host's progress and everything else that should go on meanwhile. `on_check` is called with the
    // time waited, at most every `check_every`; it returns false to give up.
    using Idle = std::function<void()>;
    using Check = std::function<bool(std::chrono::nanoseconds waited)>;
    Waiter(WaitPolicy policy, std::chrono::nanoseconds check_every, Idle on_idle, Check on_check)
        : policy_(policy), check_every_(check_every), on_idle_(std::move(on_idle)), on_check_(std::move(on_check)) {}

    // Polls until Done or Failed; Failed also if on_check gave up. `poll` is any callable that gives a Progress.
    template <typename Poll>
    Progress wait(Poll&& poll) {
        std::uint32_t idle = 0;
        Start start;
        for (;;) {
            const Progress state = poll();
            if (state == Progress::Done || state == Progress::Failed) return state;
            if (state == Progress::Advanced) {
                idle = 0;
                continue;
            }
            // The pause instruction takes up to 50 ns: not while the answer may come any moment.
            if (++idle > eager_polls) relax();
            if (state == Progress::Resting)
                for (int pauses = 0; pauses < pauses_of_rest; ++pauses) relax();
            if (idle >= policy_.progress_after && !be_patient(idle, start)) return Progress::Failed;
        }
    }

    // For a rank that has written all of a message of `bytes` bytes, while others that may wait for its processor have
    // yet to read it: it would go on to compute, and keep the processor for milliseconds, where they need microseconds.
    // Gives them up to `turns` turns, until they have `all_left`; no more after a turn that somebody computed in. False
    // where the policy has nothing of the kind for so many bytes.
    template <typename AllLeft>
    bool give_way(std::size_t bytes, int turns, AllLeft&& all_left) {
        if (bytes <= policy_.gives_way_above) return false;
        while (turns-- > 0 && !all_left() && give_turn()) {
        }
        return true;
    }

private:
    static constexpr std::uint32_t eager_polls = 64;
    static constexpr int pauses_of_rest = 8;  // at most half a microsecond
    struct Start {
        std::chrono::steady_clock::time_point begin{};  // of this wait, set at the first slow look
        std::chrono::steady_clock::time_point last_check{};
        bool set = false;
    };
    static void relax() {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("yield" ::: "memory");
#endif
    }
    bool be_patient(std::uint32_t& idle, Start& start);
    static bool give_turn();  // false if it was a long one

    WaitPolicy policy_;
    std::chrono::nanoseconds check_every_;
    Idle on_idle_;
    Check on_check_;
};

}  // namespace peercoll
