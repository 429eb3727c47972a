// SPDX-License-Identifier: BSD-3-Clause
// ExportTable: what this process has offered of its device memory to other processes, each allocation once; and which
// of it has died since, so that whoever mapped it lets go (a mapping pins the memory of an owner that has freed it).
// One per process; thread safe.
#pragma once

#include "plugin/peer/owned_descriptor.hpp"

#include <peercoll/device.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace peercoll {

class ExportTable {
public:
    static constexpr std::size_t default_capacity = 4096;
    static constexpr std::size_t looks_per_recheck = 16;
    static constexpr std::size_t kept_deaths = 4096;
    // Among the ids of read_deaths(): more has died than was told; let go of everything this process offered.
    static constexpr std::uint64_t everything = 0;

    explicit ExportTable(std::size_t capacity = default_capacity);
    ExportTable(const ExportTable&) = delete;
    ExportTable& operator=(const ExportTable&) = delete;

    // The handle of the allocation that `info` (from classify) describes; its kind is 0 if it cannot be shared. An
    // allocation that is offered too long ago, beyond the capacity, counts as dead.
    void offer(const peercoll_device_runtime_t& runtime, const peercoll_pointer_info_t& info,
               peercoll_memory_handle_t& handle);

    // A descriptor of what was offered with a handle that needs one, for the caller to send and close. None if the
    // allocation is not offered, is dead or its handle needs none.
    OwnedDescriptor descriptor(const peercoll_device_runtime_t& runtime, std::uint64_t allocation_id);

    // Looks whether offered memory is still there: all of it if there is little, else the next few. Cheap enough for
    // every collective.
    void recheck();
    // Looks at all of it.
    void recheck_all();

    // How many allocations have died so far: a cursor for read_deaths() that has seen all.
    std::uint64_t deaths() const;
    // Ids of allocations that died at and behind `cursor`, which moves on behind them; returns how many.
    std::size_t read_deaths(std::uint64_t& cursor, std::span<std::uint64_t> ids) const;

    // Forgets what was offered of a runtime that is about to be closed, as dead.
    void close(const peercoll_device_runtime_t& runtime);

    std::size_t size() const;

private:
    struct Offer {
        const peercoll_device_runtime_t* runtime = nullptr;
        peercoll_pointer_info_t info{};
        peercoll_memory_handle_t handle{};
    };
    using Key = std::pair<const peercoll_device_runtime_t*, std::uint64_t>;
    using Offers = std::list<Offer>;  // the latest used first

    void bury(Offers::iterator offer);
    void recheck_next(std::size_t n);

    mutable std::mutex mutex_;
    std::size_t capacity_;
    Offers offers_;
    std::map<Key, Offers::iterator> index_;
    Key last_look_{};
    std::vector<std::uint64_t> dead_;  // a ring
    std::uint64_t deaths_ = 0;
};

}  // namespace peercoll
