// SPDX-License-Identifier: BSD-3-Clause
// Allreduce and broadcast of device memory through the C interface: staged through host memory, which is how the
// application's memory goes unless the user promises to keep it, and on the devices where he does.
#include "tests/support/plugin.hpp"
#include "tests/unit/ascend_device/application.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

class AscendCollectives : public OnAscend {};
PEERCOLL_ON_EACH_LIBRARY(AscendCollectives);

constexpr std::size_t counts[] = {1, 1'000, 300'001};
constexpr std::size_t most_bytes = 300'001 * sizeof(double);

template <typename Element>
std::vector<Element> read_elements(const Application& application, std::uint64_t memory, std::size_t count) {
    const std::vector<std::uint8_t> raw = application.read(memory, count * sizeof(Element));
    std::vector<Element> elements(count);
    std::memcpy(elements.data(), raw.data(), raw.size());
    return elements;
}

template <typename Element>
void write_elements(const Application& application, std::uint64_t memory, std::size_t count, int rank) {
    std::vector<std::uint8_t> raw(count * sizeof(Element));
    for (std::size_t i = 0; i < count; ++i) {
        const auto value = static_cast<Element>(rank * 1000 + static_cast<int>(i % 1000));
        std::memcpy(raw.data() + i * sizeof value, &value, sizeof value);
    }
    application.write(memory, raw);
}

// Whole numbers that every type here holds exactly.
template <typename Element>
void sum(const Application& application, const Comm& comm, const Rank& rank, peercoll_datatype_t datatype,
         std::uint64_t from, std::uint64_t to) {
    for (const std::size_t count : counts) {
        write_elements<Element>(application, from, count, rank.rank());
        ASSERT_TRUE(succeeded(plugin.allreduce(pointer(from), pointer(to), count, datatype, PEERCOLL_SUM, comm.get())));
        const std::vector<Element> seen = read_elements<Element>(application, to, count);
        for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ(seen[i], static_cast<Element>(1000 * (rank.size() * (rank.size() - 1) / 2) +
                                                    rank.size() * static_cast<int>(i % 1000)))
                << "element " << i << " of " << count;
        ASSERT_TRUE(
            succeeded(plugin.allreduce(pointer(from), pointer(from), count, datatype, PEERCOLL_SUM, comm.get())));
        ASSERT_EQ(read_elements<Element>(application, from, count), seen) << "in place";
    }
}

void broadcast(const Application& application, const Comm& comm, const Rank& rank, std::uint64_t memory) {
    for (int root = 0; root < rank.size(); ++root)
        for (const std::size_t bytes : {std::size_t{1}, std::size_t{300'001}, most_bytes}) {
            application.write(memory, pattern(bytes, static_cast<unsigned>(rank.rank())));
            ASSERT_TRUE(succeeded(plugin.broadcast(pointer(memory), bytes, root, comm.get())));
            ASSERT_EQ(application.read(memory, bytes), pattern(bytes, static_cast<unsigned>(root)));
        }
}

// The counters of all that was served, of rank 0.
void run_all(Face face, int ranks, int devices, const Machine& machine,
             const std::function<void(const Context&)>& look) {
    run_ranks(ranks, [&](Rank& rank) {
        const Application application(face, machine);
        application.use(rank.rank() % devices);
        const std::uint64_t from = application.allocate(most_bytes);
        const std::uint64_t to = application.allocate(most_bytes);
        {
            const Context context;
            const Comm comm(context, rank.exchange(0));
            sum<std::int32_t>(application, comm, rank, PEERCOLL_INT32, from, to);
            sum<float>(application, comm, rank, PEERCOLL_FLOAT32, from, to);
            sum<double>(application, comm, rank, PEERCOLL_FLOAT64, from, to);
            broadcast(application, comm, rank, to);
            look(context);
            EXPECT_TRUE(rank.exchange(1).meet());
        }
        EXPECT_EQ(application.current(), rank.rank() % devices);
        application.free(from);
        application.free(to);
    });
}

TEST_P(AscendCollectives, OfTheApplicationsMemoryAreStaged) {
    for (const int devices : {1, 2})
        run_all(GetParam(), 2, devices, {.node = "devices 2\n", .pointers = "device"}, [](const Context& context) {
            EXPECT_EQ(context.counter("allreduce.device_staged"), 18U);
            EXPECT_EQ(context.counter("broadcast.device_staged"), 6U);
        });
}

// What aclrtReduceAsync() does is reduced on the device; sums of doubles are not.
TEST_P(AscendCollectives, OfMemoryThatIsKeptRunOnTheDevices) {
    if (is_old()) GTEST_SKIP() << "CANN 5.1 shares no memory";
    for (const int devices : {1, 2})
        run_all(GetParam(), 2, devices, {.node = "devices 2\n", .memory = "shared"}, [](const Context& context) {
            EXPECT_EQ(context.counter("allreduce.algorithm.fused"), 12U);
            EXPECT_EQ(context.counter("allreduce.device_staged"), 6U);
            EXPECT_EQ(context.counter("broadcast.algorithm.fused"), 6U);
        });
}

}  // namespace
}  // namespace peercoll::test
