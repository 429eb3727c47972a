// SPDX-License-Identifier: BSD-3-Clause
// WireLink: a communicator's messages between the ranks of one number in their nodes, over the
// process's wire.
#pragma once

#include "collectives/nodes/node_link.hpp"
#include "plugin/common/status.hpp"
#include "plugin/runtime/hosts/process_wire.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace peercoll {

class WireLink final : public NodeLink {
public:
    // The rank that speaks for a node, as it has introduced itself; this node's own too.
    struct Leader {
        peercoll_wire_peer_t peer = nullptr;
        std::uint32_t rank = 0;
        std::uint32_t number = 0;  // its own for the communicator
    };
    struct Counters {
        std::atomic<std::uint64_t>* bytes = nullptr;  // sent
        std::atomic<std::uint64_t>* messages = nullptr;
    };
    // What is sent for; counted apart.
    enum class Purpose : std::uint8_t { Proof, Collectives };
    // By purpose.
    using CountersOf = std::array<Counters, 2>;
    // Takes over leaders[node].number, which is given back to the wire at the end.
    WireLink(ProcessWire& wire, std::vector<Leader> leaders, int node, CountersOf counters)
        : wire_(&wire), leaders_(std::move(leaders)), node_(static_cast<std::size_t>(node)), counters_(counters) {}
    ~WireLink() override;
    WireLink(const WireLink&) = delete;
    WireLink& operator=(const WireLink&) = delete;

    bool send(int node, MessageName name, const std::byte* data, std::size_t bytes, Ticket& ticket) override;
    bool receive(int node, MessageName name, std::byte* data, std::size_t bytes, Ticket& ticket) override;
    Progress test(Ticket& ticket) override;
    void abandon(int node, Ticket& ticket) noexcept override;
    bool progress() override { return wire_->transport().progress(wire_->wire()) != 0; }
    // Moves on what has completed here and needs the wire's progress for the other side; false if nothing is left to
    // wait for, or messages of others are outstanding.
    bool settle() override;
    bool busy() const { return wire_->transport().busy(wire_->wire()) != 0; }

    // The whole communicator has failed: the others shall not wait for this process.
    void drop_all() noexcept;
    // Of what is sent from now on; at first a proof.
    void send_for(Purpose purpose) { purpose_ = purpose; }
    // Why something has failed.
    const Status& status() const { return status_; }

private:
    bool answer(peercoll_status_t code, const peercoll_reason_t& reason);

    ProcessWire* wire_;
    std::vector<Leader> leaders_;
    std::size_t node_;
    CountersOf counters_;
    Purpose purpose_ = Purpose::Proof;
    Status status_;
};

}  // namespace peercoll
