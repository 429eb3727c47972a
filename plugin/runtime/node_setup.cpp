// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/node_setup.hpp"

#include "plugin/device/host/host_device.hpp"
#include "plugin/peer/host_reader.hpp"
#include "plugin/runtime/affinity.hpp"
#include "plugin/runtime/segment_offer.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include <fmt/format.h>

namespace peercoll {

namespace {

constexpr std::uint32_t protocol = 1;  // changes whenever a record or the segment's layout does

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
    bool operator==(const OptionVotes&) const = default;
};

struct Introduction {
    std::uint32_t protocol;
    ProcessIdentity identity;
    RankPlace place;
    AffinityMask processors;
    OptionVotes votes;
    peercoll_access_token_t token;
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

template <typename Record>
Status gather(const peercoll_comm_params_t& comm, const Record& mine, std::vector<Record>& all) {
    static_assert(std::is_trivially_copyable_v<Record>);
    all.resize(static_cast<std::size_t>(comm.size));
    if (comm.allgather(&mine, all.data(), sizeof mine, comm.user) != 0)
        return {PEERCOLL_ERR_CALLBACK, "the caller's allgather failed while the communicator was set up"};
    return {};
}

OptionVotes votes_of(const Options& options) {
    return {options.allreduce_algorithm,
            options.broadcast_algorithm,
            options.trials,
            options.order,
            options.groups,
            options.single_copy,
            options.segment,
            options.segment_size.value_or(0)};
}

Introduction introduce(Context& context) {
    Introduction mine{};
    mine.protocol = protocol;
    mine.identity = context.identity();
    mine.processors = AffinityMask::of_this_process();
    if (const Topology* topology = context.topology()) mine.place = topology->place_of_this_process();
    mine.votes = votes_of(context.options());
    host_device().access_export(&mine.token, nullptr);
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

Status check_introductions(const std::vector<Introduction>& all, const std::vector<int>& node_of) {
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        if (all[rank].protocol != protocol)
            return {PEERCOLL_ERR_NOT_SUPPORTED,
                    fmt::format("rank {} runs another version of peercoll; expected the same on all ranks", rank)};
    const int nodes = 1 + *std::max_element(node_of.begin(), node_of.end());
    if (nodes > 1)
        return {
            PEERCOLL_ERR_NOT_SUPPORTED,
            fmt::format("the communicator spans {} hosts, or containers that share no memory; one is served", nodes)};
    return {};
}

}  // namespace

Segment::~Segment() {
    if (share_.address != nullptr) host_device().share_release(&share_);
}

Status set_up_node(Context& context, const peercoll_comm_params_t& comm, Node& node) {
    const auto size = static_cast<std::size_t>(comm.size);
    const auto self = static_cast<std::size_t>(comm.rank);

    std::vector<Introduction> all;
    if (Status status = gather(comm, introduce(context), all); !status.ok()) return status;
    for (const Introduction& one : all) node.identities.push_back(one.identity);
    node.node_of = nodes_of(node.identities);
    if (Status status = check_introductions(all, node.node_of); !status.ok()) return status;
    const OptionVotes votes = all.front().votes;
    if (all[self].votes != votes)
        context.log().warn(
            "options differ between ranks; rank 0's count for algorithms, order, groups, single copy and segment");
    std::vector<AffinityMask> masks;
    std::vector<RankPlace> places;
    for (const Introduction& one : all) {
        masks.push_back(one.processors);
        places.push_back(one.place);
    }
    node.crowded = is_crowded(masks);
    Grouping grouping = group_ranks(places, level_of(votes.groups));
    node.group_level = grouping.level;

    const std::uint64_t secret = std::random_device{}();
    const auto proof_word = std::make_unique<std::uint64_t>(secret << 32 | self);
    Offer mine{};
    mine.proof = {reinterpret_cast<std::uintptr_t>(proof_word.get()), *proof_word};
    if (comm.rank == 0) {
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
        return {PEERCOLL_ERR_NOT_SUPPORTED, fmt::format("not every rank can map the shared segment ({})", refusal)};
    node.segment_path = segment.handle.kind == PEERCOLL_SHARE_MEMFD ? "anonymous shared memory" : "/dev/shm";

    node.agreed.allreduce = votes.allreduce;
    node.agreed.broadcast = votes.broadcast;
    node.agreed.trials = votes.trials == TrialsChoice::On;
    node.agreed.rank_order = ReductionPlan::in_rank_order(comm.size);
    HostTeam::Parts parts;
    parts.rank = comm.rank;
    parts.size = comm.size;
    parts.segment = node.segment.address();
    parts.layout = SegmentLayout::make(size, segment.budget);
    parts.plan = votes.order == Order::Rank ? node.agreed.rank_order : ReductionPlan(grouping.groups);
    parts.groups = std::move(grouping.groups);
    parts.reader = std::move(reader);
    node.team = std::make_unique<HostTeam>(std::move(parts));
    return {};
}

}  // namespace peercoll
