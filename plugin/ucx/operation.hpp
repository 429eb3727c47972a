// SPDX-License-Identifier: BSD-3-Clause
// One message that UCX is sending or receiving, and the pool of them. An operation has two users, the caller's transfer
// and UCX's request; it goes back to the pool when both are done with it, so a caller can give up at any time.
#pragma once

#include "plugin/ucx/ucp_abi.hpp"

#include <peercoll/peercoll.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace peercoll::ucx {

class Wire;
struct Peer;

struct Operation {
    enum class State : std::uint8_t { Free, Active, Done };
    enum class Fault : std::uint8_t { None, PeerLost, WrongSize, Failed };

    // Written under the wire's lock; Active may be seen without.
    std::atomic<State> state{State::Free};
    Fault fault = Fault::None;  // why it is Done, if not well
    UcsStatus ucx_status = ucs_status::ok;
    bool receive = false;
    bool abandoned = false;   // the caller has given up its transfer
    void* request = nullptr;  // while UCX holds the operation and its memory
    Wire* wire = nullptr;
    Peer* peer = nullptr;
    std::size_t expected = 0;
    std::size_t received = 0;
};

class OperationPool {
public:
    Operation& take() {
        if (free_.empty()) {
            free_.push_back(&all_.emplace_back());
            free_.reserve(all_.size());  // giving back never allocates
        }
        Operation& operation = *free_.back();
        free_.pop_back();
        return operation;
    }
    void give_back(Operation& operation) {
        operation.state.store(Operation::State::Free, std::memory_order_relaxed);
        operation.fault = Operation::Fault::None;
        operation.ucx_status = ucs_status::ok;
        operation.abandoned = false;
        operation.request = nullptr;
        operation.peer = nullptr;
        operation.received = 0;
        free_.push_back(&operation);
    }
    std::deque<Operation>& all() { return all_; }

private:
    std::deque<Operation> all_;  // addresses stay
    std::vector<Operation*> free_;
};

}  // namespace peercoll::ucx
