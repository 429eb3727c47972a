// SPDX-License-Identifier: BSD-3-Clause
// NodeExchange: a task that runs one node's schedule of an allreduce over a link.
#pragma once

#include "collectives/nodes/allreduce_schedule.hpp"
#include "collectives/nodes/node_link.hpp"
#include "collectives/reduction/host_kernels.hpp"
#include "collectives/task.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace peercoll {

class NodeExchange {
public:
    struct Memory {
        std::byte* result = nullptr;
        // This node's own contribution, if that is elsewhere; what is read of the result before the first fold.
        const std::byte* own = nullptr;
        std::byte* scratch = nullptr;          // of schedule.scratch() elements
        std::vector<const std::byte*> inputs;  // where the schedule uses them
        std::size_t element_bytes = 1;
        FoldFunction fold = nullptr;
    };
    // `link` must outlive the object. `sequence` is the same on all nodes, and no other one's of the link that may
    // still be under way.
    NodeExchange(NodeLink& link, const AllreduceSchedule& schedule, std::uint32_t sequence, Memory memory)
        : link_(&link), schedule_(schedule), sequence_(sequence), memory_(std::move(memory)) {}
    ~NodeExchange() { abandon(); }
    NodeExchange(const NodeExchange&) = delete;
    NodeExchange& operator=(const NodeExchange&) = delete;

    Progress progress();

private:
    struct Outstanding {
        int node;
        NodeLink::Ticket ticket;
    };
    std::byte* written_at(const NodeMessage& message) const;
    // The first of the elements of `range` as they are now.
    const std::byte* read_at(const PlacedAt& where, Slice range) const;
    bool start_round();
    void combine();
    void abandon() noexcept;

    NodeLink* link_;
    AllreduceSchedule schedule_;
    std::uint32_t sequence_;
    Memory memory_;
    int number_ = 0;  // of the round
    bool started_ = false;
    bool folded_ = false;  // the result has taken the place of this node's own contribution
    Round round_;
    std::vector<Outstanding> outstanding_;
};

}  // namespace peercoll
