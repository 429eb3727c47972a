// SPDX-License-Identifier: BSD-3-Clause
// Legacy IPC handles.
#include "tests/simulated_devices/tests/on_node.hpp"

#include <cstring>

namespace peercoll::simulator::cuda {
namespace {

constexpr std::size_t MiB = 1U << 20;
constexpr unsigned lazily = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;

// Rank 0 allocates on the context's device; `reader` runs in rank 1 with the handle, then `owner` in rank 0.
void with_handle(const std::string& node, const std::function<void(const CUipcMemHandle&)>& reader,
                 int device_of_rank_1, const std::function<void(Rank&)>& prepare = {}) {
    on_node(
        node, 2,
        [&](Rank& rank) {
            const CurrentContext context(rank.rank() == 0 ? 0 : device_of_rank_1);
            CUipcMemHandle mine = {};
            CUdeviceptr address = 0;
            if (rank.rank() == 0) {
                address = allocate(MiB);
                write_bytes(address, 5, MiB);
                EXPECT_EQ(cuIpcGetMemHandle(&mine, address), CUDA_SUCCESS);
            }
            CUipcMemHandle all[2];
            auto exchange = rank.exchange();
            ASSERT_TRUE(exchange.allgather(&mine, all, sizeof(mine)));
            if (rank.rank() == 1) {
                reader(all[0]);
            }
            ASSERT_TRUE(exchange.meet());
            if (rank.rank() == 0) {
                EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
            }
        },
        prepare);
}

TEST(Ipc, AHandleNamesTheWholeAllocation) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        const CUdeviceptr address = allocate(MiB);
        CUipcMemHandle of_base = {};
        CUipcMemHandle of_inside = {};
        EXPECT_EQ(cuIpcGetMemHandle(&of_base, address), CUDA_SUCCESS);
        EXPECT_EQ(cuIpcGetMemHandle(&of_inside, address + 1000), CUDA_SUCCESS);
        EXPECT_EQ(std::memcmp(&of_base, &of_inside, sizeof(of_base)), 0);
        CUdeviceptr opened = 0;
        EXPECT_EQ(cuIpcOpenMemHandle_v2(&opened, of_base, lazily), CUDA_ERROR_INVALID_CONTEXT) << "the own process";
        EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
        const CUdeviceptr again = allocate(MiB);
        CUipcMemHandle of_next = {};
        EXPECT_EQ(cuIpcGetMemHandle(&of_next, again), CUDA_SUCCESS);
        EXPECT_NE(std::memcmp(&of_base, &of_next, sizeof(of_base)), 0);
        EXPECT_EQ(cuMemFree_v2(again), CUDA_SUCCESS);
    });
}

TEST(Ipc, OnlyPlainDeviceMemoryHasOne) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        CUipcMemHandle handle = {};
        CUdeviceptr managed = 0;
        CUdeviceptr of_pool = 0;
        void* pinned = nullptr;
        ASSERT_EQ(cuMemAllocManaged(&managed, 64, 1), CUDA_SUCCESS);
        ASSERT_EQ(cuMemAllocAsync(&of_pool, 64, nullptr), CUDA_SUCCESS);
        ASSERT_EQ(cuMemHostAlloc(&pinned, 64, 0), CUDA_SUCCESS);
        for (const CUdeviceptr address : {managed, of_pool, reinterpret_cast<CUdeviceptr>(pinned), CUdeviceptr{0}}) {
            EXPECT_EQ(cuIpcGetMemHandle(&handle, address), CUDA_ERROR_INVALID_VALUE);
        }
        EXPECT_EQ(cuMemFree_v2(managed), CUDA_SUCCESS);
        EXPECT_EQ(cuMemFree_v2(of_pool), CUDA_SUCCESS);
        EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
    });
}

TEST(Ipc, OpensAreCountedAndImportsCannotBePassedOn) {
    with_handle(
        "@one_device",
        [](const CUipcMemHandle& handle) {
            CUdeviceptr address = 0;
            EXPECT_EQ(cuIpcOpenMemHandle_v2(&address, handle, 0), CUDA_ERROR_INVALID_VALUE);
            ASSERT_EQ(cuIpcOpenMemHandle_v2(&address, handle, lazily), CUDA_SUCCESS);
            for (int i = 0; i < 2; ++i) {
                CUdeviceptr again = 0;
                EXPECT_EQ(cuIpcOpenMemHandle_v2(&again, handle, lazily), CUDA_SUCCESS);
                EXPECT_EQ(again, address);
            }
            EXPECT_EQ(read_bytes(address, MiB), std::vector<unsigned char>(MiB, 5));
            CUipcMemHandle passed_on = {};
            EXPECT_EQ(cuIpcGetMemHandle(&passed_on, address), CUDA_ERROR_INVALID_VALUE);
            EXPECT_EQ(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
            for (int i = 0; i < 3; ++i) {
                EXPECT_EQ(cuIpcCloseMemHandle(address), CUDA_SUCCESS);
            }
            EXPECT_EQ(cuIpcCloseMemHandle(address), CUDA_ERROR_INVALID_VALUE);
        },
        0);
}

TEST(Ipc, BytesThatAreNoHandleAreRefused) {
    with_handle(
        "@one_device",
        [](const CUipcMemHandle& handle) {
            for (std::size_t i = 0; i < sizeof(handle); ++i) {
                CUipcMemHandle wrong = handle;
                wrong.reserved[i] = static_cast<char>(wrong.reserved[i] ^ 0x40);
                CUdeviceptr address = 0;
                const CUresult result = cuIpcOpenMemHandle_v2(&address, wrong, lazily);
                if (result == CUDA_SUCCESS) {  // its owner's address, which only says where the mapping must not be
                    EXPECT_EQ(cuIpcCloseMemHandle(address), CUDA_SUCCESS);
                } else {
                    EXPECT_EQ(result, CUDA_ERROR_INVALID_VALUE) << "byte " << i;
                }
            }
        },
        0);
}

TEST(Ipc, AnotherDeviceMapsItAsItsOwn) {
    with_handle(
        "@two_devices",
        [](const CUipcMemHandle& handle) {
            CUdeviceptr address = 0;
            ASSERT_EQ(cuIpcOpenMemHandle_v2(&address, handle, lazily), CUDA_SUCCESS);
            int device = -1;
            EXPECT_EQ(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address), CUDA_SUCCESS);
            EXPECT_EQ(device, 1);
            EXPECT_EQ(launch_store(nullptr, address, 9, MiB), CUDA_SUCCESS);
            EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
            EXPECT_EQ(read_bytes(address, MiB), std::vector<unsigned char>(MiB, 9));
            EXPECT_EQ(cuIpcCloseMemHandle(address), CUDA_SUCCESS);
            EXPECT_EQ(launch_store(nullptr, address, 9, 1), CUDA_SUCCESS);
            EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS) << "used after it was closed";
        },
        1);
}

void refused_with(const std::string& node, int device, CUresult expected, const std::function<void(Rank&)>& prepare) {
    with_handle(
        node,
        [expected](const CUipcMemHandle& handle) {
            CUdeviceptr address = 0;
            EXPECT_EQ(cuIpcOpenMemHandle_v2(&address, handle, lazily), expected);
        },
        device, prepare);
}

TEST(Ipc, BetweenIslandsItIsRefused) {
    refused_with("@two_islands", 4, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, {});
}

TEST(Ipc, WhereItIsRefusedAltogether) {
    refused_with("@refused_ipc", 0, CUDA_ERROR_INVALID_CONTEXT, {});
}

// The process has no ordinal for it, and maps its memory all the same.
TEST(Ipc, TheOwnersDeviceNeedNotBeVisible) {
    with_handle(
        "@two_devices",
        [](const CUipcMemHandle& handle) {
            CUdeviceptr address = 0;
            ASSERT_EQ(cuIpcOpenMemHandle_v2(&address, handle, lazily), CUDA_SUCCESS);
            int device = -1;
            EXPECT_EQ(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address), CUDA_SUCCESS);
            EXPECT_EQ(device, 0) << "the one it was mapped for";
            EXPECT_EQ(read_bytes(address, MiB), std::vector<unsigned char>(MiB, 5));
            EXPECT_EQ(launch_store(nullptr, address, 9, MiB), CUDA_SUCCESS);
            EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
            EXPECT_EQ(read_bytes(address, MiB), std::vector<unsigned char>(MiB, 9));
            EXPECT_EQ(cuIpcCloseMemHandle(address), CUDA_SUCCESS);
        },
        0, [](Rank& rank) { ::setenv("CUDA_VISIBLE_DEVICES", rank.rank() == 0 ? "0" : "1", 1); });
}

TEST(Ipc, AnInvisibleDeviceIsRefusedWhereTheNodeSaysSo) {
    const auto one_each = [](Rank& rank) { ::setenv("CUDA_VISIBLE_DEVICES", rank.rank() == 0 ? "0" : "1", 1); };
    refused_with("devices 2\nhidden_import refused", 0, CUDA_ERROR_INVALID_DEVICE, one_each);
}

TEST(Ipc, AnInvisibleDeviceOutOfReachIsRefused) {
    refused_with("devices 2\npath 1 0 no", 0, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
                 [](Rank& rank) { ::setenv("CUDA_VISIBLE_DEVICES", rank.rank() == 0 ? "0" : "1", 1); });
}

TEST(Ipc, VisibleDevicesByUuidAndUpToTheFirstWrongWord) {
    on_node(
        "devices 3\nuuid 2 00112233-4455-6677-8899-aabbccddeeff", 1,
        [](Rank&) {
            int count = 0;
            EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
            EXPECT_EQ(count, 2);
            CUuuid uuid = {};
            EXPECT_EQ(cuDeviceGetUuid_v2(&uuid, 0), CUDA_SUCCESS);
            EXPECT_EQ(uuid.bytes[15], 0xff);
        },
        [](Rank&) { ::setenv("CUDA_VISIBLE_DEVICES", "GPU-00112233,0,9,1", 1); });
}

// As older drivers did: the address of an allocation that is freed but still mapped is taken again.
TEST(Ipc, AnOverlapWithAStaleMappingIsRefusedWhereTheNodeSaysSo) {
    on_node("ipc overlap_refused", 2, [](Rank& rank) {
        const CurrentContext context;
        auto exchange = rank.exchange();
        CUdeviceptr theirs[2] = {};
        for (int round = 0; round < 2; ++round) {
            CUipcMemHandle mine = {};
            CUdeviceptr address = 0;
            if (rank.rank() == 0) {
                address = allocate(MiB);
                EXPECT_EQ(cuIpcGetMemHandle(&mine, address), CUDA_SUCCESS);
            }
            CUipcMemHandle all[2];
            ASSERT_TRUE(exchange.allgather(&mine, all, sizeof(mine)));
            if (rank.rank() == 1) {
                const CUresult result = cuIpcOpenMemHandle_v2(&theirs[round], all[0], lazily);
                EXPECT_EQ(result, round == 0 ? CUDA_SUCCESS : CUDA_ERROR_ALREADY_MAPPED);
                if (round == 1) {
                    EXPECT_EQ(cuIpcCloseMemHandle(theirs[0]), CUDA_SUCCESS);
                    EXPECT_EQ(cuIpcOpenMemHandle_v2(&theirs[1], all[0], lazily), CUDA_SUCCESS);
                    EXPECT_EQ(cuIpcCloseMemHandle(theirs[1]), CUDA_SUCCESS);
                }
            }
            ASSERT_TRUE(exchange.meet());
            if (rank.rank() == 0) {
                EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
            }
            ASSERT_TRUE(exchange.meet());
        }
    });
}

TEST(IpcEvents, AWaiterSeesTheOtherProcessesRecord) {
    on_node("@one_device", 2, [](Rank& rank) {
        const CurrentContext context;
        auto exchange = rank.exchange();
        CUevent event = nullptr;
        EXPECT_EQ(cuEventCreate(&event, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE) << "needs DISABLE_TIMING";
        CUipcEventHandle mine = {};
        const CUstream stream = make_stream();
        std::unique_ptr<Gate> gate;
        if (rank.rank() == 0) {
            ASSERT_EQ(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
            ASSERT_EQ(cuIpcGetEventHandle(&mine, event), CUDA_SUCCESS);
            gate = std::make_unique<Gate>(stream);
            ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
        }
        CUipcEventHandle all[2];
        ASSERT_TRUE(exchange.allgather(&mine, all, sizeof(mine)));
        if (rank.rank() == 1) {
            ASSERT_EQ(cuIpcOpenEventHandle(&event, all[0]), CUDA_SUCCESS);
            ASSERT_EQ(cuStreamWaitEvent(stream, event, 0), CUDA_SUCCESS);
            EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
            EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
        }
        ASSERT_TRUE(exchange.meet());
        if (rank.rank() == 0) {
            gate->open();
        }
        EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
        EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
        EXPECT_EQ(cuEventDestroy_v2(event), CUDA_SUCCESS);
    });
}

}  // namespace
}  // namespace peercoll::simulator::cuda
