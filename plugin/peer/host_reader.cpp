// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/peer/host_reader.hpp"

#include "plugin/device/host/host_device.hpp"

#include <fmt/format.h>

namespace peercoll {

void HostReader::Close::operator()(peercoll_access* access) const noexcept {
    host_device().access_close(access);
}

std::unique_ptr<HostReader> HostReader::open_all(const std::vector<peercoll_access_token_t>& tokens,
                                                 const std::vector<ReadProof>& proofs, int self,
                                                 peercoll_access_kind_t kind, std::string& reason) {
    auto reader = std::make_unique<HostReader>();
    reader->peers_.resize(tokens.size());
    for (std::size_t peer = 0; peer < tokens.size(); ++peer) {
        if (static_cast<int>(peer) == self) continue;
        peercoll_reason_t why{};
        peercoll_access_t access = nullptr;
        if (host_device().access_open(&tokens[peer], kind, &access, &why) != PEERCOLL_SUCCESS) {
            reason = why.text;
            return nullptr;
        }
        reader->peers_[peer].access.reset(access);
        std::uint64_t value = 0;
        if (const int error = host_device().access_read(access, proofs[peer].address, &value, sizeof value);
            error != 0) {
            reason = fmt::format("reading the memory of process {} was refused (errno {})", tokens[peer].pid, error);
            return nullptr;
        }
        if (value != proofs[peer].value) {
            reason = fmt::format("reading the memory of process {} gave wrong data", tokens[peer].pid);
            return nullptr;
        }
    }
    return reader;
}

bool HostReader::read(int peer, std::uint64_t address, void* local, std::size_t bytes) noexcept {
    return host_device().access_read(peers_[static_cast<std::size_t>(peer)].access.get(), address, local, bytes) == 0;
}

bool HostReader::write(int peer, std::uint64_t address, const void* local, std::size_t bytes) noexcept {
    return host_device().access_write(peers_[static_cast<std::size_t>(peer)].access.get(), address, local, bytes) == 0;
}

bool HostReader::reachable(int peer, std::uint64_t address, std::size_t bytes) noexcept {
    Peer& there = peers_[static_cast<std::size_t>(peer)];
    for (const Range& range : there.known)
        if (range.address == address && range.bytes >= bytes) return true;
    char byte = 0;
    if (!read(peer, address, &byte, 1) || !read(peer, address + bytes - 1, &byte, 1)) return false;
    there.known[there.next] = {address, bytes};
    there.next = (there.next + 1) % there.known.size();
    return true;
}

}  // namespace peercoll
