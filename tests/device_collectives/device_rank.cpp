// SPDX-License-Identifier: BSD-3-Clause
#include "tests/device_collectives/device_rank.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace peercoll::test {

namespace {

Exchange start_of(const Rank& rank) {
    return rank.exchange(Rank::exchange_count - 2);
}

Exchange end_of(const Rank& rank) {
    return rank.exchange(Rank::exchange_count - 1);
}

void keep_line(const char* line, void* lines) {
    static_cast<std::vector<std::string>*>(lines)->emplace_back(line);
}

}  // namespace

Machine machine_of(const std::string& node) {
    std::ifstream file(std::string(PEERCOLL_SIMULATED_NODES) + "/" + node + ".node");
    EXPECT_TRUE(file.is_open()) << "there is no node " << node;
    return {.node = std::string(std::istreambuf_iterator<char>(file), {})};
}

Machine machine_with(int devices, int delay) {
    return {.node = "devices " + std::to_string(devices) + "\ndelay " + std::to_string(delay) + "\n"};
}

DeviceRank::DeviceRank(const Rank& rank, const Machine& machine, int device, const Face& face)
    : rank_(rank), application_(load_application(face, machine)), device_(device), simulated_(face.simulated) {
    application_->use(device);
    if (!simulated_) {
        EXPECT_TRUE(start_of(rank_).meet());  // the contexts of all are there
        before_ = application_->bytes_in_use();
        EXPECT_TRUE(start_of(rank_).meet());
    }
}

std::uint64_t DeviceRank::bytes_in_use() const {
    const std::uint64_t now = application_->bytes_in_use();
    return now > before_ ? now - before_ : 0;
}

DeviceRank::~DeviceRank() {
    EXPECT_TRUE(end_of(rank_).meet());  // nobody holds another's memory any more
    if (simulated_) {
        EXPECT_EQ(bytes_in_use(), 0U) << "device memory is still in use at the end";
    }
    EXPECT_TRUE(end_of(rank_).meet());
}

void DeviceRank::use(int device) {
    application_->use(device);
    device_ = device;
}

void skip_on_real_devices() {
    if (!face().simulated) {
        GTEST_SKIP() << "the node is real: it has what it has";
    }
}

void leave_with_devices(const Rank& rank) {
    EXPECT_TRUE(end_of(rank).meet());
    EXPECT_TRUE(end_of(rank).meet());
}

void meet_devices(const Comm& comm, const TestMemory& memory) {
    const std::uint8_t zero = 0;
    memory.write(0, &zero, 1);
    EXPECT_TRUE(
        succeeded(plugin.allreduce(memory.address(), memory.address(), 1, PEERCOLL_UINT8, PEERCOLL_SUM, comm.get())));
}

void show_device(const Context& context, const TestMemory& memory) {
    EXPECT_EQ(plugin.memory_is_device(context.get(), memory.address()), on_device(memory.kind()) ? 1 : 0);
}

std::uint64_t by_way_of_host(const Context& context, const std::string& collective) {
    return context.counter(collective + ".device_staged") + context.counter(collective + ".algorithm.islands");
}

void expect_all(const Context& context, const std::string& collective, std::uint64_t calls, bool fused) {
    EXPECT_EQ(context.counter(collective + ".algorithm.fused"), fused ? calls : 0);
    EXPECT_EQ(by_way_of_host(context, collective), fused ? 0 : calls);
}

std::vector<std::string> description_of(const Comm& comm) {
    std::vector<std::string> lines;
    EXPECT_TRUE(succeeded(plugin.describe_comm(comm.get(), keep_line, &lines)));
    return lines;
}

std::vector<std::string> description_of(const Context& context) {
    std::vector<std::string> lines;
    EXPECT_TRUE(succeeded(plugin.describe_devices(context.get(), keep_line, &lines)));
    return lines;
}

testing::AssertionResult says(const std::vector<std::string>& lines, const std::string& words) {
    const bool found = std::any_of(lines.begin(), lines.end(),
                                   [&](const std::string& line) { return line.find(words) != std::string::npos; });
    if (found) {
        return testing::AssertionSuccess();
    }
    testing::AssertionResult failure = testing::AssertionFailure();
    failure << "no line contains \"" << words << "\":";
    for (const std::string& line : lines) {
        failure << "\n" << line;
    }
    return failure;
}

}  // namespace peercoll::test
