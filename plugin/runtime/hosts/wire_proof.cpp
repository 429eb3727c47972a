// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/hosts/wire_proof.hpp"

#include "collectives/nodes/link_proof.hpp"
#include "collectives/nodes/node_partners.hpp"
#include "plugin/runtime/wait.hpp"

#include <chrono>

#include <fmt/format.h>

namespace peercoll {

namespace {

// Connections over a slow network take less, even if a few packets are lost; who waits for longer would rather have the
// other implementation.
constexpr std::chrono::seconds limit{10};
constexpr std::chrono::milliseconds check_every{2};

}  // namespace

Status prove_wire(Context& context, const peercoll_comm_params_t& comm, const std::vector<int>& leading, Hosts& hosts) {
    LinkProof proof(*hosts.link, hosts.node, set_up_partners(hosts.nodes(), hosts.node), 0);
    Waiter waiter(
        WaitPolicy::make(context.options().wait, WaitPolicy::For::Wire), check_every,
        [&comm] {
            if (comm.progress != nullptr) comm.progress(comm.user);
        },
        [](std::chrono::nanoseconds waited) { return waited < limit; });
    if (waiter.wait([&proof] { return proof.progress(); }) == Progress::Done) return {};
    if (proof.suspect() < 0)
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                fmt::format("what was sent to other hosts did not leave in {} s", limit.count())};
    const int rank = leading[static_cast<std::size_t>(proof.suspect())];
    if (proof.came_wrong())
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                fmt::format("a message from rank {} came with other bytes than sent", rank)};
    if (const Status& why = hosts.link->status(); !why.ok())
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                fmt::format("no message gets to or from rank {}: {}", rank, why.sentence())};
    return {PEERCOLL_ERR_NOT_SUPPORTED, fmt::format("no message of {} KiB got to or from rank {} in {} s",
                                                    link_proof_bytes >> 10, rank, limit.count())};
}

}  // namespace peercoll
