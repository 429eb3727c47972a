// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/nodes/simulated_nodes.hpp"

#include <cstring>

namespace peercoll::test {

class SimulatedLink final : public NodeLink {
public:
    SimulatedLink(SimulatedNodes& nodes, int self) : nodes_(&nodes), self_(self) {}

    bool send(int node, MessageName name, const std::byte* data, std::size_t bytes, Ticket& ticket) override {
        if (nodes_->lost_ == node || nodes_->lost_ == self_) return false;
        auto message = std::make_unique<SimulatedNodes::Message>();
        message->source = data;
        message->bytes = bytes;
        message->other = node;
        const SimulatedNodes::Name key{self_, node, name.sequence, name.stage};
        nodes_->waiting_[key].sends.push_back(message.get());
        SimulatedNodes::Traffic& traffic = nodes_->traffic_[static_cast<std::size_t>(self_)];
        traffic.bytes_sent += bytes;
        ++traffic.messages_sent;
        nodes_->traffic_[static_cast<std::size_t>(node)].bytes_received += bytes;
        start(std::move(message), ticket, key);
        return true;
    }
    bool receive(int node, MessageName name, std::byte* data, std::size_t bytes, Ticket& ticket) override {
        if (nodes_->lost_ == node || nodes_->lost_ == self_) return false;
        auto message = std::make_unique<SimulatedNodes::Message>();
        message->destination = data;
        message->bytes = bytes;
        message->other = node;
        const SimulatedNodes::Name key{node, self_, name.sequence, name.stage};
        nodes_->waiting_[key].receives.push_back(message.get());
        start(std::move(message), ticket, key);
        return true;
    }
    Progress test(Ticket& ticket) override {
        auto* message = static_cast<SimulatedNodes::Message*>(ticket);
        const bool lost = nodes_->lost_ == self_ || nodes_->lost_ == message->other;
        if (!message->done && !lost) return Progress::Pending;
        const bool good = message->done && !message->wrong;
        end(ticket);
        return good ? Progress::Done : Progress::Failed;
    }
    void abandon(int, Ticket& ticket) noexcept override {
        if (ticket != nullptr) end(ticket);
    }
    bool progress() override {
        if (nodes_->late_ < 0 || nodes_->late_ == self_ || nodes_->services_needed_ == 0) return false;
        --nodes_->services_needed_;
        return true;
    }
    bool settle() override { return nodes_->late_ == self_ && nodes_->services_needed_ > 0; }

private:
    void start(std::unique_ptr<SimulatedNodes::Message> message, Ticket& ticket, const SimulatedNodes::Name& key) {
        ticket = message.release();
        ++nodes_->outstanding_;
        nodes_->match(key);
    }
    void end(Ticket& ticket) {
        const std::unique_ptr<SimulatedNodes::Message> owned(static_cast<SimulatedNodes::Message*>(ticket));
        ticket = nullptr;
        --nodes_->outstanding_;
        if (owned->done) return;
        for (auto& [key, waiting] : nodes_->waiting_) {
            std::erase(waiting.sends, owned.get());
            std::erase(waiting.receives, owned.get());
        }
    }

    SimulatedNodes* nodes_;
    int self_;
};

SimulatedNodes::SimulatedNodes(int nodes) : traffic_(static_cast<std::size_t>(nodes)) {
    for (int node = 0; node < nodes; ++node) links_.push_back(std::make_unique<SimulatedLink>(*this, node));
}

SimulatedNodes::~SimulatedNodes() = default;

NodeLink& SimulatedNodes::link(int node) {
    return *links_[static_cast<std::size_t>(node)];
}

std::size_t SimulatedNodes::unmatched() const {
    std::size_t count = 0;
    for (const auto& [key, waiting] : waiting_) count += waiting.sends.size() + waiting.receives.size();
    return count;
}

void SimulatedNodes::match(const Name& name) {
    const auto found = waiting_.find(name);
    if (std::get<1>(name) == deaf_) return;
    Waiting& waiting = found->second;
    while (!waiting.sends.empty() && !waiting.receives.empty()) {
        Message& from = *waiting.sends.front();
        Message& to = *waiting.receives.front();
        waiting.sends.pop_front();
        waiting.receives.pop_front();
        from.wrong = to.wrong = from.bytes != to.bytes;
        if (!from.wrong) std::memcpy(to.destination, from.source, from.bytes);
        if (!from.wrong && std::get<0>(name) == garbled_) to.destination[from.bytes / 2] ^= std::byte{1};
        from.done = to.done = true;
    }
    if (waiting.sends.empty() && waiting.receives.empty()) waiting_.erase(found);
}

}  // namespace peercoll::test
