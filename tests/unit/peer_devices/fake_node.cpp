// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/peer_devices/fake_node.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace peercoll::test {

namespace {

std::byte* map(int fd, std::size_t bytes) {
    const int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED | MAP_NORESERVE;
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (address == MAP_FAILED) abort();
    return static_cast<std::byte*>(address);
}

}  // namespace

FakeNode::FakeNode(int devices) : devices_(devices) {
    for (auto& row : access_) row.fill(true);
    table_ = reinterpret_cast<Table*>(map(-1, sizeof(Table)));
    table_->next_id = 1;
    const int fd = memfd_create("fake devices", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(view_bytes())) != 0) abort();
    own_view_ = map(fd, view_bytes());
    peer_view_ = map(fd, view_bytes());
    close(fd);
}

FakeNode::~FakeNode() {
    munmap(own_view_, view_bytes());
    munmap(peer_view_, view_bytes());
    munmap(table_, sizeof(Table));
}

void FakeNode::set_access(int from, int to, bool can) {
    access_[index(from)][index(to)] = can;
}

FakeNode::Lock::Lock(Table& table) : table_(table) {
    while (table_.busy.exchange(true, std::memory_order_acquire)) sched_yield();
}

FakeNode::Lock::~Lock() {
    table_.busy.store(false, std::memory_order_release);
}

FakeNode::Allocation* FakeNode::allocate(int device, std::size_t bytes, pid_t owner) {
    const std::size_t size = (std::max<std::size_t>(bytes, 1) + 511) / 512 * 512;
    std::vector<const Allocation*> live;
    for (const Allocation& one : table_->allocations)
        if (one.id != 0 && one.live && one.device == device) live.push_back(&one);
    std::sort(live.begin(), live.end(), [](const auto* a, const auto* b) { return a->offset < b->offset; });
    std::uint64_t at = device_bytes * index(device) + 512;
    for (const Allocation* one : live) {
        if (one->offset - at >= size) break;
        at = one->offset + (one->bytes + 511) / 512 * 512;
    }
    if (at + size > device_bytes * index(device + 1)) return nullptr;
    for (Allocation& place : table_->allocations) {
        if (place.id != 0) continue;
        place = {table_->next_id++, at, bytes, device, owner, 0, true};
        return &place;
    }
    return nullptr;
}

FakeNode::Allocation* FakeNode::find(std::uint64_t id) {
    for (Allocation& one : table_->allocations)
        if (id != 0 && one.id == id) return &one;
    return nullptr;
}

FakeNode::Allocation* FakeNode::containing(std::uint64_t offset, pid_t owner) {
    for (Allocation& one : table_->allocations)
        if (one.id != 0 && one.live && one.owner == owner && one.offset <= offset && offset < one.offset + one.bytes)
            return &one;
    return nullptr;
}

// Neither allocated nor pinned any more: the place in the table is free.
void FakeNode::settle(Allocation& allocation) {
    if (!allocation.live && allocation.mappings == 0) allocation = {};
}

std::size_t FakeNode::bytes_in_use() const {
    const Lock lock(*table_);
    std::size_t bytes = 0;
    for (const Allocation& one : table_->allocations) bytes += one.id != 0 ? one.bytes : 0;
    return bytes;
}

std::size_t FakeNode::mappings() const {
    const Lock lock(*table_);
    std::size_t n = 0;
    for (const Allocation& one : table_->allocations) n += one.id != 0 ? one.mappings : 0;
    return n;
}

}  // namespace peercoll::test
