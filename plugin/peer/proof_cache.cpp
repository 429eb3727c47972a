// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/peer/proof_cache.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace peercoll {

namespace {

const char* text_of(ProofCode code) {
    switch (code) {
        case ProofCode::Unknown:
            return "not tried";
        case ProofCode::Proven:
            return "proven by kernel stores and copies, both ways";
        case ProofCode::ProvenCopiesOnly:
            return "proven by copies, both ways; no kernels run on the device";
        case ProofCode::NotPrepared:
            return "there was nothing to try the path with";
        case ProofCode::NotExported:
            return "memory of the device could not be shared";
        case ProofCode::NotImported:
            return "the other process's memory could not be mapped";
        case ProofCode::TimedOut:
            return "copies through the mapping did not end in time";
        case ProofCode::Failed:
            return "the device reported an error";
        case ProofCode::KernelStoresLost:
            return "a kernel's stores did not arrive";
        case ProofCode::CopiesLost:
            return "copies did not arrive";
        case ProofCode::KernelLoadsWrong:
            return "a kernel's loads gave wrong data";
        case ProofCode::CopyReadsWrong:
            return "copies gave wrong data";
    }
    return "unknown";
}

template <typename Map, typename Key>
ProofVerdict find(const Map& map, const Key& key) {
    const auto found = map.find(key);
    return found != map.end() ? found->second : ProofVerdict{};
}

}  // namespace

ProofVerdict ProofVerdict::of(ProofCode code, std::string_view text) {
    ProofVerdict verdict;
    verdict.code = code;
    std::copy_n(text.begin(), std::min(text.size(), sizeof verdict.text - 1), verdict.text);
    return verdict;
}

std::string ProofVerdict::sentence() const {
    const std::string detail(text, std::find(text, text + sizeof text - 1, '\0'));
    return detail.empty() ? text_of(code) : fmt::format("{} ({})", text_of(code), detail);
}

std::uint64_t ProofCache::process_key(const ProcessIdentity& process) {
    std::uint64_t key = process.boot_id;
    for (const std::uint64_t word :
         {process.pid_namespace, process.start_time, static_cast<std::uint64_t>(process.pid)})
        key = (key ^ (key >> 29) ^ word) * 0x9e3779b97f4a7c15U;
    return key;
}

ProofCache::~ProofCache() {
    release_ended();
    // To free what a device still uses would wait for it; the end of the process does not.
    if (!kept_.empty()) static_cast<void>(std::make_unique<std::vector<Kept>>(std::move(kept_)).release());
}

ProofVerdict ProofCache::path(const PathKey& key) const {
    const std::lock_guard lock(mutex_);
    return find(paths_, key);
}

void ProofCache::learn(const PathKey& key, const ProofVerdict& verdict) {
    if (!verdict.lasting()) return;
    const std::lock_guard lock(mutex_);
    paths_.insert_or_assign(key, verdict);
}

ProofVerdict ProofCache::mapping(const MappingKey& key) const {
    const std::lock_guard lock(mutex_);
    return find(mappings_, key);
}

void ProofCache::learn(const MappingKey& key, const ProofVerdict& verdict) {
    if (!verdict.lasting()) return;
    const std::lock_guard lock(mutex_);
    mappings_.insert_or_assign(key, verdict);
}

std::uint64_t ProofCache::trials() const {
    const std::lock_guard lock(mutex_);
    return trials_;
}

void ProofCache::count_trials(std::uint64_t n) {
    const std::lock_guard lock(mutex_);
    trials_ += n;
}

void ProofCache::keep_until(std::function<bool()> ended, std::function<void()> release) {
    const std::lock_guard lock(mutex_);
    kept_.push_back({std::move(ended), std::move(release)});
}

void ProofCache::release_ended() {
    std::vector<Kept> ended;
    {
        const std::lock_guard lock(mutex_);
        const auto still = std::partition(kept_.begin(), kept_.end(), [](const Kept& one) { return !one.ended(); });
        ended.assign(std::make_move_iterator(still), std::make_move_iterator(kept_.end()));
        kept_.erase(still, kept_.end());
    }
    for (const Kept& one : ended) one.release();
}

std::size_t ProofCache::kept() const {
    const std::lock_guard lock(mutex_);
    return kept_.size();
}

}  // namespace peercoll
