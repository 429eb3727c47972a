// SPDX-License-Identifier: BSD-3-Clause
// Memory of devices that we know, by numbers that no later allocation gets: ACL has none. Our own, which nobody but us
// frees, and the application's where it may be shared (settings.hpp). And the keys under which other processes may
// open it: one for each allocation.
#pragma once

#include "plugin/device/ascend/acl_types.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <mutex>

namespace peercoll::ascend {

struct Allocation {
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;
    std::uint64_t id = 0;
    std::int32_t device = -1;
    bool ours = false;
    bool named = false;    // has a key
    bool for_all = false;  // the key is good for all processes
    std::array<char, key_bytes> key{};
};

class Allocations {
public:
    void add_ours(std::uint64_t base, std::uint64_t bytes, std::int32_t device);
    // The application's allocation as ACL describes it now; one that was there before, if it is described as before.
    // `gone`: what was there else, and has no id if there was nothing.
    Allocation see(std::uint64_t base, std::uint64_t bytes, std::int32_t device, Allocation& gone);
    // Whether `address` is in one of ours, and which.
    bool find_ours(std::uint64_t address, Allocation& found) const;
    // Whether this one is known, at the base and with the number given.
    bool find(std::uint64_t base, std::uint64_t id, Allocation& found) const;
    // Notes the key; false: the allocation is gone.
    bool set_key(const Allocation& named);
    // Takes one away; false: it was not there.
    bool remove(std::uint64_t base, Allocation& removed);
    // Takes any away; false: there are none.
    bool remove_any(Allocation& removed);

private:
    mutable std::mutex mutex_;
    std::map<std::uint64_t, Allocation> by_base_;
};

}  // namespace peercoll::ascend
