// SPDX-License-Identifier: BSD-3-Clause
// Device set-up: what the ranks of a communicator tell each other when the first device buffer has come, and the device
// team that comes of it.
//
//   rounds of DevicePeers   which devices I use, what they reach; proofs        --> who may reach whose memory
//   round A                 the first rank's device segment, everybody's socket --> all map the segment
//   round B                 whether that worked                                 --> a team, or none, decided alike by
//   all
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/runtime/context.hpp"
#include "plugin/runtime/node.hpp"

namespace peercoll {

// Collective over the communicator, whose node is set up. Replaces node.devices; leaves it empty, with a sentence in
// node.devices_reason, where there can be no team: device buffers are staged then. PEERCOLL_ERR_CALLBACK if the
// caller's allgather failed.
Status set_up_devices(Context& context, const peercoll_comm_params_t& comm, Node& node);

}  // namespace peercoll
