// SPDX-License-Identifier: BSD-3-Clause
// One rank that has run into a limit of its own: everybody gets the same answer, and nobody waits for ever.
#include "tests/faults/sandbox.hpp"
#include "tests/faults/small_job.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

namespace peercoll::test {
namespace {

// The rank it happens to, of three.
class Limits : public testing::TestWithParam<int> {
protected:
    static void run(const OptionList& options, const std::function<Refusal()>& limit) {
        run_ranks(3, [&](Rank& rank) {
            OptionList all = options;
            all.emplace_back("peer_check=1s");
            const Context context(all);
            const Comm comm(context, rank.exchange(0));
            if (rank.rank() == GetParam()) {
                ASSERT_EQ(limit(), "");
            }
            run_small_job_or_agree(rank, comm.get(), rank.exchange(1));
        });
    }
};

const OptionList kinds_of_segment[] = {{"segment=auto"}, {"segment=memfd"}, {"segment=shm"}};

TEST_P(Limits, OfDescriptors) {
    if (sanitized) {
        GTEST_SKIP() << "the sanitizer of undefined behaviour opens a pipe to look at an address";
    }
    for (const OptionList& options : kinds_of_segment) {
        SCOPED_TRACE(options[0]);
        run(options, &allow_no_more_descriptors);
    }
}

TEST_P(Limits, OfFileSize) {
    for (const OptionList& options : kinds_of_segment) {
        SCOPED_TRACE(options[0]);
        // The default action of the signal that comes with it would end the process.
        run(options, [] { return set_limit(RLIMIT_FSIZE, 8192); });
    }
}

TEST_P(Limits, OfMemory) {
    if (sanitized) {
        GTEST_SKIP() << "sanitizers map terabytes, which this limit does not allow";
    }
    for (const OptionList& options : kinds_of_segment) {
        SCOPED_TRACE(options[0]);
        run_ranks(3, [&](Rank& rank) {
            OptionList all = options;
            // Far more than the slack below, which is what the small allocations of a set-up may take.
            all.emplace_back("segment_size=64MiB");
            all.emplace_back("peer_check=1s");
            const Context context(all);
            const Comm comm(context, rank.exchange(0));
            if (rank.rank() == GetParam()) {
                ASSERT_EQ(allow_no_more_memory(24U << 20), "");
            }
            run_small_job_or_agree(rank, comm.get(), rank.exchange(1));
        });
    }
}

INSTANTIATE_TEST_SUITE_P(OnRank, Limits, testing::Values(0, 1, 2));

TEST(Environment, WithAnOptionThatDoesNotParseIsRefusedByItsName) {
    peercoll_option_info_t info{};
    info.struct_size = sizeof(info);
    for (std::size_t index = 0; plugin.option_info(index, &info) == PEERCOLL_SUCCESS; ++index) {
        const std::string name = info.name;
        if (name == "topology_file" || name == "device_runtimes") {
            continue;  // any text may be the name of a file
        }
        std::string variable = "PEERCOLL_" + name;
        for (char& c : variable) {
            c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        }
        run_ranks(1, [&](Rank&) {
            for (const char* value : {"no such value", "-1", "5 parsecs", "99999999999999999999999", "\xff\xfe"}) {
                setenv(variable.c_str(), value, 1);
                peercoll_context_t context = nullptr;
                EXPECT_TRUE(refused(plugin.context_create(nullptr, &context), PEERCOLL_ERR_INVALID_ARGUMENT, variable))
                    << value;
                EXPECT_EQ(context, nullptr);
            }
        });
    }
}

TEST(Environment, OfOneRankAloneDoesNotSplitTheRanks) {
    // What must be the same everywhere is decided once for all, whatever one rank's environment says.
    for (const char* setting :
         {"PEERCOLL_ALLREDUCE_ALGORITHM=staged", "PEERCOLL_ORDER=rank", "PEERCOLL_SINGLE_COPY=off",
          "PEERCOLL_SEGMENT=shm", "PEERCOLL_SEGMENT_SIZE=64KiB", "PEERCOLL_GROUPS=none",
          "PEERCOLL_BROADCAST_ALGORITHM=packets", "PEERCOLL_WAIT=sleep"}) {
        SCOPED_TRACE(setting);
        for (const int who : {0, 2}) {
            run_ranks(3, [&](Rank& rank) {
                if (rank.rank() == who) {
                    const std::string text = setting;
                    const std::size_t middle = text.find('=');
                    setenv(text.substr(0, middle).c_str(), text.substr(middle + 1).c_str(), 1);
                }
                const Context context({"peer_check=1s", "log=off"});
                const Comm comm(context, rank.exchange());
                run_small_job(rank, comm.get());
            });
        }
    }
}

TEST(Environment, WithATopologyFileThatIsNotThereIsRefusedOrServedAlike) {
    run_ranks(2, [](Rank& rank) {
        if (rank.rank() == 1) {
            setenv("PEERCOLL_TOPOLOGY_FILE", "/no/such/file.xml", 1);
        }
        peercoll_context_params_t params{};
        params.struct_size = sizeof(params);
        peercoll_context_t context = nullptr;
        const peercoll_status_t status = plugin.context_create(&params, &context);
        if (status != PEERCOLL_SUCCESS) {
            EXPECT_EQ(rank.rank(), 1);
            EXPECT_TRUE(refused(status, PEERCOLL_ERR_INVALID_ARGUMENT, "/no/such/file.xml"));
        } else {
            EXPECT_TRUE(succeeded(plugin.context_destroy(context)));
        }
    });
}

}  // namespace
}  // namespace peercoll::test
