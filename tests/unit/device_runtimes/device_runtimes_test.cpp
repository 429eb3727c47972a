// SPDX-License-Identifier: BSD-3-Clause
// Libraries that a user names in the option device_runtimes: used, or one sentence each, and the process goes on.
#include "plugin/device/device_runtimes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <string>
#include <vector>

namespace peercoll {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string foreign(const std::string& name) {
    return FOREIGN_RUNTIMES + name + ".so";
}

// The memory of the library "least", which the test uses as its application.
const char* least_memory() {
    void* const library = ::dlopen(foreign("least").c_str(), RTLD_NOW | RTLD_NOLOAD);
    EXPECT_NE(library, nullptr) << "it was not loaded";
    const char* const memory =
        library == nullptr ? nullptr : static_cast<const char*>(::dlsym(library, "least_memory"));
    if (library != nullptr) ::dlclose(library);
    return memory;
}

struct Refused {
    std::string library;
    std::string sentence;
};

class LibrariesThatCannotBeUsed : public testing::TestWithParam<Refused> {};

TEST_P(LibrariesThatCannotBeUsed, AreOneSentenceAndTheOthersWork) {
    const Refused& refused = GetParam();
    std::vector<std::string> problems;
    DeviceRuntimes runtimes({}, {foreign(refused.library), foreign("least")}, problems);
    ASSERT_THAT(problems, SizeIs(1));
    EXPECT_THAT(problems.front(), AllOf(HasSubstr("option device_runtimes: "), HasSubstr(foreign(refused.library)),
                                        HasSubstr(refused.sentence)));
    EXPECT_TRUE(runtimes.in_use());
    EXPECT_THAT(runtimes.open_runtimes(), SizeIs(1));
    EXPECT_EQ(runtimes.classify(least_memory()).info.kind, PEERCOLL_MEMORY_DEVICE);
}

INSTANTIATE_TEST_SUITE_P(, LibrariesThatCannotBeUsed,
                         testing::Values(Refused{"missing", "No such file"},
                                         Refused{"no_symbol", "has no symbol peercoll_device_runtime_v1"},
                                         Refused{"other_version", "has version 2 of the device interface, expected 1"},
                                         Refused{"incomplete", "lacks functions that every device runtime must have"},
                                         Refused{"short_struct",
                                                 "lacks functions that every device runtime must have"}),
                         [](const auto& info) { return info.param.library; });

TEST(DeviceRuntimesOfOthers, ThatAreRefusedAreUnloaded) {
    std::vector<std::string> problems;
    const DeviceRuntimes runtimes({}, {foreign("no_symbol"), foreign("other_version"), foreign("incomplete")},
                                  problems);
    EXPECT_THAT(problems, SizeIs(3));
    for (const char* name : {"no_symbol", "other_version", "incomplete"})
        EXPECT_EQ(::dlopen(foreign(name).c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr) << name;
}

TEST(DeviceRuntimesOfOthers, ThatAreOffSayWhyAndAreAskedNothingMore) {
    std::vector<std::string> problems;
    DeviceRuntimes runtimes({}, {foreign("unwilling")}, problems);
    EXPECT_THAT(problems, IsEmpty()) << "a runtime that is off is no mistake of the user";
    EXPECT_FALSE(runtimes.in_use());
    EXPECT_THAT(runtimes.describe(), ElementsAre("unwilling: off, it is switched off for this test"));
    const int on_host = 0;
    EXPECT_FALSE(runtimes.classify(&on_host).on_device());
}

TEST(DeviceRuntimesOfOthers, KnowTheirMemoryAndNothingElse) {
    std::vector<std::string> problems;
    DeviceRuntimes runtimes({}, {foreign("least")}, problems);
    ASSERT_TRUE(runtimes.in_use());
    EXPECT_THAT(runtimes.describe(), ElementsAre("least: in use, 2 devices"));
    const char* const memory = least_memory();
    const ClassifiedMemory first = runtimes.classify(memory);
    EXPECT_TRUE(first.on_device());
    EXPECT_FALSE(first.pinned());
    EXPECT_EQ(first.info.device, 0);
    const ClassifiedMemory second = runtimes.classify(memory + first.info.bytes);
    EXPECT_EQ(second.info.device, 1);
    EXPECT_EQ(second.info.base, reinterpret_cast<std::uintptr_t>(memory) + first.info.bytes);
    EXPECT_FALSE(runtimes.classify(memory + 2 * first.info.bytes).on_device());
}

TEST(DeviceRuntimesOfOthers, AreClosedAndUnloadedAtTheEnd) {
    {
        std::vector<std::string> problems;
        DeviceRuntimes runtimes({}, {foreign("least")}, problems);
        EXPECT_TRUE(runtimes.in_use());
    }
    EXPECT_EQ(::dlopen(foreign("least").c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr);
}

TEST(DeviceRuntimesOfOthers, NamedTwiceAreUsedOnce) {
    std::vector<std::string> problems;
    DeviceRuntimes runtimes({}, {foreign("least"), foreign("least")}, problems);
    EXPECT_TRUE(runtimes.in_use());
    EXPECT_THAT(runtimes.open_runtimes(), SizeIs(1));
    ASSERT_THAT(problems, SizeIs(1));
    EXPECT_THAT(problems.front(), HasSubstr("named twice"));
}

// A runtime whose library is "no_symbol" and which is started as soon as that is loaded.
const peercoll_device_runtime_t& runtime_of_no_symbol() {
    static const char* const libraries[] = {"no_symbol.so", nullptr};
    static const peercoll_device_runtime_t runtime = [] {
        peercoll_device_runtime_t made{};
        made.struct_size = sizeof made;
        made.abi_version = PEERCOLL_DEVICE_ABI_VERSION;
        made.name = "no_symbol";
        made.libraries = libraries;
        made.open = [](peercoll_reason_t*) -> peercoll_status_t { return PEERCOLL_SUCCESS; };
        made.close = [] {};
        return made;
    }();
    return runtime;
}

// A look at what is loaded holds for some microseconds: loading a library must take longer than that, even one that is
// nearly empty and in the page cache.
TEST(ARuntimesLibrary, IsNoticedInTheCallAfterItWasLoaded) {
    for (int round = 0; round < 200; ++round) {
        std::vector<std::string> problems;
        DeviceRuntimes runtimes({&runtime_of_no_symbol()}, {}, problems);
        ASSERT_FALSE(runtimes.in_use());
        ASSERT_FALSE(runtimes.in_use());
        void* const library = ::dlopen(foreign("no_symbol").c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_TRUE(runtimes.in_use()) << "round " << round;
        ::dlclose(library);
    }
}

TEST(DeviceRuntimesOfOthers, BeyondTheMostAreOneSentenceEach) {
    const peercoll_device_runtime_t nobody{};  // never loaded: it names no libraries
    const std::vector<const peercoll_device_runtime_t*> as_many(DeviceRuntimes::most, &nobody);
    std::vector<std::string> problems;
    DeviceRuntimes runtimes(as_many, {foreign("least")}, problems);
    ASSERT_THAT(problems, SizeIs(1));
    EXPECT_THAT(problems.front(), AllOf(HasSubstr(foreign("least")), HasSubstr("8 device runtimes")));
    EXPECT_FALSE(runtimes.in_use());
    EXPECT_EQ(::dlopen(foreign("least").c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr) << "not kept";
}

}  // namespace
}  // namespace peercoll
