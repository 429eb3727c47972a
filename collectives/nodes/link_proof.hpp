// SPDX-License-Identifier: BSD-3-Clause
// LinkProof: a task that proves a link before it is used. Each node sends its partners a message whose every byte they
// know, and expects the same from them. A connection can be made and yet carry nothing useful: a firewall, another
// network of the same addresses, packets longer than some switch on the way takes.
//
// Partners: the nodes at the distances 1, 2, 4, ..., on both sides: those of the schedules for small messages, and all
// others where there are no more than five nodes. Cost: 2 log2(h) messages of 16 KiB from each node, once.
#pragma once

#include "collectives/nodes/node_link.hpp"
#include "collectives/task.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace peercoll {

// Longer than a packet of any network (9000 bytes), so that what holds back only long packets shows.
inline constexpr std::size_t link_proof_bytes = std::size_t{16} << 10;

// Ascending. If a is a partner of b, so is b of a.
std::vector<int> link_proof_partners(int nodes, int node);

class LinkProof {
public:
    // `link` must outlive the object; `sequence` as for NodeExchange.
    LinkProof(NodeLink& link, int nodes, int node, std::uint32_t sequence);
    ~LinkProof() { abandon(); }
    LinkProof(const LinkProof&) = delete;
    LinkProof& operator=(const LinkProof&) = delete;

    // Done: all partners' messages have come, whole.
    Progress progress();
    // The partner whose message has not come, came wrong, or could not be sent; -1: none.
    int suspect() const;
    bool came_wrong() const { return wrong_; }

private:
    struct Partner {
        int node = 0;
        std::vector<std::byte> sent;
        std::vector<std::byte> received;
        NodeLink::Ticket sending = nullptr;
        NodeLink::Ticket receiving = nullptr;
        bool is_sent = false;
        bool is_received = false;
    };
    Progress fail(int node);
    void abandon() noexcept;

    NodeLink* link_;
    int node_;
    std::uint32_t sequence_;
    std::deque<Partner> partners_;
    bool started_ = false;
    bool wrong_ = false;
    int failed_ = -1;
};

}  // namespace peercoll
