// SPDX-License-Identifier: BSD-3-Clause
// The simulated node as one process sees it. Made at the first use of a runtime, and never destroyed: an application
// may call the runtime as late as its own end.
#pragma once

#include "tests/simulated_devices/core/address_space.hpp"
#include "tests/simulated_devices/core/node.hpp"
#include "tests/simulated_devices/core/physical_memory.hpp"
#include "tests/simulated_devices/core/streams.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace peercoll::simulator {

class Process {
public:
    explicit Process(Node node);
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    const Node& node() const { return node_; }
    AddressSpace& addresses() { return addresses_; }
    Scheduler& scheduler() { return scheduler_; }

    // The file in which this process's plain memory of a device lies.
    std::shared_ptr<Arena> arena(int device);
    std::uint64_t bytes_in_use(int device) const;
    bool has_room(int device, std::uint64_t bytes) const;

private:
    const Node node_;
    AddressSpace addresses_;
    Scheduler scheduler_;
    std::mutex mutex_;
    std::map<int, std::shared_ptr<Arena>> arenas_;
};

// Reads the node's description and makes the process; false: `error` says what is wrong with it. Once.
bool start_process(std::string& error);
// Only after a start_process() that was true.
Process& process();

// A name of this process that is not used again, for handles: the pid and when it began.
struct ProcessName {
    std::int32_t pid = 0;
    std::uint64_t start_time = 0;
    bool operator==(const ProcessName&) const = default;
};
ProcessName this_process();
bool is_alive(const ProcessName& name);
// Opens a descriptor of another process; invalid if it is not there or not ours to open.
Descriptor open_of(const ProcessName& name, int descriptor);

// True in a child that was forked from a process that had started: it must not use the runtime.
bool forked();

}  // namespace peercoll::simulator
