// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/hosts/hosts_setup.hpp"

#include "plugin/peer/gather.hpp"
#include "plugin/runtime/hosts/node_gathers.hpp"
#include "plugin/runtime/hosts/wire_proof.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace peercoll {

namespace {

// The wire has 20 bits for a rank.
constexpr int most_ranks = 1 << 20;

struct Card {
    peercoll_status_t status;  // of what this rank has done alone
    std::uint32_t number;
    peercoll_process_key_t key;
    std::uint64_t address_bytes;
    char sentence[160];

    void set(const Status& from) {
        status = from.code();
        const std::size_t n = std::min(from.sentence().size(), sizeof sentence - 1);
        std::memcpy(sentence, from.sentence().data(), n);
        sentence[n] = '\0';
    }
};

// The first rank that failed decides for all.
Status verdict_of(const std::vector<Card>& cards) {
    for (std::size_t rank = 0; rank < cards.size(); ++rank)
        if (cards[rank].status != PEERCOLL_SUCCESS)
            return {PEERCOLL_ERR_NOT_SUPPORTED, fmt::format("the communicator spans several hosts, or containers that "
                                                            "share no memory, and rank {}: {}",
                                                            rank, cards[rank].sentence)};
    return {};
}

// A number lent by the wire until somebody takes it over.
class LentNumber {
public:
    ~LentNumber() {
        if (wire_ != nullptr) wire_->give_number_back(number_);
    }
    LentNumber() = default;
    LentNumber(const LentNumber&) = delete;
    LentNumber& operator=(const LentNumber&) = delete;
    Status take(ProcessWire& wire) {
        Status status = wire.take_number(number_);
        if (status.ok()) wire_ = &wire;
        return status;
    }
    std::uint32_t value() const { return number_; }
    void keep() { wire_ = nullptr; }

private:
    ProcessWire* wire_ = nullptr;
    std::uint32_t number_ = 0;
};

Status introduce(ProcessWire& wire, const std::vector<int>& leading, const std::vector<Card>& cards,
                 const std::vector<std::byte>& addresses, std::size_t longest, int self,
                 std::vector<WireLink::Leader>& leaders) {
    for (const int rank : leading) {
        const Card& card = cards[static_cast<std::size_t>(rank)];
        WireLink::Leader leader;
        leader.rank = static_cast<std::uint32_t>(rank);
        leader.number = card.number;
        if (rank != self) {
            peercoll_reason_t reason{};
            const peercoll_status_t code =
                wire.transport().peer(wire.wire(), &card.key, &addresses[static_cast<std::size_t>(rank) * longest],
                                      card.address_bytes, 0, &leader.peer, &reason);
            if (code != PEERCOLL_SUCCESS) return {code, reason.text};
        }
        leaders.push_back(leader);
    }
    return {};
}

void fill_in(Context& context, std::vector<int> node_of, bool rank_order, WireShare share, int self, Hosts& hosts) {
    hosts.node_of = std::move(node_of);
    hosts.node = hosts.node_of[static_cast<std::size_t>(self)];
    hosts.rank_order = rank_order;
    const auto last = static_cast<std::size_t>(*std::max_element(hosts.node_of.begin(), hosts.node_of.end()));
    hosts.ranks.resize(last + 1);
    for (std::size_t rank = 0; rank < hosts.node_of.size(); ++rank)
        hosts.ranks[static_cast<std::size_t>(hosts.node_of[rank])].push_back(static_cast<int>(rank));
    std::size_t fewest = hosts.ranks.front().size();
    for (const std::vector<int>& ranks : hosts.ranks) fewest = std::min(fewest, ranks.size());
    hosts.wire_ranks = select_wire_ranks(share, static_cast<int>(fewest));
    hosts.keeps_rank_order = std::is_sorted(hosts.node_of.begin(), hosts.node_of.end());
    for (const std::string_view name : node_allreduce_names)
        hosts.allreduces.push_back(context.statistics().local(fmt::format("allreduce.hosts.{}", name)));
    for (const std::string_view name : node_broadcast_names)
        hosts.broadcasts.push_back(context.statistics().local(fmt::format("broadcast.hosts.{}", name)));
    hosts.shared_allreduces = context.statistics().local("allreduce.hosts.shared");
    hosts.shared_broadcasts = context.statistics().local("broadcast.hosts.shared");
    hosts.unsettled = context.statistics().local("wire.unsettled");
}

}  // namespace

Status set_up_hosts(Context& context, const peercoll_comm_params_t& comm, std::vector<int> node_of, bool rank_order,
                    WireShare share, Node& node, std::unique_ptr<Hosts>& hosts) {
    auto fresh = std::make_unique<Hosts>();
    fill_in(context, std::move(node_of), rank_order, share, comm.rank, *fresh);
    const int local = fresh->local_number(comm.rank);
    const bool speaks = local < fresh->wire_ranks;
    std::vector<int> leading;  // whom this rank speaks to, and itself
    if (speaks)
        for (const std::vector<int>& ranks : fresh->ranks) leading.push_back(ranks[static_cast<std::size_t>(local)]);

    NodeGathers gathers(comm, fresh->own_ranks());
    std::unique_ptr<Hosts> none;
    Status mine = set_up_node(context, gathers.node_comm(), node, none);
    if (Status status = gathers.finish(); !status.ok()) return status;

    ProcessWire* wire = nullptr;
    LentNumber number;
    std::vector<std::byte> address;
    if (mine.ok() && comm.size > most_ranks)
        mine = {PEERCOLL_ERR_NOT_SUPPORTED,
                fmt::format("{} ranks are more than the {} that the wire can name", comm.size, most_ranks)};
    if (mine.ok() && speaks) mine = context.host_wire(static_cast<std::uint32_t>(comm.size), wire);
    if (mine.ok() && speaks) mine = number.take(*wire);
    Card card{};
    card.set(mine);
    if (mine.ok() && speaks) {
        std::size_t bytes = 0;
        const auto* first = static_cast<const std::byte*>(wire->transport().address(wire->wire(), &bytes));
        address.assign(first, first + bytes);
        card.address_bytes = bytes;
        card.key = wire->key();
        card.number = number.value();
    }
    std::vector<Card> cards;
    if (Status status = gather(comm, card, cards); !status.ok()) return status;
    if (Status status = verdict_of(cards); !status.ok()) return status;
    std::size_t longest = 0;
    for (const Card& one : cards) longest = std::max<std::size_t>(longest, one.address_bytes);
    std::vector<std::byte> addresses;
    if (Status status = gather_records(comm, address, longest, addresses); !status.ok()) return status;

    std::vector<WireLink::Leader> leaders;
    if (speaks) mine = introduce(*wire, leading, cards, addresses, longest, comm.rank, leaders);
    card.set(mine);
    if (Status status = gather(comm, card, cards); !status.ok()) return status;
    if (Status status = verdict_of(cards); !status.ok()) return status;
    if (speaks) {
        number.keep();
        const auto counters = [&context](std::string_view bytes, std::string_view messages) {
            return WireLink::Counters{&context.statistics().shared(std::string(bytes)),
                                      &context.statistics().shared(std::string(messages))};
        };
        fresh->link =
            std::make_unique<WireLink>(*wire, std::move(leaders), fresh->node,
                                       WireLink::CountersOf{counters("wire.proof_bytes", "wire.proof_messages"),
                                                            counters("wire.bytes", "wire.messages")});
        peercoll_wire_info_t info{};
        info.struct_size = sizeof info;
        wire->transport().info(wire->wire(), &info);
        fresh->transport = info.text;
        mine = prove_wire(context, comm, leading, *fresh);
        fresh->link->send_for(WireLink::Purpose::Collectives);
    } else {
        fresh->transport = "their transport";
    }
    card.set(mine);
    if (Status status = gather(comm, card, cards); !status.ok()) return status;
    if (Status status = verdict_of(cards); !status.ok()) return status;
    fresh->take_sequences(wire_proof_sequences);
    hosts = std::move(fresh);
    return {};
}

}  // namespace peercoll
