// SPDX-License-Identifier: BSD-3-Clause
// Bad arguments get a status, a sentence, and leave no trace; old callers with smaller parameter structs are served.
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

constexpr auto invalid = PEERCOLL_ERR_INVALID_ARGUMENT;

TEST(Arguments, PluginTellsItsVersionSizeAndName) {
    EXPECT_EQ(plugin.abi_version, PEERCOLL_ABI_VERSION);
    EXPECT_EQ(plugin.struct_size, sizeof(peercoll_plugin_t));
    EXPECT_STREQ(plugin.name, "peercoll");
    EXPECT_TRUE(PEERCOLL_HAS(&plugin, describe_comm));
    int major = -1;
    int minor = -1;
    int patch = -1;
    EXPECT_EQ(std::sscanf(plugin.version(), "%d.%d.%d", &major, &minor, &patch), 3) << plugin.version();
}

TEST(Arguments, EveryStatusHasAName) {
    std::set<std::string> names;
    for (peercoll_status_t status = 0; status >= PEERCOLL_ERR_INTERNAL; --status) {
        names.insert(plugin.status_name(status));
    }
    EXPECT_EQ(names.size(), 10U);
    EXPECT_EQ(names.count("PEERCOLL_ERR_PEER_LOST"), 1U);
    EXPECT_STREQ(plugin.status_name(-100), "unknown status");
    EXPECT_STREQ(plugin.status_name(1), "unknown status");
}

TEST(Arguments, ValuesThatAreNoDatatypeOrOperationHaveNoNameAndNoSize) {
    for (const peercoll_datatype_t value :
         {-1, 0, static_cast<int>(PEERCOLL_DATATYPE_END), 1000, INT32_MIN, INT32_MAX}) {
        EXPECT_EQ(plugin.datatype_size(value), 0U) << value;
        EXPECT_EQ(plugin.datatype_name(value), nullptr) << value;
        EXPECT_EQ(plugin.op_supports(PEERCOLL_SUM, value), 0) << value;
    }
    for (const peercoll_op_t value : {-1, 0, static_cast<int>(PEERCOLL_OP_END), 1000, INT32_MIN, INT32_MAX}) {
        EXPECT_EQ(plugin.op_name(value), nullptr) << value;
        EXPECT_EQ(plugin.op_supports(value, PEERCOLL_INT32), 0) << value;
    }
}

// The refused calls of one rank must not disturb the communicator: it goes on with the others right after.
class ArgumentsOfCollectives : public testing::TestWithParam<int> {};

TEST_P(ArgumentsOfCollectives, AreRefusedWithASentenceAndWithoutATrace) {
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context({"peer_check=1s"});
        const Comm comm(context, rank.exchange());
        std::array<std::int32_t, 8> in{};
        std::array<std::int32_t, 8> out{};
        out.fill(-7);
        const auto allreduce = [&](const void* from, void* to, std::size_t count, peercoll_datatype_t datatype,
                                   peercoll_op_t op, peercoll_comm_t on) {
            EXPECT_TRUE(refused(plugin.allreduce(from, to, count, datatype, op, on), invalid));
            peercoll_request_t request = nullptr;
            EXPECT_TRUE(refused(plugin.allreduce_start(from, to, count, datatype, op, on, &request), invalid));
            EXPECT_TRUE(refused(plugin.allreduce_init(from, to, count, datatype, op, on, &request), invalid));
            EXPECT_EQ(request, nullptr);
        };
        const auto broadcast = [&](void* buffer, std::size_t bytes, std::int32_t root, peercoll_comm_t on) {
            EXPECT_TRUE(refused(plugin.broadcast(buffer, bytes, root, on), invalid));
            peercoll_request_t request = nullptr;
            EXPECT_TRUE(refused(plugin.broadcast_start(buffer, bytes, root, on, &request), invalid));
            EXPECT_TRUE(refused(plugin.broadcast_init(buffer, bytes, root, on, &request), invalid));
            EXPECT_EQ(request, nullptr);
        };
        for (int round = 0; round < 2; ++round) {  // before the first collective, and after it
            SCOPED_TRACE(round);
            allreduce(in.data(), out.data(), 8, PEERCOLL_INT32, PEERCOLL_SUM, nullptr);
            allreduce(nullptr, out.data(), 8, PEERCOLL_INT32, PEERCOLL_SUM, comm.get());
            allreduce(in.data(), nullptr, 8, PEERCOLL_INT32, PEERCOLL_SUM, comm.get());
            allreduce(in.data(), out.data(), 8, 99, PEERCOLL_SUM, comm.get());
            allreduce(in.data(), out.data(), 8, PEERCOLL_INT32, 99, comm.get());
            allreduce(in.data(), out.data(), 8, PEERCOLL_FLOAT32, PEERCOLL_BAND, comm.get());
            allreduce(in.data(), out.data(), SIZE_MAX / 2, PEERCOLL_INT32, PEERCOLL_SUM, comm.get());
            allreduce(out.data() + 1, out.data(), 4, PEERCOLL_INT32, PEERCOLL_SUM, comm.get());  // overlap
            broadcast(out.data(), 8, 0, nullptr);
            broadcast(nullptr, 8, 0, comm.get());
            broadcast(out.data(), 8, -1, comm.get());
            broadcast(out.data(), 8, rank.size(), comm.get());
            EXPECT_TRUE(refused(
                plugin.allreduce_start(in.data(), out.data(), 8, PEERCOLL_INT32, PEERCOLL_SUM, comm.get(), nullptr),
                invalid));
            for (const std::int32_t value : out) {
                EXPECT_EQ(value, -7) << "a refused call wrote";
            }
            std::int32_t one = 1;
            ASSERT_TRUE(succeeded(plugin.allreduce(&one, &one, 1, PEERCOLL_INT32, PEERCOLL_SUM, comm.get())));
            EXPECT_EQ(one, rank.size());
        }
        EXPECT_EQ(context.counter("allreduce.served"), 2U);
        EXPECT_EQ(context.counter("broadcast.served"), 0U);
    });
}

TEST_P(ArgumentsOfCollectives, MayHaveNoBuffersWhereThereIsNothingToMove) {
    run_ranks(GetParam(), [](Rank& rank) {
        const Context context({"peer_check=1s"});
        const Comm comm(context, rank.exchange());
        EXPECT_TRUE(succeeded(plugin.allreduce(nullptr, nullptr, 0, PEERCOLL_FLOAT64, PEERCOLL_MAX, comm.get())));
        EXPECT_TRUE(succeeded(plugin.broadcast(nullptr, 0, rank.size() - 1, comm.get())));
    });
}

INSTANTIATE_TEST_SUITE_P(Ranks, ArgumentsOfCollectives, testing::Values(1, 2, 3));

TEST(Arguments, OfCommunicatorsAreChecked) {
    run_ranks(1, [](Rank& rank) {
        const Context context;
        Exchange exchange = rank.exchange();
        const auto refuses = [&](auto change) {
            peercoll_comm_params_t params = comm_params(exchange);
            change(params);
            peercoll_comm_t comm = nullptr;
            EXPECT_TRUE(refused(plugin.comm_create(context.get(), &params, &comm), invalid));
            EXPECT_EQ(comm, nullptr);
        };
        refuses([](auto& params) { params.size = 0; });
        refuses([](auto& params) { params.size = -4; });
        refuses([](auto& params) { params.rank = -1; });
        refuses([](auto& params) { params.rank = params.size; });
        refuses([](auto& params) { params.struct_size = 0; });
        refuses([](auto& params) { params.struct_size = 4; });
        refuses([](auto& params) {
            params.size = 2;
            params.allgather = nullptr;
        });
        peercoll_comm_t comm = nullptr;
        const peercoll_comm_params_t params = comm_params(exchange);
        EXPECT_TRUE(refused(plugin.comm_create(nullptr, &params, &comm), invalid));
        EXPECT_TRUE(refused(plugin.comm_create(context.get(), nullptr, &comm), invalid));
        EXPECT_TRUE(refused(plugin.comm_create(context.get(), &params, nullptr), invalid));
        EXPECT_TRUE(succeeded(plugin.comm_destroy(nullptr)));
        EXPECT_TRUE(succeeded(plugin.context_destroy(nullptr)));
        EXPECT_TRUE(refused(plugin.context_create(nullptr, nullptr), invalid));
        EXPECT_TRUE(refused(plugin.request_start(nullptr), invalid));
        EXPECT_TRUE(refused(plugin.request_test(nullptr, nullptr), invalid));
    });
}

TEST(Arguments, OfOldCallersWithShorterStructsAreTaken) {
    run_ranks(2, [](Rank& rank) {
        // What lies behind the old caller's struct is not its, and must not be read: rubbish.
        peercoll_context_params_t context_params;
        std::memset(&context_params, 0xEE, sizeof(context_params));
        context_params.struct_size = offsetof(peercoll_context_params_t, options_origin);
        context_params.options = nullptr;
        peercoll_context_t context = nullptr;
        ASSERT_TRUE(succeeded(plugin.context_create(&context_params, &context)));

        Exchange exchange = rank.exchange();
        peercoll_comm_params_t params = comm_params(exchange);
        std::memset(&params.label, 0xEE, sizeof(params.label));
        params.struct_size = offsetof(peercoll_comm_params_t, label);
        peercoll_comm_t comm = nullptr;
        ASSERT_TRUE(succeeded(plugin.comm_create(context, &params, &comm)));
        std::int32_t one = 1;
        EXPECT_TRUE(succeeded(plugin.allreduce(&one, &one, 1, PEERCOLL_INT32, PEERCOLL_SUM, comm)));
        EXPECT_EQ(one, 2);
        EXPECT_TRUE(succeeded(plugin.comm_destroy(comm)));

        // A newer caller's struct is longer than the library knows.
        struct {
            peercoll_comm_params_t known;
            void* unknown;
        } longer{comm_params(exchange), nullptr};
        longer.known.struct_size = sizeof(longer);
        ASSERT_TRUE(succeeded(plugin.comm_create(context, &longer.known, &comm)));
        EXPECT_TRUE(succeeded(plugin.allreduce(&one, &one, 1, PEERCOLL_INT32, PEERCOLL_SUM, comm)));
        EXPECT_EQ(one, 4);
        EXPECT_TRUE(succeeded(plugin.comm_destroy(comm)));
        EXPECT_TRUE(succeeded(plugin.context_destroy(context)));
    });
}

}  // namespace
}  // namespace peercoll::test
