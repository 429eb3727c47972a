// SPDX-License-Identifier: BSD-3-Clause
// The node that is simulated: its devices, the paths between them and its faults, as a small text file says
// (nodes/*.node; the format is in README.md). Devices are numbered as the file does, whatever a process sees of them.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace peercoll::simulator {

using Uuid = std::array<std::uint8_t, 16>;

inline constexpr std::size_t most_devices = 64;  // sets of devices are 64-bit masks

struct DeviceProperties {
    Uuid uuid{};
    std::string pci_id;  // "0000:1b:00.0"
    std::string name = "Simulated device";
    std::uint64_t memory_bytes = std::uint64_t{16} << 30;
    int capability_major = 9;
    int capability_minor = 0;
    int numa_node = 0;
};

// From one device to another, one direction.
struct Link {
    bool access = true;        // what the runtime answers when asked
    bool stores_lost = false;  // a kernel's stores succeed and go nowhere
    bool copies_lost = false;  // and so do copies
};

struct Node {
    std::vector<DeviceProperties> devices;
    std::vector<Link> links;               // [from * devices.size() + to]
    bool ipc_refused = false;              // handles of other processes cannot be opened
    bool ipc_overlap_refused = false;      // nor that of an address whose former allocation is still mapped, as of old
    bool hidden_import_refused = false;    // nor those of a device that the process is not shown
    std::size_t pinned_limit = 1'000'000;  // allocations of pinned host memory that a process gets in its life
    std::size_t peer_limit = 1000;         // peers a context can enable
    std::uint64_t seed = 1;
    std::chrono::microseconds most_delay{100};  // before an operation of a stream begins
    std::uint64_t poison_bytes = std::uint64_t{64}
                                 << 20;  // of an allocation at most: half at its start, half at its end
    int driver_version = 13000;

    const Link& link(int from, int to) const {
        return links[static_cast<std::size_t>(from) * devices.size() + static_cast<std::size_t>(to)];
    }
    int device_with_uuid(const Uuid& uuid) const;  // -1: none
};

// `count` equal devices that all reach each other.
Node plain_node(std::size_t count);

// Reads a description. False: `error` says which line is wrong and what was expected.
bool parse_node(const std::string& text, Node& node, std::string& error);
// Reads the file that PEERCOLL_SIMULATOR_NODE names; a node of one device if it is not set.
bool load_node(Node& node, std::string& error);

}  // namespace peercoll::simulator
