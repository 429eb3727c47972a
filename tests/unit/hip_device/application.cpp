// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/hip_device/application.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <type_traits>

namespace peercoll::test {

namespace {

// The node's file has no name and goes with the process.
void describe_node(const std::string& text) {
    const int file = memfd_create("node", 0);
    ASSERT_GE(file, 0);
    ASSERT_EQ(::write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::setenv("PEERCOLL_SIMULATOR_NODE", ("/proc/self/fd/" + std::to_string(file)).c_str(), 1);
}

std::string library_of(int major) {
    const char* const folder = major == 5   ? PEERCOLL_SIMULATED_HIP_5
                               : major == 6 ? PEERCOLL_SIMULATED_HIP_6
                                            : PEERCOLL_SIMULATED_HIP_7;
    return std::string(folder) + "/libamdhip64.so." + std::to_string(major);
}

}  // namespace

Application::Application(int release, const Machine& machine) : major(release) {
    describe_node(machine.node);
    ::setenv("PEERCOLL_SIMULATOR_VARIANT", machine.variant.c_str(), 1);
    if (!machine.visible.empty()) ::setenv("HIP_VISIBLE_DEVICES", machine.visible.c_str(), 1);
    library_ = ::dlopen(library_of(major).c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library_, nullptr) << ::dlerror();
    if (library_ == nullptr) return;
    hip::for_each_hip_function(hip, [&](auto& member, const char* name, bool) {
        member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(::dlsym(library_, name));
    });
}

Application::~Application() {
    if (library_ != nullptr) ::dlclose(library_);
}

void* Application::symbol(const char* name) const {
    void* const found = ::dlsym(library_, name);
    EXPECT_NE(found, nullptr) << name;
    return found;
}

int Application::current() const {
    int device = -1;
    EXPECT_EQ(hip.get_device(&device), hip::code::success);
    return device;
}

std::uint64_t Application::allocate(std::size_t bytes) const {
    void* memory = nullptr;
    EXPECT_EQ(hip.memory_allocate(&memory, bytes), hip::code::success);
    return address_of(memory);
}

std::uint64_t Application::allocate_managed(std::size_t bytes) const {
    void* memory = nullptr;
    EXPECT_EQ(call("hipMallocManaged", &memory, bytes, 1U), hip::code::success);
    return address_of(memory);
}

std::uint64_t Application::allocate_from_pool(std::size_t bytes) const {
    void* memory = nullptr;
    EXPECT_EQ(call("hipMallocAsync", &memory, bytes, hip::HipStream{nullptr}), hip::code::success);
    return address_of(memory);
}

void Application::free(std::uint64_t address) const {
    EXPECT_EQ(hip.memory_free(pointer(address)), hip::code::success);
}

void Application::write(std::uint64_t to, const std::vector<std::uint8_t>& bytes) const {
    EXPECT_EQ(hip.memory_copy_async(pointer(to), bytes.data(), bytes.size(), hip::copy_default, nullptr),
              hip::code::success);
    synchronize();
}

std::vector<std::uint8_t> Application::read(std::uint64_t from, std::size_t bytes) const {
    std::vector<std::uint8_t> here(bytes);
    EXPECT_EQ(hip.memory_copy_async(here.data(), pointer(from), bytes, hip::copy_default, nullptr), hip::code::success);
    synchronize();
    return here;
}

void Application::call_in(hip::HipStream stream, void (*function)(hip::HipStream, hip::HipError, void*)) const {
    EXPECT_EQ(call("hipStreamAddCallback", stream, function, static_cast<void*>(nullptr), 0U), hip::code::success);
}

void OnHip::on_machine(const Machine& machine, const std::function<void(Application&)>& test) {
    run_ranks(1, [&](Rank&) {
        Application application(GetParam(), machine);
        test(application);
        hip_device().close();
    });
}

std::vector<std::uint8_t> pattern(std::size_t bytes, unsigned seed) {
    std::vector<std::uint8_t> made(bytes);
    for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::uint8_t>((i * 7 + i / 251 + seed * 31) % 256);
    return made;
}

}  // namespace peercoll::test
