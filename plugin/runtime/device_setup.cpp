// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/device_setup.hpp"

#include "plugin/device/host/host_device.hpp"
#include "plugin/peer/gather.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace peercoll {

namespace {

struct SegmentRecord {
    peercoll_share_handle_t handle;  // of the first rank; kind 0: there is none
    DescriptorChannel::Address address;
};

Status share_segment(const peercoll_comm_params_t& comm, const Node& node, std::size_t bytes, Segment& segment,
                     std::vector<SegmentRecord>& records, const DescriptorChannel::Address& address, bool& shared) {
    SegmentRecord mine{};
    mine.address = address;
    if (comm.rank == 0) {
        const bool namespaces_shared =
            std::all_of(node.identities.begin(), node.identities.end(),
                        [&](const ProcessIdentity& one) { return share_namespaces(one, node.identities.front()); });
        if (host_device().share_allocate(namespaces_shared ? PEERCOLL_SHARE_MEMFD : PEERCOLL_SHARE_SHM, bytes,
                                         &segment.share(), &mine.handle, nullptr) != PEERCOLL_SUCCESS)
            mine.handle.kind = 0;
    }
    if (Status status = gather(comm, mine, records); !status.ok()) return status;
    const peercoll_share_handle_t& handle = records.front().handle;
    std::uint8_t attached = handle.kind != 0 ? 1 : 0;
    if (attached != 0 && comm.rank != 0)
        attached = host_device().share_attach(&handle, &segment.share(), nullptr) == PEERCOLL_SUCCESS &&
                           segment.bytes() >= bytes
                       ? 1
                       : 0;
    std::vector<std::uint8_t> all;
    Status status = gather(comm, attached, all);
    if (segment.address() != nullptr) host_device().share_seal(&segment.share());
    shared = status.ok() && std::all_of(all.begin(), all.end(), [](std::uint8_t one) { return one != 0; });
    return status;
}

}  // namespace

Status set_up_devices(Context& context, const peercoll_comm_params_t& comm, Node& node) {
    ProcessDevices& devices = context.devices();
    const Options& options = context.options();
    node.devices.reset();
    node.device_segment = Segment{};
    node.devices_reason.clear();

    DevicePolicy policy;
    policy.level = options.peer_access;
    policy.prove = options.peer_proof == PeerProof::On;
    policy.veto = options.peer_veto;
    policy.proof_limit = options.peer_proof_limit;
    policy.every_rank_executes = node.agreed.executors == Executors::PerRank;
    DeviceTeam::Parts parts;
    const auto runtimes =
        devices.in_use() ? devices.runtimes().open_runtimes() : std::vector<const peercoll_device_runtime_t*>{};
    if (Status status =
            DevicePeers::set_up(runtimes, comm, node.identities, node.node_of, policy, devices.proofs(), parts.peers);
        !status.ok())
        return status;

    const std::size_t bytes = DeviceSegment::bytes(static_cast<std::size_t>(comm.size));
    std::vector<SegmentRecord> records;
    bool shared = false;
    DescriptorChannel* channel = devices.channel();
    if (Status status = share_segment(comm, node, bytes, node.device_segment, records,
                                      channel != nullptr ? channel->address() : DescriptorChannel::Address{}, shared);
        !status.ok())
        return status;
    if (!shared) {
        node.device_segment = Segment{};
        node.devices_reason = "no shared memory for the device segment";
        return {};
    }
    node.device_segment.count_in(context.statistics());
    parts.host = node.team.get();
    parts.segment = node.device_segment.address();
    parts.process = {&devices.exports(), &devices.mappings(), channel, &devices.streams()};
    parts.identities = node.identities;
    for (const SegmentRecord& record : records) parts.addresses.push_back(record.address);
    parts.algorithm = node.agreed.device_algorithm;
    parts.executors = node.agreed.executors;
    parts.standby = context.options().device_standby.value_or(std::chrono::microseconds{0});
    node.devices = std::make_unique<DeviceTeam>(std::move(parts));
    context.statistics().shared("device.set_up").fetch_add(1, std::memory_order_relaxed);
    return {};
}

}  // namespace peercoll
