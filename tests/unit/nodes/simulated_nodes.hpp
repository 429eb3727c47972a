// SPDX-License-Identifier: BSD-3-Clause
// Nodes without wires: the links of all nodes of one job in one process. Messages are copied when both sides have
// started theirs; bytes and messages are counted for each node.
#pragma once

#include "collectives/nodes/node_link.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace peercoll::test {

class SimulatedNodes {
public:
    explicit SimulatedNodes(int nodes);
    ~SimulatedNodes();
    SimulatedNodes(const SimulatedNodes&) = delete;
    SimulatedNodes& operator=(const SimulatedNodes&) = delete;

    struct Traffic {
        std::uint64_t bytes_sent = 0;
        std::uint64_t bytes_received = 0;
        std::uint64_t messages_sent = 0;
    };
    NodeLink& link(int node);
    const Traffic& traffic(int node) const { return traffic_[static_cast<std::size_t>(node)]; }
    // Messages that somebody has started and nobody has met.
    std::size_t unmatched() const;
    // From now on messages from it arrive with one byte changed, ...
    void garble(int node) { garbled_ = node; }
    // ... and messages to it never arrive.
    void deafen(int node) { deaf_ = node; }
    // What it has sent settles only after other nodes have served the link `times` more often.
    void settle_late(int node, int times) {
        late_ = node;
        services_needed_ = times;
    }
    // Messages to or from it fail from now on.
    void lose(int node) { lost_ = node; }
    // Whether everything that was started was ended by its starter.
    std::size_t outstanding() const { return outstanding_; }

private:
    friend class SimulatedLink;
    struct Message {
        const std::byte* source = nullptr;
        std::byte* destination = nullptr;
        std::size_t bytes = 0;
        int other = 0;
        bool done = false;
        bool wrong = false;  // the two sides told different sizes
    };
    // From, to, sequence, stage.
    using Name = std::tuple<int, int, std::uint32_t, std::uint32_t>;
    struct Waiting {
        std::deque<Message*> sends;
        std::deque<Message*> receives;
    };
    void match(const Name& name);

    std::vector<std::unique_ptr<NodeLink>> links_;
    std::vector<Traffic> traffic_;
    std::map<Name, Waiting> waiting_;
    int lost_ = -1;
    int garbled_ = -1;
    int deaf_ = -1;
    int late_ = -1;
    int services_needed_ = 0;
    std::size_t outstanding_ = 0;
};

}  // namespace peercoll::test
