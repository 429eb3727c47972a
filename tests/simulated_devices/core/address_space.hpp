// SPDX-License-Identifier: BSD-3-Clause
// The device addresses of this process. They lie in a window that no processor may touch: an application or a library
// that dereferences one crashes, as on a real node. The core reaches the memory behind an address through a second
// window of the same shape, `shadow`, which nobody else knows of. Host memory that was allocated through the runtime or
// registered with it is listed too, and is where its address says.
#pragma once

#include "tests/simulated_devices/core/physical_memory.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace peercoll::simulator {

class AddressSpace;

// A set of devices, a bit for each of the node's numbers.
using DeviceSet = std::uint64_t;
inline constexpr DeviceSet one_device(int device) {
    return DeviceSet{1} << device;
}
inline constexpr DeviceSet all_devices = ~DeviceSet{0};

enum class MemoryKind { Device, Imported, Virtual, Pool, ImportedPool, Managed, Pinned, Registered };

// Device addresses nobody else gets while it lives.
class AddressRange {
public:
    AddressRange(AddressSpace& space, std::uint64_t base, std::uint64_t bytes)
        : space_(&space), base_(base), bytes_(bytes) {}
    ~AddressRange();
    AddressRange(const AddressRange&) = delete;
    AddressRange& operator=(const AddressRange&) = delete;

    std::uint64_t base() const { return base_; }
    std::uint64_t bytes() const { return bytes_; }

private:
    AddressSpace* space_;
    std::uint64_t base_;
    std::uint64_t bytes_;
};

// Memory at an address. Whoever works on it holds it, so that it stays until the work is done.
struct Mapping {
    MemoryKind kind = MemoryKind::Device;
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;            // as asked for; one past it is illegal
    std::uint64_t id = 0;               // unique in the process, never used again
    int device = -1;                    // whose allocation it is, or for which device it was imported; -1: host
    int physical_device = -1;           // where the bytes are
    void* context = nullptr;            // the face's own; may be null
    std::shared_ptr<void> pool;         // the face's own
    int handle_types = 0;               // the face's own
    std::shared_ptr<void> physical;     // the face's own
    std::shared_ptr<void> host_memory;  // of a pinned allocation
    std::shared_ptr<Block> block;       // null: host memory at its own address
    std::shared_ptr<AddressRange> range;
    // Devices whose kernels may read or write it. Plain device memory is also open to contexts that enabled its device
    // as a peer; pools, virtual memory and imports are not.
    std::atomic<DeviceSet> readers{0};
    std::atomic<DeviceSet> writers{0};
    bool open_to_peers = false;
    std::atomic<bool> synchronous{false};  // "synchronous" operations on it really are

    Mapping() = default;
    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    bool is_host() const { return kind == MemoryKind::Pinned || kind == MemoryKind::Registered; }
    std::uint64_t end() const { return base + bytes; }
    void* shadow = nullptr;  // where the core finds it
    std::uint64_t mapped_bytes = 0;
};

class AddressSpace {
public:
    AddressSpace();
    AddressSpace(const AddressSpace&) = delete;
    AddressSpace& operator=(const AddressSpace&) = delete;

    // `wish`: taken if it is free and not 0. Null: no room, or the wish is no good.
    std::shared_ptr<AddressRange> reserve(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wish = 0);

    // Puts bytes [from, from + mapping->bytes) of its block at mapping->base, which lies in a reserved range; a managed
    // mapping at its address itself as well. Sets id and shadow, and lists it. False: the machine refused.
    bool map(const std::shared_ptr<Mapping>& mapping, std::uint64_t from = 0);
    // Lists host memory. False: a part of it is listed already.
    bool add_host(const std::shared_ptr<Mapping>& mapping);
    // Whether nothing is mapped there.
    bool is_free(std::uint64_t base, std::uint64_t bytes) const;
    // Nobody finds it any more; it goes when the last who works on it is done.
    void remove(const std::shared_ptr<Mapping>& mapping);

    std::shared_ptr<Mapping> find(std::uint64_t address) const;
    std::vector<std::shared_ptr<Mapping>> all() const;
    bool in_window(std::uint64_t address) const { return address >= window_ && address < window_ + window_bytes; }

private:
    friend class AddressRange;
    friend struct Mapping;
    // The thread sanitizer leaves little room for mappings.
#if defined(__SANITIZE_THREAD__)
    static constexpr std::uint64_t window_bytes = std::uint64_t{1} << 38;
#else
    static constexpr std::uint64_t window_bytes = std::uint64_t{1} << 41;
#endif

    void give_back(std::uint64_t base, std::uint64_t bytes);
    void take(std::map<std::uint64_t, std::uint64_t>::iterator hole, std::uint64_t base, std::uint64_t bytes);
    bool overlaps(std::uint64_t base, std::uint64_t bytes) const;

    mutable std::mutex mutex_;
    std::uint64_t window_ = 0;
    std::uint64_t shadow_ = 0;
    std::map<std::uint64_t, std::uint64_t> holes_;  // base to bytes; the lowest that fits is taken
    std::map<std::uint64_t, std::shared_ptr<Mapping>> mappings_;
    std::uint64_t last_id_ = 0;
};

}  // namespace peercoll::simulator
