// SPDX-License-Identifier: BSD-3-Clause
// The HIP of a distribution or of ROCm on a machine without its devices: the backend is off, says why, and leaves the
// thread's error as it was. Where there is a device, it opens.
#include "plugin/device/hip/hip_api.hpp"
#include "plugin/device/hip/hip_device.hpp"
#include "tests/support/process_group.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>

namespace peercoll::test {
namespace {

using testing::HasSubstr;

void* load_real_library() {
    for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"})
        if (void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL); library != nullptr) return library;
    return nullptr;
}

TEST(RealHip, WithoutADeviceIsOffWithTheReason) {
    if (void* const library = load_real_library(); library == nullptr)
        GTEST_SKIP() << "no libamdhip64.so here: " << ::dlerror();
    else
        ::dlclose(library);
    run_ranks(1, [](Rank&) {
        void* const library = load_real_library();
        ASSERT_NE(library, nullptr);
        hip::HipFunctions hip{};
        const std::unique_ptr<hip::HipLibrary> loaded = hip::HipLibrary::find_loaded();
        ASSERT_NE(loaded, nullptr);
        const Status bound = loaded->bind(hip);
        ASSERT_TRUE(bound.ok()) << bound.sentence();
        int devices = 0;
        (void)hip.get_device_count(&devices);
        const hip::HipError before = hip.peek_at_last_error();
        peercoll_reason_t reason{};
        const peercoll_status_t status = hip_device().open(&reason);
        EXPECT_EQ(hip.peek_at_last_error(), before);
        if (devices == 0) {
            EXPECT_EQ(status, PEERCOLL_ERR_NOT_SUPPORTED);
            EXPECT_THAT(reason.text, HasSubstr("no HIP device"));
        } else {
            EXPECT_EQ(status, PEERCOLL_SUCCESS) << reason.text;
            EXPECT_EQ(hip_device().device_count(), devices);
        }
        hip_device().close();
    });
}

}  // namespace
}  // namespace peercoll::test
