// SPDX-License-Identifier: BSD-3-Clause
// Contexts and peer access: the codes of a real driver.
#include "tests/simulated_devices/tests/on_node.hpp"

namespace peercoll::simulator::cuda {
namespace {

TEST(Contexts, WithoutACurrentOneMostCallsAreRefused) {
    on_node("@one_device", 1, [](Rank&) {
        CUdeviceptr address = 0;
        CUstream stream = nullptr;
        CUipcMemHandle handle = {};
        EXPECT_EQ(cuMemAlloc_v2(&address, 8), CUDA_ERROR_INVALID_CONTEXT);
        EXPECT_EQ(cuStreamCreate(&stream, 0), CUDA_ERROR_INVALID_CONTEXT);
        EXPECT_EQ(cuIpcGetMemHandle(&handle, 1), CUDA_ERROR_INVALID_CONTEXT);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
        EXPECT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_ERROR_INVALID_CONTEXT);
    });
}

TEST(Contexts, ThePrimaryOneIsInactiveUntilItIsRetainedAndStaleOnceItIsReleased) {
    on_node("@one_device", 1, [](Rank&) {
        unsigned flags = 0;
        int active = 7;
        EXPECT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
        EXPECT_EQ(active, 0);
        CUcontext context = nullptr;
        ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
        EXPECT_EQ(cuDevicePrimaryCtxSetFlags_v2(0, 4), CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE);
        EXPECT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
        EXPECT_EQ(active, 1);
        EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxPushCurrent_v2(context), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    });
}

TEST(Contexts, AResetTakesWhatOthersHaveRetained) {
    on_node("@one_device", 1, [](Rank&) {
        CUcontext context = nullptr;
        ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
        ASSERT_EQ(cuCtxPushCurrent_v2(context), CUDA_SUCCESS);
        const CUdeviceptr address = allocate(8);
        const CUstream stream = make_stream();
        EXPECT_EQ(cuDevicePrimaryCtxReset_v2(0), CUDA_SUCCESS);
        EXPECT_EQ(cuMemFree_v2(address), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        EXPECT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
    });
}

TEST(Contexts, AForkedChildCannotUseTheDriver) {
    on_node("@one_device", 1, [](Rank&) {
        test::run_ranks(1, [](Rank&) {
            int count = 0;
            EXPECT_EQ(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
            EXPECT_EQ(cuInit(0), CUDA_ERROR_NOT_INITIALIZED);
        });
    });
}

TEST(PeerAccess, ItsCodes) {
    on_node("@two_islands", 1, [](Rank&) {
        const CurrentContext far(4);
        const CurrentContext near(1);
        const CurrentContext own(0);
        EXPECT_EQ(cuCtxEnablePeerAccess(near.get(), 1), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuCtxEnablePeerAccess(own.get(), 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
        EXPECT_EQ(cuCtxEnablePeerAccess(far.get(), 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
        EXPECT_EQ(cuCtxDisablePeerAccess(near.get()), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
        EXPECT_EQ(cuCtxEnablePeerAccess(near.get(), 0), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxEnablePeerAccess(near.get(), 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
        EXPECT_EQ(cuCtxDisablePeerAccess(near.get()), CUDA_SUCCESS);
        int can = 7;
        EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 0), CUDA_SUCCESS);
        EXPECT_EQ(can, 0);
        EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 3), CUDA_SUCCESS);
        EXPECT_EQ(can, 1);
        EXPECT_EQ(cuDeviceCanAccessPeer(&can, 3, 4), CUDA_SUCCESS);
        EXPECT_EQ(can, 0);
        EXPECT_EQ(cuDeviceGetP2PAttribute(&can, 2, 1, 1), CUDA_ERROR_INVALID_DEVICE);
    });
}

TEST(PeerAccess, TheNumberOfPeersIsLimited) {
    on_node("@few_peers", 1, [](Rank&) {
        const CurrentContext first(1);
        const CurrentContext second(2);
        const CurrentContext third(3);
        const CurrentContext own(0);
        EXPECT_EQ(cuCtxEnablePeerAccess(first.get(), 0), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxEnablePeerAccess(second.get(), 0), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxEnablePeerAccess(third.get(), 0), CUDA_ERROR_TOO_MANY_PEERS);
    });
}

TEST(PeerAccess, AKernelNeedsItAndItIsOfOneDirection) {
    on_node("@two_devices", 1, [](Rank&) {
        const CurrentContext one(1);
        const CUdeviceptr at_one = allocate(64);
        {
            const CurrentContext zero(0);
            EXPECT_EQ(cuCtxEnablePeerAccess(one.get(), 0), CUDA_SUCCESS);
            EXPECT_EQ(launch_store(nullptr, at_one, 1, 64), CUDA_SUCCESS);
            EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
            const CUdeviceptr at_zero = allocate(64);
            EXPECT_EQ(read_bytes(at_one, 64), std::vector<unsigned char>(64, 1));
            ASSERT_EQ(cuCtxPushCurrent_v2(one.get()), CUDA_SUCCESS);
            EXPECT_EQ(launch_store(nullptr, at_zero, 1, 64), CUDA_SUCCESS);
            EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
            EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS) << "the error stays";
            CUdeviceptr none = 0;
            EXPECT_EQ(cuMemAlloc_v2(&none, 8), CUDA_ERROR_ILLEGAL_ADDRESS);
            ASSERT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
        }
    });
}

TEST(PeerAccess, DoesNotCoverPools) {
    on_node("@two_devices", 1, [](Rank&) {
        const CurrentContext one(1);
        const CUstream stream = make_stream();
        CUdeviceptr address = 0;
        ASSERT_EQ(cuMemAllocAsync(&address, 64, stream), CUDA_SUCCESS);
        ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
        CUmemoryPool pool = nullptr;
        ASSERT_EQ(cuDeviceGetDefaultMemPool(&pool, 1), CUDA_SUCCESS);
        const CurrentContext zero(0);
        ASSERT_EQ(cuCtxEnablePeerAccess(one.get(), 0), CUDA_SUCCESS);
        const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        EXPECT_EQ(cuMemPoolSetAccess(pool, &access, 1), CUDA_SUCCESS);
        EXPECT_EQ(launch_store(nullptr, address, 4, 64), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        const CUmemAccessDesc none = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_NONE};
        EXPECT_EQ(cuMemPoolSetAccess(pool, &none, 1), CUDA_SUCCESS);
        EXPECT_EQ(launch_store(nullptr, address, 4, 64), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    });
}

// The node says yes to everything; what arrives is another matter.
void store_and_copy(const std::string& node, unsigned char stored, unsigned char copied) {
    on_node(node, 1, [=](Rank&) {
        const CurrentContext one(1);
        const CUdeviceptr target = allocate(64);
        const CUdeviceptr other_target = allocate(64);
        write_bytes(target, 0, 64);
        write_bytes(other_target, 0, 64);
        {
            const CurrentContext zero(0);
            const CUdeviceptr source = allocate(64);
            const CUstream stream = make_stream();
            ASSERT_EQ(cuCtxEnablePeerAccess(one.get(), 0), CUDA_SUCCESS);
            EXPECT_EQ(launch_store(stream, source, 8, 64), CUDA_SUCCESS);
            EXPECT_EQ(launch_store(stream, target, 8, 64), CUDA_SUCCESS);
            EXPECT_EQ(cuMemcpyPeerAsync(other_target, one.get(), source, zero.get(), 64, stream), CUDA_SUCCESS);
            EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS) << "a lie is no error";
        }
        EXPECT_EQ(read_bytes(target, 64), std::vector<unsigned char>(64, stored));
        EXPECT_EQ(read_bytes(other_target, 64), std::vector<unsigned char>(64, copied));
    });
}

TEST(LyingPeers, AnHonestOneKeepsBoth) {
    store_and_copy("@two_devices", 8, 8);
}
TEST(LyingPeers, StoresAreLostAndCopiesArrive) {
    store_and_copy("@lost_stores", 0, 8);
}
TEST(LyingPeers, StoresAndCopiesAreLost) {
    store_and_copy("@lost_stores_and_copies", 0, 0);
}
TEST(LyingPeers, OneWayOnly) {
    store_and_copy("@one_way_lost", 0, 0);
}

}  // namespace
}  // namespace peercoll::simulator::cuda
