// SPDX-License-Identifier: BSD-3-Clause
// MappingCache: other processes' device memory as it is mapped here, kept for the next collective. An entry is one
// allocation of one owner on one device, named by the owner's allocation id and never by an address, so that an address
// that is freed and used again is another entry. Bounded in bytes: what was not used for longest is let go, unless a
// collective is using it. One per process; thread safe.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/peer/identity.hpp"

#include <peercoll/device.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <vector>

namespace peercoll {

class MappingCache {
    struct Entry;
    using Entries = std::list<Entry>;  // the latest used first

public:
    // What a running collective uses. What was mapped with it stays mapped until it ends.
    class Use {
    public:
        Use() = default;
        // `user`: whoever will leave() one day, such as a communicator.
        Use(MappingCache& cache, const void* user) : cache_(&cache), user_(user) {}
        Use(Use&& other) noexcept;
        Use& operator=(Use&& other) noexcept;
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;
        ~Use() { end(); }
        // Nothing on any device uses the addresses any more.
        void end() noexcept;

    private:
        friend class MappingCache;
        MappingCache* cache_ = nullptr;
        const void* user_ = nullptr;
        std::vector<Entries::iterator> entries_;
    };

    struct Counters {
        std::uint64_t mapped = 0;     // imports that were made
        std::uint64_t reused = 0;     // answered by an entry
        std::uint64_t evicted = 0;    // let go for the byte limit
        std::uint64_t forgotten = 0;  // let go because the owner freed it
        std::uint64_t refused = 0;    // imports that failed
        std::uint64_t bytes = 0;      // mapped now
        std::uint64_t entries = 0;    // mapped now
    };

    // Drops nothing in use: the limit may be exceeded by what running collectives need at once.
    explicit MappingCache(std::uint64_t byte_limit);
    MappingCache(const MappingCache&) = delete;
    MappingCache& operator=(const MappingCache&) = delete;
    ~MappingCache();

    // The address that stands for handle.base on `device`: mapped now, found here, or handle.base itself if `owner` is
    // this process (then with peer access from `device` where the memory is on another one). `fd`: for kinds that need
    // one, else -1; stays the caller's. PEERCOLL_ERR_BUSY: not mapped yet and `fd` is missing. What was refused once is
    // refused again without asking, until it is forgotten.
    Status map(Use& use, const peercoll_device_runtime_t& runtime, std::int32_t device, const ProcessIdentity& owner,
               const peercoll_memory_handle_t& handle, int fd, std::uint64_t& address);
    // Whether map() needs a descriptor for this handle: its kind does, and it is not mapped yet.
    bool needs_descriptor(const peercoll_device_runtime_t& runtime, std::int32_t device, const ProcessIdentity& owner,
                          const peercoll_memory_handle_t& handle) const;

    // The owner says that the allocation is dead; id 0 (ExportTable::everything): all of its allocations. In use: let
    // go when the use ends.
    void forget(const ProcessIdentity& owner, std::uint64_t allocation_id);
    // The user is gone: lets go of what nobody else uses.
    void leave(const void* user);
    // Lets go of everything; runtimes may have been torn down already. Nothing is in use.
    void clear();

    Counters counters() const;

private:
    struct OwnerKey {
        std::uint64_t boot_id, pid_namespace, start_time;
        std::int32_t pid;
        bool operator<(const OwnerKey& other) const {
            return std::tie(boot_id, pid_namespace, start_time, pid) <
                   std::tie(other.boot_id, other.pid_namespace, other.start_time, other.pid);
        }
        bool operator==(const OwnerKey&) const = default;
    };
    struct Key {
        OwnerKey owner;
        std::uint64_t allocation_id;
        const peercoll_device_runtime_t* runtime;
        std::int32_t device;
        bool operator<(const Key& other) const {
            return std::tie(owner, allocation_id, runtime, device) <
                   std::tie(other.owner, other.allocation_id, other.runtime, other.device);
        }
    };
    struct Entry {
        Key key{};
        std::uint64_t base = 0;  // in the owner
        std::uint64_t bytes = 0;
        peercoll_mapping_t mapping{};
        std::set<const void*> users;
        std::uint32_t uses = 0;  // running collectives
        bool dead = false;       // no longer in the index; let go when uses is 0
    };
    struct PeerAccess {
        const peercoll_device_runtime_t* runtime;
        std::int32_t device, peer;
        bool operator<(const PeerAccess& other) const {
            return std::tie(runtime, device, peer) < std::tie(other.runtime, other.device, other.peer);
        }
    };

    static OwnerKey key_of(const ProcessIdentity& owner);
    Status map_own(const peercoll_device_runtime_t& runtime, std::int32_t device,
                   const peercoll_memory_handle_t& handle, std::uint64_t& address);
    Status import(const Key& key, const peercoll_memory_handle_t& handle, int fd, peercoll_mapping_t& mapping);
    void hold(Use& use, Entries::iterator entry);
    void make_room(std::uint64_t bytes);
    bool let_go_stale(const Key& key, const peercoll_memory_handle_t& handle);
    bool in_use_over(const Key& key, const peercoll_memory_handle_t& handle) const;
    // Out of the index; unmapped now, or when its last use ends.
    void let_go(Entries::iterator entry);
    void unmap(Entries::iterator entry);
    void end_uses(const std::vector<Entries::iterator>& entries);

    mutable std::mutex mutex_;
    const std::uint64_t byte_limit_;
    const ProcessIdentity self_;
    Entries entries_;
    std::map<Key, Entries::iterator> index_;
    std::map<Key, Status> refused_;
    std::set<PeerAccess> peer_access_;
    Counters counters_;
};

}  // namespace peercoll
