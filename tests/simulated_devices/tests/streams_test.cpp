// SPDX-License-Identifier: BSD-3-Clause
// Order: what streams, events and "synchronous" calls promise, and what they do not.
#include "tests/simulated_devices/tests/on_node.hpp"

#include <chrono>
#include <cstring>
#include <thread>

namespace peercoll::simulator::cuda {
namespace {

TEST(SynchronousCopies, WithinTheDeviceTheyReturnBeforeTheyAreDone) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        const CUdeviceptr from = allocate(64);
        const CUdeviceptr to = allocate(64);
        write_bytes(from, 1, 64);
        write_bytes(to, 0, 64);
        Gate gate(nullptr);  // holds the legacy stream, in which they run
        EXPECT_EQ(cuMemcpyDtoD_v2(to, from, 64), CUDA_SUCCESS);
        EXPECT_EQ(read_bytes(to, 64), std::vector<unsigned char>(64, 0)) << "another stream reads the old bytes";
        gate.open();
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        EXPECT_EQ(read_bytes(to, 64), std::vector<unsigned char>(64, 1));
    });
}

TEST(SynchronousCopies, WithSyncMemopsTheyAreDone) {
    for (const bool at_target : {true, false}) {
        on_node("@one_device", 1, [=](Rank&) {
            const CurrentContext context;
            const CUdeviceptr from = allocate(64);
            const CUdeviceptr to = allocate(64);
            write_bytes(from, 1, 64);
            const unsigned on = 1;
            ASSERT_EQ(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at_target ? to : from),
                      CUDA_SUCCESS);
            Gate gate(nullptr);
            std::thread opener([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                gate.open();
            });
            EXPECT_EQ(cuMemcpyDtoD_v2(to, from, 64), CUDA_SUCCESS);
            EXPECT_EQ(read_bytes(to, 64), std::vector<unsigned char>(64, 1));
            opener.join();
        });
    }
}

TEST(SynchronousCopies, ASmallPageableUploadTakesItsBytesAtOnceAndArrivesLater) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        const CUdeviceptr to = allocate(64);
        write_bytes(to, 0, 64);
        std::vector<unsigned char> from(64, 1);
        Gate gate(nullptr);
        EXPECT_EQ(cuMemcpyHtoD_v2(to, from.data(), 64), CUDA_SUCCESS);
        from.assign(64, 2);
        EXPECT_EQ(read_bytes(to, 64), std::vector<unsigned char>(64, 0));
        gate.open();
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        EXPECT_EQ(read_bytes(to, 64), std::vector<unsigned char>(64, 1));
    });
}

TEST(Copies, PinnedMemoryIsReadWhenTheCopyRuns) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        const CUdeviceptr to = allocate(64);
        void* pinned = nullptr;
        ASSERT_EQ(cuMemHostAlloc(&pinned, 64, 0), CUDA_SUCCESS);
        std::memset(pinned, 1, 64);
        const CUstream stream = make_stream();
        Gate gate(stream);
        EXPECT_EQ(cuMemcpyHtoDAsync_v2(to, pinned, 64, stream), CUDA_SUCCESS);
        std::memset(pinned, 2, 64);
        gate.open();
        EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
        EXPECT_EQ(read_bytes(to, 64), std::vector<unsigned char>(64, 2));
    });
}

TEST(Copies, BeyondTheEndOfAnAllocationTheyAreRefused) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        const CUdeviceptr first = allocate(64);
        const CUdeviceptr second = allocate(64);
        EXPECT_EQ(cuMemcpyDtoD_v2(first, second, 65), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemsetD8_v2(second, 1, 65), CUDA_ERROR_INVALID_VALUE);
        int word = 0;
        EXPECT_EQ(cuMemcpyDtoH_v2(&word, reinterpret_cast<CUdeviceptr>(&word), 4), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemcpyAsync(first, second, 64, reinterpret_cast<CUstream>(&word)), CUDA_ERROR_INVALID_HANDLE);
    });
}

// Of all orders that a stream's rules allow, at least two are seen.
TEST(Streams, RunOutOfStep) {
    on_node("delay 500", 1, [](Rank&) {
        const CurrentContext context;
        const CUstream first = make_stream();
        const CUstream second = make_stream();
        const CUdeviceptr target = allocate(1);
        int first_was_last = 0;
        constexpr int rounds = 64;
        for (int i = 0; i < rounds; ++i) {
            EXPECT_EQ(cuMemsetD8Async(target, 1, 1, first), CUDA_SUCCESS);
            EXPECT_EQ(cuMemsetD8Async(target, 2, 1, second), CUDA_SUCCESS);
            EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
            first_was_last += read_bytes(target, 1)[0] == 1 ? 1 : 0;
        }
        EXPECT_GT(first_was_last, 0);
        EXPECT_LT(first_was_last, rounds);
    });
}

TEST(Streams, TheLegacyStreamOrdersBlockingOnesOnly) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        const CUstream blocking = make_stream(0);
        const CUstream free = make_stream(CU_STREAM_NON_BLOCKING);
        const CUdeviceptr target = allocate(2);
        write_bytes(target, 0, 2);
        Gate gate(nullptr);
        EXPECT_EQ(cuMemsetD8Async(target, 1, 1, blocking), CUDA_SUCCESS);
        EXPECT_EQ(cuMemsetD8Async(target + 1, 1, 1, free), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamSynchronize(free), CUDA_SUCCESS);
        EXPECT_EQ(read_bytes(target, 2), (std::vector<unsigned char>{0, 1}));
        EXPECT_EQ(cuStreamQuery(blocking), CUDA_ERROR_NOT_READY);
        gate.open();
        EXPECT_EQ(cuStreamSynchronize(blocking), CUDA_SUCCESS);
        EXPECT_EQ(read_bytes(target, 2), (std::vector<unsigned char>{1, 1}));
    });
}

TEST(Streams, AHostFunctionMayNotCallTheDriver) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        static std::atomic<CUresult> seen{-1};
        const CUhostFn function = [](void*) {
            CUcontext current = nullptr;
            seen.store(cuCtxGetCurrent(&current));
        };
        EXPECT_EQ(cuLaunchHostFunc(nullptr, function, nullptr), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        EXPECT_EQ(seen.load(), CUDA_ERROR_NOT_PERMITTED);
    });
}

TEST(StreamValues, AStreamWaitsForAnotherProcessesWrite) {
    on_node("@one_device", 2, [](Rank& rank) {
        const CurrentContext context;
        auto exchange = rank.exchange();
        CUipcMemHandle mine = {};
        CUdeviceptr flag = 0;
        if (rank.rank() == 0) {
            flag = allocate(16);
            write_bytes(flag, 0, 16);
            ASSERT_EQ(cuIpcGetMemHandle(&mine, flag), CUDA_SUCCESS);
        }
        CUipcMemHandle all[2];
        ASSERT_TRUE(exchange.allgather(&mine, all, sizeof(mine)));
        const CUstream stream = make_stream();
        if (rank.rank() == 1) {
            ASSERT_EQ(cuIpcOpenMemHandle_v2(&flag, all[0], 1), CUDA_SUCCESS);
            ASSERT_EQ(cuStreamWaitValue64_v2(stream, flag + 8, 5, CU_STREAM_WAIT_VALUE_GEQ), CUDA_SUCCESS);
            EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
        }
        ASSERT_TRUE(exchange.meet());
        if (rank.rank() == 0) {
            ASSERT_EQ(cuStreamWriteValue64_v2(stream, flag + 8, 6, 0), CUDA_SUCCESS);
        }
        EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
        ASSERT_TRUE(exchange.meet());
        if (rank.rank() == 1) {
            EXPECT_EQ(cuIpcCloseMemHandle(flag), CUDA_SUCCESS);
        }
    });
}

TEST(StreamValues, OnlyAlignedWordsOfDeviceOrRegisteredMemory) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        const CUdeviceptr memory = allocate(16);
        CUdeviceptr managed = 0;
        ASSERT_EQ(cuMemAllocManaged(&managed, 16, 1), CUDA_SUCCESS);
        std::uint64_t plain = 0;
        EXPECT_EQ(cuStreamWriteValue64_v2(nullptr, memory + 4, 1, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuStreamWriteValue32_v2(nullptr, managed, 1, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuStreamWriteValue64_v2(nullptr, reinterpret_cast<CUdeviceptr>(&plain), 1, 0),
                  CUDA_ERROR_INVALID_VALUE);
        ASSERT_EQ(cuMemHostRegister_v2(&plain, sizeof(plain), 0), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamWriteValue64_v2(nullptr, reinterpret_cast<CUdeviceptr>(&plain), 9, 0), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        EXPECT_EQ(plain, 9U);
        EXPECT_EQ(cuMemHostUnregister(&plain), CUDA_SUCCESS);
    });
}

TEST(Kernels, ImagesNamesAndShapesAreChecked) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        ::setenv("PEERCOLL_SIMULATOR_KERNELS", PEERCOLL_SIMULATOR_TEST_KERNELS, 1);
        CUmodule module = nullptr;
        CUfunction function = nullptr;
        EXPECT_EQ(cuModuleLoadData(&module, "no image at all"), CUDA_ERROR_INVALID_IMAGE);
        ASSERT_EQ(cuModuleLoadData(&module, "\177ELF and so on"), CUDA_SUCCESS);
        EXPECT_EQ(cuModuleGetFunction(&function, module, "stare"), CUDA_ERROR_NOT_FOUND);
        ASSERT_EQ(cuModuleGetFunction(&function, module, "store"), CUDA_SUCCESS);
        char parameters[64] = {};
        void* list[] = {parameters};
        EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1025, 1, 1, 0, nullptr, list, nullptr), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuLaunchKernel(function, 0, 1, 1, 32, 1, 1, 0, nullptr, list, nullptr), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuLaunchKernel(nullptr, 1, 1, 1, 32, 1, 1, 0, nullptr, list, nullptr), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    });
}

TEST(Kernels, APointerOfTheApplicationsOwnMemoryIsIllegal) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        char own[8] = {};
        EXPECT_EQ(launch_store(nullptr, reinterpret_cast<CUdeviceptr>(own), 1, 8), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
        EXPECT_EQ(own[0], 0);
    });
}

}  // namespace
}  // namespace peercoll::simulator::cuda
