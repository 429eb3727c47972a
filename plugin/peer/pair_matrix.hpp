// SPDX-License-Identifier: BSD-3-Clause
// Which rank's kernels may reach which rank's device memory, before anything is tried: a pure function of facts that
// all ranks have exchanged, so that all ranks have the same answers. A proof (path_proof.hpp) can only take away from
// it.
#pragma once

#include "plugin/peer/identity.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace peercoll {

using DeviceUuid = std::array<std::uint8_t, 16>;

// How far peers may reach each other's device memory.
enum class PeerLevel : std::uint8_t {
    Off,         // not at all: everything is staged
    SameDevice,  // ranks that use one device
    All          // other devices of the node, too
};

// A device that at least one rank uses.
struct PeerDevice {
    std::string runtime;
    DeviceUuid uuid{};
    std::string pci_id;
    std::string name;
    int node = 0;            // of its ranks; seen by processes that share no /dev/shm it counts once for each
    std::vector<int> ranks;  // that have it active; ascending
    // The rank whose kernels act on this device for all ranks.
    int executor() const { return ranks.front(); }
};

// What one rank says of a device that it sees.
struct SeenDevice {
    std::uint32_t device = 0;  // index among the PeerDevices
    bool active = false;
    bool imports = false;             // the handles of other processes' memory
    bool imports_unseen = false;      // those of devices, too, that the rank does not see
    std::vector<std::uint8_t> pairs;  // for each PeerDevice: PairFacts
};

// Bits.
struct PairFact {
    // The runtime says that kernels of this device reach that one's memory.
    static constexpr std::uint8_t can_access = 1;
    // The user's words say that the pair must not be used.
    static constexpr std::uint8_t vetoed = 2;
};

struct RankDevices {
    ProcessIdentity identity;
    int node = 0;
    std::vector<SeenDevice> seen;
};

enum class Reach : std::uint8_t {
    Own,       // its own process's memory on the same device: nothing to map, nothing to prove
    Possible,  // by mapping, or by peer access within the process
    OtherNode,
    LevelOff,
    LevelSameDevice,
    Vetoed,
    NotActive,     // the executor has no context on its device, or the owner none on its own
    NotVisible,    // the executor does not see the owner's device, and maps memory only of those that it sees
    NoPeerAccess,  // says the runtime
    NoImport,      // the executor's runtime maps no other process's memory
    OtherUser,
    OtherPidNamespace,  // handles of device memory mean nothing there
    OtherRuntime
};

// For people, without the ranks: "the device is not visible to the rank that would use it".
const char* text_of(Reach reach);

// One ordered pair of devices to be proven, and the ranks that do it.
struct PathTrial {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    int executor = 0;
    int owner = 0;
    bool across_processes = false;
    bool operator==(const PathTrial&) const = default;
};

class PairMatrix {
public:
    PairMatrix() = default;
    PairMatrix(std::vector<PeerDevice> devices, std::vector<RankDevices> ranks, PeerLevel level);

    const std::vector<PeerDevice>& devices() const { return devices_; }
    const std::vector<RankDevices>& ranks() const { return ranks_; }

    Reach reach(int executor, std::uint32_t from, int owner, std::uint32_t to) const;
    bool same_process(int a, int b) const;
    // Whether it is one of the devices that the rank's runtime shows to it.
    bool sees(int rank, std::uint32_t device) const { return seen(rank, device) != nullptr; }

    // All ordered pairs of devices with ranks between which there is something to prove. A device's own pair is there
    // if several processes use it.
    std::vector<PathTrial> trials() const;

private:
    const SeenDevice* seen(int rank, std::uint32_t device) const;
    std::optional<PathTrial> trial(std::uint32_t from, std::uint32_t to) const;

    std::vector<PeerDevice> devices_;
    std::vector<RankDevices> ranks_;
    PeerLevel level_ = PeerLevel::Off;
    std::set<std::pair<std::uint32_t, std::uint32_t>> vetoes_;  // the smaller index first
};

}  // namespace peercoll
