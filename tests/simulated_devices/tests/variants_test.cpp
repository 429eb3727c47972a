// SPDX-License-Identifier: BSD-3-Clause
// Drivers that are absent in one way or another, the names they have, and what they tell at the end.
#include "tests/simulated_devices/tests/on_node.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace peercoll::simulator::cuda {
namespace {

void with_variant(const char* variant, const char* node, const std::function<void()>& function) {
    test::run_ranks(1, [&](Rank&) {
        ::setenv("PEERCOLL_SIMULATOR_VARIANT", variant, 1);
        describe_node(node);
        function();
    });
}

TEST(Variants, AStubAnswersEverythingWith34) {
    with_variant("stub", "@one_device", [] {
        int number = 0;
        const char* text = nullptr;
        CUdeviceptr address = 0;
        EXPECT_EQ(cuInit(0), CUDA_ERROR_STUB_LIBRARY);
        EXPECT_EQ(cuDriverGetVersion(&number), CUDA_ERROR_STUB_LIBRARY);
        EXPECT_EQ(cuDeviceGetCount(&number), CUDA_ERROR_STUB_LIBRARY);
        EXPECT_EQ(cuMemAlloc_v2(&address, 8), CUDA_ERROR_STUB_LIBRARY);
        EXPECT_EQ(cuGetErrorName(0, &text), CUDA_ERROR_STUB_LIBRARY);
    });
}

TEST(Variants, NoDevice) {
    with_variant("no_device", "@one_device", [] { EXPECT_EQ(cuInit(0), CUDA_ERROR_NO_DEVICE); });
    with_variant("", "@no_device", [] {
        EXPECT_EQ(cuInit(0), CUDA_ERROR_NO_DEVICE);
        int count = 0;
        EXPECT_EQ(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    });
}

TEST(Variants, ADriverThatDoesNotMatch) {
    with_variant("driver_mismatch", "@one_device", [] { EXPECT_EQ(cuInit(0), CUDA_ERROR_SYSTEM_DRIVER_MISMATCH); });
}

TEST(Variants, AnUnreadableNodeIsAnErrorAndNoOtherNode) {
    with_variant("", "devices many", [] { EXPECT_EQ(cuInit(0), CUDA_ERROR_UNKNOWN); });
}

TEST(Variants, AnOldDriverLacksWhatIsNew) {
    test::run_ranks(1, [](Rank&) {
        describe_node("@one_device");
        void* const old = ::dlopen(PEERCOLL_SIMULATED_OLD_DRIVER, RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(old, nullptr) << ::dlerror();
        for (const char* name : {"cuMemCreate", "cuMemMap", "cuMemAddressReserve", "cuMemPoolCreate", "cuMemAllocAsync",
                                 "cuMemFreeAsync", "cuGetProcAddress_v2", "cuStreamWriteValue64_v2",
                                 "cuMemRetainAllocationHandle", "cuDeviceGetDefaultMemPool", "cuCtxSetFlags"}) {
            EXPECT_EQ(::dlsym(old, name), nullptr) << name;
        }
        for (const char* name : {"cuInit", "cuMemAlloc_v2", "cuMemcpyAsync", "cuIpcOpenMemHandle_v2",
                                 "cuDeviceGetUuid_v2", "cuMemGetAddressRange_v2", "cuMemAllocManaged"}) {
            EXPECT_NE(::dlsym(old, name), nullptr) << name;
        }
        const auto version = reinterpret_cast<CUresult (*)(int*)>(::dlsym(old, "cuDriverGetVersion"));
        ASSERT_NE(version, nullptr);
        int number = 0;
        EXPECT_EQ(version(&number), CUDA_SUCCESS);
        EXPECT_EQ(number, 11040);
    });
}

TEST(Names, OnlyRealOnesAreExported) {
    for (const char* name : {"cuMemPoolSetAccess_v2", "peercoll_simulator", "cuMemcpyAsync_v2", "store"}) {
        EXPECT_EQ(::dlsym(RTLD_DEFAULT, name), nullptr) << name;
    }
}

TEST(Names, FirstVersionsTellThatTheyAreTheWrongOnes) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        const auto first =
            reinterpret_cast<CUresult (*)(CUdeviceptr*, std::size_t)>(::dlsym(RTLD_DEFAULT, "cuMemAlloc"));
        ASSERT_NE(first, nullptr);
        CUdeviceptr address = 0;
        testing::internal::CaptureStderr();
        EXPECT_EQ(first(&address, 8), CUDA_ERROR_NOT_SUPPORTED);
        EXPECT_NE(testing::internal::GetCapturedStderr().find("expected cuMemAlloc_v2"), std::string::npos);
    });
}

TEST(Names, ByVersion) {
    on_node("driver 12040", 1, [](Rank&) {
        void* function = nullptr;
        int status = -1;
        EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc", &function, 12000, 0, &status), CUDA_SUCCESS);
        EXPECT_EQ(function, ::dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"));
        EXPECT_EQ(status, 0);
        EXPECT_EQ(cuGetProcAddress_v2("cuNothing", &function, 12000, 0, &status), CUDA_SUCCESS);
        EXPECT_EQ(status, 1);
        EXPECT_EQ(function, nullptr);
        EXPECT_EQ(cuGetProcAddress_v2("cuMemCreate", &function, 9000, 0, &status), CUDA_SUCCESS);
        EXPECT_EQ(status, 2);
        EXPECT_EQ(function, nullptr);
        // 12.4 does not have what came with 12.8.
        EXPECT_EQ(cuGetProcAddress_v2("cuEventElapsedTime", &function, 13000, 0, &status), CUDA_SUCCESS);
        EXPECT_EQ(function, ::dlsym(RTLD_DEFAULT, "cuEventElapsedTime"));
    });
}

// Runs it in a process that ends as programs do, and gives what it has written to the file of leaks.
std::string leaks_of(const std::function<void()>& function) {
    char path[] = "/tmp/peercoll_leaks_XXXXXX";
    const int file = ::mkstemp(path);
    ::close(file);
    const pid_t child = ::fork();
    if (child == 0) {
        ::setenv("PEERCOLL_SIMULATOR_LEAKS", path, 1);
        const int nowhere = ::open("/dev/null", O_WRONLY);
        ::dup2(nowhere, 2);
        describe_node("@one_device");
        if (cuInit(0) == CUDA_SUCCESS) {
            function();
        }
        std::exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    std::ifstream in(path);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    ::unlink(path);
    return text;
}

TEST(Leaks, NothingIsToldWhereEverythingWasGivenBack) {
    EXPECT_EQ(leaks_of([] {
                  const CurrentContext context;
                  EXPECT_EQ(cuMemFree_v2(allocate(8)), CUDA_SUCCESS);
                  EXPECT_EQ(cuStreamDestroy_v2(make_stream()), CUDA_SUCCESS);
              }),
              "");
}

TEST(Leaks, WhatIsLeftIsCounted) {
    const std::string text = leaks_of([] {
        CUcontext context = nullptr;
        cuDevicePrimaryCtxRetain(&context, 0);
        cuCtxPushCurrent_v2(context);
        allocate(8);
        allocate(8);
        make_stream();
        CUevent event = nullptr;
        cuEventCreate(&event, 0);
        CUdeviceptr range = 0;
        cuMemAddressReserve(&range, 2U << 20, 0, 0, 0);
    });
    for (const char* part : {"2 device allocations", "1 stream", "1 event", "1 pushed context",
                             "1 retained primary context", "1 address reservation"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
    }
}

}  // namespace
}  // namespace peercoll::simulator::cuda
