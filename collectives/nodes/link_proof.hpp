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
// Partners are mutual: if b is one of a's, a is one of b's, in a proof of the same sequence (node_partners.hpp). Cost
// for each of them: a message of 16 KiB and one of a byte.
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

class LinkProof {
public:
    // `link` must outlive the object; `sequence` as for NodeExchange.
    LinkProof(NodeLink& link, int node, const std::vector<int>& partners, std::uint32_t sequence);
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
