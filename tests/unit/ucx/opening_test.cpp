// SPDX-License-Identifier: BSD-3-Clause
// What opening a wire does to a process, and when it refuses.
#include "tests/unit/ucx/wired_rank.hpp"

#include <gmock/gmock.h>

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace peercoll::test {
namespace {

using testing::HasSubstr;

bool maps_ucx() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find("libucp") != std::string::npos || line.find("libucs") != std::string::npos) return true;
    }
    return false;
}

// In a process of its own, which is gone afterwards with all that UCX does to it.
void in_a_process(const std::function<void()>& body) {
    run_ranks(
        1, [&body](Rank&) { body(); }, wire_rules());
}

const peercoll_transport_t* the_transport() {
    const peercoll_transport_t* transport = nullptr;
    const Status status = load_transport(PEERCOLL_TEST_TRANSPORT, transport);
    EXPECT_TRUE(status.ok()) << status.sentence();
    return transport;
}

peercoll_wire_options_t plain_options() {
    peercoll_wire_options_t options = {};
    options.struct_size = sizeof options;
    return options;
}

TEST(Opening, UcxIsLoadedByOpenAndNotBefore) {
    in_a_process([] {
        const peercoll_transport_t* transport = the_transport();
        ASSERT_NE(transport, nullptr);
        EXPECT_FALSE(maps_ucx()) << "the transport alone has loaded UCX";
        const peercoll_wire_options_t options = plain_options();
        peercoll_wire_t wire = nullptr;
        peercoll_reason_t reason = {};
        ASSERT_EQ(transport->open(&options, &wire, &reason), PEERCOLL_SUCCESS) << reason.text;
        EXPECT_TRUE(maps_ucx());
        peercoll_wire_info_t info = {};
        info.struct_size = sizeof info;
        transport->info(wire, &info);
        EXPECT_THAT(info.text, HasSubstr("UCX 1."));
        EXPECT_EQ(info.memory_kinds & 1u, 1u);
        EXPECT_EQ(transport->close(wire, 5, &reason), PEERCOLL_SUCCESS) << reason.text;
        // And again.
        ASSERT_EQ(transport->open(&options, &wire, &reason), PEERCOLL_SUCCESS) << reason.text;
        EXPECT_EQ(transport->close(wire, 5, &reason), PEERCOLL_SUCCESS) << reason.text;
    });
}

TEST(Opening, LeavesTheCLibraryAndTheSignalHandlersAsTheyWere) {
    in_a_process([] {
        using Code = std::array<unsigned char, 16>;
        const auto code_of = [](const char* function) {
            Code code = {};
            std::memcpy(code.data(), ::dlsym(RTLD_DEFAULT, function), code.size());
            return code;
        };
        const std::vector<const char*> patched = {"mmap", "munmap", "mremap", "shmat", "madvise", "brk"};
        std::vector<Code> before;
        for (const char* function : patched) before.push_back(code_of(function));
        std::vector<struct sigaction> handlers;
        const std::vector<int> signals = {SIGSEGV, SIGILL, SIGBUS, SIGFPE};
        for (int signal : signals) ::sigaction(signal, nullptr, &handlers.emplace_back());

        const peercoll_transport_t* transport = the_transport();
        const peercoll_wire_options_t options = plain_options();
        peercoll_wire_t wire = nullptr;
        peercoll_reason_t reason = {};
        ASSERT_EQ(transport->open(&options, &wire, &reason), PEERCOLL_SUCCESS) << reason.text;
        for (std::size_t i = 0; i < patched.size(); ++i) EXPECT_EQ(code_of(patched[i]), before[i]) << patched[i];
        for (std::size_t i = 0; i < signals.size(); ++i) {
            struct sigaction now = {};
            ::sigaction(signals[i], nullptr, &now);
            EXPECT_EQ(now.sa_sigaction, handlers[i].sa_sigaction) << "signal " << signals[i];
        }
        EXPECT_EQ(std::getenv("UCX_MEM_EVENTS"), nullptr) << "the environment is as it was";
        EXPECT_EQ(transport->close(wire, 5, &reason), PEERCOLL_SUCCESS) << reason.text;
    });
}

TEST(Opening, WithoutTheLibraryTheTransportIsOffAndSaysWhatIsExpected) {
    in_a_process([] {
        const peercoll_transport_t* transport = the_transport();
        peercoll_wire_options_t options = plain_options();
        options.library = "/nowhere/libucp.so.0";
        peercoll_wire_t wire = nullptr;
        peercoll_reason_t reason = {};
        EXPECT_EQ(transport->open(&options, &wire, &reason), PEERCOLL_ERR_NOT_SUPPORTED);
        EXPECT_EQ(wire, nullptr);
        EXPECT_THAT(reason.text, HasSubstr("/nowhere/libucp.so.0"));
        EXPECT_THAT(reason.text, HasSubstr("UCX 1.13 or later"));
    });
}

TEST(Opening, ALibraryOfThatNameWithoutTheFunctionsIsRefused) {
    in_a_process([] {
        // The same file under the name that is looked for.
        const std::filesystem::path folder =
            std::filesystem::temp_directory_path() / ("peercoll_other_ucx_" + std::to_string(::getpid()));
        std::filesystem::create_directory(folder);
        std::filesystem::copy_file(PEERCOLL_TEST_OTHER_UCX, folder / "libucp.so.0");
        const std::string file = folder / "libucp.so.0";
        const peercoll_transport_t* transport = the_transport();
        peercoll_wire_options_t options = plain_options();
        options.library = file.c_str();
        peercoll_wire_t wire = nullptr;
        peercoll_reason_t reason = {};
        EXPECT_EQ(transport->open(&options, &wire, &reason), PEERCOLL_ERR_NOT_SUPPORTED);
        EXPECT_THAT(reason.text, HasSubstr("has no function ucp_get_version"));
        std::filesystem::remove_all(folder);
    });
}

TEST(Opening, AProcessWithPartsOfTwoUcxIsRefusedWithTheNamesOfBoth) {
    in_a_process([] {
        ASSERT_NE(::dlopen(PEERCOLL_TEST_OTHER_UCX, RTLD_NOW | RTLD_LOCAL), nullptr) << ::dlerror();
        ASSERT_NE(::dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL), nullptr) << ::dlerror();
        const peercoll_transport_t* transport = the_transport();
        const peercoll_wire_options_t options = plain_options();
        peercoll_wire_t wire = nullptr;
        peercoll_reason_t reason = {};
        EXPECT_EQ(transport->open(&options, &wire, &reason), PEERCOLL_ERR_NOT_SUPPORTED);
        EXPECT_THAT(reason.text, HasSubstr("two UCX libraries"));
    });
}

TEST(Opening, ASettingThatIsNoneIsNamed) {
    in_a_process([] {
        const peercoll_transport_t* transport = the_transport();
        for (const char* bad : {"TLS", "=tcp", "MAX_EAGER_LANES=many"}) {
            const char* const settings[] = {bad, nullptr};
            peercoll_wire_options_t options = plain_options();
            options.settings = settings;
            peercoll_wire_t wire = nullptr;
            peercoll_reason_t reason = {};
            EXPECT_EQ(transport->open(&options, &wire, &reason), PEERCOLL_ERR_INVALID_ARGUMENT) << bad;
            EXPECT_THAT(reason.text, HasSubstr(bad));
        }
    });
}

TEST(Opening, TheEnvironmentWinsOverSettings) {
    in_a_process([] {
        ::setenv("PEERCOLL_UCX_TLS", "no_such_transport", 1);
        const char* const settings[] = {"TLS=tcp,self", nullptr};
        peercoll_wire_options_t options = plain_options();
        options.settings = settings;
        const peercoll_transport_t* transport = the_transport();
        peercoll_wire_t wire = nullptr;
        peercoll_reason_t reason = {};
        EXPECT_EQ(transport->open(&options, &wire, &reason), PEERCOLL_ERR_NOT_SUPPORTED)
            << "a context was made although the environment leaves it no transport";
    });
}

TEST(Opening, TransportsThatAreNotThereOrNoTransportsAreToldApart) {
    in_a_process([] {
        const peercoll_transport_t* transport = nullptr;
        const Status absent = load_transport("peercoll_no_such_transport.so", transport);
        EXPECT_EQ(absent.code(), PEERCOLL_ERR_NOT_SUPPORTED);
        EXPECT_THAT(absent.sentence(), HasSubstr("is not installed"));
        const Status other = load_transport(PEERCOLL_TEST_OTHER_UCX, transport);
        EXPECT_EQ(other.code(), PEERCOLL_ERR_NOT_SUPPORTED);
        EXPECT_THAT(other.sentence(), HasSubstr("has no symbol"));
        EXPECT_EQ(transport, nullptr);
    });
}

TEST(BadArguments, GetASentenceAndLeaveNoTrace) {
    run_ranks(
        1,
        [](Rank& rank) {
            WiredRank wired(rank, Route::Sockets);
            ASSERT_TRUE(wired.good());
            const peercoll_transport_t& transport = wired.transport();
            std::uint64_t word = 0;
            peercoll_transfer_t transfer = nullptr;
            peercoll_reason_t reason = {};
            const auto send = [&](peercoll_message_t message, peercoll_wire_memory_t memory, const void* data) {
                return transport.send(wired.wire(), wired.peer(0), &message, memory, data, 8, &transfer, &reason);
            };
            EXPECT_EQ(send({65536, 0, 0, 0}, PEERCOLL_WIRE_HOST, &word), PEERCOLL_ERR_INVALID_ARGUMENT);
            EXPECT_THAT(reason.text, HasSubstr("expected less than 65536"));
            EXPECT_EQ(send({1, 0, 0, 0}, PEERCOLL_WIRE_HOST, nullptr), PEERCOLL_ERR_INVALID_ARGUMENT);
            EXPECT_THAT(reason.text, HasSubstr("8 bytes at NULL"));
            EXPECT_EQ(send({1, 0, 0, 0}, 77, &word), PEERCOLL_ERR_NOT_SUPPORTED);
            for (peercoll_wire_memory_t kind = 1; kind < 5; ++kind) {
                if ((wired.info().memory_kinds >> kind & 1) != 0) continue;
                EXPECT_EQ(send({1, 0, 0, 0}, kind, &word), PEERCOLL_ERR_NOT_SUPPORTED);
                EXPECT_THAT(reason.text, HasSubstr("stage it through host memory"));
            }
            const peercoll_process_key_t key = {{5, 6}};
            peercoll_wire_peer_t peer = nullptr;
            EXPECT_EQ(transport.peer(wired.wire(), &key, &word, 3, 0, &peer, &reason), PEERCOLL_ERR_INVALID_ARGUMENT);
            EXPECT_EQ(wired.info().endpoints, 0u);
            EXPECT_EQ(wired.info().transfers, 0u);
            EXPECT_EQ(wired.info().messages_sent, 0u);
            EXPECT_EQ(transport.busy(wired.wire()), 0);
        },
        wire_rules());
}

}  // namespace
}  // namespace peercoll::test
