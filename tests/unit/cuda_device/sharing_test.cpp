// SPDX-License-Identifier: BSD-3-Clause
// Memory of one process, named to another and mapped there: every kind of handle, and every way it can go wrong.
#include "tests/unit/cuda_device/application.hpp"
#include "tests/unit/cuda_device/descriptor_mail.hpp"
#include "tests/unit/gather.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <cstdlib>

namespace peercoll::test {
namespace {

using testing::HasSubstr;

constexpr std::size_t bytes = 3 * 4096 + 5;

struct Export {
    peercoll_memory_handle_t handle{};
    int fd = -1;
    peercoll_reason_t reason{};
    peercoll_status_t status;

    Export(const peercoll_pointer_info_t& info, peercoll_handle_kind_t kind)
        : status(cuda_device().export_memory(&info, kind, 0, &handle, &fd, &reason)) {}
    Export(const Export&) = delete;
    Export& operator=(const Export&) = delete;
    ~Export() {
        if (fd >= 0) ::close(fd);
    }
};

struct Import {
    peercoll_mapping_t mapping{};
    peercoll_reason_t reason{};
    peercoll_status_t status;

    Import(const peercoll_memory_handle_t& handle, int fd, int device = 0)
        : status(cuda_device().import_memory(device, &handle, fd, &mapping, &reason)) {}
    Import(const Import&) = delete;
    Import& operator=(const Import&) = delete;
    ~Import() { cuda_device().release_mapping(&mapping); }
};

using Allocate = std::function<cuda::CuAddress(Application&)>;

// What rank 1, on `device`, does with memory that rank 0 has on device 0 and names by `kind`. `visible`: rank 1's
// CUDA_VISIBLE_DEVICES.
void between_processes(const Machine& machine, peercoll_handle_kind_t kind, const Allocate& allocate,
                       const std::function<void(Application&, const peercoll_memory_handle_t&, int fd)>& look,
                       const std::function<void(Application&, cuda::CuAddress)>& afterwards = {}, int device = 0,
                       const char* visible = nullptr) {
    const DescriptorMail mail;
    run_ranks(2, [&](Rank& rank) {
        if (visible != nullptr && rank.rank() == 1) ::setenv("CUDA_VISIBLE_DEVICES", visible, 1);
        Application application(machine);
        application.use(rank.rank() == 0 ? 0 : device);
        EXPECT_OPENS();
        if (rank.rank() == 0) {
            const cuda::CuAddress memory = allocate(application);
            application.write(memory, pattern(bytes, 1));
            const Export exported(classified(memory + 1), kind);
            ASSERT_EQ(exported.status, PEERCOLL_SUCCESS) << exported.reason.text;
            EXPECT_EQ(exported.handle.base, memory);
            if (exported.fd >= 0) {
                EXPECT_NE(::fcntl(exported.fd, F_GETFD) & FD_CLOEXEC, 0);
                mail.send(exported.fd);
            }
            gather(rank.exchange(0), exported.handle);
            EXPECT_TRUE(rank.exchange(1).meet());
            if (afterwards) afterwards(application, memory);
        } else {
            const bool by_fd = kind == PEERCOLL_HANDLE_FD || kind == PEERCOLL_HANDLE_POOL_FD;
            const int fd = by_fd ? mail.receive() : -1;
            const auto handles = gather(rank.exchange(0), peercoll_memory_handle_t{});
            look(application, handles[0], fd);
            if (fd >= 0) ::close(fd);
            EXPECT_TRUE(rank.exchange(1).meet());
        }
        EXPECT_TRUE(rank.exchange(2).meet());
        cuda_device().close();
    });
}

void expect_shared(const Machine& machine, peercoll_handle_kind_t kind, const Allocate& allocate, int device = 0,
                   const char* visible = nullptr) {
    between_processes(
        machine, kind, allocate,
        [&](Application& application, const peercoll_memory_handle_t& handle, int fd) {
            Import imported(handle, fd, device);
            ASSERT_EQ(imported.status, PEERCOLL_SUCCESS) << imported.reason.text;
            EXPECT_EQ(imported.mapping.kind, kind);
            EXPECT_EQ(imported.mapping.device, device);
            EXPECT_EQ(imported.mapping.bytes, handle.bytes);
            EXPECT_EQ(application.read(imported.mapping.address, bytes), pattern(bytes, 1));
            application.write(imported.mapping.address, pattern(bytes, 2));
            const peercoll_pointer_info_t info = classified(imported.mapping.address);
            EXPECT_EQ(info.kind, PEERCOLL_MEMORY_DEVICE);
            EXPECT_EQ(info.handle_kinds, 0U) << "what was imported is not passed on";
            cuda_device().release_mapping(&imported.mapping);
            EXPECT_EQ(classified(info.base).kind, PEERCOLL_MEMORY_HOST) << "unmapped";
            cuda_device().release_mapping(&imported.mapping);  // nothing is left to do
        },
        [](Application& application, cuda::CuAddress memory) {
            EXPECT_EQ(application.read(memory, bytes), pattern(bytes, 2));
        },
        device, visible);
}

cuda::CuAddress plain(Application& application) {
    return application.allocate(bytes);
}
cuda::CuAddress physical(Application& application) {
    return application.map_physical(granule, 1);
}
cuda::CuAddress pooled(Application& application) {
    return application.allocate_from(application.make_pool(1), bytes);
}

TEST(SharedMemoryOfADevice, IsWrittenAndReadByAnotherProcessThroughAnIpcHandle) {
    expect_shared({}, PEERCOLL_HANDLE_IPC, plain);
}

TEST(SharedMemoryOfADevice, IsMappedThroughADescriptorOfItsPhysicalAllocation) {
    expect_shared({}, PEERCOLL_HANDLE_FD, physical);
}

TEST(SharedMemoryOfADevice, IsMappedThroughADescriptorOfItsPool) {
    expect_shared({}, PEERCOLL_HANDLE_POOL_FD, pooled);
}

TEST(SharedMemoryOfADevice, IsMappedForAnotherDeviceToo) {
    const Machine two = {.node = "devices 2\n"};
    expect_shared(two, PEERCOLL_HANDLE_IPC, plain, 1);
    expect_shared(two, PEERCOLL_HANDLE_FD, physical, 1);
    expect_shared(two, PEERCOLL_HANDLE_POOL_FD, pooled, 1);
}

void expect_refused(const Machine& machine, peercoll_handle_kind_t kind, const Allocate& allocate,
                    const std::function<void(peercoll_memory_handle_t&, int&)>& change, peercoll_status_t status,
                    const char* words, int device = 0, const char* visible = nullptr) {
    between_processes(
        machine, kind, allocate,
        [&](Application&, const peercoll_memory_handle_t& handle, int fd) {
            peercoll_memory_handle_t changed = handle;
            change(changed, fd);
            const Import imported(changed, fd, device);
            EXPECT_EQ(imported.status, status);
            EXPECT_THAT(imported.reason.text, HasSubstr(words));
            EXPECT_EQ(imported.mapping.address, 0U);
        },
        {}, device, visible);
}

void nothing(peercoll_memory_handle_t&, int&) {}

TEST(AHandle, ThatSaysMoreBytesThanThereAreIsRefused) {
    const auto too_large = [](peercoll_memory_handle_t& handle, int&) { handle.bytes += granule; };
    expect_refused({}, PEERCOLL_HANDLE_IPC, plain, too_large, PEERCOLL_ERR_INVALID_ARGUMENT, "but it has 12293");
    expect_refused({}, PEERCOLL_HANDLE_POOL_FD, pooled, too_large, PEERCOLL_ERR_INVALID_ARGUMENT, "but it has");
    expect_refused({}, PEERCOLL_HANDLE_FD, physical, too_large, PEERCOLL_ERR_INVALID_ARGUMENT, "mapping");
}

TEST(AHandle, OfNoWholePagesOfPhysicalMemoryIsRefused) {
    expect_refused(
        {}, PEERCOLL_HANDLE_FD, physical, [](peercoll_memory_handle_t& handle, int&) { handle.bytes -= 1; },
        PEERCOLL_ERR_INVALID_ARGUMENT, "expected a multiple of 2097152");
}

TEST(AHandle, OfNoKindOrNoBytesIsRefused) {
    for (const peercoll_handle_kind_t kind : {0U, 5U, 31U, 32U, 4'000'000'000U})
        expect_refused(
            {}, PEERCOLL_HANDLE_IPC, plain, [&](peercoll_memory_handle_t& handle, int&) { handle.kind = kind; },
            PEERCOLL_ERR_INVALID_ARGUMENT, "expected kind 1 to 4");
    expect_refused(
        {}, PEERCOLL_HANDLE_IPC, plain, [](peercoll_memory_handle_t& handle, int&) { handle.bytes = 0; },
        PEERCOLL_ERR_INVALID_ARGUMENT, "more than 0 bytes");
}

TEST(AHandle, ByDescriptorWithoutOneIsRefused) {
    between_processes({}, PEERCOLL_HANDLE_FD, physical, [](Application&, const peercoll_memory_handle_t& handle, int) {
        const Import imported(handle, -1);
        EXPECT_EQ(imported.status, PEERCOLL_ERR_INVALID_ARGUMENT);
        EXPECT_THAT(imported.reason.text, HasSubstr("expected its descriptor"));
    });
}

TEST(AHandle, OfGarbageIsRefused) {
    const auto garbage = [](peercoll_memory_handle_t& handle, int&) {
        for (auto& byte : handle.data) byte = static_cast<std::uint8_t>(~byte);
    };
    expect_refused({}, PEERCOLL_HANDLE_IPC, plain, garbage, PEERCOLL_ERR_INVALID_ARGUMENT, "mapping another");
    expect_refused({}, PEERCOLL_HANDLE_POOL_FD, pooled, garbage, PEERCOLL_ERR_INVALID_ARGUMENT, "mapping another");
}

TEST(AHandle, OfADeviceThatThisProcessDoesNotSeeIsMapped) {
    const Machine two = {.node = "devices 2\n"};
    expect_shared(two, PEERCOLL_HANDLE_IPC, plain, 0, "1");
    expect_shared(two, PEERCOLL_HANDLE_FD, physical, 0, "1");
    expect_shared(two, PEERCOLL_HANDLE_POOL_FD, pooled, 0, "1");
}

TEST(AHandle, OfADeviceThatThisProcessDoesNotSeeIsRefusedWithTheReasonWhereTheDriverMapsNone) {
    const Machine refuses = {.node = "devices 2\nhidden_import refused\n"};
    const auto refused = [&](peercoll_handle_kind_t kind, const Allocate& allocate) {
        expect_refused(refuses, kind, allocate, nothing, PEERCOLL_ERR_NOT_SUPPORTED, "CUDA_VISIBLE_DEVICES", 0, "1");
    };
    refused(PEERCOLL_HANDLE_IPC, plain);
    refused(PEERCOLL_HANDLE_FD, physical);
    refused(PEERCOLL_HANDLE_POOL_FD, pooled);
}

TEST(CudaDevice, SaysWhichHandlesItMapsOfDevicesThatItDoesNotSee) {
    on_machine({}, [](Application&) {
        EXPECT_EQ(cuda_device().unseen_import_kinds(0), 0U) << "not open";
        EXPECT_OPENS();
        EXPECT_NE(cuda_device().unseen_import_kinds(0) & kind_bit(PEERCOLL_HANDLE_IPC), 0U);
        EXPECT_EQ(cuda_device().unseen_import_kinds(1), 0U) << "no such device";
        cuda_device().close();
    });
}

TEST(AHandle, IsRefusedWhereHandlesAreNotPermitted) {
    expect_refused({.node = "devices 1\nipc refused\n"}, PEERCOLL_HANDLE_IPC, plain, nothing, PEERCOLL_ERR_SYSTEM,
                   "pid namespace");
}

TEST(AHandle, OfADeviceOutOfReachIsRefused) {
    expect_refused({.node = "devices 2\npath 1 0 no\n"}, PEERCOLL_HANDLE_IPC, plain, nothing,
                   PEERCOLL_ERR_NOT_SUPPORTED, "cannot reach each other", 1);
}

TEST(AHandle, OfADeviceBeyondTheMostPeersIsRefused) {
    expect_refused({.node = "devices 2\npeers 0\n"}, PEERCOLL_HANDLE_IPC, plain, nothing, PEERCOLL_ERR_NOT_SUPPORTED,
                   "as many peers", 1);
}

TEST(AHandle, OfThisProcessItselfIsRefusedWithAHint) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        const cuda::CuAddress memory = application.allocate(bytes);
        const Export exported(classified(memory), PEERCOLL_HANDLE_IPC);
        ASSERT_EQ(exported.status, PEERCOLL_SUCCESS) << exported.reason.text;
        const Import imported(exported.handle, -1);
        EXPECT_EQ(imported.status, PEERCOLL_ERR_SYSTEM);
        EXPECT_THAT(imported.reason.text, HasSubstr("this process's own"));
        application.free(memory);
    });
}

// The owner frees what is mapped elsewhere, and allocates at the same address again.
TEST(AHandle, OfAnAddressWhoseFormerAllocationIsStillMappedIsBusyUntilThatIsReleased) {
    run_ranks(2, [&](Rank& rank) {
        Application application({.node = "devices 1\nipc overlap_refused\n"});
        application.use(0);
        EXPECT_OPENS();
        if (rank.rank() == 0) {
            cuda::CuAddress memory = application.allocate(bytes);
            const cuda::CuAddress before = memory;
            const Export first(classified(memory), PEERCOLL_HANDLE_IPC);
            gather(rank.exchange(0), first.handle);
            EXPECT_TRUE(rank.exchange(1).meet());
            application.free(memory);
            memory = application.allocate(bytes);
            EXPECT_EQ(memory, before) << "the case this test is for";
            const Export second(classified(memory), PEERCOLL_HANDLE_IPC);
            gather(rank.exchange(2), second.handle);
            EXPECT_TRUE(rank.exchange(3).meet());
            application.free(memory);
        } else {
            Import former(gather(rank.exchange(0), peercoll_memory_handle_t{})[0], -1);
            EXPECT_EQ(former.status, PEERCOLL_SUCCESS) << former.reason.text;
            EXPECT_TRUE(rank.exchange(1).meet());
            const peercoll_memory_handle_t handle = gather(rank.exchange(2), peercoll_memory_handle_t{})[0];
            {
                const Import refused(handle, -1);
                EXPECT_EQ(refused.status, PEERCOLL_ERR_BUSY);
                EXPECT_THAT(refused.reason.text, HasSubstr("release it, then try again"));
            }
            cuda_device().release_mapping(&former.mapping);
            {
                const Import latter(handle, -1);
                EXPECT_EQ(latter.status, PEERCOLL_SUCCESS) << latter.reason.text;
            }
            EXPECT_TRUE(rank.exchange(3).meet());
        }
        cuda_device().close();
    });
}

TEST(AMapping, ThatOutlivesTheBackendIsForgotten) {
    between_processes({}, PEERCOLL_HANDLE_IPC, plain, [](Application&, const peercoll_memory_handle_t& handle, int) {
        Import imported(handle, -1);
        ASSERT_EQ(imported.status, PEERCOLL_SUCCESS) << imported.reason.text;
        cuda_device().close();
        EXPECT_OPENS();
        cuda_device().release_mapping(&imported.mapping);
        EXPECT_EQ(imported.mapping.address, 0U);
    });
}

TEST(AnExport, IsOnlyByAKindThatTheMemoryHas) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        const cuda::CuAddress memory = application.allocate(bytes);
        for (const peercoll_handle_kind_t kind : {0U, 2U, 3U, 4U, 31U, 32U, 77U}) {
            const Export exported(classified(memory), kind);
            EXPECT_EQ(exported.status, PEERCOLL_ERR_INVALID_ARGUMENT) << kind;
            EXPECT_THAT(exported.reason.text, HasSubstr("expected one of classify()'s"));
            EXPECT_EQ(exported.handle.kind, 0U);
            EXPECT_EQ(exported.fd, -1);
        }
        application.free(memory);
    });
}

TEST(AnExport, ForAFabricWithoutAChannelIsNotPermitted) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        peercoll_pointer_info_t info = classified(application.map_physical(granule, 1));
        info.handle_kinds |= kind_bit(PEERCOLL_HANDLE_FABRIC);
        cuda::attachment()->driver.allocation_export = [](void*, cuda::CuAllocation, int type, unsigned long long) {
            return type == cuda::handle_type_fabric ? cuda::code::not_permitted : cuda::code::invalid_value;
        };
        const Export exported(info, PEERCOLL_HANDLE_FABRIC);
        EXPECT_EQ(exported.status, PEERCOLL_ERR_NOT_SUPPORTED);
        EXPECT_THAT(exported.reason.text, HasSubstr("(800)"));
        EXPECT_THAT(exported.reason.text, HasSubstr("channel of the fabric"));
    });
}

// The simulator has no fabric: the driver's two functions are replaced by ones that pass the bytes of a name.
TEST(AnExport, ForAFabricNamesTheAllocationInTheHandle) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        const cuda::CuAddress memory = application.map_physical(granule, 1);
        application.write(memory, pattern(bytes, 3));
        static cuda::CuAllocation named = 0;
        cuda::DriverFunctions& driver = cuda::attachment()->driver;
        driver.allocation_export = [](void* name, cuda::CuAllocation allocation, int type, unsigned long long) {
            if (type != cuda::handle_type_fabric) return cuda::code::invalid_value + 0;
            named = allocation;
            static_cast<unsigned char*>(name)[63] = 42;
            return cuda::code::success + 0;
        };
        static const auto retain = driver.allocation_retain;
        static cuda::CuAddress base = memory;
        driver.allocation_import = [](cuda::CuAllocation* allocation, void* name, int type) {
            if (type != cuda::handle_type_fabric || static_cast<unsigned char*>(name)[63] != 42)
                return cuda::code::invalid_value + 0;
            return retain(allocation, reinterpret_cast<void*>(base));
        };
        cuda::attachment()->devices[0]->info.import_kinds |= kind_bit(PEERCOLL_HANDLE_FABRIC);
        peercoll_pointer_info_t info = classified(memory);
        info.handle_kinds |= kind_bit(PEERCOLL_HANDLE_FABRIC);
        const Export exported(info, PEERCOLL_HANDLE_FABRIC);
        ASSERT_EQ(exported.status, PEERCOLL_SUCCESS) << exported.reason.text;
        EXPECT_NE(named, 0U);
        EXPECT_EQ(exported.fd, -1);
        const Import imported(exported.handle, -1);
        ASSERT_EQ(imported.status, PEERCOLL_SUCCESS) << imported.reason.text;
        EXPECT_NE(imported.mapping.address, memory);
        EXPECT_EQ(application.read(imported.mapping.address, bytes), pattern(bytes, 3));
    });
}

}  // namespace
}  // namespace peercoll::test
