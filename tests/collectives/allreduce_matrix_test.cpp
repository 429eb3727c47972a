// SPDX-License-Identifier: BSD-3-Clause
// Every type, operation, number of ranks, size around a threshold, in place and not, with every algorithm forced,
// against exact arithmetic. The ranks are forked once for each number of ranks and algorithm and run through all cases.
#include "collectives/algorithms.hpp"
#include "tests/collectives/algorithm_rules.hpp"
#include "tests/collectives/allreduce_runner.hpp"
#include "tests/collectives/message_sizes.hpp"
#include "tests/collectives/reference.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace peercoll::test {
namespace {

constexpr std::size_t margin =
    64;  // elements by which the window moves over a case, so that buffers differ from call to call

std::vector<ReductionCase> every_type_and_operation(int ranks) {
    std::vector<ReductionCase> cases;
    for (peercoll_datatype_t datatype = 1; datatype < PEERCOLL_DATATYPE_END; ++datatype) {
        for (peercoll_op_t op = 1; op < PEERCOLL_OP_END; ++op) {
            const std::size_t bytes = plugin.datatype_size(datatype);
            // Sanitized builds are slow: they still pass every type and every operation, but not every pair.
            const bool left_out = sanitized && (datatype + op) % 4 != 0;
            if (bytes > 0 && mpi_defines(op, datatype) && !left_out) {
                cases.push_back(make_exact_case(datatype, op, ranks, small_counts(bytes).back() + margin, 7));
            }
        }
    }
    return cases;
}

std::vector<ReductionCase> types_for_large_messages(int ranks, std::size_t most = SIZE_MAX) {
    const std::vector<std::pair<peercoll_datatype_t, peercoll_op_t>> chosen{
        {PEERCOLL_FLOAT32, PEERCOLL_SUM},
        {PEERCOLL_FLOAT64, PEERCOLL_MAX},
        {PEERCOLL_INT8, PEERCOLL_PROD},
        {PEERCOLL_BFLOAT16, PEERCOLL_SUM},
        {PEERCOLL_COMPLEX_FLOAT80, PEERCOLL_PROD},
        {PEERCOLL_PAIR_FLOAT64_INT32, PEERCOLL_MINLOC},
        {PEERCOLL_UINT64, PEERCOLL_REPLACE}};
    std::vector<ReductionCase> cases;
    for (const auto& [datatype, op] : chosen) {
        if (cases.size() == most) {
            break;
        }
        if (sanitized && datatype != PEERCOLL_FLOAT32 && datatype != PEERCOLL_UINT64) {
            continue;
        }
        cases.push_back(
            make_exact_case(datatype, op, ranks, large_counts(plugin.datatype_size(datatype)).back() + margin, 11));
    }
    return cases;
}

class AllreduceMatrix : public testing::TestWithParam<std::tuple<int, std::string>> {
protected:
    int ranks() const { return std::get<0>(GetParam()); }
    std::string algorithm() const { return std::get<1>(GetParam()); }

    void run(const std::vector<ReductionCase>& cases, std::vector<std::size_t> (*counts_of)(std::size_t),
             const OptionList& more_options = {}) {
        const bool single_copy = machine_allows_single_copy();
        GroupRules rules;
        rules.deadline = std::chrono::seconds(120) * patience;
        run_ranks(
            ranks(), [&](Rank& rank) { run_rank(rank, cases, counts_of, more_options, single_copy); }, rules);
    }

private:
    void run_rank(Rank& rank, const std::vector<ReductionCase>& cases,
                  std::vector<std::size_t> (*counts_of)(std::size_t), const OptionList& more_options,
                  bool single_copy) const {
        // A failed rank ends early; the others shall notice soon. Whatever cores these ranks may use: one group.
        OptionList options{"allreduce_algorithm=" + algorithm(), "groups=none", "peer_check=1s"};
        options.insert(options.end(), more_options.begin(), more_options.end());
        const Context context(options);
        const Comm comm(context, rank.exchange());
        AllreduceRunner runner(rank.rank(), comm.get(), largest_message + 64 * margin);
        std::uint64_t must_have_run = 0;
        for (const ReductionCase& wanted : cases) {
            for (const std::size_t count : counts_of(wanted.element_bytes)) {
                for (const bool in_place : {false, true}) {
                    if (!runner.run(wanted, runner.calls() * 7 % margin, count, in_place, Compare::Values)) {
                        return;
                    }
                    const bool forced = count > 0 && rank.size() > 1 &&
                                        must_run_if_forced(algorithm(), count * wanted.element_bytes, 1, single_copy);
                    must_have_run += forced ? 1 : 0;
                }
            }
        }
        EXPECT_EQ(context.counter("allreduce.served"), runner.calls());
        if (algorithm() == "packets" || algorithm() == "grouped") {
            EXPECT_EQ(context.counter("allreduce.algorithm." + algorithm()), must_have_run);
        } else {
            // Others may be what a forced algorithm falls to, but never run less than they must.
            EXPECT_GE(context.counter("allreduce.algorithm." + algorithm()), must_have_run);
        }
    }
};

TEST_P(AllreduceMatrix, EveryTypeAndOperationAtEverySmallSize) {
    run(every_type_and_operation(ranks()), &small_counts);
}

TEST_P(AllreduceMatrix, LargeMessages) {
    run(types_for_large_messages(ranks()), &large_counts);
}

TEST_P(AllreduceMatrix, LargeMessagesThroughTheSmallestSegment) {
    run(types_for_large_messages(ranks(), 3), &large_counts, {"segment_size=64KiB"});
}

std::string name_of(const testing::TestParamInfo<std::tuple<int, std::string>>& info) {
    return std::get<1>(info.param) + "_" + std::to_string(std::get<0>(info.param)) + "_ranks";
}

INSTANTIATE_TEST_SUITE_P(All, AllreduceMatrix,
                         testing::Combine(testing::ValuesIn(sanitized ? std::vector<int>{1, 2, 5}
                                                                      : std::vector<int>{1, 2, 3, 4, 5, 8}),
                                          testing::ValuesIn(std::vector<std::string>(allreduce_algorithm_names.begin(),
                                                                                     allreduce_algorithm_names.end()))),
                         name_of);

TEST(AllreduceOperations, AreThoseThatMpiDefines) {
    for (peercoll_datatype_t datatype = 1; datatype < PEERCOLL_DATATYPE_END; ++datatype) {
        for (peercoll_op_t op = 1; op < PEERCOLL_OP_END; ++op) {
            if (plugin.datatype_size(datatype) > 0) {
                EXPECT_EQ(plugin.op_supports(op, datatype) != 0, mpi_defines(op, datatype))
                    << plugin.op_name(op) << " of " << plugin.datatype_name(datatype);
            }
        }
    }
}

}  // namespace
}  // namespace peercoll::test
