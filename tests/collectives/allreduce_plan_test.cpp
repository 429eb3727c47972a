// SPDX-License-Identifier: BSD-3-Clause
// The same bits on all ranks and from every algorithm, for data whose sum and product depend on the association: each
// rank compares with the documented plan, which the test evaluates itself.
#include "collectives/algorithms.hpp"
#include "tests/collectives/algorithm_rules.hpp"
#include "tests/collectives/allreduce_runner.hpp"
#include "tests/collectives/message_sizes.hpp"
#include "tests/collectives/processor_groups.hpp"
#include "tests/collectives/reference.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

using Blocks = std::vector<std::vector<int>>;

constexpr std::size_t margin = 16;

Blocks one_block(int ranks) {
    Blocks blocks(1);
    for (int rank = 0; rank < ranks; ++rank) {
        blocks[0].push_back(rank);
    }
    return blocks;
}

// Rank to group 0 or 1; group 0 has rank 0.
using Placement = std::vector<int>;

Blocks blocks_of(const Placement& placement) {
    Blocks blocks(2);
    for (std::size_t rank = 0; rank < placement.size(); ++rank) {
        blocks[static_cast<std::size_t>(placement[rank])].push_back(static_cast<int>(rank));
    }
    return blocks;
}

std::vector<ReductionCase> rounding_cases(const Blocks& blocks) {
    std::vector<ReductionCase> cases;
    for (const peercoll_datatype_t datatype : {PEERCOLL_FLOAT16, PEERCOLL_BFLOAT16, PEERCOLL_FLOAT32, PEERCOLL_FLOAT64,
                                               PEERCOLL_FLOAT80, PEERCOLL_COMPLEX_FLOAT32, PEERCOLL_COMPLEX_FLOAT64}) {
        for (const peercoll_op_t op : {PEERCOLL_SUM, PEERCOLL_PROD}) {
            const std::size_t largest = small_counts(plugin.datatype_size(datatype)).back();
            cases.push_back(make_rounding_case(datatype, op, blocks, largest + margin, 23));
        }
    }
    return cases;
}

std::vector<ReductionCase> large_rounding_cases(const Blocks& blocks) {
    std::vector<ReductionCase> cases;
    for (const peercoll_datatype_t datatype : {PEERCOLL_FLOAT32, PEERCOLL_FLOAT16, PEERCOLL_COMPLEX_FLOAT64}) {
        const std::size_t largest = large_counts(plugin.datatype_size(datatype)).back();
        if (!sanitized || datatype == PEERCOLL_FLOAT16) {
            cases.push_back(make_rounding_case(datatype, PEERCOLL_SUM, blocks, largest + margin, 29));
        }
    }
    return cases;
}

// Runs all cases with one communicator; every algorithm has to give the bits of `cases`.
void check_bits(Rank& rank, const OptionList& options, const std::vector<ReductionCase>& cases,
                std::vector<std::size_t> (*counts_of)(std::size_t), std::size_t groups, bool single_copy) {
    for (const std::string_view algorithm : allreduce_algorithm_names) {
        OptionList all = options;
        all.push_back("allreduce_algorithm=" + std::string(algorithm));
        all.emplace_back("peer_check=1s");
        const Context context(all);
        const Comm comm(context, rank.exchange());
        AllreduceRunner runner(rank.rank(), comm.get(), largest_message + 64 * margin);
        std::uint64_t must_have_run = 0;
        for (const ReductionCase& wanted : cases) {
            for (const std::size_t count : counts_of(wanted.element_bytes)) {
                SCOPED_TRACE("algorithm " + std::string(algorithm));
                const bool in_place = runner.calls() % 2 == 1;
                if (!runner.run(wanted, runner.calls() % margin, count, in_place, Compare::Bits)) {
                    return;
                }
                const std::size_t bytes = count * wanted.element_bytes;
                must_have_run +=
                    count > 0 && must_run_if_forced(std::string(algorithm), bytes, groups, single_copy) ? 1 : 0;
            }
        }
        EXPECT_GE(context.counter("allreduce.algorithm." + std::string(algorithm)), must_have_run) << algorithm;
    }
}

class AllreducePlan : public testing::TestWithParam<int> {
protected:
    int ranks() const { return GetParam(); }

    // Half of the ranks in each group, or every other one.
    Placement halves() const {
        Placement placement;
        for (int rank = 0; rank < ranks(); ++rank) {
            placement.push_back(rank < (ranks() + 1) / 2 ? 0 : 1);
        }
        return placement;
    }
    Placement alternating() const {
        Placement placement;
        for (int rank = 0; rank < ranks(); ++rank) {
            placement.push_back(rank % 2);
        }
        return placement;
    }

    void run_placed(const Placement& placement, const OptionList& options, const std::vector<ReductionCase>& cases,
                    std::vector<std::size_t> (*counts_of)(std::size_t), std::size_t groups) {
        const auto processors = ProcessorGroups::make();
        if (!processors) {
            GTEST_SKIP() << "this process may use one processor only, so there are no two groups";
        }
        const bool single_copy = machine_allows_single_copy();
        run_ranks(ranks(), [&](Rank& rank) {
            processors->bind_to(placement[static_cast<std::size_t>(rank.rank())]);
            OptionList all = options;
            all.push_back("topology_file=" + processors->topology_file());
            check_bits(rank, all, cases, counts_of, groups, single_copy);
        });
    }
};

TEST_P(AllreducePlan, IsTheFoldInRankOrderWhereThereIsOneGroup) {
    const auto cases = rounding_cases(one_block(ranks()));
    const bool single_copy = machine_allows_single_copy();
    run_ranks(ranks(), [&](Rank& rank) { check_bits(rank, {"groups=none"}, cases, &small_counts, 1, single_copy); });
}

TEST_P(AllreducePlan, IsTheSameForLargeMessages) {
    const auto cases = large_rounding_cases(one_block(ranks()));
    const bool single_copy = machine_allows_single_copy();
    run_ranks(ranks(), [&](Rank& rank) { check_bits(rank, {"groups=none"}, cases, &large_counts, 1, single_copy); });
}

TEST_P(AllreducePlan, FoldsEachCacheGroupAndThenTheGroups) {
    run_placed(halves(), {"groups=cache"}, rounding_cases(blocks_of(halves())), &small_counts, 2);
}

TEST_P(AllreducePlan, FoldsEachCacheGroupAndThenTheGroupsForLargeMessages) {
    run_placed(halves(), {"groups=cache"}, large_rounding_cases(blocks_of(halves())), &large_counts, 2);
}

TEST_P(AllreducePlan, FoldsGroupsWhoseRanksAlternate) {
    run_placed(alternating(), {"groups=cache"}, rounding_cases(blocks_of(alternating())), &small_counts, 2);
}

TEST_P(AllreducePlan, IsRankOrderOnRequestHoweverRanksAreGrouped) {
    run_placed(alternating(), {"groups=cache", "order=rank"}, rounding_cases(one_block(ranks())), &small_counts, 1);
}

TEST_P(AllreducePlan, KeepsRankOrderForOperationsThatDoNotCommute) {
    std::vector<ReductionCase> cases;
    for (const peercoll_op_t op : {PEERCOLL_REPLACE, PEERCOLL_NO_OP}) {
        cases.push_back(make_exact_case(PEERCOLL_INT32, op, ranks(), small_counts(4).back() + margin, 31));
    }
    run_placed(alternating(), {"groups=cache"}, cases, &small_counts, 1);
}

INSTANTIATE_TEST_SUITE_P(Ranks, AllreducePlan,
                         testing::ValuesIn(sanitized ? std::vector<int>{3, 5} : std::vector<int>{3, 4, 5, 8}));

}  // namespace
}  // namespace peercoll::test
