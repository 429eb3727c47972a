// SPDX-License-Identifier: BSD-3-Clause
// In three rounds: how many devices each rank sees, and its policy; which they are; what each rank says of the pairs.
#include "plugin/peer/device_facts.hpp"

#include "plugin/peer/gather.hpp"
#include "plugin/peer/veto_words.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace peercoll {

namespace {

constexpr std::uint32_t protocol = 2;         // changes whenever a record of the peer layer does
constexpr std::uint32_t most_devices = 1024;  // of one rank: a larger number is not believed

template <std::size_t size>
void put(char (&to)[size], std::string_view from) {
    const std::size_t n = std::min(from.size(), size - 1);
    std::memcpy(to, from.data(), n);
    to[n] = '\0';
}

template <std::size_t size>
std::string get(const char (&from)[size]) {
    return {from, std::find(from, from + size, '\0')};
}

struct Hello {
    std::uint32_t protocol;
    std::uint32_t devices;
    std::uint32_t proof_limit_ms;
    PeerLevel level;
    std::uint8_t prove;
    std::uint8_t every_rank_executes;
    std::uint8_t veto_is_wrong;
    char sentence[240];
};

struct DeviceRecord {
    char runtime[16];
    DeviceUuid uuid;
    char pci_id[16];
    char name[64];
    std::uint32_t active;
    std::uint16_t imports;
    std::uint16_t imports_unseen;
};

// What this process sees; the same order as its records.
struct SeenHere {
    std::vector<LocalDevice> devices;
    std::vector<DeviceRecord> records;
};

SeenHere look(const std::vector<const peercoll_device_runtime_t*>& runtimes) {
    SeenHere here;
    for (const peercoll_device_runtime_t* runtime : runtimes) {
        const std::int32_t n = runtime->device_count();
        for (std::int32_t device = 0; device < n && here.records.size() < most_devices; ++device) {
            peercoll_device_info_t info{};
            if (runtime->device_info(device, &info, nullptr) != PEERCOLL_SUCCESS) continue;
            DeviceRecord record{};
            put(record.runtime, runtime->name);
            std::copy_n(info.uuid, record.uuid.size(), record.uuid.begin());
            put(record.pci_id, get(info.pci_id));
            put(record.name, get(info.name));
            record.active = info.active != 0 ? 1 : 0;
            record.imports = (info.import_kinds & (1u << PEERCOLL_HANDLE_IPC)) != 0 ? 1 : 0;
            const std::uint32_t unseen =
                PEERCOLL_DEVICE_HAS(runtime, unseen_import_kinds) ? runtime->unseen_import_kinds(device) : 0;
            record.imports_unseen = (unseen & (1u << PEERCOLL_HANDLE_IPC)) != 0 ? 1 : 0;
            here.records.push_back(record);
            here.devices.push_back({runtime, device});
        }
    }
    return here;
}

// A device may be seen on several "nodes" of one host (containers), and a UUID made from a PCI id is on several hosts.
bool is_same(const PeerDevice& device, int node, const DeviceRecord& record) {
    return device.node == node && device.uuid == record.uuid && device.runtime == get(record.runtime);
}

class Exchange {
public:
    Exchange(const peercoll_comm_params_t& comm, SeenHere here, DeviceFacts& facts)
        : comm_(comm), here_(std::move(here)), facts_(facts) {}

    Status policies(const DevicePolicy& policy);
    Status devices(const std::vector<ProcessIdentity>& identities, const std::vector<int>& node_of);
    Status pairs();
    bool any_devices() const { return most_ > 0; }

private:
    Status check(const std::vector<Hello>& all);
    void list_devices(const std::vector<int>& node_of);
    std::vector<std::uint8_t> pairs_seen_here() const;
    std::uint8_t facts_of(std::size_t seen, std::uint32_t other) const;
    std::size_t on_node(int node) const;

    const peercoll_comm_params_t& comm_;
    SeenHere here_;
    DeviceFacts& facts_;
    VetoWords veto_;
    std::size_t most_ = 0;  // devices that one rank sees
    std::vector<std::uint32_t> counts_;
    std::vector<DeviceRecord> records_;  // rank * most_ + i
    std::vector<PeerDevice> devices_;
    std::vector<RankDevices> ranks_;
};

Status Exchange::policies(const DevicePolicy& policy) {
    Hello mine{};
    mine.protocol = protocol;
    mine.devices = static_cast<std::uint32_t>(here_.records.size());
    mine.proof_limit_ms = static_cast<std::uint32_t>(std::clamp<long>(policy.proof_limit.count(), 1, 3'600'000));
    mine.level = policy.level;
    mine.prove = policy.prove ? 1 : 0;
    mine.every_rank_executes = policy.every_rank_executes ? 1 : 0;
    if (const Status status = VetoWords::parse(policy.veto, veto_); !status.ok()) {
        mine.veto_is_wrong = 1;
        put(mine.sentence, status.sentence());
    }
    std::vector<Hello> all;
    if (Status status = gather_records(comm_, {mine}, 1, all); !status.ok()) return status;
    return check(all);
}

Status Exchange::check(const std::vector<Hello>& all) {
    facts_.policy = {PeerLevel::All, false, {}, std::chrono::milliseconds(0), false};
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        const Hello& one = all[rank];
        if (one.protocol != protocol || one.devices > most_devices)
            return {PEERCOLL_ERR_NOT_SUPPORTED,
                    fmt::format("rank {} runs another version of peercoll; expected the same on all ranks", rank)};
        if (one.veto_is_wrong != 0)
            return {PEERCOLL_ERR_INVALID_ARGUMENT, fmt::format("rank {}: {}", rank, get(one.sentence))};
        facts_.policy.level = std::min(facts_.policy.level, one.level);
        facts_.policy.prove |= one.prove != 0;
        facts_.policy.every_rank_executes |= one.every_rank_executes != 0;
        facts_.policy.proof_limit = std::max(facts_.policy.proof_limit, std::chrono::milliseconds(one.proof_limit_ms));
        counts_.push_back(one.devices);
        most_ = std::max<std::size_t>(most_, one.devices);
    }
    return {};
}

Status Exchange::devices(const std::vector<ProcessIdentity>& identities, const std::vector<int>& node_of) {
    if (Status status = gather_records(comm_, here_.records, most_, records_); !status.ok()) return status;
    for (std::size_t rank = 0; rank < counts_.size(); ++rank) ranks_.push_back({identities[rank], node_of[rank], {}});
    list_devices(node_of);
    return {};
}

void Exchange::list_devices(const std::vector<int>& node_of) {
    for (const bool active : {true, false})
        for (std::size_t rank = 0; rank < counts_.size(); ++rank)
            for (std::size_t i = 0; i < counts_[rank]; ++i) {
                const DeviceRecord& record = records_[rank * most_ + i];
                if ((record.active != 0) != active) continue;
                auto device = std::find_if(devices_.begin(), devices_.end(),
                                           [&](const PeerDevice& one) { return is_same(one, node_of[rank], record); });
                if (device == devices_.end()) {
                    if (!active) continue;  // nobody uses it
                    devices_.push_back(
                        {get(record.runtime), record.uuid, get(record.pci_id), get(record.name), node_of[rank], {}});
                    device = std::prev(devices_.end());
                }
                const auto index = static_cast<std::uint32_t>(device - devices_.begin());
                if (std::any_of(ranks_[rank].seen.begin(), ranks_[rank].seen.end(),
                                [&](const SeenDevice& one) { return one.device == index; }))
                    continue;  // told twice
                if (active) device->ranks.push_back(static_cast<int>(rank));
                ranks_[rank].seen.push_back({index, active, record.imports != 0, record.imports_unseen != 0, {}});
                if (static_cast<int>(rank) == comm_.rank) {
                    if (facts_.local.size() <= index) facts_.local.resize(index + 1);
                    facts_.local[index] = here_.devices[i];
                }
            }
    facts_.local.resize(devices_.size());
}

std::uint8_t Exchange::facts_of(std::size_t seen, std::uint32_t other) const {
    const std::uint32_t device = ranks_[static_cast<std::size_t>(comm_.rank)].seen[seen].device;
    const PeerDevice& a = devices_[device];
    const PeerDevice& b = devices_[other];
    std::uint8_t facts = veto_.names(a.uuid, a.pci_id, b.uuid, b.pci_id) ? PairFact::vetoed : 0;
    const LocalDevice& mine = facts_.local[device];
    const LocalDevice& peer = facts_.local[other];
    if (peer.runtime == mine.runtime &&
        (device == other || (PEERCOLL_DEVICE_HAS(mine.runtime, can_access_peer) &&
                             mine.runtime->can_access_peer(mine.device, peer.device) != 0)))
        facts |= PairFact::can_access;
    return facts;
}

std::size_t Exchange::on_node(int node) const {
    return static_cast<std::size_t>(
        std::count_if(devices_.begin(), devices_.end(), [&](const PeerDevice& one) { return one.node == node; }));
}

// For each device that this rank sees, one byte for each device of its node.
std::vector<std::uint8_t> Exchange::pairs_seen_here() const {
    const RankDevices& mine = ranks_[static_cast<std::size_t>(comm_.rank)];
    std::vector<std::uint8_t> facts;
    for (std::size_t seen = 0; seen < mine.seen.size(); ++seen)
        for (std::uint32_t other = 0; other < devices_.size(); ++other)
            if (devices_[other].node == mine.node) facts.push_back(facts_of(seen, other));
    return facts;
}

Status Exchange::pairs() {
    std::size_t each = 0;
    for (const RankDevices& rank : ranks_) each = std::max(each, rank.seen.size() * on_node(rank.node));
    std::vector<std::uint8_t> all;
    if (Status status = gather_records(comm_, pairs_seen_here(), each, all); !status.ok()) return status;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        std::size_t at = rank * each;
        for (SeenDevice& seen : ranks_[rank].seen) {
            seen.pairs.resize(devices_.size());
            for (std::uint32_t other = 0; other < devices_.size(); ++other)
                if (devices_[other].node == ranks_[rank].node) seen.pairs[other] = all[at++];
        }
    }
    facts_.matrix = PairMatrix(std::move(devices_), std::move(ranks_), facts_.policy.level);
    for (const PathTrial& trial : facts_.matrix.trials()) facts_.possible.emplace(trial.from, trial.to);
    return {};
}

}  // namespace

Status exchange_device_facts(const std::vector<const peercoll_device_runtime_t*>& runtimes,
                             const peercoll_comm_params_t& comm, const std::vector<ProcessIdentity>& identities,
                             const std::vector<int>& node_of, const DevicePolicy& policy, DeviceFacts& facts) {
    Exchange exchange(comm, look(runtimes), facts);
    if (Status status = exchange.policies(policy); !status.ok()) return status;
    if (!exchange.any_devices()) return {};
    if (Status status = exchange.devices(identities, node_of); !status.ok()) return status;
    return exchange.pairs();
}

}  // namespace peercoll
