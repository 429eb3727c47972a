// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/peer/proof_agenda.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace peercoll {

namespace {

void add_mappings(const DeviceFacts& facts, const PathTrial& path, std::vector<MappingTrial>& mappings) {
    const std::vector<PeerDevice>& devices = facts.matrix.devices();
    for (const int executor : devices[path.from].ranks) {
        if (!facts.policy.every_rank_executes && executor != devices[path.from].executor()) continue;
        for (const int owner : devices[path.to].ranks)
            if (facts.matrix.reach(executor, path.from, owner, path.to) == Reach::Possible)
                mappings.push_back({executor, path.from, owner, path.to});
    }
}

}  // namespace

std::vector<ProofAgenda> make_agendas(const DeviceFacts& facts) {
    int nodes = 0;
    for (const RankDevices& rank : facts.matrix.ranks()) nodes = std::max(nodes, rank.node + 1);
    std::vector<ProofAgenda> agendas(static_cast<std::size_t>(nodes));
    for (const PathTrial& path : facts.matrix.trials()) {
        // A pair that is possible in one direction only is of no use.
        if (!facts.both_ways(path.from, path.to)) continue;
        ProofAgenda& agenda = agendas[static_cast<std::size_t>(facts.matrix.devices()[path.from].node)];
        agenda.paths.push_back({path, 0});
        add_mappings(facts, path, agenda.mappings);
    }
    return agendas;
}

void number_slots(ProofAgenda& agenda) {
    std::map<std::pair<int, std::uint32_t>, std::size_t> next;
    for (PathItem& item : agenda.paths) item.slot = next[{item.trial.owner, item.trial.to}]++;
}

std::vector<std::uint32_t> offered_devices(const ProofAgenda& agenda, int rank) {
    std::set<std::uint32_t> devices;
    for (const PathItem& item : agenda.paths)
        if (item.trial.owner == rank) devices.insert(item.trial.to);
    for (const MappingTrial& mapping : agenda.mappings)
        if (mapping.owner == rank) devices.insert(mapping.to);
    return {devices.begin(), devices.end()};
}

std::size_t trials_at(const ProofAgenda& agenda, int owner, std::uint32_t device) {
    return static_cast<std::size_t>(std::count_if(agenda.paths.begin(), agenda.paths.end(), [&](const PathItem& item) {
        return item.trial.owner == owner && item.trial.to == device;
    }));
}

}  // namespace peercoll
