// SPDX-License-Identifier: BSD-3-Clause
// What a process remembers of its proofs, and the pattern they write.
#include "plugin/peer/proof_cache.hpp"

#include "plugin/peer/proof_pattern.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace peercoll {
namespace {

ProofCache::PathKey path(std::uint8_t from, std::uint8_t to) {
    ProofCache::PathKey key{1, "fake", {}, {}, true};
    key.from.fill(from);
    key.to.fill(to);
    return key;
}

TEST(ProofCache, KnowsWhatItHasLearnedOfEachOrderedPair) {
    ProofCache cache;
    cache.learn(path(1, 2), ProofVerdict::of(ProofCode::KernelStoresLost, "all"));
    EXPECT_EQ(cache.path(path(1, 2)).code, ProofCode::KernelStoresLost);
    EXPECT_EQ(cache.path(path(1, 2)).sentence(), "a kernel's stores did not arrive (all)");
    EXPECT_EQ(cache.path(path(2, 1)).code, ProofCode::Unknown);
    ProofCache::PathKey within = path(1, 2);
    within.across_processes = false;
    EXPECT_EQ(cache.path(within).code, ProofCode::Unknown);
}

TEST(ProofCache, LearnsNothingFromATrialThatCouldNotBeMade) {
    ProofCache cache;
    cache.learn(path(1, 2), ProofVerdict::of(ProofCode::NotPrepared));
    EXPECT_EQ(cache.path(path(1, 2)).code, ProofCode::Unknown);
    cache.learn(path(1, 2), ProofVerdict::of(ProofCode::Proven));
    cache.learn(path(1, 2), ProofVerdict::of(ProofCode::NotPrepared));
    EXPECT_TRUE(cache.path(path(1, 2)).proven());
}

TEST(ProofCache, TellsProcessesWithOnePidApart) {
    ProcessIdentity process;
    process.pid = 7;
    ProcessIdentity later = process;
    later.start_time = 1;
    ProcessIdentity elsewhere = process;
    elsewhere.pid_namespace = 1;
    EXPECT_NE(ProofCache::process_key(process), ProofCache::process_key(later));
    EXPECT_NE(ProofCache::process_key(process), ProofCache::process_key(elsewhere));
    EXPECT_EQ(ProofCache::process_key(process), ProofCache::process_key(process));
}

TEST(ProofCache, KeepsThingsUntilTheirWorkHasEnded) {
    ProofCache cache;
    bool first_ended = false;
    int released = 0;
    cache.keep_until([&] { return first_ended; }, [&] { ++released; });
    cache.keep_until([] { return false; }, [] { FAIL() << "it has not ended"; });
    cache.release_ended();
    EXPECT_EQ(released, 0);
    first_ended = true;
    cache.release_ended();
    EXPECT_EQ(released, 1);
    EXPECT_EQ(cache.kept(), 1U);
}

TEST(ProofVerdict, CutsLongTextsAndAlwaysEndsThem) {
    const ProofVerdict verdict = ProofVerdict::of(ProofCode::Failed, std::string(1000, 'x'));
    EXPECT_EQ(verdict.sentence(), "the device reported an error (" + std::string(126, 'x') + ")");
}

TEST(ProofPattern, ReadsAsItWasFilledAndCountsWhatDiffers) {
    std::vector<std::byte> bytes(10'000);
    proof::fill(bytes, 42);
    EXPECT_EQ(proof::differing(bytes, 42), 0U);
    bytes[5000] ^= std::byte{1};
    bytes[9999] ^= std::byte{128};
    EXPECT_EQ(proof::differing(bytes, 42), 2U);
    EXPECT_GT(proof::differing(bytes, 43), 9900U);
}

TEST(ProofPattern, WhatLiesThereBeforeIsWrongInEveryByte) {
    std::vector<std::byte> bytes(10'001);
    proof::fill_wrong(bytes, 42);
    EXPECT_EQ(proof::differing(bytes, 42), bytes.size());
}

TEST(ProofPattern, OfEveryRegionIsAnother) {
    std::vector<std::byte> bytes(4096);
    for (std::size_t trial = 0; trial < 3; ++trial)
        for (std::size_t region = 0; region < proof::regions.size(); ++region) {
            proof::fill(bytes, proof::region_seed(99, trial, region));
            EXPECT_GT(proof::differing(bytes, proof::region_seed(99, trial, (region + 1) % proof::regions.size())),
                      4000U);
            EXPECT_GT(proof::differing(bytes, proof::region_seed(99, trial + 1, region)), 4000U);
        }
}

TEST(ProofPattern, RegionsDoNotOverlap) {
    std::vector<int> touched(proof::executor_bytes);
    for (const proof::Region& region : proof::regions) {
        for (std::size_t i = 0; i < region.bytes; ++i) ++touched[region.offset + i];
        if (region.use == proof::Use::Reads)
            for (std::size_t i = 0; i < region.bytes; ++i) ++touched[region.copied + i];
    }
    EXPECT_EQ(touched, std::vector<int>(proof::executor_bytes, 1));
}

}  // namespace
}  // namespace peercoll
