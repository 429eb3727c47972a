// SPDX-License-Identifier: BSD-3-Clause
// Another process, and the endpoint to it once it has been used.
#pragma once

#include "plugin/ucx/ucp_abi.hpp"

#include <cstdint>
#include <vector>

namespace peercoll::ucx {

struct Peer {
    std::vector<std::uint64_t> address;  // words, so that UCX finds it aligned
    std::size_t address_bytes = 0;
    // Inside a node UCX is not asked to notice that a peer is gone, because then it would not use shared memory.
    bool same_node = false;
    UcpEndpoint endpoint = nullptr;
    bool unsettled = false;                  // on this node, and used since the last flush
    bool lost = false;                       // nothing can be sent or received any more
    UcsStatus lost_status = ucs_status::ok;  // what UCX said, if it was UCX that said it
    bool loss_is_new = false;                // its operations have not been ended yet
    bool* wire_loss = nullptr;               // set with it: some peer of the wire has been lost
};

}  // namespace peercoll::ucx
