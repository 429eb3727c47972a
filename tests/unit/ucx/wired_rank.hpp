// SPDX-License-Identifier: BSD-3-Clause
// One rank of a group (tests/support/process_group.hpp) with an open wire, and the others as its peers.
#pragma once

#include "plugin/ucx/load_transport.hpp"
#include "tests/support/process_group.hpp"
#include "tests/unit/gather.hpp"

#include <gtest/gtest.h>

#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace peercoll::test {

enum class Route : std::uint8_t { Sockets, SharedMemory };

inline constexpr const char* sockets_only[] = {"TLS=tcp,self", nullptr};
inline constexpr const char* shared_memory_only[] = {"TLS=sm,self", nullptr};

class WiredRank {
public:
    explicit WiredRank(Rank& rank, Route route) : rank_(rank) {
        const Status loaded = load_transport(PEERCOLL_TEST_TRANSPORT, transport_);
        if (!loaded.ok()) {
            ADD_FAILURE() << loaded.sentence();
            return;
        }
        peercoll_wire_options_t options = {};
        options.struct_size = sizeof options;
        options.settings = route == Route::Sockets ? sockets_only : shared_memory_only;
        options.processes = static_cast<std::uint32_t>(rank.size());
        if (transport_->open(&options, &wire_, &reason_) != PEERCOLL_SUCCESS) {
            ADD_FAILURE() << reason_.text;
            return;
        }
        struct Card {
            std::size_t bytes;
            std::array<std::byte, 1024> address;
        };
        Card mine = {};
        const void* address = transport_->address(wire_, &mine.bytes);
        if (mine.bytes > mine.address.size()) {
            ADD_FAILURE() << "an address of " << mine.bytes << " bytes";
            return;
        }
        std::memcpy(mine.address.data(), address, mine.bytes);
        const std::vector<Card> all = gather(rank.exchange(), mine);
        for (std::size_t other = 0; other < all.size(); ++other) {
            const peercoll_process_key_t key = {{other, 77}};
            peercoll_wire_peer_t peer = nullptr;
            EXPECT_EQ(transport_->peer(wire_, &key, all[other].address.data(), all[other].bytes,
                                       route == Route::SharedMemory ? 1 : 0, &peer, &reason_),
                      PEERCOLL_SUCCESS)
                << reason_.text;
            peers_.push_back(peer);
        }
        good_ = true;
    }
    ~WiredRank() {
        if (wire_ != nullptr) close();
    }
    WiredRank(const WiredRank&) = delete;
    WiredRank& operator=(const WiredRank&) = delete;

    bool good() const { return good_; }
    const peercoll_transport_t& transport() const { return *transport_; }
    peercoll_wire_t wire() const { return wire_; }
    peercoll_wire_peer_t peer(int rank) const { return peers_[static_cast<std::size_t>(rank)]; }
    const char* reason() const { return reason_.text; }
    peercoll_wire_info_t info() const {
        peercoll_wire_info_t info = {};
        info.struct_size = sizeof info;
        transport_->info(wire_, &info);
        return info;
    }

    // The name of a message from `source`; in these tests every process numbers its communicators alike.
    static peercoll_message_t name(int source, std::uint32_t stage = 0, std::uint32_t sequence = 0) {
        return {1, sequence, static_cast<std::uint32_t>(source), stage};
    }

    peercoll_transfer_t send(int to, const peercoll_message_t& message, const void* data, std::size_t bytes) {
        peercoll_transfer_t transfer = nullptr;
        start_ = transport_->send(wire_, peer(to), &message, PEERCOLL_WIRE_HOST, data, bytes, &transfer, &reason_);
        return transfer;
    }
    peercoll_transfer_t receive(int from, const peercoll_message_t& message, void* data, std::size_t bytes) {
        peercoll_transfer_t transfer = nullptr;
        start_ = transport_->receive(wire_, peer(from), &message, PEERCOLL_WIRE_HOST, data, bytes, &transfer, &reason_);
        return transfer;
    }
    // Of the last send() or receive().
    peercoll_status_t started() const { return start_; }

    // PEERCOLL_ERR_BUSY if it takes longer than a limit that only stops a hang.
    peercoll_status_t wait(peercoll_transfer_t& transfer, std::chrono::seconds limit = std::chrono::seconds(40)) {
        const auto end = std::chrono::steady_clock::now() + limit;
        for (;;) {
            const peercoll_status_t status = transport_->test(wire_, &transfer, &reason_);
            if (status != PEERCOLL_ERR_BUSY || std::chrono::steady_clock::now() > end) return status;
            if (transport_->progress(wire_) == 0) ::sched_yield();
        }
    }
    // All of them well.
    bool wait_all(std::vector<peercoll_transfer_t>& transfers) {
        for (peercoll_transfer_t& transfer : transfers) {
            const peercoll_status_t status = wait(transfer);
            if (status != PEERCOLL_SUCCESS) {
                ADD_FAILURE() << "status " << status << ": " << reason_.text;
                return false;
            }
        }
        return true;
    }
    // Progresses until the wire needs no more of it.
    bool get_quiet(std::chrono::seconds limit = std::chrono::seconds(20)) {
        const auto end = std::chrono::steady_clock::now() + limit;
        while (transport_->busy(wire_) != 0) {
            if (std::chrono::steady_clock::now() > end) return false;
            if (transport_->progress(wire_) == 0) ::sched_yield();
        }
        return true;
    }
    peercoll_status_t close(double seconds = 20) {
        const peercoll_status_t status = transport_->close(wire_, seconds, &reason_);
        wire_ = nullptr;
        return status;
    }

private:
    Rank& rank_;
    const peercoll_transport_t* transport_ = nullptr;
    peercoll_wire_t wire_ = nullptr;
    std::vector<peercoll_wire_peer_t> peers_;
    peercoll_reason_t reason_ = {};
    peercoll_status_t start_ = PEERCOLL_SUCCESS;
    bool good_ = false;
};

// Data that says where it came from: element i of message `seed`.
inline std::vector<std::uint8_t> pattern(std::size_t bytes, std::uint32_t seed) {
    std::vector<std::uint8_t> data(bytes);
    std::uint32_t word = seed * 2654435761u + 12345u;
    for (std::uint8_t& byte : data) {
        word = word * 1664525u + 1013904223u;
        byte = static_cast<std::uint8_t>(word >> 24);
    }
    return data;
}

inline GroupRules wire_rules() {
    GroupRules rules;
    rules.look_for_leaks = false;  // UCX's own are not ours
    return rules;
}

}  // namespace peercoll::test
