// SPDX-License-Identifier: BSD-3-Clause
// LinkProof: a task that proves a link before it is used. Each node sends its partners a message whose every byte they
// know, and expects the same from them. A connection can be made and yet carry nothing useful: a firewall, another
// network of the same addresses, packets longer than some switch on the way takes.
//
// Then, once all of that has settled at a node, a word to its partners and one from each of them. Until it has come a
// node serves the link: what has completed at one side may still need the other's progress, which connections that both
// sides opened at the same time were seen to wait for.
//
//   node a: pattern ->  <- pattern   (settles) settled ->  ..................  <- settled   done
//   node b: pattern ->  <- pattern   ......... serves the link .... (settles) settled ->    done
//
// Partners: the nodes at the distances 1, 2, 4, ..., on both sides: those of the schedules for small messages, and all
// others where there are no more than five nodes. Cost: 2 log2(h) messages of 16 KiB, and as many of a byte,
// from each node, once.
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

    // Done: all partners' messages have come, whole, and neither side has anything under way.
    Progress progress();
    // The partner of whom a message has not come, came wrong, or could not be sent; -1: none.
    int suspect() const;
    bool came_wrong() const { return wrong_; }

private:
    enum class Stage : std::uint8_t { Begin, Patterns, Settle, Words, SettleWords, End };
    struct Partner {
        int node = 0;
        std::vector<std::byte> sent;
        std::vector<std::byte> received;
        std::byte word{0};
        NodeLink::Ticket sending = nullptr;
        NodeLink::Ticket receiving = nullptr;
        bool is_sent = false;
        bool is_received = false;
    };
    bool start_patterns();
    bool start_words();
    // Done: all of them.
    Progress messages();
    Progress go_on(Stage next);
    Progress fail(int node);
    void abandon() noexcept;

    NodeLink* link_;
    int node_;
    std::uint32_t sequence_;
    std::deque<Partner> partners_;
    Stage stage_ = Stage::Begin;
    bool wrong_ = false;
    int failed_ = -1;
};

}  // namespace peercoll
