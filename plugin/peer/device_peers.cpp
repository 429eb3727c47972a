// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/peer/device_peers.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace peercoll {

namespace {
constexpr std::uint8_t unknown = 0;
constexpr std::uint8_t no = 1;
constexpr std::uint8_t yes = 2;
constexpr std::size_t most_reaches = std::size_t{1} << 20;
}  // namespace

Status DevicePeers::set_up(const std::vector<const peercoll_device_runtime_t*>& runtimes,
                           const peercoll_comm_params_t& comm, const std::vector<ProcessIdentity>& identities,
                           const std::vector<int>& node_of, const DevicePolicy& policy, ProofCache& cache,
                           std::unique_ptr<DevicePeers>& peers) {
    auto made = std::make_unique<DevicePeers>();
    if (Status status = exchange_device_facts(runtimes, comm, identities, node_of, policy, made->facts_); !status.ok())
        return status;
    if (made->facts_.policy.prove && !made->devices().empty())
        if (Status status = prove_paths(comm, made->facts_, cache, made->verdicts_); !status.ok()) return status;
    const std::size_t ends = made->facts_.matrix.ranks().size() * made->devices().size();
    if (ends * ends <= most_reaches) made->reaches_.assign(ends * ends, unknown);
    peers = std::move(made);
    return {};
}

std::optional<std::uint32_t> DevicePeers::index_of(const peercoll_device_runtime_t& runtime,
                                                   std::int32_t device) const {
    for (std::uint32_t index = 0; index < facts_.local.size(); ++index)
        if (facts_.local[index].runtime == &runtime && facts_.local[index].device == device) return index;
    return std::nullopt;
}

std::int32_t DevicePeers::local_device(std::uint32_t index) const {
    return facts_.local[index].device;
}

const peercoll_device_runtime_t* DevicePeers::local_runtime(std::uint32_t index) const {
    return facts_.local[index].runtime;
}

bool DevicePeers::may_execute(int rank, std::uint32_t device) const {
    return facts_.policy.every_rank_executes || devices()[device].executor() == rank;
}

bool DevicePeers::may_reach(int executor, std::uint32_t from, int owner, std::uint32_t to) const {
    if (from >= devices().size() || to >= devices().size()) return false;
    if (reaches_.empty()) return find_reach(executor, from, owner, to);
    const std::size_t ranks = facts_.matrix.ranks().size();
    const auto row = static_cast<std::size_t>(executor) * devices().size() + from;
    std::uint8_t& known = reaches_[(row * ranks + static_cast<std::size_t>(owner)) * devices().size() + to];
    if (known == unknown) known = find_reach(executor, from, owner, to) ? yes : no;
    return known == yes;
}

bool DevicePeers::find_reach(int executor, std::uint32_t from, int owner, std::uint32_t to) const {
    const Reach reach = facts_.matrix.reach(executor, from, owner, to);
    if (reach != Reach::Possible) return reach == Reach::Own;
    if (!may_execute(executor, from)) return false;
    if (!facts_.policy.prove) return facts_.both_ways(from, to);
    return verdicts_.path(from, to).proven() && verdicts_.path(to, from).proven() &&
           verdicts_.mapping({executor, from, owner, to}).proven();
}

std::string DevicePeers::why_not(int executor, std::uint32_t from, int owner, std::uint32_t to) const {
    if (may_reach(executor, from, owner, to)) return {};
    const Reach reach = facts_.matrix.reach(executor, from, owner, to);
    if (reach != Reach::Possible) return text_of(reach);
    if (!may_execute(executor, from))
        return fmt::format("rank {} acts for the ranks of its device, not rank {}", devices()[from].executor(),
                           executor);
    if (!facts_.policy.prove) return "it is possible in one direction only";
    for (const auto& [a, b] : {std::pair(from, to), std::pair(to, from)})
        if (const ProofVerdict verdict = verdicts_.path(a, b); !verdict.proven())
            return verdict.code == ProofCode::Unknown ? "it is possible in one direction only" : verdict.sentence();
    return verdicts_.mapping({executor, from, owner, to}).sentence();
}

std::optional<std::uint32_t> DevicePeers::first_device(int rank) const {
    for (std::uint32_t index = 0; index < devices().size(); ++index)
        if (std::binary_search(devices()[index].ranks.begin(), devices()[index].ranks.end(), rank)) return index;
    return std::nullopt;
}

std::string DevicePeers::name_of(int rank, std::uint32_t device) const {
    const PeerDevice& one = devices()[device];
    return fmt::format("rank {} ({}{}{})", rank, one.name, one.pci_id.empty() ? "" : " ", one.pci_id);
}

std::string DevicePeers::path_text(int a, int b) const {
    const std::optional<std::uint32_t> from = first_device(a);
    const std::optional<std::uint32_t> to = first_device(b);
    if (!from || !to) return fmt::format("rank {} - rank {}: rank {} uses no device", a, b, from ? b : a);
    const std::string who = fmt::format("{} - {}: ", name_of(a, *from), name_of(b, *to));
    if (facts_.matrix.same_process(a, b) && from == to) return who + "one process, its own memory";
    // Whoever acts on the one device must reach the rank on the other, and the other way round.
    const auto bad_end = [&](std::uint32_t at, int owner, std::uint32_t device) {
        const int executor = devices()[at].executor();
        const std::string why = why_not(executor, at, owner, device);
        return why.empty() || executor == a || executor == b ? why : fmt::format("rank {}: {}", executor, why);
    };
    for (const std::string& why : {bad_end(*from, b, *to), bad_end(*to, a, *from)})
        if (!why.empty()) return fmt::format("{}staged through host memory: {}", who, why);
    if (!facts_.policy.prove) return who + "direct loads and stores (not proven: an option says so)";
    const ProofVerdict verdict = verdicts_.path(*from, *to);
    return fmt::format("{}{} ({})", who,
                       verdict.code == ProofCode::ProvenCopiesOnly ? "direct copies" : "direct loads and stores",
                       verdict.sentence());
}

}  // namespace peercoll
