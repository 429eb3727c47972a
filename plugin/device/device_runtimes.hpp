// SPDX-License-Identifier: BSD-3-Clause
// The device runtimes of this process: which of them it uses, and whose memory a pointer is.
//
// A process uses a runtime once it has loaded one of its libraries, by whatever way and at whatever time, and started
// it. The dynamic loader counts what it loads; one look at that number (7 ns) in each call tells a process that has
// loaded nothing since that there is nothing new, and nothing of any runtime is called. A runtime that is loaded and
// not started is asked in each call whether it has been since; it is never started by us, because whoever forks later
// could not use it in the child.
#pragma once

#include <peercoll/device.h>

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
        const std::uint64_t loads = library_loads();
        if (loads != seen_loads_.load(std::memory_order_acquire) || waiting_.load(std::memory_order_acquire))
            look(loads);
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
    void look(std::uint64_t loads);
    void open(Known& known);
    void load(const std::string& path, std::vector<std::string>& problems);

    std::mutex mutex_;  // known_
    std::vector<Known> known_;
    std::atomic<std::uint64_t> seen_loads_{0};
    std::atomic<bool> waiting_{false};  // for a runtime that is loaded, and that nothing has started
    std::array<const peercoll_device_runtime_t*, most> runtimes_{};  // the first opened_ of them are in use
    std::atomic<std::size_t> opened_{0};
};

}  // namespace peercoll
