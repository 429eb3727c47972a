// SPDX-License-Identifier: BSD-3-Clause
// NodeGathers: the allgather of each node's ranks among themselves, made of allgathers of all ranks. Setting up a node
// takes a number of rounds that may differ from node to node; nodes that are done go on taking part until all are.
#pragma once

#include "plugin/common/status.hpp"

#include <peercoll/peercoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace peercoll {

class NodeGathers {
public:
    // `comm` and `ranks`, those of this rank's node, must outlive the object.
    NodeGathers(const peercoll_comm_params_t& comm, const std::vector<int>& ranks) : comm_(&comm), ranks_(&ranks) {}
    // The node's ranks as a communicator of their own, which refers to this object.
    peercoll_comm_params_t node_comm();
    // This node is done; takes part until all are.
    Status finish();

private:
    static constexpr std::size_t record_bytes = 488;
    struct Record {
        std::uint32_t bytes;
        std::uint32_t finished;
        std::array<std::byte, record_bytes> data;
    };
    static int gather(const void* mine, void* all, std::size_t bytes, void* user);
    // One allgather of all ranks.
    bool round(const Record& mine);

    const peercoll_comm_params_t* comm_;
    const std::vector<int>* ranks_;
    std::vector<Record> records_;  // of the last round, by rank
};

}  // namespace peercoll
