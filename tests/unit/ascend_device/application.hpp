// SPDX-License-Identifier: BSD-3-Clause
// The application in these tests: a process that loads a simulated ACL and uses it in its own way, besides the backend.
// Each test runs for each library, in forked ranks, so that each has a node and a runtime to itself.
#pragma once

#include "plugin/device/ascend/ascend_device.hpp"
#include "plugin/device/ascend/attachment.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace peercoll::test {

// What a node file says (tests/simulated_devices/README.md), and what the process sees of it.
struct Machine {
    std::string node = "devices 1\n";
    std::string variant = "usual";
    std::string visible{};   // ASCEND_RT_VISIBLE_DEVICES; empty: not set
    std::string pointers{};  // PEERCOLL_ASCEND_POINTERS; empty: not set
    std::string memory{};    // PEERCOLL_ASCEND_APPLICATION_MEMORY; empty: not set
    bool initialises = true;
};

// The libraries: CANN 9's and 5.1's libascendcl, and CANN 9's libacl_rt.
enum class Face { Cann9, Cann5, AclRt };

class Application {
public:
    // Loads the library, and initialises it as an application does.
    Application(Face face, const Machine& machine);
    ~Application();
    Application(const Application&) = delete;
    Application& operator=(const Application&) = delete;

    // Null: the library does not have it.
    void* symbol(const char* name) const;
    template <typename... Arguments>
    ascend::AclError call(const char* name, Arguments... arguments) const {
        void* const found = symbol(name);
        EXPECT_NE(found, nullptr) << name;
        return reinterpret_cast<ascend::AclError (*)(Arguments...)>(found)(arguments...);
    }
    // Makes a device the current one of this thread.
    void use(int device) const { EXPECT_EQ(acl.set_device(device), ascend::code::success); }
    // -1: none.
    int current() const;

    std::uint64_t allocate(std::size_t bytes) const;
    void free(std::uint64_t address) const;
    // Of memory of this process.
    void write(std::uint64_t to, const std::vector<std::uint8_t>& bytes) const;
    std::vector<std::uint8_t> read(std::uint64_t from, std::size_t bytes) const;

    ascend::AclFunctions acl{};
    const Face face;

private:
    void* library_ = nullptr;
};

// A test for each library.
class OnAscend : public testing::TestWithParam<Face> {
protected:
    // Runs `test` in a process of its own, with device 0 current.
    static void on_machine(const Machine& machine, const std::function<void(Application&)>& test);
    static bool is_old() { return GetParam() == Face::Cann5; }
};
inline std::string name_of(Face face) {
    return face == Face::Cann9 ? "Cann9" : face == Face::Cann5 ? "Cann5" : "AclRt";
}
#define PEERCOLL_ON_EACH_LIBRARY(suite)                                                          \
    INSTANTIATE_TEST_SUITE_P(Acl, suite, testing::Values(Face::Cann9, Face::Cann5, Face::AclRt), \
                             [](auto& info) { return name_of(info.param); })

peercoll_pointer_info_t classified(std::uint64_t address);

inline constexpr std::uint32_t by_ipc = 1U << PEERCOLL_HANDLE_IPC;

inline void* pointer(std::uint64_t address) {
    return reinterpret_cast<void*>(address);
}
inline std::uint64_t address_of(const void* memory) {
    return reinterpret_cast<std::uint64_t>(memory);
}

std::vector<std::uint8_t> pattern(std::size_t bytes, unsigned seed);

// Copies by the backend, through a stream of its own on `device`.
void copy_by_stream(int device, std::uint64_t to, std::uint64_t from, std::size_t bytes);
std::vector<std::uint8_t> read_by_stream(int device, std::uint64_t from, std::size_t bytes);

#define EXPECT_OPENS()                                                               \
    do {                                                                             \
        peercoll_reason_t why_not{};                                                 \
        ASSERT_EQ(ascend_device().open(&why_not), PEERCOLL_SUCCESS) << why_not.text; \
    } while (false)

}  // namespace peercoll::test
