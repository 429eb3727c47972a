// SPDX-License-Identifier: BSD-3-Clause
// When the backend is on, what it says of its devices, and that it makes no context of its own.
#include "tests/unit/cuda_device/application.hpp"

#include <gmock/gmock.h>

#include <cstring>

namespace peercoll::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// "" if it opens.
std::string reason_to_be_off() {
    peercoll_reason_t reason{};
    const peercoll_status_t status = cuda_device().open(&reason);
    if (status == PEERCOLL_SUCCESS) return {};
    EXPECT_EQ(status, PEERCOLL_ERR_NOT_SUPPORTED);
    return reason.text;
}

peercoll_device_info_t info_of(int device) {
    peercoll_device_info_t info{};
    peercoll_reason_t reason{};
    EXPECT_EQ(cuda_device().device_info(device, &info, &reason), PEERCOLL_SUCCESS) << reason.text;
    return info;
}

TEST(CudaDevice, IsWhatItsInterfaceSays) {
    EXPECT_EQ(cuda_device().abi_version, PEERCOLL_DEVICE_ABI_VERSION);
    EXPECT_EQ(cuda_device().struct_size, sizeof(peercoll_device_runtime_t));
    EXPECT_STREQ(cuda_device().name, "cuda");
    EXPECT_EQ(cuda_device().share_allocate, nullptr) << "host memory is the host's";
    EXPECT_THAT(cuda_device().libraries[0], StartsWith("libcuda.so"));
    EXPECT_EQ(cuda_device().libraries[1], nullptr);
}

TEST(CudaDevice, IsOffInAProcessThatHasNotLoadedTheDriver) {
    run_ranks(1, [](Rank&) {
        EXPECT_THAT(reason_to_be_off(), HasSubstr("not loaded"));
        EXPECT_EQ(cuda_device().device_count(), 0);
        EXPECT_EQ(classified(0x1000).kind, PEERCOLL_MEMORY_HOST);
        peercoll_stream_t stream = nullptr;
        EXPECT_EQ(cuda_device().stream_create(0, &stream, nullptr), PEERCOLL_ERR_NOT_SUPPORTED);
        cuda_device().close();
    });
}

TEST(CudaDevice, IsOffWithAReasonWhereTheDriverDoesNotStart) {
    const auto reason_on = [](const char* variant, const char* word) {
        run_ranks(1, [&](Rank&) {
            const Application application({.variant = variant}, false);
            EXPECT_THAT(reason_to_be_off(), HasSubstr(word)) << variant;
        });
    };
    reason_on("stub", "for linking only");
    reason_on("no_device", "no CUDA device");
    reason_on("driver_mismatch", "different versions");
}

TEST(CudaDevice, IsOffAfterAForkOfAProcessThatUsedCuda) {
    on_machine({},
               [](Application&) { run_ranks(1, [](Rank&) { EXPECT_THAT(reason_to_be_off(), HasSubstr("forked")); }); });
}

TEST(CudaDevice, KeepsItsFirstAnswerUntilItIsClosed) {
    run_ranks(1, [](Rank&) {
        EXPECT_THAT(reason_to_be_off(), HasSubstr("not loaded"));
        const Application application;
        EXPECT_THAT(reason_to_be_off(), HasSubstr("not loaded"));
        cuda_device().close();
        EXPECT_EQ(reason_to_be_off(), "");
        EXPECT_EQ(reason_to_be_off(), "");
        EXPECT_EQ(cuda_device().device_count(), 1);
        cuda_device().close();
        cuda_device().close();
        EXPECT_EQ(cuda_device().device_count(), 0);
    });
}

TEST(CudaDevice, TellsItsDevicesAndMakesNoContextForIt) {
    const Machine machine = {.node =
                                 "devices 2\n"
                                 "uuid 1 00112233445566778899aabbccddeeff\n"
                                 "pci 1 0000:ab:00.0\n"
                                 "name 1 Second Device\n"
                                 "memory 1 1024\n"
                                 "capability 1 8 0\n"};
    on_machine(machine, [](Application& application) {
        EXPECT_OPENS();
        EXPECT_STREQ(cuda_device().version_text(), "CUDA 13.0 driver");
        ASSERT_EQ(cuda_device().device_count(), 2);
        const peercoll_device_info_t info = info_of(1);
        for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(info.uuid[i], i * 0x11);
        EXPECT_STREQ(info.pci_id, "0000:ab:00.0");
        EXPECT_STREQ(info.name, "Second Device");
        EXPECT_STREQ(info.architecture, "sm_80");
        EXPECT_EQ(info.memory_bytes, std::uint64_t{1024} << 20);
        EXPECT_EQ(info.active, 0U);
        EXPECT_THAT(info.reductions, HasSubstr("not known before"));
        EXPECT_NE(info.import_kinds & kind_bit(PEERCOLL_HANDLE_IPC), 0U);
        EXPECT_NE(info.import_kinds & kind_bit(PEERCOLL_HANDLE_FD), 0U);
        EXPECT_NE(info.import_kinds & kind_bit(PEERCOLL_HANDLE_POOL_FD), 0U);
        application.use(0);
        EXPECT_EQ(info_of(0).active, 1U);
        EXPECT_EQ(info_of(1).active, 0U);
        EXPECT_FALSE(application.is_active(1));
    });
}

TEST(CudaDevice, RefusesADeviceThatIsNotThere) {
    on_machine({}, [](Application&) {
        EXPECT_OPENS();
        for (const int device : {-1, 1, 1000}) {
            peercoll_device_info_t info{};
            peercoll_reason_t reason{};
            EXPECT_EQ(cuda_device().device_info(device, &info, &reason), PEERCOLL_ERR_INVALID_ARGUMENT);
            EXPECT_THAT(reason.text, HasSubstr("expected 0 to 0"));
        }
    });
}

TEST(CudaDevice, UsesNoDeviceThatTheProcessDoesNotUse) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        peercoll_stream_t stream = nullptr;
        peercoll_reason_t reason{};
        EXPECT_EQ(cuda_device().stream_create(1, &stream, &reason), PEERCOLL_ERR_NOT_SUPPORTED);
        EXPECT_THAT(reason.text, HasSubstr("does not use CUDA device 1"));
        EXPECT_EQ(cuda_device().can_fold(1, PEERCOLL_FLOAT32, PEERCOLL_SUM), 0);
        EXPECT_FALSE(application.is_active(1));
    });
}

TEST(CudaDevice, GivesItsContextBackWhenItIsClosed) {
    on_machine({}, [](Application& application) {
        cuda::CuContext context = nullptr;
        ASSERT_EQ(application.cu.primary_context_retain(&context, 0), cuda::code::success);
        EXPECT_OPENS();
        peercoll_stream_t stream = nullptr;
        ASSERT_EQ(cuda_device().stream_create(0, &stream, nullptr), PEERCOLL_SUCCESS);
        cuda_device().stream_destroy(stream);
        ASSERT_EQ(application.cu.primary_context_release(0), cuda::code::success);
        EXPECT_TRUE(application.is_active(0)) << "still retained by the backend";
        cuda_device().close();
        EXPECT_FALSE(application.is_active(0));
    });
}

TEST(CudaDevice, LeavesTheCurrentContextAsItWas) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        application.use(1);
        application.use(0);
        cuda::CuContext before = nullptr;
        ASSERT_EQ(application.cu.context_get_current(&before), cuda::code::success);
        EXPECT_OPENS();
        for (const int device : {0, 1}) {
            std::uint64_t address = 0;
            ASSERT_EQ(cuda_device().allocate(device, 100, &address, nullptr), PEERCOLL_SUCCESS);
            EXPECT_EQ(classified(address).device, device);
            cuda_device().free_memory(device, address);
            cuda::CuContext after = nullptr;
            ASSERT_EQ(application.cu.context_get_current(&after), cuda::code::success);
            EXPECT_EQ(after, before);
        }
    });
}

TEST(CudaDevice, ToleratesThatTheApplicationResetsTheDevice) {
    on_machine({}, [](Application& application) {
        cuda::CuContext context = nullptr;
        ASSERT_EQ(application.cu.primary_context_retain(&context, 0), cuda::code::success);
        EXPECT_OPENS();
        peercoll_stream_t stream = nullptr;
        ASSERT_EQ(cuda_device().stream_create(0, &stream, nullptr), PEERCOLL_SUCCESS);
        ASSERT_EQ(application.call("cuDevicePrimaryCtxReset_v2", cuda::CuDevice{0}), cuda::code::success);
        peercoll_reason_t reason{};
        EXPECT_EQ(cuda_device().stream_query(stream, &reason), PEERCOLL_ERR_SYSTEM);
        EXPECT_NE(std::strlen(reason.text), 0U);
        cuda_device().stream_destroy(stream);
        cuda_device().close();
    });
}

TEST(CudaDevice, OfAnOldDriverHasFewerWaysToShare) {
    on_machine({.library = PEERCOLL_SIMULATED_OLD_DRIVER}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        EXPECT_THAT(cuda_device().version_text(), StartsWith("CUDA 11."));
        EXPECT_EQ(info_of(0).import_kinds, kind_bit(PEERCOLL_HANDLE_IPC));
        const cuda::CuAddress memory = application.allocate(1000);
        EXPECT_EQ(classified(memory).handle_kinds, kind_bit(PEERCOLL_HANDLE_IPC));
        application.free(memory);
    });
}

}  // namespace
}  // namespace peercoll::test
