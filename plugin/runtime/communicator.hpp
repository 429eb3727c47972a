// SPDX-License-Identifier: BSD-3-Clause
// Communicator: one rank's end of a group. Sets itself up at its first collective, runs calls as tasks, keeps started
// requests in the order they were started.
#pragma once

#include "plugin/runtime/call.hpp"
#include "plugin/runtime/context.hpp"
#include "plugin/runtime/execution.hpp"
#include "plugin/runtime/hosts/hosts_call.hpp"
#include "plugin/runtime/node_setup.hpp"
#include "plugin/runtime/operation.hpp"
#include "plugin/runtime/wait.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace peercoll {

class Request;

class Communicator {
public:
    Communicator(Context& context, const peercoll_comm_params_t& params);
    ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    Context& context() { return context_; }
    int rank() const { return params_.rank; }
    int size() const { return params_.size; }
    const std::string& label() const { return label_; }

    Status run(const Call& call);

    // Small calls on host memory, like one before: a straight way to the same tasks that run() takes
    // (repeated_calls.hpp). Asked first; false if the call must be checked and run() instead.
    bool repeats_allreduce(const void* sendbuf, const void* recvbuf, std::size_t count, peercoll_datatype_t datatype,
                           peercoll_op_t op);
    Status repeat_allreduce(const void* sendbuf, void* recvbuf);
    bool repeats_broadcast(const void* buffer, std::size_t bytes, int root);
    Status repeat_broadcast(void* buffer, std::size_t bytes, int root);

    Status start(Request& request);
    // Progresses started requests until `request` is complete.
    Status wait(Request& request);
    // Advances started requests a little, unless another thread is at it.
    void try_progress();
    // The same for the owner of `request`, who also gives up where a wait would.
    void test(Request& request);
    // The owner of `request` has seen its end.
    void retire(Request& request);

    Status passed_on(peercoll_collective_t collective, const char* reason);
    // Sets up if that has not been done.
    Status describe(std::vector<std::string>& lines);

    // Requests that refer to this communicator: started and not retired, or persistent.
    int requests = 0;

private:
    struct Counters {
        LocalCounter served;
        LocalCounter bytes;
        LocalCounter fused;                 // by kernels, in device memory
        LocalCounter standby;               // of those, by a kernel that this rank had left on its device
        LocalCounter islands;               // by kernels of each island, in between through host memory
        LocalCounter island_bytes_written;  // to host memory, by this rank's device
        LocalCounter island_bytes_read;
        LocalCounter staged;  // around a host algorithm
        std::vector<LocalCounter> algorithms;
    };

    // The last small calls, checked and looked up.
    struct RepeatedAllreduce {
        std::size_t count = 0;  // 0: none
        peercoll_datatype_t datatype = PEERCOLL_DATATYPE_NONE;
        peercoll_op_t op = PEERCOLL_OP_NONE;
        AllreduceAlgorithm algorithm = AllreduceAlgorithm::Auto;
        std::size_t bytes = 0;
        AllreduceArguments arguments;
    };
    struct RepeatedBroadcast {
        std::size_t bytes = 0;  // 0: none
        BroadcastAlgorithm algorithm = BroadcastAlgorithm::Auto;
    };
    // Started requests take turns, and devices have to be looked at: both are run()'s.
    bool takes_straight_way() { return straight_ && !listed_ && !context_.devices().in_use(); }
    static bool overlap(const void* sendbuf, const void* recvbuf, std::size_t bytes) {
        const auto from = reinterpret_cast<std::uintptr_t>(sendbuf);
        const auto to = reinterpret_cast<std::uintptr_t>(recvbuf);
        return from != to && from < to + bytes && to < from + bytes;
    }
    // Runs it to its end and counts it; false if it failed.
    template <typename Task>
    bool run_straight(Task& task, peercoll_collective_t collective, std::size_t bytes, std::size_t algorithm);
    void remember(const Call& call, std::size_t algorithm);
    // After a broadcast.
    bool lets_readers_finish(const Call& call);

    // The team, made if need be; the reason why there is none is the same for every later call.
    Status ready();
    Status run_alone(const Call& call);
    Status run_task(const Call& call);
    // The same with devices concerned.
    Status run_execution(const Call& call);
    static void count(Counters& counters, std::size_t bytes, std::size_t algorithm) {
        counters.served.add();
        counters.bytes.add(bytes);
        counters.algorithms[algorithm].add();
    }
    void count(const Call& call, std::size_t algorithm) { count(counters_[call.kind], call.bytes(), algorithm); }
    void count(const Call& call, const Execution& execution);
    // Once for each new reason.
    void tell_why_not_fused(const Execution& execution);
    void count(const Call& call, HostsCall& hosts_call);
    // Advances the queue; the mutex is held.
    Progress progress_queue();
    void begin_head(const Call& call);
    void complete(Request& request, Status status);

    // Why a task gave up: decided here, told to the other ranks, remembered for later calls.
    Status give_up(const Status& cause = {});
    void fail_queue();
    bool on_check(std::chrono::nanoseconds waited);
    bool break_with_lost_peer();
    bool break_with_dying_peer();
    // The rank in this communicator of a rank of the node's team.
    int rank_of(int local) const;
    void break_with(Status status);

    Context& context_;
    peercoll_comm_params_t params_;
    std::string label_;
    bool tried_ = false;
    Status unusable_;        // not ok: every call gives this
    bool straight_ = false;  // set up, on one node, and not broken
    RepeatedAllreduce repeated_allreduce_;
    RepeatedBroadcast repeated_broadcast_;
    Node node_;
    std::unique_ptr<Hosts> hosts_;  // null: all ranks are on one node
    std::function<Status()> set_up_devices_;
    std::string not_fused_because_;  // the reason that was logged last
    std::unique_ptr<Waiter> waiter_;
    Counters counters_[PEERCOLL_COLLECTIVE_END];
    std::chrono::nanoseconds next_peer_check_{0};
    std::chrono::nanoseconds last_waited_{0};
    Status broken_;  // set by on_check, read by give_up

    std::mutex queue_mutex_;
    std::deque<Request*> queue_;
    std::optional<Execution> head_;        // of queue_.front(), once begun
    std::optional<HostsCall> hosts_head_;  // the same on several nodes
    // In the context's list; changed by the owner's thread alone. Over several nodes from the first collective to the
    // end, so that blocking calls take their turn too and the wire goes on meanwhile.
    bool listed_ = false;

    std::uint32_t tests_ = 0;  // that found nothing done
    const Request* tested_ = nullptr;
    std::chrono::steady_clock::time_point tested_since_{};
};

// A started collective, or a persistent one.
class Request {
public:
    Request(Communicator& communicator, const Call& call, bool persistent)
        : communicator(communicator), call(call), persistent(persistent) {}

    Communicator& communicator;
    const Call call;
    const bool persistent;
    // Written by whoever progresses the queue, under its mutex; read by the owner of the request.
    std::atomic<bool> active{false};
    bool counted = false;  // in its communicator's `requests`, as a started one
    Status status;
};

}  // namespace peercoll
