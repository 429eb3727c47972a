// SPDX-License-Identifier: BSD-3-Clause
// The straight way of tiny calls. Two processors exchange a cache line in some 30 ns, which is time for about a hundred
// instructions: what does not change from call to call is not looked up again, and the task runs where it is made,
// inside the function of the C ABI.
#pragma once

#include "plugin/runtime/communicator.hpp"

namespace peercoll {

inline bool Communicator::repeats_allreduce(const void* sendbuf, const void* recvbuf, std::size_t count,
                                            peercoll_datatype_t datatype, peercoll_op_t op) {
    return count == repeated_.count && datatype == repeated_.datatype && op == repeated_.op && count > 0 &&
           sendbuf != nullptr && recvbuf != nullptr && !overlap(sendbuf, recvbuf, repeated_.bytes) &&
           !Execution::is_due_for_all(node_) && takes_straight_way();
}

inline Status Communicator::repeat_allreduce(const void* sendbuf, void* recvbuf) {
    HostTeam& team = *node_.team;
    const std::uint64_t position = team.position().step;
    AllreduceArguments arguments = repeated_.arguments;
    arguments.source = static_cast<const std::byte*>(sendbuf);
    arguments.destination = static_cast<std::byte*>(recvbuf);
    AllreducePackets packets(team, arguments);
    if (waiter_->wait([&packets] { return packets.progress(); }) != Progress::Done) return give_up();
    count(counters_[PEERCOLL_ALLREDUCE], repeated_.bytes, static_cast<std::size_t>(AllreduceAlgorithm::Packets));
    Execution::hear_of_devices(node_, position);
    return {};
}

inline bool Communicator::is_tiny_broadcast(const void* buffer, std::size_t bytes, int root) {
    return bytes > 0 && bytes <= node_.agreed.broadcast_packets && buffer != nullptr && root >= 0 && root < size() &&
           !Execution::is_due_for_next_broadcast(node_) && takes_straight_way();
}

inline Status Communicator::run_tiny_broadcast(void* buffer, std::size_t bytes, int root) {
    if (!node_.devices_tried) ++node_.broadcasts;
    BroadcastPackets packets(*node_.team, {static_cast<std::byte*>(buffer), bytes, root});
    if (waiter_->wait([&packets] { return packets.progress(); }) != Progress::Done) return give_up();
    count(counters_[PEERCOLL_BROADCAST], bytes, static_cast<std::size_t>(BroadcastAlgorithm::Packets));
    return {};
}

}  // namespace peercoll
