// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/node_setup.hpp"

#include "plugin/device/host/host_device.hpp"
#include "plugin/peer/gather.hpp"
#include "plugin/peer/host_reader.hpp"
#include "plugin/runtime/affinity.hpp"
#include "plugin/runtime/hosts/hosts_setup.hpp"
#include "plugin/runtime/node_pool.hpp"
#include "plugin/runtime/segment_offer.hpp"

#include <algorithm>
#include <cstring>
#include <list>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>

namespace peercoll {

namespace {

constexpr std::uint32_t protocol = 4;  // changes whenever a record or the segment's layout does

// What rank 0's options decide for all.
struct OptionVotes {
    AllreduceAlgorithm allreduce;
    BroadcastAlgorithm broadcast;
    TrialsChoice trials;
    Order order;
    GroupLevel groups;
    SingleCopyChoice single_copy;
    SegmentKind segment;
    std::uint64_t segment_size;  // 0: auto
    DeviceAlgorithm device_algorithm;
    Executors executors;
    bool operator==(const OptionVotes&) const = default;
};

struct Introduction {
    std::uint32_t protocol;
    ProcessIdentity identity;
    RankPlace place;
    AffinityMask processors;
    OptionVotes votes;
    peercoll_access_token_t token;
    PooledNodes pooled;
    bool uses_devices;
};

struct Sentence {
    char text[160];
    void set(std::string_view from) {
        const std::size_t n = std::min(from.size(), sizeof text - 1);
        std::memcpy(text, from.data(), n);
        text[n] = '\0';
    }
};

struct Offer {
    std::uint64_t id;      // of the first rank: what the node shall be called
    SegmentOffer segment;  // of the first rank
    ReadProof proof;
    Sentence reason;  // why there is no segment
};

struct Verdict {
    bool attached;
    bool single_copy;
    Sentence attach_reason;
    Sentence single_copy_reason;
};

OptionVotes votes_of(const Options& options) {
    return {options.allreduce_algorithm,
            options.broadcast_algorithm,
            options.trials,
            options.order,
            options.groups,
            options.single_copy,
            options.segment,
            options.segment_size.value_or(0),
            options.device_algorithm,
            options.executors};
}

// Pooled nodes taken out to be offered; what is not picked goes back.
class TakenNodes {
public:
    TakenNodes(Context& context, const peercoll_comm_params_t& comm)
        : pool_(context.pool()), nodes_(pool_.take(context.identity(), comm.rank, comm.size)) {}
    ~TakenNodes() { pool_.give_back(std::move(nodes_)); }
    TakenNodes(const TakenNodes&) = delete;
    TakenNodes& operator=(const TakenNodes&) = delete;

    PooledNodes offer() const {
        PooledNodes offered{};
        std::transform(nodes_.begin(), nodes_.end(), offered.begin(), [](const Node& node) {
            return PooledNode{node.id, node.team->position()};
        });
        return offered;
    }
    // False if `id` was not offered.
    bool pick(std::uint64_t id, Node& node) {
        const auto picked = std::find_if(nodes_.begin(), nodes_.end(), [id](const Node& one) { return one.id == id; });
        if (picked == nodes_.end()) return false;
        node = std::move(*picked);
        nodes_.erase(picked);
        return true;
    }

private:
    NodePool& pool_;
    std::list<Node> nodes_;
};

Introduction introduce(Context& context, const PooledNodes& pooled) {
    Introduction mine{};
    mine.protocol = protocol;
    mine.identity = context.identity();
    mine.processors = AffinityMask::of_this_process();
    if (const Topology* topology = context.topology()) mine.place = topology->place_of_this_process();
    mine.votes = votes_of(context.options());
    host_device().access_export(&mine.token, nullptr);
    mine.pooled = pooled;
    mine.uses_devices = context.devices().has_active_device();
    return mine;
}

std::optional<PlaceLevel> level_of(GroupLevel groups) {
    switch (groups) {
        case GroupLevel::Auto:
            return std::nullopt;
        case GroupLevel::None:
            return PlaceLevel::None;
        case GroupLevel::Cache:
            return PlaceLevel::Cache;
        case GroupLevel::Numa:
            return PlaceLevel::Numa;
        case GroupLevel::Package:
            return PlaceLevel::Package;
    }
    return std::nullopt;
}

std::vector<peercoll_access_kind_t> access_kinds(SingleCopyChoice choice, const std::vector<Introduction>& all) {
    std::uint32_t offered = ~0u;
    for (const Introduction& one : all) offered &= one.token.kinds;
    std::vector<peercoll_access_kind_t> kinds;
    const auto add = [&](peercoll_access_kind_t kind) {
        if ((offered & (1u << kind)) != 0) kinds.push_back(kind);
    };
    if (choice == SingleCopyChoice::Auto || choice == SingleCopyChoice::Xpmem) add(PEERCOLL_ACCESS_XPMEM);
    if (choice == SingleCopyChoice::Auto || choice == SingleCopyChoice::Cma) add(PEERCOLL_ACCESS_CMA);
    return kinds;
}

const char* name_of(peercoll_access_kind_t kind) {
    return kind == PEERCOLL_ACCESS_XPMEM ? "xpmem" : "cma";
}

// All ranks try the kinds in the same order; every kind needs its own agreement, so there is one verdict round for
// each.
struct SingleCopyTrial {
    std::unique_ptr<HostReader> reader;
    std::string reason;
};

SingleCopyTrial try_single_copy(const std::vector<Introduction>& all, const std::vector<Offer>& offers, int self,
                                peercoll_access_kind_t kind) {
    std::vector<peercoll_access_token_t> tokens;
    std::vector<ReadProof> proofs;
    tokens.reserve(all.size());
    proofs.reserve(offers.size());
    for (const Introduction& one : all) tokens.push_back(one.token);
    for (const Offer& offer : offers) proofs.push_back(offer.proof);
    SingleCopyTrial trial;
    trial.reader = HostReader::open_all(tokens, proofs, self, kind, trial.reason);
    return trial;
}

std::string first_reason(const std::vector<Verdict>& verdicts, bool Verdict::*good, Sentence Verdict::*reason) {
    for (std::size_t rank = 0; rank < verdicts.size(); ++rank)
        if (!(verdicts[rank].*good)) return fmt::format("rank {}: {}", rank, (verdicts[rank].*reason).text);
    return {};
}

Status check_introductions(const std::vector<Introduction>& all) {
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        if (all[rank].protocol != protocol)
            return {PEERCOLL_ERR_NOT_SUPPORTED,
                    fmt::format("rank {} runs another version of peercoll; expected the same on all ranks", rank)};
    return {};
}

std::uint64_t random_word() {
    std::random_device source;
    return std::uint64_t{source()} << 32 | source();
}

// This rank's end of the team on the mapped segment. Null, with a sentence, if its memory is not to be had: asked for
// before the verdict, so that no rank fails alone after it.
std::unique_ptr<HostTeam> make_team(const peercoll_comm_params_t& comm, std::size_t budget, Node& node,
                                    std::string& reason) {
    HostTeam::Parts parts;
    parts.rank = comm.rank;
    parts.size = comm.size;
    parts.segment = node.segment.address();
    parts.layout = SegmentLayout::make(static_cast<std::size_t>(comm.size), budget);
    try {
        return std::make_unique<HostTeam>(std::move(parts));
    } catch (const std::bad_alloc&) {
        reason = "out of memory for what a rank keeps of its team";
        return nullptr;
    }
}

// Rounds 2 and 3: a new segment, mapped by all, and a reader where all can read each other.
Status make_node(Context& context, const peercoll_comm_params_t& comm, const std::vector<Introduction>& all,
                 Node& node) {
    const auto size = static_cast<std::size_t>(comm.size);
    const auto self = static_cast<std::size_t>(comm.rank);
    const OptionVotes& votes = all.front().votes;

    const auto proof_word = std::make_unique<std::uint64_t>(random_word() << 32 | self);
    Offer mine{};
    mine.proof = {reinterpret_cast<std::uintptr_t>(proof_word.get()), *proof_word};
    if (comm.rank == 0) {
        mine.id = random_word() | 1;  // 0 stands for none
        const bool namespaces_shared = std::all_of(all.begin(), all.end(), [&](const Introduction& one) {
            return share_namespaces(one.identity, all.front().identity);
        });
        std::string reason;
        mine.segment =
            offer_segment(size, votes.segment, votes.segment_size, namespaces_shared, node.segment.share(), reason);
        mine.reason.set(reason);
        if (!reason.empty() && mine.segment.budget != 0) context.log().warn(reason);
    }
    std::vector<Offer> offers;
    if (Status status = gather(comm, mine, offers); !status.ok()) return status;
    const SegmentOffer& segment = offers.front().segment;
    if (segment.budget == 0)
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                fmt::format("no shared memory for the communicator: {}", offers.front().reason.text)};

    Verdict verdict{};
    std::string reason;
    verdict.attached = comm.rank == 0 || attach_segment(segment, size, node.segment.share(), reason);
    std::unique_ptr<HostTeam> team = verdict.attached ? make_team(comm, segment.budget, node, reason) : nullptr;
    verdict.attached = team != nullptr;
    verdict.attach_reason.set(reason);
    const std::vector<peercoll_access_kind_t> kinds = access_kinds(votes.single_copy, all);
    std::unique_ptr<HostReader> reader;
    std::vector<Verdict> verdicts;
    node.single_copy_path =
        votes.single_copy == SingleCopyChoice::Off ? "off: option single_copy" : "off: not offered by all ranks";
    std::size_t attempt = 0;
    do {
        if (attempt < kinds.size()) {
            SingleCopyTrial trial = try_single_copy(all, offers, comm.rank, kinds[attempt]);
            reader = std::move(trial.reader);
            verdict.single_copy = reader != nullptr;
            verdict.single_copy_reason.set(trial.reason);
        }
        if (Status status = gather(comm, verdict, verdicts); !status.ok()) return status;
        const std::string refusal = first_reason(verdicts, &Verdict::single_copy, &Verdict::single_copy_reason);
        if (attempt < kinds.size()) {
            node.single_copy_path = refusal.empty() ? name_of(kinds[attempt]) : fmt::format("off: {}", refusal);
            if (refusal.empty()) break;
            reader.reset();
        }
    } while (++attempt < kinds.size());
    host_device().share_seal(&node.segment.share());
    if (const std::string refusal = first_reason(verdicts, &Verdict::attached, &Verdict::attach_reason);
        !refusal.empty())
        return {PEERCOLL_ERR_NOT_SUPPORTED, fmt::format("not every rank can use the shared segment ({})", refusal)};
    node.segment_path = segment.handle.kind == PEERCOLL_SHARE_MEMFD ? "anonymous shared memory" : "/dev/shm";

    node.id = offers.front().id;
    node.segment.count_in(context.statistics());
    node.team = std::move(team);
    node.team->set_reader(std::move(reader));
    return {};
}

// What round 1 says of ranks and options. A pooled node gets it anew: ranks may have been bound elsewhere meanwhile.
void arrange(const std::vector<Introduction>& all, Node& node) {
    const OptionVotes& votes = all.front().votes;
    std::vector<AffinityMask> masks;
    std::vector<RankPlace> places;
    for (const Introduction& one : all) {
        masks.push_back(one.processors);
        places.push_back(one.place);
    }
    const bool was_crowded = std::exchange(node.crowded, is_crowded(masks));
    Grouping grouping = group_ranks(places, level_of(votes.groups));
    node.group_level = grouping.level;
    node.agreed.allreduce = votes.allreduce;
    node.agreed.broadcast = votes.broadcast;
    node.agreed.trials = votes.trials == TrialsChoice::On;
    node.agreed.device_algorithm = votes.device_algorithm;
    node.agreed.executors = votes.executors;
    node.devices_wanted = std::any_of(all.begin(), all.end(), [](const Introduction& one) { return one.uses_devices; });
    node.agreed.rank_order = ReductionPlan::in_rank_order(static_cast<int>(all.size()));
    // Other groups are other candidates, and other places other times.
    if (grouping.groups != node.team->groups() || node.crowded != was_crowded) node.trials = Trials{};
    ReductionPlan plan = votes.order == Order::Rank ? node.agreed.rank_order : ReductionPlan(grouping.groups);
    node.team->set_plan(std::move(plan), std::move(grouping.groups));
    node.team->set_crowded(node.crowded);
}

}  // namespace

namespace {

WireShare share_of(Executors executors) {
    if (executors == Executors::One) return WireShare::One;
    return executors == Executors::PerRank ? WireShare::All : WireShare::Auto;
}

}  // namespace

Status set_up_node(Context& context, const peercoll_comm_params_t& comm, Node& node, std::unique_ptr<Hosts>& hosts) {
    TakenNodes taken(context, comm);
    std::vector<Introduction> all;
    if (Status status = gather(comm, introduce(context, taken.offer()), all); !status.ok()) return status;
    std::vector<ProcessIdentity> identities;
    std::vector<PooledNodes> pooled;
    for (const Introduction& one : all) {
        identities.push_back(one.identity);
        pooled.push_back(one.pooled);
    }
    std::vector<int> node_of = nodes_of(identities);
    if (Status status = check_introductions(all); !status.ok()) return status;
    if (all[static_cast<std::size_t>(comm.rank)].votes != all.front().votes)
        context.log().warn(
            "options differ between ranks; rank 0's count for algorithms, order, groups, single copy and segment");
    const OptionVotes& votes = all.front().votes;
    if (std::any_of(node_of.begin(), node_of.end(), [](int number) { return number > 0; }))
        return set_up_hosts(context, comm, std::move(node_of), votes.order == Order::Rank, share_of(votes.executors),
                            node, hosts);
    // Whoever has a common node was the same rank in it and is the same process, so it is a node of just these ranks;
    // and it was made under these options, since rank 0 found it in the pool of this context, where they never change.
    if (const std::uint64_t common = common_node(pooled); common != 0) {
        if (!taken.pick(common, node))
            return {PEERCOLL_ERR_CALLBACK, "the caller's allgather did not give back what this rank had put in"};
        context.statistics().shared("segment.reused").fetch_add(1, std::memory_order_relaxed);
    } else if (Status status = make_node(context, comm, all, node); !status.ok()) {
        return status;
    }
    node.identities = std::move(identities);
    node.node_of = std::move(node_of);
    arrange(all, node);
    return {};
}

}  // namespace peercoll
