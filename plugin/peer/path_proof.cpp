// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/peer/path_proof.hpp"

#include "plugin/peer/proof_pattern.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace peercoll {

namespace {

std::string of_bytes(std::size_t wrong, std::size_t bytes) {
    return fmt::format("{} of {} bytes", wrong, bytes);
}

// Opens the way to `offer`'s buffer, of which at least `bytes` are needed.
ProofVerdict open(Reachable& there, const ProofTarget& target, const ProofOffer& offer, std::size_t bytes) {
    std::string reason;
    if (!offer.verdict.proven() && !target.own_process) return offer.verdict;
    if (target.own_process) {
        if (offer.address == 0) return offer.verdict;
        return there.enable(offer.address, target.owner_device, reason)
                   ? ProofVerdict::of(ProofCode::Proven)
                   : ProofVerdict::of(ProofCode::NotImported, reason);
    }
    const std::uint64_t offset = offer.address - offer.handle.base;
    if (offer.address < offer.handle.base || offset > offer.handle.bytes || offer.handle.bytes - offset < bytes)
        return ProofVerdict::of(ProofCode::NotExported, "the handle is not what was asked for");
    return there.import(offer.handle, reason) ? ProofVerdict::of(ProofCode::Proven)
                                              : ProofVerdict::of(ProofCode::NotImported, reason);
}

std::uint64_t address_of(const Reachable& there, const ProofTarget& target, const ProofOffer& offer) {
    return target.own_process ? there.address() : there.address() + (offer.address - offer.handle.base);
}

ProofVerdict verdict_of(peercoll_status_t code, const std::string& reason) {
    if (code == PEERCOLL_SUCCESS) return ProofVerdict::of(ProofCode::Proven);
    return ProofVerdict::of(code == PEERCOLL_ERR_BUSY ? ProofCode::TimedOut : ProofCode::Failed, reason);
}

}  // namespace

ProofOwner::ProofOwner(const peercoll_device_runtime_t& runtime, std::int32_t device)
    : runtime_(runtime), memory_(runtime, device), host_(runtime, device), stream_(runtime, device) {}

ProofVerdict ProofOwner::copied(ProofDeadline deadline, bool to_device) {
    std::string reason;
    const std::uint64_t to = to_device ? memory_.address() : host_.address();
    const std::uint64_t from = to_device ? host_.address() : memory_.address();
    if (!stream_.copy(to, from, bytes_, reason)) return ProofVerdict::of(ProofCode::Failed, reason);
    const peercoll_status_t code = stream_.wait(deadline, reason);
    return verdict_of(code, reason);
}

ProofOffer ProofOwner::prepare(std::size_t trials, std::uint64_t seed, ProofDeadline deadline) {
    ProofOffer offer{};
    offer.seed = seed_ = seed;
    bytes_ = proof::buffer_bytes(trials);
    std::string reason;
    if (!memory_.allocate(bytes_, reason) || !host_.allocate(bytes_, reason) || !stream_.create(reason)) {
        offer.verdict = ProofVerdict::of(ProofCode::NotPrepared, reason);
        return offer;
    }
    const std::span<std::byte> bytes = host_.bytes();
    std::fill_n(bytes.begin(), proof::word_bytes, std::byte{});
    const std::uint64_t word = proof::word_of(seed);
    std::memcpy(bytes.data(), &word, sizeof word);
    for (std::size_t trial = 0; trial < trials; ++trial)
        for (std::size_t i = 0; i < proof::regions.size(); ++i) {
            const proof::Region& region = proof::regions[i];
            const std::span<std::byte> part = bytes.subspan(proof::trial_offset(trial) + region.offset, region.bytes);
            const std::uint64_t pattern = proof::region_seed(seed, trial, i);
            if (region.use == proof::Use::Reads)
                proof::fill(part, pattern);
            else
                proof::fill_wrong(part, pattern);
        }
    offer.verdict = copied(deadline, true);
    if (!offer.verdict.proven()) return offer;
    offer.address = memory_.address();
    peercoll_pointer_info_t info{};
    runtime_.classify(reinterpret_cast<const void*>(memory_.address()), &info);
    peercoll_reason_t why{};
    int fd = -1;
    if ((info.handle_kinds & (1u << PEERCOLL_HANDLE_IPC)) == 0) {
        offer.verdict = ProofVerdict::of(ProofCode::NotExported, "the runtime names no way");
    } else if (runtime_.export_memory(&info, PEERCOLL_HANDLE_IPC, 0, &offer.handle, &fd, &why) != PEERCOLL_SUCCESS) {
        offer.handle = {};
        offer.verdict = ProofVerdict::of(ProofCode::NotExported, why.text);
    }
    return offer;
}

void ProofOwner::read_back(ProofDeadline deadline) {
    if (fetched_.code == ProofCode::Unknown) fetched_ = copied(deadline, false);
}

ProofVerdict ProofOwner::check(std::size_t trial, bool with_kernels) const {
    if (!fetched_.proven()) return fetched_;
    for (std::size_t i = 0; i < proof::regions.size(); ++i) {
        const proof::Region& region = proof::regions[i];
        if (region.use == proof::Use::Reads || (region.use == proof::Use::KernelStores && !with_kernels)) continue;
        const std::size_t wrong =
            proof::differing(host_.bytes().subspan(proof::trial_offset(trial) + region.offset, region.bytes),
                             proof::region_seed(seed_, trial, i));
        if (wrong != 0)
            return ProofVerdict::of(
                region.use == proof::Use::KernelStores ? ProofCode::KernelStoresLost : ProofCode::CopiesLost,
                of_bytes(wrong, region.bytes));
    }
    return ProofVerdict::of(with_kernels ? ProofCode::Proven : ProofCode::ProvenCopiesOnly);
}

ProofExecution::ProofExecution(const ProofTarget& target, const ProofOffer& offer, std::size_t trial)
    : target_(target),
      offer_(offer),
      trial_(trial),
      there_(*target.runtime, target.device),
      scratch_(*target.runtime, target.device),
      host_(*target.runtime, target.device),
      stream_(*target.runtime, target.device) {}

bool ProofExecution::prepare() {
    std::string reason;
    verdict_ = open(there_, target_, offer_, proof::buffer_bytes(trial_ + 1));
    if (!verdict_.proven()) return false;
    if (scratch_.allocate(proof::executor_bytes, reason) && host_.allocate(proof::executor_bytes, reason) &&
        stream_.create(reason))
        return true;
    verdict_ = ProofVerdict::of(ProofCode::NotPrepared, reason);
    return false;
}

bool ProofExecution::run(std::string& reason) {
    const std::uint64_t there = address_of(there_, target_, offer_) + proof::trial_offset(trial_);
    const std::uint64_t here = scratch_.address();
    if (!stream_.copy(here, host_.address(), proof::executor_bytes, reason)) return false;
    for (const proof::Region& region : proof::regions) {
        const std::uint64_t local = here + region.offset;
        const std::uint64_t remote = there + region.offset;
        bool good = true;
        if (region.use == proof::Use::KernelStores)
            good = !with_kernels_ || stream_.kernel_copy(remote, local, region.bytes, reason);
        else if (region.use == proof::Use::CopyStores)
            good = stream_.copy(remote, local, region.bytes, reason);
        else
            good = (!with_kernels_ || stream_.kernel_copy(local, remote, region.bytes, reason)) &&
                   stream_.copy(here + region.copied, remote, region.bytes, reason);
        if (!good) return false;
    }
    return stream_.copy(host_.address(), here, proof::executor_bytes, reason);
}

void ProofExecution::start() {
    if (!prepare()) return;
    with_kernels_ = target_.runtime->can_fold(target_.device, PEERCOLL_BYTE, PEERCOLL_NO_OP) != 0;
    const std::span<std::byte> bytes = host_.bytes();
    for (std::size_t i = 0; i < proof::regions.size(); ++i) {
        const proof::Region& region = proof::regions[i];
        const std::span<std::byte> part = bytes.subspan(region.offset, region.bytes);
        const std::uint64_t pattern = proof::region_seed(offer_.seed, trial_, i);
        if (region.use == proof::Use::Reads) {
            proof::fill_wrong(part, pattern);
            proof::fill_wrong(bytes.subspan(region.copied, region.bytes), pattern);
        } else {
            proof::fill(part, pattern);
        }
    }
    std::string reason;
    if (!run(reason)) verdict_ = ProofVerdict::of(ProofCode::Failed, reason);
}

ProofVerdict ProofExecution::finish(ProofDeadline deadline) {
    if (!verdict_.proven()) return verdict_;
    std::string reason;
    const peercoll_status_t code = stream_.wait(deadline, reason);
    verdict_ = verdict_of(code, reason);
    if (!verdict_.proven()) return verdict_;
    const std::span<const std::byte> bytes = host_.bytes();
    for (std::size_t i = 0; i < proof::regions.size(); ++i) {
        const proof::Region& region = proof::regions[i];
        if (region.use != proof::Use::Reads) continue;
        const std::uint64_t seed = proof::region_seed(offer_.seed, trial_, i);
        if (const std::size_t wrong =
                with_kernels_ ? proof::differing(bytes.subspan(region.offset, region.bytes), seed) : 0;
            wrong != 0)
            return verdict_ = ProofVerdict::of(ProofCode::KernelLoadsWrong, of_bytes(wrong, region.bytes));
        if (const std::size_t wrong = proof::differing(bytes.subspan(region.copied, region.bytes), seed); wrong != 0)
            return verdict_ = ProofVerdict::of(ProofCode::CopyReadsWrong, of_bytes(wrong, region.bytes));
    }
    return verdict_ = ProofVerdict::of(with_kernels_ ? ProofCode::Proven : ProofCode::ProvenCopiesOnly);
}

ProofWords::ProofWords(const peercoll_device_runtime_t& runtime, std::int32_t device)
    : runtime_(runtime), device_(device), host_(runtime, device), stream_(runtime, device) {}

void ProofWords::start(const std::vector<std::pair<ProofTarget, ProofOffer>>& owners) {
    std::string reason;
    if (!host_.allocate(owners.size() * sizeof(std::uint64_t), reason) || !stream_.create(reason)) {
        verdicts_.assign(owners.size(), ProofVerdict::of(ProofCode::NotPrepared, reason));
        expected_.resize(owners.size());
        return;
    }
    for (std::size_t i = 0; i < owners.size(); ++i) {
        const auto& [target, offer] = owners[i];
        auto there = std::make_unique<Reachable>(runtime_, device_);
        ProofVerdict verdict = open(*there, target, offer, sizeof(std::uint64_t));
        expected_.push_back(proof::word_of(offer.seed));
        const std::uint64_t not_yet = ~expected_.back();
        std::memcpy(host_.bytes().data() + i * sizeof not_yet, &not_yet, sizeof not_yet);
        if (verdict.proven() && !stream_.copy(host_.address() + i * sizeof not_yet, address_of(*there, target, offer),
                                              sizeof not_yet, reason))
            verdict = ProofVerdict::of(ProofCode::Failed, reason);
        verdicts_.push_back(verdict);
        there_.push_back(std::move(there));
    }
}

std::vector<ProofVerdict> ProofWords::finish(ProofDeadline deadline) {
    if (there_.empty()) return verdicts_;
    std::string reason;
    const peercoll_status_t code = stream_.wait(deadline, reason);
    const ProofVerdict all = verdict_of(code, reason);
    for (std::size_t i = 0; i < verdicts_.size(); ++i) {
        if (!verdicts_[i].proven()) continue;
        verdicts_[i] = all;
        if (all.proven() &&
            std::memcmp(host_.bytes().data() + i * sizeof expected_[i], &expected_[i], sizeof expected_[i]) != 0)
            verdicts_[i] = ProofVerdict::of(ProofCode::CopyReadsWrong, "a word of each rank's memory");
    }
    return verdicts_;
}

}  // namespace peercoll
