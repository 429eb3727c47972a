// SPDX-License-Identifier: BSD-3-Clause
// HostReader: single copies from and to the other ranks of a node, over the host device.
#pragma once

#include "collectives/host/peer_reader.hpp"

#include <peercoll/device.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace peercoll {

// A word of this process that peers read to prove that they can: where it is and what it holds.
struct ReadProof {
    std::uint64_t address = 0;
    std::uint64_t value = 0;
};

class HostReader final : public PeerReader {
public:
    // Opens every peer's memory (tokens[rank]; `self` is skipped) and reads its proof. Null, with a sentence, unless
    // every peer's word was read and right.
    static std::unique_ptr<HostReader> open_all(const std::vector<peercoll_access_token_t>& tokens,
                                                const std::vector<ReadProof>& proofs, int self,
                                                peercoll_access_kind_t kind, std::string& reason);

    bool read(int peer, std::uint64_t address, void* local, std::size_t bytes) noexcept override;
    bool write(int peer, std::uint64_t address, const void* local, std::size_t bytes) noexcept override;
    bool reachable(int peer, std::uint64_t address, std::size_t bytes) noexcept override;

private:
    struct Close {
        void operator()(peercoll_access* access) const noexcept;
    };
    struct Range {
        std::uint64_t address = 0;
        std::size_t bytes = 0;
    };
    struct Peer {
        std::unique_ptr<peercoll_access, Close> access;
        // Ranges found reachable lately. Memory that is unmapped meanwhile is found out by the copy itself.
        std::array<Range, 8> known{};
        std::size_t next = 0;
    };
    std::vector<Peer> peers_;
};

}  // namespace peercoll
