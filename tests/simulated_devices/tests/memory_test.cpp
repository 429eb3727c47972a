// SPDX-License-Identifier: BSD-3-Clause
// Device memory across processes, and what a processor can do with its addresses.
#include "tests/simulated_devices/core/physical_memory.hpp"
#include "tests/simulated_devices/tests/on_node.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

namespace peercoll::simulator::cuda {
namespace {

constexpr std::size_t MiB = 1U << 20;

struct Shared {
    CUipcMemHandle handle;
    CUdeviceptr address;
};

// Rank 0 makes it and the others get it.
Shared shared_by_rank_0(Rank& rank, const Shared& mine) {
    std::vector<Shared> all(static_cast<std::size_t>(rank.size()));
    auto exchange = rank.exchange();
    EXPECT_TRUE(exchange.allgather(&mine, all.data(), sizeof(Shared)));
    return all[0];
}

void meet(Rank& rank) {
    auto exchange = rank.exchange(1);
    EXPECT_TRUE(exchange.meet());
}

Shared share(CUdeviceptr address) {
    Shared shared = {};
    shared.address = address;
    EXPECT_EQ(cuIpcGetMemHandle(&shared.handle, address), CUDA_SUCCESS);
    return shared;
}

CUdeviceptr opened(const Shared& shared) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuIpcOpenMemHandle_v2(&address, shared.handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_SUCCESS);
    return address;
}

TEST(DeviceMemory, FreeingNothingSucceedsWhereThereIsAContext) {
    on_node("@one_device", 1, [](Rank&) {
        EXPECT_EQ(cuMemFree_v2(0), CUDA_ERROR_INVALID_CONTEXT);
        const CurrentContext context;
        EXPECT_EQ(cuMemFree_v2(0), CUDA_SUCCESS);
        EXPECT_EQ(cuMemFree_v2(1), CUDA_ERROR_INVALID_VALUE);
    });
}

TEST(DeviceMemory, AProcessorThatTouchesItDies) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        const CUdeviceptr address = allocate(MiB);
        const pid_t child = ::fork();
        if (child == 0) {
            std::signal(SIGSEGV, SIG_DFL);
            *reinterpret_cast<volatile char*>(address) = 1;
            ::_exit(0);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
        EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
    });
}

TEST(DeviceMemory, ManagedMemoryIsReachedByBoth) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        CUdeviceptr address = 0;
        ASSERT_EQ(cuMemAllocManaged(&address, MiB, 1), CUDA_SUCCESS);
        std::memset(reinterpret_cast<void*>(address), 7, MiB);
        EXPECT_EQ(read_bytes(address, MiB), std::vector<unsigned char>(MiB, 7));
        write_bytes(address, 9, MiB);
        EXPECT_EQ(reinterpret_cast<unsigned char*>(address)[MiB - 1], 9);
        EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
    });
}

TEST(DeviceMemory, FreshMemoryIsPoisoned) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        for (int round = 0; round < 2; ++round) {
            const CUdeviceptr address = allocate(MiB);
            EXPECT_EQ(read_bytes(address, MiB), std::vector<unsigned char>(MiB, fresh_poison));
            write_bytes(address, 1, MiB);
            EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
        }
    });
}

TEST(DeviceMemory, FreedMemoryStaysInUseUntilItsReaderClosesAndHoldsGarbage) {
    on_node("@one_device", 2, [](Rank& rank) {
        const CurrentContext context;
        const CUdeviceptr mine = rank.rank() == 0 ? allocate(MiB) : 0;
        if (rank.rank() == 0) {
            write_bytes(mine, 5, MiB);
        }
        const Shared shared = shared_by_rank_0(rank, rank.rank() == 0 ? share(mine) : Shared());
        const CUdeviceptr theirs = rank.rank() == 1 ? opened(shared) : 0;
        if (rank.rank() == 1) {
            EXPECT_NE(theirs, shared.address);
            EXPECT_EQ(read_bytes(theirs, MiB), std::vector<unsigned char>(MiB, 5));
        }
        meet(rank);
        if (rank.rank() == 0) {
            EXPECT_EQ(cuMemFree_v2(mine), CUDA_SUCCESS);
            EXPECT_EQ(bytes_in_use(), MiB);
        }
        meet(rank);
        if (rank.rank() == 1) {
            EXPECT_EQ(read_bytes(theirs, MiB), std::vector<unsigned char>(MiB, freed_poison));
            EXPECT_EQ(cuIpcCloseMemHandle(theirs), CUDA_SUCCESS);
            EXPECT_EQ(bytes_in_use(), 0U);
            CUdeviceptr again = 0;
            EXPECT_EQ(cuIpcOpenMemHandle_v2(&again, shared.handle, 1), CUDA_ERROR_INVALID_VALUE);
        }
        meet(rank);
    });
}

TEST(DeviceMemory, MemoryOfAKilledOwnerIsReadableUntilItIsClosedAndThenGone) {
    test::GroupRules rules;
    rules.expected_losses = {0};
    on_node(
        "@one_device", 2,
        [](Rank& rank) {
            const CurrentContext context;
            const CUdeviceptr mine = rank.rank() == 0 ? allocate(MiB) : 0;
            if (rank.rank() == 0) {
                write_bytes(mine, 6, MiB);
            }
            const Shared shared = shared_by_rank_0(rank, rank.rank() == 0 ? share(mine) : Shared());
            const CUdeviceptr theirs = rank.rank() == 1 ? opened(shared) : 0;
            if (rank.rank() == 0) {
                rank.word(0).store(static_cast<std::uint64_t>(::getpid()));
            }
            meet(rank);
            if (rank.rank() == 0) {
                ::kill(::getpid(), SIGKILL);
            }
            const std::string stat = "/proc/" + std::to_string(rank.word(0).load()) + "/fd/0";
            while (::access(stat.c_str(), F_OK) == 0) {
                ::usleep(1000);
            }
            EXPECT_EQ(read_bytes(theirs, MiB), std::vector<unsigned char>(MiB, 6));
            EXPECT_EQ(bytes_in_use(), MiB);
            EXPECT_EQ(cuIpcCloseMemHandle(theirs), CUDA_SUCCESS);
            EXPECT_EQ(bytes_in_use(), 0U);
        },
        {}, rules);
}

TEST(DeviceMemory, MoreThanThereIsIsRefused) {
    on_node("devices 1\nmemory all 8\n", 2, [](Rank& rank) {
        const CurrentContext context;
        CUdeviceptr address = 0;
        EXPECT_EQ(cuMemAlloc_v2(&address, 9 * MiB), CUDA_ERROR_OUT_OF_MEMORY);
        if (rank.rank() == 0) {
            address = allocate(5 * MiB);
        }
        meet(rank);
        if (rank.rank() == 1) {  // what the other process has counts
            EXPECT_EQ(cuMemAlloc_v2(&address, 4 * MiB), CUDA_ERROR_OUT_OF_MEMORY);
            address = allocate(3 * MiB);
        }
        meet(rank);
        EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
    });
}

TEST(DeviceMemory, ManySmallPiecesFillItToo) {
    on_node("devices 1\nmemory all 8\n", 1, [](Rank&) {
        const CurrentContext context;
        constexpr std::size_t piece = 64 * 1024;
        CUdeviceptr address = 0;
        std::size_t pieces = 0;
        while (pieces <= 8 * MiB / piece && cuMemAlloc_v2(&address, piece) == CUDA_SUCCESS) {
            ++pieces;
        }
        EXPECT_EQ(pieces, 8 * MiB / piece);
    });
}

TEST(DeviceMemory, ManyRoundsOfAllocateAndFreeLeaveNothingInUse) {
    on_node("@one_device", 1, [](Rank&) {
        const CurrentContext context;
        for (std::size_t round = 0; round < 2000; ++round) {
            const CUdeviceptr address = allocate(1 + round * 7);
            EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
        }
        EXPECT_EQ(bytes_in_use(), 0U);
    });
}

}  // namespace
}  // namespace peercoll::simulator::cuda
