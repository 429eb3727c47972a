// SPDX-License-Identifier: BSD-3-Clause
// Collectives, through the C interface, of processes whose option device_runtimes names what cannot be used, and the
// least that can: a runtime with only the functions that every runtime must have.
#include "tests/support/plugin.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

std::string foreign(const std::string& name) {
    return FOREIGN_RUNTIMES + name + ".so";
}

TEST(ForeignRuntimes, ThatCannotBeUsedDoNotDisturbHostMemory) {
    run_ranks(2, [](Rank& rank) {
        const Context context({"device_runtimes=" + foreign("missing") + ":" + foreign("no_symbol") + ":" +
                               foreign("other_version") + ":" + foreign("incomplete")});
        const Comm comm(context, rank.exchange());
        const std::int64_t mine = 1000 + rank.rank();
        std::int64_t sum = 0;
        EXPECT_TRUE(succeeded(plugin.allreduce(&mine, &sum, 1, PEERCOLL_INT64, PEERCOLL_SUM, comm.get())));
        EXPECT_EQ(sum, 1000 + 1001);
        EXPECT_EQ(plugin.memory_is_device(context.get(), &sum), 0);
    });
}

TEST(ForeignRuntimes, ThatCannotBeUsedAreNamedToTheUser) {
    run_ranks(1, [](Rank&) {
        testing::internal::CaptureStderr();
        { const Context context({"device_runtimes=" + foreign("missing") + ":" + foreign("other_version")}); }
        const std::string said = testing::internal::GetCapturedStderr();
        EXPECT_THAT(said, testing::HasSubstr(foreign("missing")));
        EXPECT_THAT(said, testing::HasSubstr("has version 2 of the device interface, expected 1"));
    });
}

// Rank r has its buffers on device r % 2, so ranks 0 and 2 have them on the same one.
TEST(ForeignRuntimes, WithTheLeastThatARuntimeMustHaveAreServed) {
    run_ranks(3, [](Rank& rank) {
        const Context context({"device_runtimes=" + foreign("least")});
        void* const library = ::dlopen(foreign("least").c_str(), RTLD_NOW | RTLD_NOLOAD);
        ASSERT_NE(library, nullptr) << "the context has loaded it";
        constexpr std::size_t device_bytes = std::size_t{1} << 20U;
        constexpr std::size_t count = 30'000;
        char* const memory = static_cast<char*>(::dlsym(library, "least_memory")) + rank.rank() % 2 * device_bytes;
        auto* const input = reinterpret_cast<std::int32_t*>(memory);
        auto* const output = input + count;
        ASSERT_EQ(plugin.memory_is_device(context.get(), input), 1);
        const Comm comm(context, rank.exchange());
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(count); ++i) input[i] = i * (rank.rank() + 1);
        ASSERT_TRUE(succeeded(plugin.allreduce(input, output, count, PEERCOLL_INT32, PEERCOLL_SUM, comm.get())));
        std::size_t wrong = 0;
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(count); ++i) wrong += output[i] != i * (1 + 2 + 3);
        EXPECT_EQ(wrong, 0U);
        ASSERT_TRUE(succeeded(plugin.broadcast(input, count * sizeof *input, 2, comm.get())));
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(count); ++i) wrong += input[i] != i * 3;
        EXPECT_EQ(wrong, 0U);
        ::dlclose(library);
    });
}

}  // namespace
}  // namespace peercoll::test
