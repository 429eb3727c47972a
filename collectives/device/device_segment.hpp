// SPDX-License-Identifier: BSD-3-Clause
// The device segment of a communicator: what its ranks tell each other about device buffers. Made when the first device
// buffer comes, so that jobs without devices have none.
//
//   two arrivals of each rank | one executor record of each rank
//
// Every record has one writer, its rank (and for `done` the device that works for it); clocks of the host team say when
// it may be read (collectives/host/host_team.hpp). A rank may write its next arrival while a slow one still reads this
// one, so there are two in turn; nobody is further ahead, because every operation begins with a meeting.
#pragma once

#include "collectives/host/segment_layout.hpp"

#include <peercoll/device.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace peercoll {

// Where one buffer of a rank is.
struct BufferFact {
    enum Kind : std::uint32_t {
        Host = 0,         // for processors, and the system copies it from process to process
        Shareable = 1,    // device memory with a handle
        Unshareable = 2,  // device memory that cannot be given to another process, or managed memory
        Pinned = 3        // for processors, but a device runtime's: the system may refuse to copy it
    };
    std::uint32_t kind;
    std::uint32_t device;         // index into DevicePeers::devices()
    std::uint64_t allocation_id;  // as in the handle; 0: not known to lie in one allocation as a whole
    std::uint64_t offset;         // of the buffer from the handle's base
};

// All ranks read the first line of all arrivals; an executor reads the handles of what it has not mapped yet.
struct alignas(line_pair) DeviceArrival {
    static constexpr std::uint32_t most_deaths = 16;
    std::atomic<std::uint64_t> step;  // of the meeting; what follows is valid once it has come
    std::uint32_t new_device;  // 1: a buffer is on a device that came into use after the ranks last told each other
    std::uint32_t deaths;
    BufferFact source;
    BufferFact destination;  // the same as `source` where there is one buffer
    alignas(cache_line) peercoll_memory_handle_t source_handle;
    peercoll_memory_handle_t destination_handle;
    std::uint64_t dead[most_deaths];  // allocation ids of this process that are gone: close what is mapped of them
};
static_assert(offsetof(DeviceArrival, source_handle) == cache_line);

struct alignas(line_pair) ExecutorRecord {
    // Valid once the rank's clock has reached the verdict step.
    std::uint32_t able;  // 1: it has mapped all it needs and will act
    char reason[160];    // why not
    // What this executor wants a descriptor of. Owners answer through the descriptor channel.
    std::atomic<std::int32_t> wanted_rank;  // -1: nothing
    std::atomic<std::uint64_t> wanted_allocation;
    // As an owner: the allocation whose wanted descriptor it cannot send.
    std::atomic<std::uint64_t> cannot_send;
    std::atomic<std::uint64_t> failed;  // the step of the operation that failed on the device
    // The last operation (its last step) whose part here is done; on a line of its own, since the device writes it.
    alignas(line_pair) std::atomic<std::uint64_t> done;
    // As an actor of islands, for each chunk under way: up to which turn it is done. First as a device, which writes
    // it, then as a processor.
    static constexpr std::size_t island_slots = 4;
    std::atomic<std::uint64_t> device_turns[island_slots];
    alignas(cache_line) std::atomic<std::uint64_t> processor_turns[island_slots];
};
static_assert(sizeof(ExecutorRecord) % line_pair == 0);

struct DeviceSegment {
    DeviceArrival* arrivals = nullptr;
    ExecutorRecord* executors = nullptr;

    static std::size_t bytes(std::size_t ranks) {
        const std::size_t all = ranks * (2 * sizeof(DeviceArrival) + sizeof(ExecutorRecord));
        return (all + 4095) / 4096 * 4096;
    }
    static DeviceSegment at(std::byte* memory, std::size_t ranks) {
        return {reinterpret_cast<DeviceArrival*>(memory),
                reinterpret_cast<ExecutorRecord*>(memory + ranks * 2 * sizeof(DeviceArrival))};
    }
    DeviceArrival& arrival(int rank, std::uint64_t turn) const {
        return arrivals[2 * static_cast<std::size_t>(rank) + turn % 2];
    }
    ExecutorRecord& executor(int rank) const { return executors[rank]; }
};

}  // namespace peercoll
