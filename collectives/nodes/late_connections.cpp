// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/nodes/late_connections.hpp"

#include "collectives/nodes/node_partners.hpp"

namespace peercoll {

Progress LateConnections::progress() {
    if (batch_ == late_batches(nodes_)) return Progress::Done;
    if (!proof_)
        proof_.emplace(*link_, node_, late_partners(nodes_, node_, batch_),
                       sequence_ + static_cast<std::uint32_t>(batch_));
    if (const Progress state = proof_->progress(); state != Progress::Done) return state;
    proof_.reset();
    ++batch_;
    return Progress::Advanced;
}

}  // namespace peercoll
