// SPDX-License-Identifier: BSD-3-Clause
// The device runtimes of this process: which of them it uses, and whose memory a pointer is.
//
// A process uses a runtime once it has loaded one of its libraries, by whatever way and at whatever time, and started
// it. The dynamic loader counts what it loads; a look at that number tells a process that has loaded nothing since that
// there is nothing new, and nothing of any runtime is called. The look walks over all that is loaded (14 ns in a small
// program, 45 in an MPI job), so it holds for a few microseconds: loading even an empty library takes 15, a runtime's
// far more, and then it has to be started before there is any device memory. A runtime that is loaded and not started
// is asked in each call whether it has been since; it is never started by us, because whoever forks later could not use
// it in the child.
#pragma once

#include <peercoll/device.h>

#include "plugin/common/cycle_clock.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace peercoll {

// Memory as the runtimes of this process know it.
struct ClassifiedMemory {
    const peercoll_device_runtime_t* runtime = nullptr;  // that knows it; null: plain host memory
    peercoll_pointer_info_t info{};

    // Device memory, or managed: not for processors to work on.
    bool on_device() const { return runtime != nullptr && info.kind != PEERCOLL_MEMORY_PINNED; }
    // Host memory of a runtime, which the system may refuse to copy from process to process.
    bool pinned() const { return runtime != nullptr && info.kind == PEERCOLL_MEMORY_PINNED; }
};

class DeviceRuntimes {
public:
    static constexpr std::size_t most = 8;

    // `built_in` are peercoll's own; `paths` are libraries outside of peercoll, which are loaded at once. A library
    // that cannot be used is one sentence in `problems`. All runtimes must outlive the object.
    DeviceRuntimes(const std::vector<const peercoll_device_runtime_t*>& built_in, const std::vector<std::string>& paths,
                   std::vector<std::string>& problems);
    // Closes what was opened.
    ~DeviceRuntimes();
    DeviceRuntimes(const DeviceRuntimes&) = delete;
    DeviceRuntimes& operator=(const DeviceRuntimes&) = delete;

    // Whether there is a runtime to ask. Thread safe, as all that follows.
    bool in_use() {
        const std::uint64_t now = cycle_clock();
        if (!is_just_now(looked_at_.load(std::memory_order_relaxed), now) || waiting_.load(std::memory_order_acquire))
            look_for_news(now);
        return opened_.load(std::memory_order_acquire) > 0;
    }
    // Whose memory `address` is.
    ClassifiedMemory classify(const void* address);
    // Those in use, in the order in which they were found.
    std::vector<const peercoll_device_runtime_t*> open_runtimes();
    // For people: a line for each known runtime, "cuda: CUDA 13.0 driver, 1 device" or "hip: off, ...".
    std::vector<std::string> describe();

private:
    struct Known {
        const peercoll_device_runtime_t* runtime = nullptr;
        bool loaded = false;
        bool tried = false;
        bool open = false;
        std::string reason;  // why it is off, once tried
        void* library = nullptr;
    };
    // How many objects the dynamic loader has loaded so far.
    static std::uint64_t library_loads();
    void look_for_news(std::uint64_t now);
    void look(std::uint64_t loads);
    void open(Known& known);
    void load(const std::string& path, std::vector<std::string>& problems);

    std::mutex mutex_;  // known_
    std::vector<Known> known_;
    std::atomic<std::uint64_t> seen_loads_{0};
    std::atomic<std::uint64_t> looked_at_{0};  // by cycle_clock(), before seen_loads_ was read
    std::atomic<bool> waiting_{false};         // for a runtime that is loaded, and that nothing has started
    std::array<const peercoll_device_runtime_t*, most> runtimes_{};  // the first opened_ of them are in use
    std::atomic<std::size_t> opened_{0};
};

}  // namespace peercoll
