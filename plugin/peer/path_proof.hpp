// SPDX-License-Identifier: BSD-3-Clause
// The proof of a path: one process (the executor) writes another's device memory and reads it, by kernels and by
// copies; the owner looks at its own memory through its own context. Runtimes say that a path works when it does not,
// so only data counts. A proof can only take a path away: whatever goes wrong is a verdict, never an error, and nothing
// waits without a limit. proof_rounds.cpp lets both ends take their steps in turn.
#pragma once

#include "plugin/peer/device_resources.hpp"
#include "plugin/peer/proof_cache.hpp"

#include <peercoll/device.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace peercoll {

using ProofDeadline = std::chrono::steady_clock::time_point;

// What an owner tells the executors. Exchanged as bytes.
struct ProofOffer {
    peercoll_memory_handle_t handle;
    std::uint64_t address;  // in the owner
    std::uint64_t seed;
    ProofVerdict verdict;  // Proven: the offer stands
};

// The owner's memory on one of its devices, for several trials and for the reading of a word.
class ProofOwner {
public:
    ProofOwner(const peercoll_device_runtime_t& runtime, std::int32_t device);
    // Memory with what is to be read and what must be overwritten.
    ProofOffer prepare(std::size_t trials, std::uint64_t seed, ProofDeadline deadline);
    // Once, after the executors have written: fetches what is there now.
    void read_back(ProofDeadline deadline);
    // `with_kernels`: the executor says that its kernels have stored.
    ProofVerdict check(std::size_t trial, bool with_kernels) const;
    bool ended() const { return stream_.ended(); }

private:
    ProofVerdict copied(ProofDeadline deadline, bool to_device);

    const peercoll_device_runtime_t& runtime_;
    std::size_t bytes_ = 0;
    std::uint64_t seed_ = 0;
    ProofVerdict fetched_;
    DeviceMemory memory_;
    PinnedMemory host_;
    DeviceStream stream_;  // destroyed first
};

// Where the owner's memory is, for an executor.
struct ProofTarget {
    const peercoll_device_runtime_t* runtime = nullptr;
    std::int32_t device = -1;  // of the executor: the kernels run here
    bool own_process = false;
    std::int32_t owner_device = -1;  // its number in this process, if own_process
};

// One trial of an executor.
class ProofExecution {
public:
    ProofExecution(const ProofTarget& target, const ProofOffer& offer, std::size_t trial);
    void start();
    // Proven: all that was read is right; what was written is the owner's to judge.
    ProofVerdict finish(ProofDeadline deadline);
    bool ended() const { return stream_.ended(); }

private:
    bool prepare();
    bool run(std::string& reason);

    ProofTarget target_;
    ProofOffer offer_;
    std::size_t trial_;
    bool with_kernels_ = false;
    ProofVerdict verdict_;
    Reachable there_;
    DeviceMemory scratch_;
    PinnedMemory host_;
    DeviceStream stream_;  // destroyed first
};

// Reads one word of each of several owners from one device.
class ProofWords {
public:
    ProofWords(const peercoll_device_runtime_t& runtime, std::int32_t device);
    void start(const std::vector<std::pair<ProofTarget, ProofOffer>>& owners);
    std::vector<ProofVerdict> finish(ProofDeadline deadline);
    bool ended() const { return stream_.ended(); }

private:
    const peercoll_device_runtime_t& runtime_;
    std::int32_t device_;
    std::vector<std::unique_ptr<Reachable>> there_;
    std::vector<std::uint64_t> expected_;
    std::vector<ProofVerdict> verdicts_;
    PinnedMemory host_;
    DeviceStream stream_;  // destroyed first
};

// Lets go of `work` (one of the above) now, or, if a device may still be using what it holds, when that has ended.
template <typename Work>
void let_go(std::shared_ptr<Work> work, ProofCache& cache) {
    if (work->ended()) return;
    // The functions hold it; released with them.
    cache.keep_until([work] { return work->ended(); }, [] {});
}

}  // namespace peercoll
