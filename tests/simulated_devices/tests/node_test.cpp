// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/core/node.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace peercoll::simulator {
namespace {

Node parsed(const std::string& text) {
    Node node;
    std::string error;
    EXPECT_TRUE(parse_node(text, node, error)) << error;
    return node;
}

std::string refused(const std::string& text) {
    Node node;
    std::string error;
    EXPECT_FALSE(parse_node(text, node, error));
    return error;
}

TEST(NodeFile, AnEmptyOneIsOneDevice) {
    EXPECT_EQ(parsed("").devices.size(), 1U);
}

TEST(NodeFile, DevicesDifferInUuidAndPciId) {
    const Node node = parsed("devices 64");
    for (std::size_t i = 0; i < 64; ++i) {
        EXPECT_EQ(node.device_with_uuid(node.devices[i].uuid), static_cast<int>(i));
        for (std::size_t j = 0; j < i; ++j) {
            EXPECT_NE(node.devices[i].pci_id, node.devices[j].pci_id);
        }
    }
}

TEST(NodeFile, PropertiesOfDevices) {
    const Node node = parsed(
        "devices 2  # two\n\nname 1 Some Device\nmemory all 100\nuuid 0 00112233-4455-6677-8899-aabbccddeeff\n"
        "pci 1 0000:aa:00.0\nnuma 1 3\ncapability all 8 6\n");
    EXPECT_EQ(node.devices[1].name, "Some Device");
    EXPECT_EQ(node.devices[0].memory_bytes, 100U << 20);
    EXPECT_EQ(node.devices[0].uuid[15], 0xff);
    EXPECT_EQ(node.devices[1].pci_id, "0000:aa:00.0");
    EXPECT_EQ(node.devices[1].numa_node, 3);
    EXPECT_EQ(node.devices[1].capability_major * 10 + node.devices[1].capability_minor, 86);
}

TEST(NodeFile, PathsAreDirectional) {
    const Node node = parsed("devices 3\npath 0 1 no\npath 1-2 0 loses_stores\npath 2 1 loses_all");
    EXPECT_FALSE(node.link(0, 1).access);
    EXPECT_TRUE(node.link(1, 0).access);
    EXPECT_TRUE(node.link(1, 0).stores_lost && node.link(2, 0).stores_lost);
    EXPECT_FALSE(node.link(1, 0).copies_lost);
    EXPECT_TRUE(node.link(2, 1).copies_lost);
    EXPECT_FALSE(node.link(0, 2).stores_lost);
}

TEST(NodeFile, AWrongLineIsToldWithItsNumberAndWhatWasExpected) {
    const std::string error = refused("devices 2\n\npath 0 2 no");
    EXPECT_NE(error.find("line 3"), std::string::npos) << error;
    EXPECT_NE(error.find("expected: path <from devices> <to devices>"), std::string::npos) << error;
}

TEST(NodeFile, WrongWordsAndNumbersAreRefused) {
    for (const char* text : {"device 2", "devices", "devices two", "devices -1", "devices 65", "devices 1 2",
                             "devices 4\nmemory 3-2 10", "memory all 0", "uuid 0 0011", "ipc perhaps", "delay 1s",
                             "devices 0\nmemory all 10", "path 0 0 maybe", "numa 0 x"}) {
        EXPECT_FALSE(refused(text).empty()) << text;
    }
}

TEST(NodeFile, AllFilesOfTheFolderParse) {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(PEERCOLL_SIMULATED_NODES)) {
        std::ifstream file(entry.path());
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        Node node;
        std::string error;
        EXPECT_TRUE(parse_node(text, node, error)) << entry.path() << ": " << error;
        ++files;
    }
    EXPECT_GE(files, 8);
}

}  // namespace
}  // namespace peercoll::simulator
