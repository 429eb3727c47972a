// SPDX-License-Identifier: BSD-3-Clause
// What is chosen by the runtime's version and the device's architecture: tables.
#include "plugin/device/hip/versions.hpp"
#include "plugin/device/hip/hiprtc_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace peercoll::hip {
namespace {

using testing::ElementsAre;

constexpr Version debian_5{50221153};
constexpr Version last_5{50731921};
constexpr Version first_6{60032830};
constexpr Version some_7{70125424};

peercoll_memory_kind_t kind(Version version, int type, int managed = 0) {
    HipPointerAttributes attributes{};
    attributes.type = type;
    attributes.is_managed = managed;
    return memory_kind(version, attributes);
}

TEST(HipVersion, IsReadAsTheRuntimeWritesIt) {
    EXPECT_EQ(debian_5.major(), 5);
    EXPECT_EQ(debian_5.minor(), 2);
    EXPECT_EQ(some_7.major(), 7);
    EXPECT_EQ(version_sentence(debian_5), "HIP 5.2 runtime");
}

TEST(HipVersion, SaysWhichFlagOpensAHandle) {
    EXPECT_EQ(ipc_flag(debian_5), 0U);
    EXPECT_EQ(ipc_flag(last_5), 0U);
    EXPECT_EQ(ipc_flag(first_6), 1U);
    EXPECT_EQ(ipc_flag(some_7), 1U);
    EXPECT_FALSE(opens_by_owners_ordinal(first_6));
    EXPECT_TRUE(opens_by_owners_ordinal(some_7));
}

TEST(HipVersion, SaysWhatANumberOfMemoryMeans) {
    for (const Version version : {debian_5, last_5}) {
        EXPECT_EQ(kind(version, 0), PEERCOLL_MEMORY_PINNED);
        EXPECT_EQ(kind(version, 1), PEERCOLL_MEMORY_DEVICE);
        EXPECT_EQ(kind(version, 0, 1), PEERCOLL_MEMORY_MANAGED);
        EXPECT_EQ(kind(version, 4), PEERCOLL_MEMORY_MANAGED);
    }
    for (const Version version : {first_6, some_7}) {
        EXPECT_EQ(kind(version, 0), PEERCOLL_MEMORY_HOST);
        EXPECT_EQ(kind(version, 1), PEERCOLL_MEMORY_PINNED);
        EXPECT_EQ(kind(version, 2), PEERCOLL_MEMORY_DEVICE);
        EXPECT_EQ(kind(version, 3), PEERCOLL_MEMORY_MANAGED);
        EXPECT_EQ(kind(version, 2, 1), PEERCOLL_MEMORY_MANAGED);
    }
}

TEST(HipArchitecture, SaysWhetherKernelsCanRelease) {
    for (const char* architecture : {"gfx90a", "gfx940", "gfx942", "gfx950", "gfx1200", "gfx1201"})
        EXPECT_TRUE(kernels_can_release(architecture)) << architecture;
    for (const char* architecture : {"", "gfx900", "gfx906", "gfx908", "gfx1030", "gfx1100", "gfx2000"})
        EXPECT_FALSE(kernels_can_release(architecture)) << architecture;
}

TEST(Hiprtc, IsLookedForUnderItsReleasesNameAndBesideTheRuntime) {
    EXPECT_THAT(hiprtc_libraries(some_7, "/opt/rocm/lib"),
                ElementsAre("libhiprtc.so.7", "/opt/rocm/lib/libhiprtc.so.7"));
    EXPECT_THAT(hiprtc_libraries(first_6, ""), ElementsAre("libhiprtc.so.6"));
}

}  // namespace
}  // namespace peercoll::hip
