// SPDX-License-Identifier: BSD-3-Clause
// The straight way of small calls. Two processors exchange a cache line in some 30 ns, which is time for about a
// hundred instructions: what does not change from call to call is not looked up again, and the task runs where it is
// made, inside the function of the C ABI.
#pragma once

#include "plugin/runtime/communicator.hpp"

namespace peercoll {

template <typename Task>
[[gnu::always_inline]] inline bool Communicator::run_straight(Task& task, peercoll_collective_t collective,
                                                              std::size_t bytes, std::size_t algorithm) {
    if (waiter_->wait([&task] { return task.progress(); }) != Progress::Done) return false;
    count(counters_[collective], bytes, algorithm);
    return true;
}

inline bool Communicator::repeats_allreduce(const void* sendbuf, const void* recvbuf, std::size_t count,
                                            peercoll_datatype_t datatype, peercoll_op_t op) {
    const RepeatedAllreduce& known = repeated_allreduce_;
    return count == known.count && datatype == known.datatype && op == known.op && count > 0 && sendbuf != nullptr &&
           recvbuf != nullptr && !overlap(sendbuf, recvbuf, known.bytes) && !Execution::is_due_for_all(node_) &&
           takes_straight_way();
}

inline Status Communicator::repeat_allreduce(const void* sendbuf, void* recvbuf) {
    HostTeam& team = *node_.team;
    const RepeatedAllreduce& known = repeated_allreduce_;
    const std::uint64_t position = team.position().step;
    AllreduceArguments arguments = known.arguments;
    arguments.source = static_cast<const std::byte*>(sendbuf);
    arguments.destination = static_cast<std::byte*>(recvbuf);
    const auto runs = [&](auto task) {
        return run_straight(task, PEERCOLL_ALLREDUCE, known.bytes, static_cast<std::size_t>(known.algorithm));
    };
    bool done = false;
    switch (known.algorithm) {
        case AllreduceAlgorithm::Packets:
            done = runs(AllreducePackets(team, arguments));
            break;
        case AllreduceAlgorithm::Slots:
            done = runs(AllreduceSlots(team, arguments, Stores::Cached));
            break;
        default:  // remember() takes no other
            done = runs(AllreduceStaged(team, arguments, Stores::Cached));
            break;
    }
    if (!done) return give_up();
    Execution::hear_of_devices(node_, position);
    return {};
}

inline bool Communicator::repeats_broadcast(const void* buffer, std::size_t bytes, int root) {
    return bytes == repeated_broadcast_.bytes && bytes > 0 && buffer != nullptr && root >= 0 && root < size() &&
           !Execution::is_due_for_next_broadcast(node_) && takes_straight_way();
}

inline Status Communicator::repeat_broadcast(void* buffer, std::size_t bytes, int root) {
    if (!node_.devices_tried) ++node_.broadcasts;
    HostTeam& team = *node_.team;
    const BroadcastArguments arguments{static_cast<std::byte*>(buffer), bytes, root};
    const auto runs = [&](auto task) {
        return run_straight(task, PEERCOLL_BROADCAST, bytes, static_cast<std::size_t>(repeated_broadcast_.algorithm));
    };
    const bool done = repeated_broadcast_.algorithm == BroadcastAlgorithm::Packets
                          ? runs(BroadcastPackets(team, arguments))
                          : runs(BroadcastStaged(team, arguments, BroadcastStaged::Shape::Flat, Stores::Cached));
    return done ? Status() : give_up();
}

}  // namespace peercoll
