// SPDX-License-Identifier: BSD-3-Clause
// The application in these tests: a process that loads the simulated driver and uses it in its own way, besides the
// backend. Each test is one in forked ranks, so that each has a node and a driver to itself.
#pragma once

#include "plugin/device/cuda/attachment.hpp"
#include "plugin/device/cuda/cuda_device.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace peercoll::test {

// What a node file says (tests/simulated_devices/README.md), and which driver there is on it.
struct Machine {
    std::string node = "devices 1\n";
    std::string variant = "usual";
    std::string library = "libcuda.so.1";
};

class Application {
public:
    // Loads and starts the driver; nobody has a context yet.
    explicit Application(const Machine& machine = {}, bool start = true);
    ~Application();
    Application(const Application&) = delete;
    Application& operator=(const Application&) = delete;

    // Makes the primary context of a device current on this thread, as the CUDA runtime does.
    void use(int device);
    // The driver's function of that name, which must be there.
    void* symbol(const char* name) const;
    template <typename... Arguments>
    cuda::CuResult call(const char* name, Arguments... arguments) const {
        return reinterpret_cast<cuda::CuResult (*)(Arguments...)>(symbol(name))(arguments...);
    }

    cuda::CuAddress allocate(std::size_t bytes) const;
    void free(cuda::CuAddress address) const;
    // Physical memory (cuMemCreate), mapped; `handle_types` as cuMemCreate takes them.
    cuda::CuAddress map_physical(std::size_t bytes, int handle_types, int device = 0) const;
    // Maps one more piece at `at`, which is reserved.
    void map_piece(cuda::CuAddress at, std::size_t bytes, int handle_types, int device = 0) const;
    cuda::CuMemoryPool make_pool(int handle_types, int device = 0) const;
    cuda::CuAddress allocate_from(cuda::CuMemoryPool pool, std::size_t bytes) const;
    cuda::CuAddress allocate_async(std::size_t bytes) const;
    cuda::CuAddress allocate_managed(std::size_t bytes) const;

    void write(cuda::CuAddress to, const std::vector<std::uint8_t>& bytes) const;
    std::vector<std::uint8_t> read(cuda::CuAddress from, std::size_t bytes) const;
    bool is_active(int device) const;

    cuda::DriverFunctions cu{};

private:
    void* library_ = nullptr;
    std::vector<int> retained_;
};

// Runs `test` in a process of its own, with the driver of `machine`.
void on_machine(const Machine& machine, const std::function<void(Application&)>& test);

inline peercoll_pointer_info_t classified(std::uint64_t address) {
    peercoll_pointer_info_t info{};
    cuda_device().classify(reinterpret_cast<const void*>(address), &info);
    return info;
}

inline constexpr std::size_t granule = std::size_t{2} << 20;  // of physical memory
inline constexpr std::uint32_t kind_bit(peercoll_handle_kind_t kind) {
    return 1U << kind;
}

std::vector<std::uint8_t> pattern(std::size_t bytes, unsigned seed);

#define EXPECT_OPENS()                                                             \
    do {                                                                           \
        peercoll_reason_t why_not{};                                               \
        ASSERT_EQ(cuda_device().open(&why_not), PEERCOLL_SUCCESS) << why_not.text; \
    } while (false)

}  // namespace peercoll::test
