// SPDX-License-Identifier: BSD-3-Clause
// What is done about device buffers follows from the arrivals alone.
#include "collectives/device/select.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace peercoll {
namespace {

constexpr std::uint64_t KiB = 1024;
constexpr std::uint64_t MiB = 1024 * KiB;

BufferFact on(std::uint32_t device, BufferFact::Kind kind = BufferFact::Shareable) {
    BufferFact fact{};
    fact.kind = kind;
    fact.device = device;
    return fact;
}

// Ranks whose two buffers are on the devices given.
class Node {
public:
    explicit Node(const std::vector<std::uint32_t>& devices) {
        for (const std::uint32_t device : devices) {
            DeviceArrival& arrival = arrivals.emplace_back();
            arrival.source = on(device);
            arrival.source.allocation_id = 1;
            arrival.destination = arrival.source;  // in place
        }
    }
    DeviceSituation allreduce(std::uint64_t bytes) {
        DeviceSituation situation;
        situation.count = bytes / 4;
        situation.element_bytes = 4;
        for (const DeviceArrival& arrival : arrivals) situation.arrivals.push_back(&arrival);
        situation.may_reach = [](int, std::uint32_t, int, std::uint32_t) { return true; };
        return situation;
    }
    DeviceSituation broadcast(std::uint64_t bytes, int root) {
        DeviceSituation situation = allreduce(bytes);
        situation.collective = PEERCOLL_BROADCAST;
        situation.root = root;
        situation.count = bytes;
        situation.element_bytes = 1;
        return situation;
    }
    // Results elsewhere.
    void put_apart() {
        for (DeviceArrival& arrival : arrivals) arrival.destination.allocation_id = 2;
    }
    std::deque<DeviceArrival> arrivals;  // not to be copied
};

std::vector<int> executors(const DeviceChoice& choice) {
    std::vector<int> ranks;
    for (const Executor& executor : choice.executors) ranks.push_back(executor.rank);
    return ranks;
}

void expect_cover(const DeviceChoice& choice, std::uint64_t count) {
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < choice.executors.size(); ++i) {
        EXPECT_EQ(choice.executors[i].first, next);
        EXPECT_LT(choice.executors[i].first, choice.executors[i].last);
        next = choice.executors[i].last;
    }
    EXPECT_EQ(next, count);
}

TEST(DeviceChoice, HostBuffersGoToTheHost) {
    Node node({0, 0});
    for (DeviceArrival& arrival : node.arrivals) arrival.source = arrival.destination = on(0, BufferFact::Host);
    const DeviceChoice choice = select_device(node.allreduce(8));
    EXPECT_EQ(choice.path, DeviceChoice::Path::Host);
    EXPECT_TRUE(choice.single_copy);
}

TEST(DeviceChoice, PinnedBuffersGoToTheHostWithoutSingleCopies) {
    Node node({0, 0});
    for (DeviceArrival& arrival : node.arrivals) arrival.source = arrival.destination = on(0, BufferFact::Host);
    node.arrivals[1].source = on(0, BufferFact::Pinned);
    const DeviceChoice choice = select_device(node.allreduce(8));
    EXPECT_EQ(choice.path, DeviceChoice::Path::Host);
    EXPECT_FALSE(choice.single_copy);
}

TEST(DeviceChoice, OneExecutorServesOneDevice) {
    Node node({0, 0, 0, 0});
    for (const std::uint64_t bytes : {8 * KiB, 256 * MiB}) {
        const DeviceChoice choice = select_device(node.allreduce(bytes));
        EXPECT_EQ(choice.path, DeviceChoice::Path::Fused);
        EXPECT_EQ(executors(choice), std::vector<int>{0});
        expect_cover(choice, bytes / 4);
    }
}

TEST(DeviceChoice, EveryRankServesItsPartWhenThatIsForced) {
    Node node({0, 0, 0});
    DeviceSituation situation = node.allreduce(3 * MiB);
    situation.executors = Executors::PerRank;
    const DeviceChoice choice = select_device(situation);
    EXPECT_EQ(executors(choice), (std::vector<int>{0, 1, 2}));
    expect_cover(choice, 3 * MiB / 4);
}

TEST(DeviceChoice, OneExecutorServesAllDevicesWhereTheMessageIsSmallAndOneEachWhereItIsLarge) {
    Node node({0, 0, 1, 1, 2, 2, 3, 3});
    EXPECT_EQ(executors(select_device(node.allreduce(8))), std::vector<int>{0});
    const DeviceChoice large = select_device(node.allreduce(64 * MiB));
    EXPECT_EQ(executors(large), (std::vector<int>{0, 2, 4, 6}));
    expect_cover(large, 64 * MiB / 4);
}

TEST(DeviceChoice, ApartBetweenTwoDevicesEachReadsAllAndWritesItsOwnUnlessTheMessageIsSmall) {
    for (const std::uint64_t bytes : {512 * KiB, 64 * MiB}) {
        Node node({0, 0, 1, 1});
        node.put_apart();
        const DeviceChoice choice = select_device(node.allreduce(bytes));
        EXPECT_EQ(executors(choice), (std::vector<int>{0, 2}));
        for (std::size_t i = 0; i < choice.executors.size(); ++i) {
            EXPECT_EQ(choice.executors[i].first, 0U);
            EXPECT_EQ(choice.executors[i].last, bytes / 4);
            EXPECT_TRUE(choice.executors[i].own_outputs);
        }
    }
    Node node({0, 0, 1, 1});
    node.put_apart();
    EXPECT_EQ(executors(select_device(node.allreduce(8 * KiB))), std::vector<int>{0});
}

TEST(DeviceChoice, ApartBetweenManyDevicesMediumMessagesAreOneShotAndLargeOnesTwoShot) {
    Node node({0, 1, 2, 3});
    node.put_apart();
    const DeviceChoice medium = select_device(node.allreduce(96 * KiB));
    EXPECT_EQ(medium.executors.size(), 4U);
    EXPECT_TRUE(medium.executors[0].own_outputs);
    const DeviceChoice large = select_device(node.allreduce(64 * MiB));
    EXPECT_FALSE(large.executors[0].own_outputs);
    expect_cover(large, 64 * MiB / 4);
}

TEST(DeviceChoice, OneShotAndTwoShotCanBeForced) {
    Node node({0, 1});
    node.put_apart();
    DeviceSituation large = node.allreduce(256 * MiB);
    EXPECT_FALSE(select_device(large).executors[0].own_outputs);
    large.algorithm = DeviceAlgorithm::OneShot;
    EXPECT_TRUE(select_device(large).executors[0].own_outputs);
    DeviceSituation medium = node.allreduce(1 * MiB);
    medium.algorithm = DeviceAlgorithm::TwoShot;
    EXPECT_FALSE(select_device(medium).executors[0].own_outputs);
}

TEST(DeviceChoice, OneBufferInPlaceMakesAllTwoShot) {
    Node node({0, 1});
    node.put_apart();
    node.arrivals[1].destination = node.arrivals[1].source;
    node.arrivals[1].destination.offset = 4;  // overlaps
    const DeviceChoice choice = select_device(node.allreduce(64 * MiB));
    EXPECT_FALSE(choice.executors[0].own_outputs);
    expect_cover(choice, 64 * MiB / 4);
}

TEST(DeviceChoice, PartsThatWouldBeEmptyHaveNoExecutor) {
    Node node({0, 1, 2});
    DeviceSituation situation = node.allreduce(4);
    situation.executors = Executors::PerDevice;
    const DeviceChoice choice = select_device(situation);
    EXPECT_EQ(choice.executors.size(), 1U);
    expect_cover(choice, 1);
}

TEST(DeviceChoice, ARootOfALargeBroadcastBetweenManyDevicesOnlyIsRead) {
    Node node({0, 1, 2, 3});
    const DeviceChoice choice = select_device(node.broadcast(256 * MiB, 2));
    EXPECT_EQ(executors(choice), (std::vector<int>{0, 1, 3}));
    expect_cover(choice, 256 * MiB);
}

TEST(DeviceChoice, ARootOfALargeBroadcastBetweenTwoDevicesSendsItsHalf) {
    Node node({0, 1});
    EXPECT_EQ(executors(select_device(node.broadcast(256 * MiB, 0))), (std::vector<int>{0, 1}));
}

TEST(DeviceChoice, WhoDoesNotReachAllDoesNotAct) {
    Node node({0, 1});
    DeviceSituation situation = node.allreduce(64 * MiB);
    situation.may_reach = [](int executor, std::uint32_t, int owner, std::uint32_t) {
        return executor == 1 || executor == owner;
    };
    EXPECT_EQ(executors(select_device(situation)), std::vector<int>{1});
}

TEST(DeviceChoice, IslandsAreStaged) {
    Node node({0, 1, 2, 3});
    DeviceSituation situation = node.allreduce(64 * MiB);
    situation.may_reach = [](int, std::uint32_t from, int, std::uint32_t to) { return from / 2 == to / 2; };
    const DeviceChoice choice = select_device(situation);
    EXPECT_EQ(choice.path, DeviceChoice::Path::Staged);
    EXPECT_STRNE(choice.reason, "");
}

TEST(DeviceChoice, OneBufferThatCannotBeSharedStagesAll) {
    for (const BufferFact::Kind kind : {BufferFact::Host, BufferFact::Pinned, BufferFact::Unshareable}) {
        Node node({0, 0, 0});
        node.arrivals[1].destination = on(0, kind);
        const DeviceChoice choice = select_device(node.allreduce(8));
        EXPECT_EQ(choice.path, DeviceChoice::Path::Staged);
        EXPECT_EQ(choice.single_copy, kind != BufferFact::Pinned);
    }
}

TEST(DeviceChoice, StagedCanBeForced) {
    Node node({0, 0});
    DeviceSituation situation = node.allreduce(8);
    situation.algorithm = DeviceAlgorithm::Staged;
    EXPECT_EQ(select_device(situation).path, DeviceChoice::Path::Staged);
}

}  // namespace
}  // namespace peercoll
