// SPDX-License-Identifier: BSD-3-Clause
// What the tests of islands have in common: ranks on devices of which no one reaches all, and how often bytes crossed
// between them through host memory.
#pragma once

#include "tests/device_collectives/device_allreduce_runner.hpp"
#include "tests/device_collectives/device_broadcast_runner.hpp"
#include "tests/device_collectives/device_rank.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace peercoll::test {

struct IslandScene {
    Machine machine;
    std::vector<int> devices;      // of each rank
    std::vector<Memory> memories;  // of each rank; empty: device memory
    OptionList options;

    int ranks() const { return static_cast<int>(devices.size()); }
    int device(const Rank& rank) const { return devices[static_cast<std::size_t>(rank.rank())]; }
    Memory memory(const Rank& rank) const {
        return memories.empty() ? Memory::Device : memories[static_cast<std::size_t>(rank.rank())];
    }
    OptionList all_options() const {
        OptionList all{"peer_check=1s", "log=error"};
        all.insert(all.end(), options.begin(), options.end());
        return all;
    }
};

// 0 to 3 and 4 to 7 reach each other.
inline IslandScene two_islands(const std::vector<int>& devices, const OptionList& options = {"groups=none"}) {
    return {machine_of("two_islands"), devices, {}, options};
}

// Of all ranks together.
struct Crossed {
    std::uint64_t to_host = 0;
    std::uint64_t from_host = 0;
};

// What has been counted from now on.
class Before {
public:
    Before(const Context& context, std::string collective)
        : context_(&context), collective_(std::move(collective)), counters_(context.counters()) {}

    // All calls on device memory went by islands, and none another way; `on_host` more were on host memory.
    void expect_islands(std::uint64_t calls, std::uint64_t on_host = 0) const {
        EXPECT_EQ(counted("algorithm.islands"), calls);
        EXPECT_EQ(counted("algorithm.fused"), 0U);
        EXPECT_EQ(counted("device_staged"), 0U);
        EXPECT_EQ(counted("served"), calls + on_host);
    }
    Crossed crossed(const Rank& rank) const {
        const Crossed mine{counted("islands.bytes_to_host"), counted("islands.bytes_from_host")};
        std::vector<Crossed> all(static_cast<std::size_t>(rank.size()));
        EXPECT_TRUE(rank.exchange(1).allgather(&mine, all.data(), sizeof(mine)));
        Crossed sum;
        for (const Crossed& one : all) {
            sum.to_host += one.to_host;
            sum.from_host += one.from_host;
        }
        return sum;
    }

private:
    std::uint64_t counted(const std::string& what) const {
        const std::string name = collective_ + "." + what;
        const auto before = counters_.find(name);
        return context_->counter(name) - (before != counters_.end() ? before->second : 0);
    }

    const Context* context_;
    std::string collective_;
    std::map<std::string, std::uint64_t> counters_;
};

}  // namespace peercoll::test
