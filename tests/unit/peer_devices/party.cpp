// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/peer_devices/party.hpp"

#include "tests/unit/gather.hpp"

#include <string>

namespace peercoll::test {

Party::Party(Exchange exchange, const peercoll_device_runtime_t& runtime)
    : identities(gather(exchange, ProcessIdentity::of_this_process())), exchange_(exchange), runtime_(runtime) {}

int Party::allgather(const void* mine, void* all, std::size_t bytes, void* user) {
    auto* self = static_cast<Party*>(user);
    ++self->allgathers;
    return self->exchange_.allgather(mine, all, bytes) ? 0 : 1;
}

Status Party::set_up(const DevicePolicy& policy, ProofCache& cache, bool with_runtime) {
    peercoll_comm_params_t comm{};
    comm.struct_size = sizeof comm;
    comm.rank = exchange_.member();
    comm.size = exchange_.members();
    comm.allgather = allgather;
    comm.user = this;
    std::vector<const peercoll_device_runtime_t*> runtimes;
    if (with_runtime) runtimes.push_back(&runtime_);
    return DevicePeers::set_up(runtimes, comm, identities, nodes_of(identities), policy, cache, peers);
}

std::string reach_table(const DevicePeers& peers, int ranks) {
    std::string table;
    const auto devices = static_cast<std::uint32_t>(peers.devices().size());
    for (int executor = 0; executor < ranks; ++executor)
        for (std::uint32_t from = 0; from < devices; ++from)
            for (int owner = 0; owner < ranks; ++owner)
                for (std::uint32_t to = 0; to < devices; ++to)
                    table += peers.may_reach(executor, from, owner, to) ? '1' : '0';
    return table;
}

}  // namespace peercoll::test
