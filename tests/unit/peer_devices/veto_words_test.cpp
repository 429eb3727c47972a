// SPDX-License-Identifier: BSD-3-Clause
// Words that name pairs of devices.
#include "plugin/peer/veto_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace peercoll {
namespace {

DeviceUuid uuid(std::uint8_t byte) {
    DeviceUuid result;
    result.fill(byte);
    return result;
}

bool names(const std::string& text, std::uint8_t a, const std::string& pci_a, std::uint8_t b,
           const std::string& pci_b) {
    VetoWords words;
    const Status status = VetoWords::parse(text, words);
    EXPECT_TRUE(status.ok()) << status.sentence();
    return words.names(uuid(a), pci_a, uuid(b), pci_b);
}

const std::string one_text = "01010101-0101-0101-0101-010101010101";

TEST(VetoWords, NamePairsInEitherOrder) {
    const std::string text = "0000:1b:00.0,0000:2c:00.0";
    EXPECT_TRUE(names(text, 1, "0000:1b:00.0", 2, "0000:2c:00.0"));
    EXPECT_TRUE(names(text, 2, "0000:2c:00.0", 1, "0000:1b:00.0"));
    EXPECT_FALSE(names(text, 1, "0000:1b:00.0", 3, "0000:3d:00.0"));
    EXPECT_FALSE(names(text, 1, "0000:1b:00.0", 1, "0000:1b:00.0"));
}

TEST(VetoWords, TakeUuidsWithOrWithoutPrefixAndDashes) {
    for (const std::string& word : {"GPU-" + one_text, "MIG-" + one_text, one_text, std::string(32, '0')})
        EXPECT_EQ(names(word + ",0000:2C:00.0", 1, "", 2, "0000:2c:00.0"), word[0] != '0' || word[1] != '0') << word;
    EXPECT_TRUE(names("gpu-ABABABABABABABABABABABABABABABAB," + one_text, 0xab, "", 1, ""));
}

TEST(VetoWords, TakeSeveralPairsAndADeviceWithItself) {
    const std::string text = "  0000:1b:00.0,0000:1b:00.0 ; " + one_text + ",0000:2c:00.0\t";
    EXPECT_TRUE(names(text, 9, "0000:1b:00.0", 9, "0000:1b:00.0"));
    EXPECT_TRUE(names(text, 2, "0000:2c:00.0", 1, ""));
    EXPECT_FALSE(names("", 1, "", 1, ""));
}

TEST(VetoWords, TakeLongDomainsAsTheRuntimesWriteThem) {
    EXPECT_TRUE(names("00000000:1b:00.0,0000:2c:00.0", 1, "0000:1b:00.0", 2, "0000:2c:00.0"));
    EXPECT_TRUE(names("10000:1b:00.0,0000:2c:00.0", 1, "10000:1b:00.0", 2, "0000:2c:00.0"));
    EXPECT_FALSE(names("10000:1b:00.0,0000:2c:00.0", 1, "0000:1b:00.0", 2, "0000:2c:00.0"));
}

TEST(VetoWords, ThatNameNoPairAreRefusedByName) {
    for (const std::string text :
         {"all", "0000:1b:00.0", "0000:1b:00.0,", ",0000:1b:00.0", "0000:1b:00.0,0,0000:2c:00.0", "0000:1b:00,1",
          "GPU-1234,0000:1b:00.0", "0000:1g:00.0,0000:1b:00.0"}) {
        VetoWords words;
        const Status status = VetoWords::parse("0000:1b:00.0,0000:1b:00.0 " + text, words);
        EXPECT_EQ(status.code(), PEERCOLL_ERR_INVALID_ARGUMENT) << text;
        EXPECT_THAT(status.sentence(), testing::HasSubstr("\"" + text + "\""));
        EXPECT_FALSE(words.names(uuid(1), "0000:1b:00.0", uuid(1), "0000:1b:00.0")) << "nothing of it is taken";
    }
}

}  // namespace
}  // namespace peercoll
