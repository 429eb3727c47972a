// SPDX-License-Identifier: BSD-3-Clause
// The application in these tests: a process that loads a simulated HIP and uses it in its own way, besides the backend.
// Each test runs for each release, in forked ranks, so that each has a node and a runtime to itself.
#pragma once

#include "plugin/device/hip/attachment.hpp"
#include "plugin/device/hip/hip_device.hpp"
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
    std::string visible{};  // HIP_VISIBLE_DEVICES; empty: not set
};

class Application {
public:
    // Loads the runtime of a release; nobody has called it yet.
    Application(int major, const Machine& machine);
    ~Application();
    Application(const Application&) = delete;
    Application& operator=(const Application&) = delete;

    // The runtime's function of that name, which must be there.
    void* symbol(const char* name) const;
    template <typename... Arguments>
    hip::HipError call(const char* name, Arguments... arguments) const {
        return reinterpret_cast<hip::HipError (*)(Arguments...)>(symbol(name))(arguments...);
    }
    // Makes a device the current one of this thread.
    void use(int device) const { EXPECT_EQ(hip.set_device(device), hip::code::success); }
    int current() const;

    std::uint64_t allocate(std::size_t bytes) const;
    std::uint64_t allocate_managed(std::size_t bytes) const;
    std::uint64_t allocate_from_pool(std::size_t bytes) const;
    void free(std::uint64_t address) const;
    void write(std::uint64_t to, const std::vector<std::uint8_t>& bytes) const;
    std::vector<std::uint8_t> read(std::uint64_t from, std::size_t bytes) const;
    // Until everything that was started on the current device is done.
    void synchronize() const { EXPECT_EQ(call("hipDeviceSynchronize"), hip::code::success); }
    // A function that `stream` calls in its turn, in the way that all releases have.
    void call_in(hip::HipStream stream, void (*function)(hip::HipStream, hip::HipError, void*)) const;

    hip::HipFunctions hip{};
    const int major;

private:
    void* library_ = nullptr;
};

// A test for each release.
class OnHip : public testing::TestWithParam<int> {
protected:
    // Runs `test` in a process of its own.
    static void on_machine(const Machine& machine, const std::function<void(Application&)>& test);
};
#define PEERCOLL_ON_EACH_RELEASE(suite)                             \
    INSTANTIATE_TEST_SUITE_P(Rocm, suite, testing::Values(5, 6, 7), \
                             [](auto& info) { return std::to_string(info.param); })

inline peercoll_pointer_info_t classified(std::uint64_t address) {
    peercoll_pointer_info_t info{};
    hip_device().classify(reinterpret_cast<const void*>(address), &info);
    return info;
}

inline constexpr std::uint32_t by_ipc = 1U << PEERCOLL_HANDLE_IPC;

inline void* pointer(std::uint64_t address) {
    return reinterpret_cast<void*>(address);
}
inline std::uint64_t address_of(const void* memory) {
    return reinterpret_cast<std::uint64_t>(memory);
}

std::vector<std::uint8_t> pattern(std::size_t bytes, unsigned seed);

#define EXPECT_OPENS()                                                            \
    do {                                                                          \
        peercoll_reason_t why_not{};                                              \
        ASSERT_EQ(hip_device().open(&why_not), PEERCOLL_SUCCESS) << why_not.text; \
    } while (false)

}  // namespace peercoll::test
