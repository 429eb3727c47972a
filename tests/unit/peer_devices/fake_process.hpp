// SPDX-License-Identifier: BSD-3-Clause
// One process's device runtime on a FakeNode, behind include/peercoll/device.h. Strict: an address that is not this
// process's own, or not mapped, is an error of the stream. With switches for what real machines get wrong. One at a
// time in a process.
#pragma once

#include "tests/unit/peer_devices/fake_node.hpp"

#include <peercoll/device.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace peercoll::test {

struct FakeFaults {
    bool kernel_stores_lost = false;  // to other processes' and other devices' memory
    bool copies_lost = false;
    bool kernel_loads_wrong = false;
    bool copy_reads_wrong = false;
    bool import_refused = false;
    bool export_refused = false;
    bool allocation_refused = false;
    bool work_never_ends = false;
    bool work_fails = false;
    bool no_kernels = false;
    bool overlap_refused = false;  // an import over a stale mapping of the same owner, as CUDA does
    int short_mapping = 0;         // bytes that a mapping lacks
    bool unseen_refused = false;   // imports of devices that are not visible
};

class FakeProcess {
public:
    // `visible`: the node's device behind each of this process's numbers. `active`: its own numbers.
    FakeProcess(FakeNode& node, std::vector<int> visible, std::vector<int> active);
    FakeProcess(const FakeProcess&) = delete;
    FakeProcess& operator=(const FakeProcess&) = delete;
    ~FakeProcess();

    static const peercoll_device_runtime_t& runtime();

    FakeFaults faults;
    bool imports_unseen = false;  // what the runtime says: memory of devices, too, that are not visible
    std::uint32_t handle_kind = PEERCOLL_HANDLE_IPC;  // of all its memory; 0: cannot be shared
    void make_active(int device) { active_.insert(device); }

    // Allocates, for tests; frees.
    peercoll_pointer_info_t allocate(int device, std::size_t bytes);
    void free(const peercoll_pointer_info_t& memory);

    std::uint64_t imports() const { return imports_; }
    std::uint64_t releases() const { return releases_; }
    std::size_t streams() const { return streams_; }
    std::size_t enabled_peers() const { return enabled_.size(); }

private:
    friend struct FakeFunctions;
    struct Place {
        bool device = false;
        bool foreign = false;  // of another process, or of another device than the stream's
        std::byte* bytes = nullptr;
    };
    bool find(std::uint64_t address, std::size_t bytes, int device, Place& place);
    bool move(int device, std::uint64_t to, std::uint64_t from, std::size_t bytes, bool by_kernel);
    peercoll_pointer_info_t info_of(const FakeNode::Allocation& allocation) const;
    int local_number(int device) const;

    FakeNode& node_;
    std::vector<int> visible_;
    std::set<int> active_;
    std::multimap<std::uint64_t, std::uint64_t> mapped_;  // id -> base, of open mappings
    std::map<std::pair<int, int>, int> enabled_;
    std::uint64_t imports_ = 0;
    std::uint64_t releases_ = 0;
    std::size_t streams_ = 0;
};

}  // namespace peercoll::test
