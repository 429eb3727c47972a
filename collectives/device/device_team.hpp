// SPDX-License-Identifier: BSD-3-Clause
// DeviceTeam: the ranks of one communicator on one node, as collectives on device buffers see them: the device segment,
// which device reaches which, and what this process has exported and mapped. It stands on the host team, whose clocks
// say when a record of another rank may be read. One object per rank and communicator; not thread safe.
#pragma once

#include "collectives/device/device_segment.hpp"
#include "collectives/device/select.hpp"
#include "collectives/host/host_team.hpp"
#include "plugin/common/status.hpp"
#include "plugin/device/device_runtimes.hpp"
#include "plugin/device/stream_pool.hpp"
#include "plugin/peer/descriptor_channel.hpp"
#include "plugin/peer/device_peers.hpp"
#include "plugin/peer/export_table.hpp"
#include "plugin/peer/mapping_cache.hpp"

#include <peercoll/device.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

namespace peercoll {

class DeviceTeam {
public:
    // What all communicators of a process share; outlives the team.
    struct Process {
        ExportTable* exports = nullptr;
        MappingCache* mappings = nullptr;
        DescriptorChannel* channel = nullptr;  // null: none could be made, memory that needs one is not shared
        StreamPool* streams = nullptr;
    };
    struct Parts {
        HostTeam* host = nullptr;
        std::byte* segment = nullptr;  // DeviceSegment::bytes(), zeroed when made
        std::unique_ptr<DevicePeers> peers;
        Process process;
        std::vector<ProcessIdentity> identities;            // by rank
        std::vector<DescriptorChannel::Address> addresses;  // by rank
        DeviceAlgorithm algorithm = DeviceAlgorithm::Auto;  // agreed
        Executors executors = Executors::Auto;
        std::chrono::nanoseconds standby{0};  // how long kernels may stay for the next call; 0: they do not
    };
    explicit DeviceTeam(Parts parts);
    ~DeviceTeam();
    DeviceTeam(const DeviceTeam&) = delete;
    DeviceTeam& operator=(const DeviceTeam&) = delete;

    HostTeam& host() const { return *parts_.host; }
    int rank() const { return parts_.host->rank(); }
    int size() const { return parts_.host->size(); }
    const DevicePeers& peers() const { return *parts_.peers; }
    const Process& process() const { return parts_.process; }
    const ProcessIdentity& identity(int rank) const { return parts_.identities[static_cast<std::size_t>(rank)]; }
    const DescriptorChannel::Address& address(int rank) const {
        return parts_.addresses[static_cast<std::size_t>(rank)];
    }
    DeviceAlgorithm algorithm() const { return parts_.algorithm; }
    Executors executors() const { return parts_.executors; }
    std::chrono::nanoseconds standby() const { return parts_.standby; }

    // -- Arrivals -----------------------------------------------------------------------------------------------------
    struct Buffer {
        BufferFact fact{};
        const peercoll_memory_handle_t* handle = nullptr;  // if shareable; until the next buffers are described
    };
    // Describes a buffer of this rank for the others, after making what the application has done to it complete.
    // `new_device` is set if the buffer is on a device that the peers do not know of.
    Status describe(const ClassifiedMemory& memory, const void* address, std::size_t bytes, Buffer& buffer,
                    bool& new_device);
    // Writes the next arrival of this rank, with what of this rank's memory has died.
    void arrive(const Buffer& source, const Buffer& destination, bool new_device, std::uint64_t step);
    // Of the meeting that began last.
    const DeviceArrival& arrival(int rank) const { return segment_.arrival(rank, turn_); }
    ExecutorRecord& executor(int rank) const { return segment_.executor(rank); }
    // Looks which of this rank's offered memory has died, to be told with the next arrival. In every operation, where
    // nobody waits for this rank.
    void recheck_exports() { parts_.process.exports->recheck(); }
    // Lets go of what other ranks say has died.
    void heed_deaths();

    // -- Mappings -----------------------------------------------------------------------------------------------------
    // What an executor mapped in the operations before, so that the next one like them asks nobody. It stays mapped
    // until its owner frees it, until there is too much of it, or until drop_mappings().
    struct Mapped {
        std::uint64_t allocation_id;
        std::int32_t device;
        std::uint64_t base;   // here
        std::uint64_t bytes;  // of the allocation
    };
    const Mapped* find_mapped(int owner, std::int32_t device, std::uint64_t allocation_id) const;
    void note_mapped(int owner, const Mapped& mapped);
    MappingCache::Use& mapping_use() { return use_; }
    // At the begin of an operation: lets go of what is kept if it is too much.
    void trim_mapped();
    // Lets go of all mapped memory of other ranks; between operations.
    void drop_mappings();

    // -- Shared host memory, as devices reach it ----------------------------------------------------------------------
    // Whether `device` has a kernel, as its runtime says.
    bool can_fold(const peercoll_device_runtime_t& runtime, std::int32_t device, peercoll_datatype_t datatype,
                  peercoll_op_t op);

    // Where `device` writes this rank's `done`; 0 if it cannot reach the segment.
    std::uint64_t done_flag(const peercoll_device_runtime_t& runtime, std::int32_t device);
    // The same for its device_turns.
    std::uint64_t turns_flag(const peercoll_device_runtime_t& runtime, std::int32_t device, std::size_t slot);
    // All ranks' staging cells as one piece. Free for whatever comes after the meeting of an operation, until its end.
    struct Pool {
        std::byte* memory;
        std::size_t bytes;
    };
    Pool pool() const;
    // The pool's address for `device`; 0 if only copies reach it.
    std::uint64_t pool_address(const peercoll_device_runtime_t& runtime, std::int32_t device);
    // Memory on `device` of the pool's size, for a device whose kernels do not reach the pool. Kept for the next time.
    Status mirror_of_pool(const peercoll_device_runtime_t& runtime, std::int32_t device, std::uint64_t& address);

private:
    struct Registered {
        const peercoll_device_runtime_t* runtime;
        std::int32_t device;
        std::byte* memory;
        bool registered;
        std::uint64_t address;  // of the memory; 0: the device's kernels do not reach it
    };
    struct Mirror {
        const peercoll_device_runtime_t* runtime;
        std::int32_t device;
        std::uint64_t address;
    };
    std::uint64_t device_address(const peercoll_device_runtime_t& runtime, std::int32_t device, std::byte* memory,
                                 std::size_t bytes);
    std::uint64_t flag_address(const peercoll_device_runtime_t& runtime, std::int32_t device,
                               const std::atomic<std::uint64_t>& flag);

    Parts parts_;
    DeviceSegment segment_;
    std::size_t segment_bytes_;
    std::uint64_t turn_ = 0;
    std::uint64_t deaths_told_ = 0;
    std::unordered_set<std::uint64_t> settled_;  // allocation ids
    // What was described last, which is mostly what the next call is about: nothing of it has to be asked again. An id
    // that is alive is that of the same allocation, because ids are never used again.
    struct Described {
        const peercoll_device_runtime_t* runtime = nullptr;
        std::uint64_t allocation_id = 0;
        std::uint32_t device = 0;  // index
        peercoll_memory_handle_t handle{};
        std::uint64_t used = 0;  // when, in descriptions
    };
    std::array<Described, 8> described_{};
    std::uint64_t descriptions_ = 0;
    struct Foldable {
        const peercoll_device_runtime_t* runtime = nullptr;
        std::int32_t device = 0;
        peercoll_datatype_t datatype = 0;
        peercoll_op_t op = 0;
        bool operator==(const Foldable&) const = default;
    };
    Foldable foldable_;  // the last one for which can_fold() said yes
    std::vector<Registered> registered_;
    std::vector<Mirror> mirrors_;

    void cool();
    MappingCache::Use use_;
    std::vector<std::vector<Mapped>> mapped_;  // by owner; the latest last
    std::size_t mapped_count_ = 0;
};

}  // namespace peercoll
