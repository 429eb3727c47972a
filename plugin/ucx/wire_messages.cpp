// SPDX-License-Identifier: BSD-3-Clause
// Messages: starting, completing and giving up; and what is done between them.
#include "plugin/ucx/tag.hpp"
#include "plugin/ucx/ucx_text.hpp"
#include "plugin/ucx/wire.hpp"

#include <fmt/format.h>

namespace peercoll::ucx {

namespace {

// UCX's shared memory transports do not tell whether they have handed everything over; that many rounds do it.
constexpr unsigned rounds_to_settle = 16;

constexpr const char* memory_names[] = {"host", "CUDA", "managed CUDA", "HIP", "managed HIP"};

Status lost(const Peer& peer) {
    return {PEERCOLL_ERR_PEER_LOST, peer.lost_status == ucs_status::ok
                                        ? "the other process is lost"
                                        : fmt::format("the other process is lost: {}", status_text(peer.lost_status))};
}

}  // namespace

void Wire::info(peercoll_wire_info_t& info) {
    const Turn turn(*this);
    info.memory_kinds = memory_kinds_;
    info.peers = static_cast<std::uint32_t>(peers_.size());
    info.endpoints = endpoints_;
    info.transfers = given_out_;
    info.bytes_sent = bytes_sent_;
    info.messages_sent = messages_sent_;
    std::string kinds;
    for (std::size_t kind = 0; kind < std::size(memory_names); ++kind) {
        if ((memory_kinds_ >> kind & 1) != 0) kinds += (kinds.empty() ? "" : ", ") + std::string(memory_names[kind]);
    }
    const auto end = fmt::format_to_n(info.text, sizeof info.text - 1, "UCX {}{} ({} memory)", library_.version,
                                      library_.was_loaded ? ", which the process had loaded" : "", kinds);
    *end.out = '\0';
}

Status Wire::check_start(const peercoll_message_t& message, const Memory& memory, std::uint64_t& tag) const {
    const std::optional<std::uint64_t> name = tag_of(message);
    if (!name) {
        return {
            PEERCOLL_ERR_INVALID_ARGUMENT,
            fmt::format("message of communicator {}, source {}, stage {}: expected less than 65536, 1048576 and 4096",
                        message.communicator, message.source, message.stage)};
    }
    tag = *name;
    if (memory.kind >= 32 || (memory_kinds_ >> memory.kind & 1) == 0) {
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                fmt::format("this UCX does not take {} memory: stage it through host memory",
                            memory.kind < std::size(memory_names) ? memory_names[memory.kind] : "unknown")};
    }
    if (memory.data == nullptr && memory.bytes > 0) {
        return {PEERCOLL_ERR_INVALID_ARGUMENT, fmt::format("{} bytes at NULL: expected an address", memory.bytes)};
    }
    if (closing_) return {PEERCOLL_ERR_BUSY, "the wire is being closed: nothing can be sent or received any more"};
    return {};
}

Operation& Wire::new_operation(Peer& peer, std::size_t bytes, bool receive) {
    Operation& operation = pool_.take();
    operation.wire = this;
    operation.peer = &peer;
    operation.expected = bytes;
    operation.receive = receive;
    operation.state.store(Operation::State::Active, std::memory_order_relaxed);
    ++active_;
    ++given_out_;
    unsettled_ = true;
    if (peer.same_node && !peer.unsettled) {
        peer.unsettled = true;
        unsettled_peers_.push_back(&peer);
    }
    return operation;
}

UcpRequestParameters Wire::request_parameters(Operation& operation, peercoll_wire_memory_t memory) const {
    UcpRequestParameters parameters;
    parameters.mask = UcpRequestParameters::field_callback | UcpRequestParameters::field_user_data |
                      UcpRequestParameters::field_memory_type;
    parameters.user_data = &operation;
    parameters.memory_type = static_cast<int>(memory);
    return parameters;
}

// UCX answers in four ways: done (and will not call back), failed, a request (and will call back), or a request for
// which it has called back already.
Status Wire::keep_started(Operation& operation, void* returned, Operation*& given) {
    given = &operation;
    const bool is_request = returned != nullptr && !is_error(returned);
    const bool has_called_back = operation.state.load(std::memory_order_relaxed) != Operation::State::Active;
    if (is_request && !has_called_back) {
        operation.request = returned;
        update_busy();
        return {};
    }
    if (!is_request) complete(operation, returned == nullptr ? ucs_status::ok : error_of(returned));
    update_busy();
    return end_of(given);
}

Status Wire::send(Peer& peer, const peercoll_message_t& message, const Memory& memory, Operation*& given) {
    const Turn turn(*this);
    std::uint64_t tag = 0;
    if (Status status = check_start(message, memory, tag); !status.ok()) return status;
    if (peer.lost) return lost(peer);
    if (Status status = connect(peer); !status.ok()) return status;
    Operation& operation = new_operation(peer, memory.bytes, false);
    bytes_sent_ += memory.bytes;
    ++messages_sent_;
    UcpRequestParameters parameters = request_parameters(operation, memory.kind);
    parameters.callback.send = &Wire::sent;
    return keep_started(operation, call_.tag_send_nbx(peer.endpoint, memory.data, memory.bytes, tag, &parameters),
                        given);
}

Status Wire::receive(Peer& peer, const peercoll_message_t& message, const Memory& memory, Operation*& given) {
    const Turn turn(*this);
    std::uint64_t tag = 0;
    if (Status status = check_start(message, memory, tag); !status.ok()) return status;
    // Only an endpoint is told that its peer is gone, and only an endpoint can be flushed.
    if (!peer.lost) {
        if (Status status = connect(peer); !status.ok()) return status;
    }
    Operation& operation = new_operation(peer, memory.bytes, true);
    UcpRequestParameters parameters = request_parameters(operation, memory.kind);
    parameters.callback.receive = &Wire::received;
    // The size of a message that is there already is told to the callback only (1.13).
    parameters.mask |= UcpRequestParameters::flag_always_call_back;
    void* returned = call_.tag_recv_nbx(worker_, memory.data, memory.bytes, tag, ~std::uint64_t{0}, &parameters);
    Status status = keep_started(operation, returned, given);
    // What a lost peer sent before is there already; nothing else will come.
    if (!status.ok() || given == nullptr || !peer.lost) return status;
    end_early(operation);
    update_busy();
    return end_of(given);
}

void Wire::sent(void* request, UcsStatus status, void* argument) {
    Operation& operation = *static_cast<Operation*>(argument);
    Wire& wire = *operation.wire;
    wire.call_.request_free(request);
    wire.complete(operation, status);
}

void Wire::received(void* request, UcsStatus status, const UcpTagInfo* info, void* argument) {
    Operation& operation = *static_cast<Operation*>(argument);
    Wire& wire = *operation.wire;
    if (status == ucs_status::ok) operation.received = info->length;
    wire.call_.request_free(request);
    wire.complete(operation, status);
}

// UCX is done with the operation.
void Wire::complete(Operation& operation, UcsStatus status) {
    operation.request = nullptr;
    if (operation.abandoned) {
        pool_.give_back(operation);
        return;
    }
    if (operation.state.load(std::memory_order_relaxed) != Operation::State::Active) return;  // ended early
    operation.ucx_status = status;
    const bool another_size = operation.receive && operation.received != operation.expected;
    if (status == ucs_status::message_truncated || (status == ucs_status::ok && another_size)) {
        operation.fault = Operation::Fault::WrongSize;
    } else if (status != ucs_status::ok) {
        operation.fault = operation.peer->lost ? Operation::Fault::PeerLost : Operation::Fault::Failed;
    }
    --active_;
    operation.state.store(Operation::State::Done, std::memory_order_release);
}

// Of a lost peer, or when the wire is closed: the caller is not kept waiting, UCX may be.
void Wire::end_early(Operation& operation) {
    if (operation.receive && operation.request != nullptr) call_.request_cancel(worker_, operation.request);
    if (operation.state.load(std::memory_order_relaxed) == Operation::State::Active) {
        --active_;
        operation.ucx_status = ucs_status::canceled;
        operation.state.store(Operation::State::Done, std::memory_order_release);
    }
    operation.fault = operation.peer->lost ? Operation::Fault::PeerLost : Operation::Fault::Failed;
}

// Takes the transfer of an operation that is Done from the caller.
Status Wire::end_of(Operation*& given) {
    Operation& operation = *given;
    given = nullptr;
    --given_out_;
    Status status;
    switch (operation.fault) {
        case Operation::Fault::None:
            break;
        case Operation::Fault::PeerLost:
            status = {
                PEERCOLL_ERR_PEER_LOST,
                fmt::format("the process that {} {} bytes is lost: {}",
                            operation.receive ? "should send" : "should take", operation.expected,
                            status_text(operation.peer->lost_status != ucs_status::ok ? operation.peer->lost_status
                                                                                      : operation.ucx_status))};
            break;
        case Operation::Fault::WrongSize:
            status = {PEERCOLL_ERR_INTERNAL,
                      operation.ucx_status == ucs_status::message_truncated
                          ? fmt::format("a message was longer than the {} bytes expected", operation.expected)
                          : fmt::format("a message had {} bytes, expected {}", operation.received, operation.expected)};
            break;
        case Operation::Fault::Failed:
            status = {operation.peer->same_node ? PEERCOLL_ERR_SYSTEM : PEERCOLL_ERR_PEER_LOST,
                      fmt::format("UCX could not {} a message of {} bytes: {}", operation.receive ? "receive" : "send",
                                  operation.expected, status_text(operation.ucx_status))};
            break;
    }
    if (operation.request != nullptr) {
        operation.abandoned = true;  // complete() gives it back
    } else {
        pool_.give_back(operation);
    }
    return status;
}

bool Wire::test(Operation*& given, Status& end) {
    if (given->state.load(std::memory_order_acquire) == Operation::State::Active) return false;
    const Turn turn(*this);
    end = end_of(given);
    return true;
}

bool Wire::cancel(Operation*& given) {
    const Turn turn(*this);
    Operation& operation = *given;
    if (operation.state.load(std::memory_order_relaxed) == Operation::State::Active) end_early(operation);
    const bool memory_is_free = operation.request == nullptr;
    (void)end_of(given).ok();  // the caller does not ask how it ended
    update_busy();
    return memory_is_free;
}

bool Wire::progress() {
    if (!busy() || wanted_.load(std::memory_order_relaxed) > 0) return false;
    // Another thread is at it.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    const bool moved = call_.worker_progress(worker_) != 0;
    end_operations_of_lost_peers();
    release_completed(closing_requests_);
    settle();
    update_busy();
    return moved;
}

// A transfer that has completed here may not have for the other side: its data may wait for room in a socket, or the
// word that a large message has arrived for a place in a queue.
void Wire::settle() {
    if (!flushes_.empty()) {
        release_completed(flushes_);
        if (!flushes_.empty()) return;
        settling_rounds_ = rounds_after_flush_;
    }
    if (active_ > 0) return;
    if (unsettled_ && !unfinishable_) {
        unsettled_ = false;
        start_flush();
        if (flushes_.empty()) settling_rounds_ = rounds_after_flush_;
    } else if (settling_rounds_ > 0) {
        --settling_rounds_;
    }
}

// The worker's flush asks the interfaces, which is enough for sockets; shared memory knows what it has queued for one
// peer only when the endpoint is asked.
void Wire::start_flush() {
    UcpRequestParameters parameters;
    const auto keep = [this](void* request) {
        if (request != nullptr && !is_error(request)) flushes_.push_back(request);
    };
    // Messages to other nodes, which the flush is enough for, need not pay for rounds: with sockets each costs a system
    // call.
    rounds_after_flush_ = unsettled_peers_.empty() ? settling_rounds_ : rounds_to_settle;
    for (Peer* peer : unsettled_peers_) {
        peer->unsettled = false;
        if (peer->endpoint != nullptr && !peer->lost) keep(call_.ep_flush_nbx(peer->endpoint, &parameters));
    }
    unsettled_peers_.clear();
    keep(call_.worker_flush_nbx(worker_, &parameters));
}

void Wire::update_busy() {
    busy_.store(active_ > 0 || (unsettled_ && !unfinishable_) || !flushes_.empty() || settling_rounds_ > 0 ||
                    loss_is_new_ || !closing_requests_.empty(),
                std::memory_order_relaxed);
}

}  // namespace peercoll::ucx
