// SPDX-License-Identifier: BSD-3-Clause
// Memory of one process, named to another and mapped there, and every way it can go wrong.
#include "plugin/device/hip/ipc_handle.hpp"
#include "tests/unit/gather.hpp"
#include "tests/unit/hip_device/application.hpp"

#include <gmock/gmock.h>

namespace peercoll::test {
namespace {

using testing::HasSubstr;

constexpr std::size_t bytes = 3 * 4096 + 5;

struct Export {
    peercoll_memory_handle_t handle{};
    int fd = 0;
    peercoll_reason_t reason{};
    peercoll_status_t status;

    explicit Export(const peercoll_pointer_info_t& info, peercoll_handle_kind_t kind = PEERCOLL_HANDLE_IPC)
        : status(hip_device().export_memory(&info, kind, 0, &handle, &fd, &reason)) {}
};

struct Import {
    peercoll_mapping_t mapping{};
    peercoll_reason_t reason{};
    peercoll_status_t status;

    explicit Import(const peercoll_memory_handle_t& handle, int device = 0)
        : status(hip_device().import_memory(device, &handle, -1, &mapping, &reason)) {}
    Import(const Import&) = delete;
    Import& operator=(const Import&) = delete;
    ~Import() { release(); }
    void release() { hip_device().release_mapping(&mapping); }
};

class SharedHipMemory : public OnHip {
protected:
    using Look = std::function<void(Application&, const peercoll_memory_handle_t&)>;
    // What rank 1, on `device`, does with memory that rank 0 has on device 0.
    static void between_processes(const Machine& owner, const Machine& importer, const Look& look, int device = 0,
                                  const std::function<void(Application&, std::uint64_t)>& afterwards = {}) {
        run_ranks(2, [&](Rank& rank) {
            const bool owns = rank.rank() == 0;
            Application application(GetParam(), owns ? owner : importer);
            application.use(owns ? 0 : device);
            EXPECT_OPENS();
            if (owns) {
                const std::uint64_t memory = application.allocate(bytes);
                application.write(memory, pattern(bytes, 1));
                const Export exported(classified(memory + 1));
                ASSERT_EQ(exported.status, PEERCOLL_SUCCESS) << exported.reason.text;
                EXPECT_EQ(exported.handle.base, memory);
                EXPECT_EQ(exported.fd, -1);
                gather(rank.exchange(0), exported.handle);
                EXPECT_TRUE(rank.exchange(1).meet());
                if (afterwards) afterwards(application, memory);
                application.free(memory);
            } else {
                const auto handles = gather(rank.exchange(0), peercoll_memory_handle_t{});
                look(application, handles[0]);
                EXPECT_TRUE(rank.exchange(1).meet());
            }
            EXPECT_TRUE(rank.exchange(2).meet());
            hip_device().close();
        });
    }
    static void between_processes(const Machine& machine, const Look& look, int device = 0) {
        between_processes(machine, machine, look, device);
    }
    static void expect_refused(const Machine& machine, const std::function<void(peercoll_memory_handle_t&)>& change,
                               peercoll_status_t status, const char* words, int device = 0) {
        between_processes(
            machine,
            [&](Application&, const peercoll_memory_handle_t& handle) {
                peercoll_memory_handle_t changed = handle;
                change(changed);
                const Import imported(changed, device);
                EXPECT_EQ(imported.status, status);
                EXPECT_THAT(imported.reason.text, HasSubstr(words));
                EXPECT_EQ(imported.mapping.address, 0U);
            },
            device);
    }
};
PEERCOLL_ON_EACH_RELEASE(SharedHipMemory);

void nothing(peercoll_memory_handle_t&) {}

TEST_P(SharedHipMemory, IsWrittenAndReadByAnotherProcess) {
    const auto look = [](int device) {
        return [device](Application& application, const peercoll_memory_handle_t& handle) {
            Import imported(handle, device);
            ASSERT_EQ(imported.status, PEERCOLL_SUCCESS) << imported.reason.text;
            EXPECT_EQ(imported.mapping.kind, PEERCOLL_HANDLE_IPC);
            EXPECT_EQ(imported.mapping.device, device);
            EXPECT_EQ(imported.mapping.bytes, handle.bytes);
            EXPECT_EQ(application.read(imported.mapping.address, bytes), pattern(bytes, 1));
            application.write(imported.mapping.address, pattern(bytes, 2));
            const peercoll_pointer_info_t info = classified(imported.mapping.address);
            EXPECT_EQ(info.kind, PEERCOLL_MEMORY_DEVICE);
            EXPECT_EQ(info.handle_kinds, 0U) << "what was imported is not passed on";
            imported.release();
            EXPECT_EQ(classified(info.base).kind, PEERCOLL_MEMORY_HOST) << "unmapped";
            imported.release();  // nothing is left to do
        };
    };
    const auto afterwards = [](Application& application, std::uint64_t memory) {
        EXPECT_EQ(application.read(memory, bytes), pattern(bytes, 2));
    };
    between_processes({}, {}, look(0), 0, afterwards);
    const Machine two = {.node = "devices 2\n"};
    between_processes(two, two, look(1), 1, afterwards);
}

// Kernels reach what was imported: also where the owner's device is another one.
TEST_P(SharedHipMemory, IsReachedByKernelsOfTheImportersDevice) {
    const Machine two = {.node = "devices 2\n"};
    for (const int device : {0, 1})
        between_processes(
            two,
            [&](Application& application, const peercoll_memory_handle_t& handle) {
                const Import imported(handle, device);
                ASSERT_EQ(imported.status, PEERCOLL_SUCCESS) << imported.reason.text;
                const std::uint64_t to = application.allocate(bytes);
                const std::uint64_t from = imported.mapping.address;
                const std::uint32_t end = 1;
                peercoll_fold_t fold{};
                fold.struct_size = sizeof fold;
                fold.datatype = PEERCOLL_BYTE;
                fold.op = PEERCOLL_NO_OP;
                fold.count = bytes;
                fold.n_inputs = fold.n_outputs = fold.n_blocks = 1;
                fold.inputs = &from;
                fold.outputs = &to;
                fold.block_ends = &end;
                peercoll_stream_t stream = nullptr;
                peercoll_reason_t reason{};
                ASSERT_EQ(hip_device().stream_create(device, &stream, nullptr), PEERCOLL_SUCCESS);
                ASSERT_EQ(hip_device().fold(stream, &fold, &reason), PEERCOLL_SUCCESS) << reason.text;
                ASSERT_EQ(hip_device().stream_synchronize(stream, &reason), PEERCOLL_SUCCESS) << reason.text;
                EXPECT_EQ(application.read(to, bytes), pattern(bytes, 1));
                hip_device().stream_destroy(stream);
                application.free(to);
            },
            device);
}

// A second opening is an error in one release, and closes what the first still uses in another.
TEST_P(SharedHipMemory, IsOpenedOnceHoweverOftenItIsImported) {
    between_processes({}, [](Application& application, const peercoll_memory_handle_t& handle) {
        Import first(handle);
        ASSERT_EQ(first.status, PEERCOLL_SUCCESS) << first.reason.text;
        {
            const Import second(handle);
            ASSERT_EQ(second.status, PEERCOLL_SUCCESS) << second.reason.text;
            EXPECT_EQ(second.mapping.address, first.mapping.address);
        }
        EXPECT_EQ(application.read(first.mapping.address, bytes), pattern(bytes, 1)) << "still open";
        const std::uint64_t address = first.mapping.address;
        first.release();
        EXPECT_EQ(classified(address).kind, PEERCOLL_MEMORY_HOST);
        const Import third(handle);
        EXPECT_EQ(third.status, PEERCOLL_SUCCESS) << third.reason.text;
    });
}

TEST_P(SharedHipMemory, IsCopiedToAnotherDeviceWithoutPeerAccess) {
    between_processes({.node = "devices 3\n"}, [](Application& application, const peercoll_memory_handle_t& handle) {
        const Import imported(handle, 1);
        ASSERT_EQ(imported.status, PEERCOLL_SUCCESS) << imported.reason.text;
        application.use(2);
        const std::uint64_t to = application.allocate(bytes);
        static int peer_copies = 0;
        static int from_device = -1;
        static const auto copy_peer = hip::attachment()->hip.memory_copy_peer_async;
        hip::attachment()->hip.memory_copy_peer_async = [](void* target, int target_device, const void* source,
                                                           int source_device, std::size_t n, hip::HipStream stream) {
            ++peer_copies;
            from_device = source_device;
            return copy_peer(target, target_device, source, source_device, n, stream);
        };
        peercoll_stream_t stream = nullptr;
        ASSERT_EQ(hip_device().stream_create(2, &stream, nullptr), PEERCOLL_SUCCESS);
        peercoll_reason_t reason{};
        ASSERT_EQ(hip_device().copy(stream, to, imported.mapping.address, bytes, &reason), PEERCOLL_SUCCESS)
            << reason.text;
        ASSERT_EQ(hip_device().stream_synchronize(stream, nullptr), PEERCOLL_SUCCESS);
        EXPECT_EQ(application.read(to, bytes), pattern(bytes, 1));
        EXPECT_EQ(peer_copies, 1);
        EXPECT_EQ(from_device, 0) << "the owner's device, not the one it was mapped for";
        hip_device().stream_destroy(stream);
        application.free(to);
    });
}

TEST_P(SharedHipMemory, IsOpenedWithTheOtherFlagWhereALibraryCallsItselfOtherwise) {
    between_processes({}, [](Application& application, const peercoll_memory_handle_t& handle) {
        // Its numbers are those of another release but for the flag.
        hip::attachment()->version.number = application.major == 5 ? 60000000 : 50700000;
        peercoll_memory_handle_t of_that_release = handle;
        hip::NamedAllocation named = hip::named_by(handle);
        named.owner_version = hip::attachment()->version.number;
        hip::put(of_that_release, named);
        const Import imported(of_that_release);
        EXPECT_EQ(imported.status, PEERCOLL_SUCCESS) << imported.reason.text;
    });
}

TEST_P(SharedHipMemory, ThatSaysMoreBytesThanThereAreIsRefused) {
    expect_refused(
        {}, [](peercoll_memory_handle_t& handle) { handle.bytes += 1 << 20; }, PEERCOLL_ERR_INVALID_ARGUMENT,
        "but it has 12293");
}

TEST_P(SharedHipMemory, OfAnotherKindOrOfNoBytesIsRefused) {
    for (const peercoll_handle_kind_t kind : {0U, 2U, 3U, 4U, 5U, 31U, 32U, 4'000'000'000U})
        expect_refused(
            {}, [&](peercoll_memory_handle_t& handle) { handle.kind = kind; }, PEERCOLL_ERR_INVALID_ARGUMENT,
            "expected kind 1");
    expect_refused(
        {}, [](peercoll_memory_handle_t& handle) { handle.bytes = 0; }, PEERCOLL_ERR_INVALID_ARGUMENT,
        "more than 0 bytes");
}

TEST_P(SharedHipMemory, OfGarbageIsRefused) {
    expect_refused(
        {},
        [](peercoll_memory_handle_t& handle) {
            for (std::size_t i = 0; i < sizeof(hip::HipIpcHandle); ++i)
                handle.data[i] = static_cast<std::uint8_t>(~handle.data[i]);
        },
        PEERCOLL_ERR_INVALID_ARGUMENT, "mapping another");
}

TEST_P(SharedHipMemory, OfADeviceThatThisProcessDoesNotSeeIsRefused) {
    expect_refused(
        {}, [](peercoll_memory_handle_t& handle) { handle.device_uuid[3] ^= 1; }, PEERCOLL_ERR_NOT_SUPPORTED,
        "HIP_VISIBLE_DEVICES");
}

TEST_P(SharedHipMemory, OfAnotherReleaseIsRefused) {
    expect_refused(
        {},
        [](peercoll_memory_handle_t& handle) {
            hip::NamedAllocation named = hip::named_by(handle);
            named.owner_version += 1;
            hip::put(handle, named);
        },
        PEERCOLL_ERR_NOT_SUPPORTED, "expected the same release");
}

// ROCm 7 takes the owner's number of the device for its own, and would give access to another one.
TEST_P(SharedHipMemory, OfADeviceWithAnotherNumberHereIsRefusedWhereItWouldBeMistaken) {
    const Machine owner = {.node = "devices 2\n"};
    const Machine importer = {.node = "devices 2\n", .visible = "1,0"};
    between_processes(
        owner, importer,
        [](Application& application, const peercoll_memory_handle_t& handle) {
            const Import imported(handle, 1);
            if (application.major < 7) {
                ASSERT_EQ(imported.status, PEERCOLL_SUCCESS) << imported.reason.text;
                EXPECT_EQ(application.read(imported.mapping.address, bytes), pattern(bytes, 1));
                return;
            }
            EXPECT_EQ(imported.status, PEERCOLL_ERR_NOT_SUPPORTED);
            EXPECT_THAT(imported.reason.text, HasSubstr("the same HIP_VISIBLE_DEVICES"));
        },
        1);
}

TEST_P(SharedHipMemory, IsRefusedWhereHandlesCannotBeOpened) {
    expect_refused({.node = "devices 1\nipc refused\n"}, nothing, PEERCOLL_ERR_INVALID_ARGUMENT, "another container");
}

TEST_P(SharedHipMemory, OfADeviceOutOfReachIsRefused) {
    expect_refused({.node = "devices 2\npath 1 0 no\n"}, nothing, PEERCOLL_ERR_INVALID_ARGUMENT,
                   "cannot reach each other", 1);
}

TEST_P(SharedHipMemory, OfThisProcessItselfIsRefusedWithAHintSinceRocm6) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        const std::uint64_t memory = application.allocate(bytes);
        const Export exported(classified(memory));
        ASSERT_EQ(exported.status, PEERCOLL_SUCCESS) << exported.reason.text;
        const Import imported(exported.handle);
        if (application.major < 6) {
            EXPECT_EQ(imported.status, PEERCOLL_SUCCESS) << imported.reason.text;
        } else {
            EXPECT_EQ(imported.status, PEERCOLL_ERR_SYSTEM);
            EXPECT_THAT(imported.reason.text, HasSubstr("this process's own"));
        }
        application.free(memory);
    });
}

TEST_P(SharedHipMemory, ThatIsMappedWhenTheBackendIsClosedIsForgotten) {
    between_processes({}, [](Application&, const peercoll_memory_handle_t& handle) {
        Import imported(handle);
        ASSERT_EQ(imported.status, PEERCOLL_SUCCESS) << imported.reason.text;
        hip_device().close();
        EXPECT_OPENS();
        imported.release();
        EXPECT_EQ(imported.mapping.address, 0U);
    });
}

TEST_P(SharedHipMemory, IsExportedOnlyByAKindThatItHas) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        const std::uint64_t memory = application.allocate(bytes);
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

}  // namespace
}  // namespace peercoll::test
