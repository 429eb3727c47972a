// SPDX-License-Identifier: BSD-3-Clause
// A node of invented devices whose memory is shared memory between forked processes: made by the parent, used by all
// ranks. An allocation that is freed while another process has it mapped stays in use until that one lets go, and its
// address is used again at once: what a mapping cache must cope with.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace peercoll::test {

struct FakeFunctions;

class FakeNode {
public:
    static constexpr int most_devices = 8;
    static constexpr std::size_t device_bytes = std::size_t{256} << 20;

    explicit FakeNode(int devices);
    FakeNode(const FakeNode&) = delete;
    FakeNode& operator=(const FakeNode&) = delete;
    ~FakeNode();

    int devices() const { return devices_; }
    // Before the ranks are forked; at first every device can access every other.
    void set_access(int from, int to, bool can);
    bool access(int from, int to) const { return access_[index(from)][index(to)]; }

    // Bytes that are allocated, or pinned by another process's mapping.
    std::size_t bytes_in_use() const;
    // Open mappings of all processes.
    std::size_t mappings() const;

private:
    friend class FakeProcess;
    friend struct FakeFunctions;
    struct Allocation {
        std::uint64_t id;  // 0: this place of the table is free
        std::uint64_t offset;
        std::uint64_t bytes;
        std::int32_t device;
        pid_t owner;
        std::uint32_t mappings;
        bool live;
    };
    struct Table {
        std::atomic<bool> busy;
        std::uint64_t next_id;
        std::array<Allocation, 1024> allocations;
    };
    class Lock {
    public:
        explicit Lock(Table& table);
        ~Lock();
        Lock(const Lock&) = delete;
        Lock& operator=(const Lock&) = delete;

    private:
        Table& table_;
    };

    static std::size_t index(int device) { return static_cast<std::size_t>(device); }
    std::size_t view_bytes() const { return device_bytes * index(devices_); }
    // All with the table locked; null if there is none.
    Allocation* allocate(int device, std::size_t bytes, pid_t owner);
    Allocation* find(std::uint64_t id);
    Allocation* containing(std::uint64_t offset, pid_t owner);
    static void settle(Allocation& allocation);

    int devices_;
    std::array<std::array<bool, most_devices>, most_devices> access_{};
    Table* table_ = nullptr;
    std::byte* own_view_ = nullptr;   // addresses of a process's own memory
    std::byte* peer_view_ = nullptr;  // the same memory, where other processes map it
};

}  // namespace peercoll::test
