// SPDX-License-Identifier: BSD-3-Clause
// The question that a caller asks once for a call with many buffers, through the C interface: each test in a process of
// its own, which loads the simulated driver at a time of its own.
#include "tests/support/plugin.hpp"

#include <dlfcn.h>

namespace peercoll::test {
namespace {

void* load_driver() {
    void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW);
    EXPECT_NE(driver, nullptr) << ::dlerror();
    return driver;
}

void start(void* driver) {
    EXPECT_EQ(reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit"))(0), 0);
}

TEST(DevicesInUse, AreNoneWithoutAContextOrWithoutARuntime) {
    run_ranks(1, [](Rank&) {
        EXPECT_EQ(plugin.devices_in_use(nullptr), 0);
        const Context context;
        EXPECT_EQ(plugin.devices_in_use(context.get()), 0);
    });
}

TEST(DevicesInUse, AreSeenWheneverTheProcessStartsTheRuntime) {
    run_ranks(1, [](Rank&) {
        const Context older;
        ASSERT_EQ(plugin.devices_in_use(older.get()), 0);
        void* const driver = load_driver();
        ASSERT_EQ(plugin.devices_in_use(older.get()), 0) << "loaded, and not started";
        start(driver);
        EXPECT_EQ(plugin.devices_in_use(older.get()), 1) << "the context was there before the runtime";
        const Context younger;
        EXPECT_EQ(plugin.devices_in_use(younger.get()), 1);
        int on_host = 0;
        EXPECT_EQ(plugin.memory_is_device(younger.get(), &on_host), 0) << "host memory stays host memory";
    });
}

TEST(DevicesInUse, AreNotLookedForWhereTheUserHasSwitchedThemOff) {
    run_ranks(1, [](Rank&) {
        start(load_driver());
        const Context context({"devices=off"});
        EXPECT_EQ(plugin.devices_in_use(context.get()), 0);
    });
}

}  // namespace
}  // namespace peercoll::test
