// SPDX-License-Identifier: BSD-3-Clause
// NodeLink: messages between the nodes of one communicator, as its schedules need them. Implemented over a transport,
// and without wires by the tests' simulator.
#pragma once

#include "collectives/task.hpp"

#include <cstddef>
#include <cstdint>

namespace peercoll {

// The same on both sides. Messages of one name between the same two nodes arrive in the order in which they were sent.
struct MessageName {
    std::uint32_t sequence = 0;  // of the exchange in its communicator
    std::uint32_t stage = 0;     // the round of its schedule
};

class NodeLink {
public:
    using Ticket = void*;  // an outstanding message; null: none, or completed
    virtual ~NodeLink() = default;
    // Both start a message and return at once; its memory stays as it is until it has completed. False: it failed, and
    // nothing is outstanding.
    virtual bool send(int node, MessageName name, const std::byte* data, std::size_t bytes, Ticket& ticket) = 0;
    virtual bool receive(int node, MessageName name, std::byte* data, std::size_t bytes, Ticket& ticket) = 0;
    // Done and Failed end the message.
    virtual Progress test(Ticket& ticket) = 0;
    // Ends a message that is not awaited any more; `node` is then lost for this link.
    virtual void abandon(int node, Ticket& ticket) noexcept = 0;
    // Moves messages on a little; true if something moved.
    virtual bool progress() = 0;
    // Moves on what has completed here and still needs this process, or the other side, to arrive; false if nothing is
    // left to wait for.
    virtual bool settle() { return false; }
};

}  // namespace peercoll
