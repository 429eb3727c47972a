// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/peer/pair_matrix.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace peercoll {

const char* text_of(Reach reach) {
    switch (reach) {
        case Reach::Own:
            return "memory of the process itself";
        case Reach::Possible:
            return "possible";
        case Reach::OtherNode:
            return "the ranks are on different hosts, or in containers that share no memory";
        case Reach::LevelOff:
            return "the option for peer access is off";
        case Reach::LevelSameDevice:
            return "the option for peer access allows only ranks on one device";
        case Reach::Vetoed:
            return "an option excludes this pair of devices";
        case Reach::NotActive:
            return "a rank has not used the device yet";
        case Reach::NotVisible:
            return "the rank that would reach the device does not see it, and its runtime maps memory only of devices "
                   "that it sees (make all devices visible to all ranks)";
        case Reach::NoPeerAccess:
            return "the device runtime offers no peer access between the devices";
        case Reach::NoImport:
            return "the device runtime maps no memory of other processes";
        case Reach::OtherUser:
            return "the ranks belong to different users";
        case Reach::OtherPidNamespace:
            return "the ranks are in different pid namespaces (let their containers share one)";
        case Reach::OtherRuntime:
            return "the devices belong to different runtimes";
    }
    return "unknown";
}

PairMatrix::PairMatrix(std::vector<PeerDevice> devices, std::vector<RankDevices> ranks, PeerLevel level)
    : devices_(std::move(devices)), ranks_(std::move(ranks)), level_(level) {
    for (const RankDevices& rank : ranks_)
        for (const SeenDevice& one : rank.seen)
            for (std::uint32_t other = 0; other < one.pairs.size(); ++other)
                if ((one.pairs[other] & PairFact::vetoed) != 0) vetoes_.insert(std::minmax(one.device, other));
}

const SeenDevice* PairMatrix::seen(int rank, std::uint32_t device) const {
    const std::vector<SeenDevice>& all = ranks_[static_cast<std::size_t>(rank)].seen;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const SeenDevice& one) { return one.device == device; });
    return found != all.end() ? &*found : nullptr;
}

bool PairMatrix::same_process(int a, int b) const {
    return ranks_[static_cast<std::size_t>(a)].identity == ranks_[static_cast<std::size_t>(b)].identity;
}

Reach PairMatrix::reach(int executor, std::uint32_t from, int owner, std::uint32_t to) const {
    const RankDevices& here = ranks_[static_cast<std::size_t>(executor)];
    const RankDevices& there = ranks_[static_cast<std::size_t>(owner)];
    if (here.node != there.node) return Reach::OtherNode;
    const SeenDevice* mine = seen(executor, from);
    const SeenDevice* theirs = seen(owner, to);
    if (mine == nullptr || !mine->active || theirs == nullptr || !theirs->active) return Reach::NotActive;
    const bool in_process = same_process(executor, owner);
    if (in_process && from == to) return Reach::Own;
    if (level_ == PeerLevel::Off) return Reach::LevelOff;
    if (level_ == PeerLevel::SameDevice && from != to) return Reach::LevelSameDevice;
    if (devices_[from].runtime != devices_[to].runtime) return Reach::OtherRuntime;
    if (vetoes_.contains(std::minmax(from, to))) return Reach::Vetoed;
    const bool visible = sees(executor, to);
    // What cannot be asked is not ruled out: of a device that it does not see, a rank has no answer but the proof.
    if (!visible && (in_process || !mine->imports_unseen)) return Reach::NotVisible;
    if (visible && from != to && (mine->pairs[to] & PairFact::can_access) == 0) return Reach::NoPeerAccess;
    if (in_process) return Reach::Possible;
    if (here.identity.uid != there.identity.uid) return Reach::OtherUser;
    if (!share_namespaces(here.identity, there.identity)) return Reach::OtherPidNamespace;
    if (!mine->imports) return Reach::NoImport;
    return Reach::Possible;
}

std::optional<PathTrial> PairMatrix::trial(std::uint32_t from, std::uint32_t to) const {
    if (devices_[from].node != devices_[to].node) return std::nullopt;
    const int executor = devices_[from].executor();
    std::optional<PathTrial> within;
    for (const int owner : devices_[to].ranks) {
        if (reach(executor, from, owner, to) != Reach::Possible) continue;
        const bool across = !same_process(executor, owner);
        if (across) return PathTrial{from, to, executor, owner, true};
        if (!within) within = PathTrial{from, to, executor, owner, false};
    }
    return within;
}

std::vector<PathTrial> PairMatrix::trials() const {
    std::vector<PathTrial> all;
    for (std::uint32_t from = 0; from < devices_.size(); ++from)
        for (std::uint32_t to = 0; to < devices_.size(); ++to)
            if (const auto one = trial(from, to)) all.push_back(*one);
    return all;
}

}  // namespace peercoll
