// SPDX-License-Identifier: BSD-3-Clause
// The question that a caller asks once for a call with many buffers, through the C interface: each test in a process of
// its own, which loads the simulated driver at a time of its own.
#include "tests/support/plugin.hpp"

#include <dlfcn.h>

namespace peercoll::test {
namespace {

void load_driver() {
    EXPECT_NE(::dlopen("libcuda.so.1", RTLD_NOW), nullptr) << ::dlerror();
}

TEST(DevicesInUse, AreNoneWithoutAContextOrWithoutARuntime) {
    run_ranks(1, [](Rank&) {
        EXPECT_EQ(plugin.devices_in_use(nullptr), 0);
        const Context context;
        EXPECT_EQ(plugin.devices_in_use(context.get()), 0);
    });
}

TEST(DevicesInUse, AreSeenWheneverTheProcessLoadsTheRuntime) {
    run_ranks(1, [](Rank&) {
        const Context older;
        ASSERT_EQ(plugin.devices_in_use(older.get()), 0);
        load_driver();
        EXPECT_EQ(plugin.devices_in_use(older.get()), 1) << "the context was there before the runtime";
        const Context younger;
        EXPECT_EQ(plugin.devices_in_use(younger.get()), 1);
        int on_host = 0;
        EXPECT_EQ(plugin.memory_is_device(younger.get(), &on_host), 0) << "host memory stays host memory";
    });
}

TEST(DevicesInUse, AreNotLookedForWhereTheUserHasSwitchedThemOff) {
    run_ranks(1, [](Rank&) {
        load_driver();
        const Context context({"devices=off"});
        EXPECT_EQ(plugin.devices_in_use(context.get()), 0);
    });
}

}  // namespace
}  // namespace peercoll::test
