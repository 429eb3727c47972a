// SPDX-License-Identifier: BSD-3-Clause
// What this process has learned of paths, so that a later communicator need not prove them again. Two kinds of facts:
//   - a path between two devices: true for the job, whichever processes tried it (and so for this kernel and driver);
//   - that one process can map what another one exports.
// Entries are only used if the processes concerned both have them: that is agreed by exchange (device_peers.cpp).
// One per process; thread safe.
#pragma once

#include "plugin/peer/identity.hpp"
#include "plugin/peer/pair_matrix.hpp"

#include <peercoll/device.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace peercoll {

enum class ProofCode : std::uint8_t {
    Unknown,
    Proven,
    ProvenCopiesOnly,  // the device has no kernels to prove stores with: right for copies, says nothing of kernels
    NotPrepared,       // memory, streams: nothing is said about the path, so it is tried again next time
    NotExported,
    NotImported,
    TimedOut,
    Failed,  // the runtime reported an error while it ran
    KernelStoresLost,
    CopiesLost,
    KernelLoadsWrong,
    CopyReadsWrong
};

// Exchanged as bytes.
struct ProofVerdict {
    ProofCode code = ProofCode::Unknown;
    char text[127] = {};  // the rest of the sentence, "" or "4096 of 1048576 bytes"; always ended by NUL

    bool proven() const { return code == ProofCode::Proven || code == ProofCode::ProvenCopiesOnly; }
    bool lasting() const { return code != ProofCode::Unknown && code != ProofCode::NotPrepared; }
    static ProofVerdict of(ProofCode code, std::string_view text = {});
    // One sentence: "kernel stores were lost (4096 of 1048576 bytes)".
    std::string sentence() const;
};
static_assert(sizeof(ProofVerdict) == 128);

class ProofCache {
public:
    struct PathKey {
        std::uint64_t boot_id = 0;
        std::string runtime;  // with its version
        DeviceUuid from{};
        DeviceUuid to{};
        bool across_processes = false;
        bool seen =
            true;  // whether the executor sees the device that it writes to: the driver takes another way if not
        bool operator<(const PathKey& other) const {
            return std::tie(boot_id, runtime, from, to, across_processes, seen) <
                   std::tie(other.boot_id, other.runtime, other.from, other.to, other.across_processes, other.seen);
        }
    };
    // Of processes, not of ranks.
    struct MappingKey {
        std::uint64_t executor = 0;  // process_key()
        std::uint64_t owner = 0;
        DeviceUuid from{};
        DeviceUuid to{};
        bool operator<(const MappingKey& other) const {
            return std::tie(executor, owner, from, to) < std::tie(other.executor, other.owner, other.from, other.to);
        }
    };
    static std::uint64_t process_key(const ProcessIdentity& process);

    ProofCache() = default;
    ProofCache(const ProofCache&) = delete;
    ProofCache& operator=(const ProofCache&) = delete;
    ~ProofCache();

    ProofVerdict path(const PathKey& key) const;
    void learn(const PathKey& key, const ProofVerdict& verdict);
    ProofVerdict mapping(const MappingKey& key) const;
    void learn(const MappingKey& key, const ProofVerdict& verdict);

    // How many paths and mappings were really tried by this process.
    std::uint64_t trials() const;
    void count_trials(std::uint64_t n);

    // Keeps what a device may still use because work on it did not end in time. `ended` asks whether it has meanwhile,
    // `release` then gives it back. What never ends is left to the end of the process.
    void keep_until(std::function<bool()> ended, std::function<void()> release);
    void release_ended();
    std::size_t kept() const;

private:
    struct Kept {
        std::function<bool()> ended;
        std::function<void()> release;
    };
    mutable std::mutex mutex_;
    std::map<PathKey, ProofVerdict> paths_;
    std::map<MappingKey, ProofVerdict> mappings_;
    std::vector<Kept> kept_;
    std::uint64_t trials_ = 0;
};

}  // namespace peercoll
