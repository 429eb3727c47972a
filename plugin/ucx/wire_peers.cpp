// SPDX-License-Identifier: BSD-3-Clause
// The other processes: connecting, and losing them.
#include "plugin/ucx/ucx_text.hpp"
#include "plugin/ucx/wire.hpp"

#include <cstring>

#include <fmt/format.h>

namespace peercoll::ucx {

Status Wire::find_peer(const peercoll_process_key_t& key, const void* address, std::size_t bytes, bool same_node,
                       Peer*& peer) {
    // UCX reads addresses without knowing where they end.
    constexpr std::size_t shortest = 8;
    constexpr std::size_t longest = 65536;
    if (address == nullptr || bytes < shortest || bytes > longest) {
        return {PEERCOLL_ERR_INVALID_ARGUMENT,
                fmt::format("an address of {} bytes: expected one of {} to {} bytes", bytes, shortest, longest)};
    }
    const Turn turn(*this);
    std::unique_ptr<Peer>& place = peers_[{key.words[0], key.words[1]}];
    if (place == nullptr) {
        auto fresh = std::make_unique<Peer>();
        fresh->address.resize((bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
        std::memcpy(fresh->address.data(), address, bytes);
        fresh->address_bytes = bytes;
        fresh->same_node = same_node;
        fresh->wire_loss = &loss_is_new_;
        place = std::move(fresh);
    } else if (place->address_bytes != bytes || std::memcmp(place->address.data(), address, bytes) != 0) {
        return {PEERCOLL_ERR_INVALID_ARGUMENT, "a process has told two addresses: expected the one it told first"};
    }
    peer = place.get();
    return {};
}

Status Wire::connect(Peer& peer) {
    if (peer.endpoint != nullptr) return {};
    UcpEndpointParameters parameters;
    parameters.field_mask = UcpEndpointParameters::field_address | UcpEndpointParameters::field_error_mode;
    parameters.address = reinterpret_cast<const UcpAddress*>(peer.address.data());
    if (!peer.same_node) {
        parameters.field_mask |= UcpEndpointParameters::field_error_handler;
        parameters.error_mode = UcpEndpointParameters::error_mode_peer;
        parameters.error_callback = &Wire::endpoint_failed;
        parameters.error_argument = &peer;
    }
    const UcsStatus status = call_.ep_create(worker_, &parameters, &peer.endpoint);
    if (status != ucs_status::ok) {
        peer.endpoint = nullptr;
        return {PEERCOLL_ERR_SYSTEM, fmt::format("UCX cannot connect to another process: {}", status_text(status))};
    }
    ++endpoints_;
    return {};
}

// Called by UCX inside of a call of ours, so the lock is held.
void Wire::endpoint_failed(void* argument, UcpEndpoint, UcsStatus status) {
    Peer& peer = *static_cast<Peer*>(argument);
    if (peer.lost) return;
    peer.lost = true;
    peer.lost_status = status;
    peer.loss_is_new = true;
    *peer.wire_loss = true;
}

void Wire::drop_peer(Peer& peer) {
    const Turn turn(*this);
    if (!peer.lost) {
        peer.lost = true;
        peer.loss_is_new = true;
        loss_is_new_ = true;
    }
    end_operations_of_lost_peers();
    update_busy();
}

void Wire::end_operations_of_lost_peers() {
    if (!loss_is_new_) return;
    loss_is_new_ = false;
    for (auto& [key, peer] : peers_) {
        if (!peer->loss_is_new) continue;
        peer->loss_is_new = false;
        close_endpoint(*peer);  // with force; UCX then ends the sends
        for (Operation& operation : pool_.all()) {
            if (operation.peer == peer.get() &&
                operation.state.load(std::memory_order_relaxed) == Operation::State::Active) {
                end_early(operation);
            }
        }
    }
}

}  // namespace peercoll::ucx
