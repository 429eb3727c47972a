// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/hosts/wire_link.hpp"

#include <sched.h>

#include <chrono>

namespace peercoll {

namespace {

// For what an abandoned message still takes after its peer was dropped.
constexpr std::chrono::milliseconds abandon_limit{200};

}  // namespace

WireLink::~WireLink() {
    wire_->give_number_back(leaders_[node_].number);
}

bool WireLink::answer(peercoll_status_t code, const peercoll_reason_t& reason) {
    if (code != PEERCOLL_SUCCESS && status_.ok()) status_ = {code, reason.text};
    return code == PEERCOLL_SUCCESS;
}

bool WireLink::send(int node, MessageName name, const std::byte* data, std::size_t bytes, Ticket& ticket) {
    const Leader& to = leaders_[static_cast<std::size_t>(node)];
    const peercoll_message_t message{to.number, name.sequence, leaders_[node_].rank, name.stage};
    peercoll_transfer_t transfer = nullptr;
    peercoll_reason_t reason{};
    const peercoll_status_t code =
        wire_->transport().send(wire_->wire(), to.peer, &message, PEERCOLL_WIRE_HOST, data, bytes, &transfer, &reason);
    ticket = transfer;
    const Counters& counters = counters_[static_cast<std::size_t>(purpose_)];
    counters.bytes->fetch_add(bytes, std::memory_order_relaxed);
    counters.messages->fetch_add(1, std::memory_order_relaxed);
    return answer(code, reason);
}

bool WireLink::receive(int node, MessageName name, std::byte* data, std::size_t bytes, Ticket& ticket) {
    const Leader& from = leaders_[static_cast<std::size_t>(node)];
    const peercoll_message_t message{leaders_[node_].number, name.sequence, from.rank, name.stage};
    peercoll_transfer_t transfer = nullptr;
    peercoll_reason_t reason{};
    const peercoll_status_t code = wire_->transport().receive(wire_->wire(), from.peer, &message, PEERCOLL_WIRE_HOST,
                                                              data, bytes, &transfer, &reason);
    ticket = transfer;
    return answer(code, reason);
}

Progress WireLink::test(Ticket& ticket) {
    auto transfer = static_cast<peercoll_transfer_t>(ticket);
    peercoll_reason_t reason{};
    const peercoll_status_t code = wire_->transport().test(wire_->wire(), &transfer, &reason);
    ticket = transfer;
    if (code == PEERCOLL_ERR_BUSY) return Progress::Pending;
    return answer(code, reason) ? Progress::Done : Progress::Failed;
}

void WireLink::abandon(int node, Ticket& ticket) noexcept {
    if (ticket == nullptr) return;
    // The peer first: then the wire lets go of the memory, which may be the caller's and gone soon.
    const peercoll_transport_t& transport = wire_->transport();
    transport.drop_peer(wire_->wire(), leaders_[static_cast<std::size_t>(node)].peer);
    auto transfer = static_cast<peercoll_transfer_t>(ticket);
    ticket = nullptr;
    const bool is_free = transport.cancel(wire_->wire(), &transfer) == PEERCOLL_SUCCESS;
    const auto end = std::chrono::steady_clock::now() + abandon_limit;
    while (!is_free && busy() && std::chrono::steady_clock::now() < end)
        if (!progress()) ::sched_yield();
}

bool WireLink::settle() {
    if (!busy()) return false;
    progress();
    if (!busy()) return false;
    peercoll_wire_info_t info{};
    info.struct_size = sizeof info;
    wire_->transport().info(wire_->wire(), &info);
    return info.transfers == 0;
}

void WireLink::drop_all() noexcept {
    for (std::size_t node = 0; node < leaders_.size(); ++node)
        if (node != node_) wire_->transport().drop_peer(wire_->wire(), leaders_[node].peer);
    // What tells the others has to leave this process.
    const auto end = std::chrono::steady_clock::now() + abandon_limit;
    while (busy() && std::chrono::steady_clock::now() < end)
        if (!progress()) ::sched_yield();
}

}  // namespace peercoll
