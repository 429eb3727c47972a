// SPDX-License-Identifier: BSD-3-Clause
// Streams that are asked whether they are done, events of each kind, and copies.
#include "tests/unit/ascend_device/application.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

namespace peercoll::test {
namespace {

using testing::HasSubstr;

class AscendStreams : public OnAscend {};
PEERCOLL_ON_EACH_LIBRARY(AscendStreams);

constexpr std::size_t bytes = 100'003;

// Work begins up to a tenth of a second late.
const Machine late = {.node = "devices 2\ndelay 100000\n", .pointers = "device"};

peercoll_stream_t make_stream(int device = 0) {
    peercoll_stream_t stream = nullptr;
    peercoll_reason_t reason{};
    EXPECT_EQ(ascend_device().stream_create(device, &stream, &reason), PEERCOLL_SUCCESS) << reason.text;
    return stream;
}

template <typename Question>
void expect_done_soon(Question question) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    peercoll_status_t status = PEERCOLL_ERR_BUSY;
    while ((status = question()) == PEERCOLL_ERR_BUSY && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    EXPECT_EQ(status, PEERCOLL_SUCCESS);
}

TEST_P(AscendStreams, AreDoneWhenTheirWorkIs) {
    on_machine(late, [](Application& application) {
        EXPECT_OPENS();
        void* pinned = nullptr;
        ASSERT_EQ(ascend_device().allocate_host(0, bytes, &pinned, nullptr), PEERCOLL_SUCCESS);
        const std::uint64_t memory = application.allocate(bytes);
        application.write(memory, pattern(bytes, 1));
        const peercoll_stream_t stream = make_stream();
        EXPECT_EQ(ascend_device().stream_query(stream, nullptr), PEERCOLL_SUCCESS) << "nothing was started";
        for (unsigned round = 1; round < 5; ++round) {
            peercoll_reason_t reason{};
            ASSERT_EQ(ascend_device().copy(stream, address_of(pinned), memory, bytes, &reason), PEERCOLL_SUCCESS)
                << reason.text;
            (void)ascend_device().stream_query(stream, nullptr);
            // More behind what was asked for.
            ASSERT_EQ(ascend_device().copy(stream, memory + round, address_of(pinned), 1, &reason), PEERCOLL_SUCCESS)
                << reason.text;
            expect_done_soon([&] { return ascend_device().stream_query(stream, nullptr); });
            const std::vector<std::uint8_t> now = application.read(memory, bytes);
            EXPECT_EQ(now[round], now[0]);
            EXPECT_EQ(std::vector<std::uint8_t>(static_cast<std::uint8_t*>(pinned) + round + 1,
                                                static_cast<std::uint8_t*>(pinned) + bytes),
                      std::vector<std::uint8_t>(now.begin() + round + 1, now.end()));
        }
        ascend_device().stream_destroy(stream);
        ascend_device().free_host(0, pinned);
        application.free(memory);
    });
}

TEST_P(AscendStreams, WaitForEventsWhichAreRecordedAgain) {
    on_machine(late, [](Application& application) {
        EXPECT_OPENS();
        const std::uint64_t from = application.allocate(bytes);
        const std::uint64_t between = application.allocate(bytes);
        const std::uint64_t to = application.allocate(bytes);
        const peercoll_stream_t first = make_stream();
        const peercoll_stream_t second = make_stream();
        peercoll_event_t event = nullptr;
        peercoll_reason_t reason{};
        ASSERT_EQ(ascend_device().event_create(0, &event, &reason), PEERCOLL_SUCCESS) << reason.text;
        EXPECT_EQ(ascend_device().event_query(event, nullptr), PEERCOLL_SUCCESS) << "never recorded";
        for (unsigned round = 0; round < 3; ++round) {
            application.write(from, pattern(bytes, round));
            EXPECT_EQ(ascend_device().copy(first, between, from, bytes, &reason), PEERCOLL_SUCCESS) << reason.text;
            EXPECT_EQ(ascend_device().event_record(event, first, &reason), PEERCOLL_SUCCESS) << reason.text;
            EXPECT_EQ(ascend_device().stream_wait(second, event, &reason), PEERCOLL_SUCCESS) << reason.text;
            EXPECT_EQ(ascend_device().copy(second, to, between, bytes, &reason), PEERCOLL_SUCCESS) << reason.text;
            EXPECT_EQ(ascend_device().stream_synchronize(second, &reason), PEERCOLL_SUCCESS) << reason.text;
            expect_done_soon([&] { return ascend_device().event_query(event, nullptr); });
            EXPECT_EQ(application.read(to, bytes), pattern(bytes, round));
        }
        const peercoll_stream_t elsewhere = make_stream(1);
        EXPECT_EQ(ascend_device().event_record(event, elsewhere, &reason), PEERCOLL_ERR_INVALID_ARGUMENT);
        EXPECT_EQ(ascend_device().stream_wait(elsewhere, event, &reason), PEERCOLL_ERR_INVALID_ARGUMENT);
        EXPECT_THAT(reason.text, HasSubstr("expected the same device"));
        ascend_device().event_destroy(event);
        for (const peercoll_stream_t stream : {first, second, elsewhere}) ascend_device().stream_destroy(stream);
        for (const std::uint64_t memory : {from, between, to}) application.free(memory);
    });
}

TEST_P(AscendStreams, CopyBetweenHostMemoryOfAnyKind) {
    on_machine(late, [](Application&) {
        EXPECT_OPENS();
        std::vector<std::uint8_t> from = pattern(bytes, 5);
        std::vector<std::uint8_t> to(bytes);
        copy_by_stream(0, address_of(to.data()), address_of(from.data()), bytes);
        EXPECT_EQ(to, from);
        std::uint64_t device_address = 77;
        peercoll_reason_t reason{};
        const peercoll_status_t status =
            ascend_device().register_host(0, from.data(), from.size(), &device_address, &reason);
        EXPECT_EQ(status, is_old() ? PEERCOLL_ERR_NOT_SUPPORTED : PEERCOLL_SUCCESS) << reason.text;
        EXPECT_EQ(device_address, 0U) << "nothing flags host memory";
        std::uint64_t memory = 0;
        ASSERT_EQ(ascend_device().allocate(1, bytes, &memory, nullptr), PEERCOLL_SUCCESS);
        copy_by_stream(1, memory, address_of(from.data()), bytes);
        EXPECT_EQ(read_by_stream(1, memory, bytes), from);
        ascend_device().free_memory(1, memory);
        ascend_device().unregister_host(0, from.data());
        const peercoll_stream_t stream = make_stream();
        EXPECT_EQ(ascend_device().write_flag(stream, 8, 1, nullptr), PEERCOLL_ERR_NOT_SUPPORTED);
        ascend_device().stream_destroy(stream);
    });
}

}  // namespace
}  // namespace peercoll::test
