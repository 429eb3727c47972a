// SPDX-License-Identifier: BSD-3-Clause
// Up to four rounds, each an allgather:
//   known      what the processes concerned have proven before        --> what is left; nothing: done
//   offers     owners' handles, behind which data lies to be read     --> executors map it, write and read
//   executors  what they have read                                    --> owners look at what was written
//   owners     what they have found
// Nobody leaves early: a rank that cannot do its part says so in its verdict.
#include "plugin/peer/proof_rounds.hpp"

#include "plugin/peer/gather.hpp"
#include "plugin/peer/path_proof.hpp"
#include "plugin/peer/proof_agenda.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace peercoll {

namespace {

class Rounds {
public:
    Rounds(const peercoll_comm_params_t& comm, const DeviceFacts& facts, ProofCache& cache, PathVerdicts& verdicts)
        : comm_(comm), facts_(facts), cache_(cache), verdicts_(verdicts), agendas_(make_agendas(facts)) {}

    Status run();

private:
    struct OwnerWork {
        std::uint32_t device;
        std::shared_ptr<ProofOwner> work;
        bool abandoned;
    };

    const RankDevices& rank(int number) const { return facts_.matrix.ranks()[static_cast<std::size_t>(number)]; }
    ProofAgenda& agenda_of(int number) { return agendas_[static_cast<std::size_t>(rank(number).node)]; }
    ProofAgenda& mine() { return agenda_of(comm_.rank); }
    ProofDeadline deadline() const { return std::chrono::steady_clock::now() + facts_.policy.proof_limit; }

    ProofCache::PathKey key(const PathTrial& trial) const;
    ProofCache::MappingKey key(const MappingTrial& mapping) const;
    ProofTarget target(int executor, std::uint32_t from, int owner, std::uint32_t to) const;
    const ProofOffer& offer(int owner, std::uint32_t device);
    template <typename Count>
    std::size_t most(Count count);
    template <typename Belongs>
    void take_verdicts(const std::vector<ProofVerdict>& all, std::size_t each, Belongs belongs);

    Status learn_known();
    Status offers();
    void execute();
    Status executors();
    Status owners();
    void finish();

    const peercoll_comm_params_t& comm_;
    const DeviceFacts& facts_;
    ProofCache& cache_;
    PathVerdicts& verdicts_;
    std::vector<ProofAgenda> agendas_;  // what is left, on each node
    std::vector<OwnerWork> owned_;
    std::size_t offers_each_ = 0;
    std::vector<ProofOffer> offers_;
    std::vector<ProofVerdict> executed_;  // my trials as executor, in the agenda's order
    std::vector<std::uint8_t> mapped_;    // codes, in the order of my node's mappings
};

ProofCache::PathKey Rounds::key(const PathTrial& trial) const {
    const std::vector<PeerDevice>& devices = facts_.matrix.devices();
    return {rank(trial.executor).identity.boot_id,
            devices[trial.from].runtime,
            devices[trial.from].uuid,
            devices[trial.to].uuid,
            trial.across_processes,
            facts_.matrix.sees(trial.executor, trial.to)};
}

ProofCache::MappingKey Rounds::key(const MappingTrial& mapping) const {
    const std::vector<PeerDevice>& devices = facts_.matrix.devices();
    return {ProofCache::process_key(rank(mapping.executor).identity),
            ProofCache::process_key(rank(mapping.owner).identity), devices[mapping.from].uuid,
            devices[mapping.to].uuid};
}

// The largest count(agenda, rank) of all ranks.
template <typename Count>
std::size_t Rounds::most(Count count) {
    std::size_t result = 0;
    for (int one = 0; one < comm_.size; ++one) result = std::max<std::size_t>(result, count(agenda_of(one), one));
    return result;
}

Status Rounds::learn_known() {
    const std::size_t each = most([](const ProofAgenda& agenda, int) { return agenda.size(); });
    if (each == 0) return {};
    std::vector<std::uint8_t> known;
    for (const PathItem& item : mine().paths)
        known.push_back(static_cast<std::uint8_t>(cache_.path(key(item.trial)).code));
    for (const MappingTrial& mapping : mine().mappings)
        known.push_back(static_cast<std::uint8_t>(cache_.mapping(key(mapping)).code));
    std::vector<std::uint8_t> all;
    if (Status status = gather_records(comm_, known, each, all); !status.ok()) return status;
    // Both processes concerned must know, and the same.
    const auto agreed = [&](int executor, int owner, std::size_t i) {
        const std::uint8_t code = all[static_cast<std::size_t>(executor) * each + i];
        return code == all[static_cast<std::size_t>(owner) * each + i] ? static_cast<ProofCode>(code)
                                                                       : ProofCode::Unknown;
    };
    for (ProofAgenda& agenda : agendas_) {
        std::size_t i = 0;
        std::erase_if(agenda.paths, [&](const PathItem& item) {
            const ProofCode code = agreed(item.trial.executor, item.trial.owner, i++);
            if (code == ProofCode::Unknown) return false;
            const ProofVerdict own = cache_.path(key(item.trial));
            verdicts_.paths[{item.trial.from, item.trial.to}] = own.code == code ? own : ProofVerdict::of(code);
            return true;
        });
        std::erase_if(agenda.mappings, [&](const MappingTrial& mapping) {
            const ProofCode code = agreed(mapping.executor, mapping.owner, i++);
            if (code == ProofCode::Unknown) return false;
            verdicts_.mappings[mapping] = ProofVerdict::of(code);
            return true;
        });
        number_slots(agenda);
    }
    return {};
}

Status Rounds::offers() {
    std::vector<ProofOffer> offered;
    std::random_device random;
    for (const std::uint32_t device : offered_devices(mine(), comm_.rank)) {
        const LocalDevice& local = facts_.local[device];
        const auto work = std::make_shared<ProofOwner>(*local.runtime, local.device);
        const std::uint64_t seed = std::uint64_t{random()} << 32 | random();
        offered.push_back(work->prepare(trials_at(mine(), comm_.rank, device), seed, deadline()));
        owned_.push_back({device, work, false});
    }
    offers_each_ = most([](const ProofAgenda& agenda, int one) { return offered_devices(agenda, one).size(); });
    return gather_records(comm_, offered, offers_each_, offers_);
}

const ProofOffer& Rounds::offer(int owner, std::uint32_t device) {
    const std::vector<std::uint32_t> devices = offered_devices(agenda_of(owner), owner);
    const auto at = std::find(devices.begin(), devices.end(), device) - devices.begin();
    return offers_[static_cast<std::size_t>(owner) * offers_each_ + static_cast<std::size_t>(at)];
}

ProofTarget Rounds::target(int executor, std::uint32_t from, int owner, std::uint32_t to) const {
    const LocalDevice& local = facts_.local[from];
    return {local.runtime, local.device, facts_.matrix.same_process(executor, owner), facts_.local[to].device};
}

void Rounds::execute() {
    // All is started before anything is waited for, so that one limit is enough for all.
    std::vector<std::shared_ptr<ProofExecution>> trials;
    for (const PathItem& item : mine().paths) {
        const PathTrial& trial = item.trial;
        if (trial.executor != comm_.rank) continue;
        trials.push_back(std::make_shared<ProofExecution>(target(trial.executor, trial.from, trial.owner, trial.to),
                                                          offer(trial.owner, trial.to), item.slot));
        trials.back()->start();
    }
    // A stream for each pair of devices: one that hangs holds up no other.
    struct Words {
        std::shared_ptr<ProofWords> work;
        std::vector<std::size_t> mappings;
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, Words> words;
    for (std::size_t i = 0; i < mine().mappings.size(); ++i)
        if (mine().mappings[i].executor == comm_.rank)
            words[{mine().mappings[i].from, mine().mappings[i].to}].mappings.push_back(i);
    for (auto& [pair, group] : words) {
        const LocalDevice& local = facts_.local[pair.first];
        std::vector<std::pair<ProofTarget, ProofOffer>> owners;
        for (const std::size_t i : group.mappings) {
            const MappingTrial& mapping = mine().mappings[i];
            owners.emplace_back(target(mapping.executor, mapping.from, mapping.owner, mapping.to),
                                offer(mapping.owner, mapping.to));
        }
        group.work = std::make_shared<ProofWords>(*local.runtime, local.device);
        group.work->start(owners);
    }
    const ProofDeadline until = deadline();
    for (auto& trial : trials) {
        executed_.push_back(trial->finish(until));
        let_go(std::move(trial), cache_);
    }
    mapped_.resize(mine().mappings.size());
    for (auto& [pair, group] : words) {
        const std::vector<ProofVerdict> found = group.work->finish(until);
        for (std::size_t i = 0; i < found.size(); ++i)
            mapped_[group.mappings[i]] = static_cast<std::uint8_t>(found[i].code);
        cache_.count_trials(found.size());
        let_go(std::move(group.work), cache_);
    }
    cache_.count_trials(executed_.size());
}

// Each rank's verdicts on those paths of its node's agenda that belong to it.
template <typename Belongs>
void Rounds::take_verdicts(const std::vector<ProofVerdict>& all, std::size_t each, Belongs belongs) {
    std::vector<std::size_t> next(static_cast<std::size_t>(comm_.size));
    for (const ProofAgenda& agenda : agendas_)
        for (const PathItem& item : agenda.paths) {
            const auto who = static_cast<std::size_t>(belongs(item.trial));
            ProofVerdict verdict = all[who * each + next[who]++];
            verdict.text[sizeof verdict.text - 1] = '\0';
            ProofVerdict& known = verdicts_.paths[{item.trial.from, item.trial.to}];
            // What the executor has found bad stays so.
            if (known.code == ProofCode::Unknown || known.proven()) known = verdict;
        }
}

Status Rounds::executors() {
    execute();
    const auto executor_of = [](const PathTrial& trial) { return trial.executor; };
    const std::size_t each = most([&](const ProofAgenda& agenda, int one) {
        return std::count_if(agenda.paths.begin(), agenda.paths.end(),
                             [&](const PathItem& item) { return item.trial.executor == one; });
    });
    std::vector<ProofVerdict> all;
    if (Status status = gather_records(comm_, executed_, each, all); !status.ok()) return status;
    take_verdicts(all, each, executor_of);

    const std::size_t most_mappings = most([](const ProofAgenda& agenda, int) { return agenda.mappings.size(); });
    std::vector<std::uint8_t> codes;
    if (Status status = gather_records(comm_, mapped_, most_mappings, codes); !status.ok()) return status;
    for (const ProofAgenda& agenda : agendas_)
        for (std::size_t i = 0; i < agenda.mappings.size(); ++i) {
            const std::size_t executor = static_cast<std::size_t>(agenda.mappings[i].executor);
            verdicts_.mappings[agenda.mappings[i]] =
                ProofVerdict::of(static_cast<ProofCode>(codes[executor * most_mappings + i]));
        }
    return {};
}

Status Rounds::owners() {
    std::vector<ProofVerdict> found;
    for (const PathItem& item : mine().paths) {
        const PathTrial& trial = item.trial;
        if (trial.owner != comm_.rank) continue;
        const ProofVerdict& executed = verdicts_.paths[{trial.from, trial.to}];
        OwnerWork& owned =
            *std::find_if(owned_.begin(), owned_.end(), [&](const OwnerWork& one) { return one.device == trial.to; });
        if (!executed.proven()) {
            found.push_back(executed);
            owned.abandoned |= executed.code == ProofCode::TimedOut;
            continue;
        }
        owned.work->read_back(deadline());
        found.push_back(owned.work->check(item.slot, executed.code == ProofCode::Proven));
    }
    cache_.count_trials(found.size());
    const std::size_t each = most([&](const ProofAgenda& agenda, int one) {
        return std::count_if(agenda.paths.begin(), agenda.paths.end(),
                             [&](const PathItem& item) { return item.trial.owner == one; });
    });
    std::vector<ProofVerdict> all;
    if (Status status = gather_records(comm_, found, each, all); !status.ok()) return status;
    take_verdicts(all, each, [](const PathTrial& trial) { return trial.owner; });
    return {};
}

void Rounds::finish() {
    for (const MappingTrial& mapping : mine().mappings)
        if (mapping.owner == comm_.rank && verdicts_.mappings[mapping].code == ProofCode::TimedOut)
            for (OwnerWork& owned : owned_) owned.abandoned |= owned.device == mapping.to;
    for (OwnerWork& owned : owned_) {
        // Another process's device may still be writing there, and nobody will tell when it has ended.
        if (owned.abandoned) cache_.keep_until([kept = owned.work] { return kept == nullptr; }, [] {});
        let_go(std::move(owned.work), cache_);
    }
    for (const PathItem& item : mine().paths)
        cache_.learn(key(item.trial), verdicts_.paths[{item.trial.from, item.trial.to}]);
    for (const MappingTrial& mapping : mine().mappings) cache_.learn(key(mapping), verdicts_.mappings[mapping]);
}

Status Rounds::run() {
    cache_.release_ended();
    if (Status status = learn_known(); !status.ok()) return status;
    if (std::all_of(agendas_.begin(), agendas_.end(), [](const ProofAgenda& one) { return one.size() == 0; }))
        return {};
    if (Status status = offers(); !status.ok()) return status;
    if (Status status = executors(); !status.ok()) return status;
    if (Status status = owners(); !status.ok()) return status;
    finish();
    return {};
}

}  // namespace

ProofVerdict PathVerdicts::path(std::uint32_t from, std::uint32_t to) const {
    const auto found = paths.find({from, to});
    return found != paths.end() ? found->second : ProofVerdict{};
}

ProofVerdict PathVerdicts::mapping(const MappingTrial& trial) const {
    const auto found = mappings.find(trial);
    return found != mappings.end() ? found->second : ProofVerdict{};
}

Status prove_paths(const peercoll_comm_params_t& comm, const DeviceFacts& facts, ProofCache& cache,
                   PathVerdicts& verdicts) {
    return Rounds(comm, facts, cache, verdicts).run();
}

}  // namespace peercoll
