// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/ascend_device/application.hpp"

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

std::string library_of(Face face) {
    switch (face) {
        case Face::Cann9:
            return PEERCOLL_SIMULATED_ASCEND "/libascendcl.so";
        case Face::Cann5:
            return PEERCOLL_SIMULATED_OLD_ASCEND "/libascendcl.so";
        default:
            return PEERCOLL_SIMULATED_ACL_RT "/libacl_rt.so";
    }
}

void set(const char* variable, const std::string& value) {
    if (!value.empty()) ::setenv(variable, value.c_str(), 1);
}

}  // namespace

Application::Application(Face which, const Machine& machine) : face(which) {
    describe_node(machine.node);
    set("PEERCOLL_SIMULATOR_VARIANT", machine.variant);
    set("ASCEND_RT_VISIBLE_DEVICES", machine.visible);
    set("PEERCOLL_ASCEND_POINTERS", machine.pointers);
    set("PEERCOLL_ASCEND_APPLICATION_MEMORY", machine.memory);
    library_ = ::dlopen(library_of(face).c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library_, nullptr) << ::dlerror();
    if (library_ == nullptr) return;
    ascend::for_each_acl_function(acl, [&](auto& member, const char* name, bool) {
        member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(::dlsym(library_, name));
    });
    if (machine.initialises && machine.variant != "stub") {
        EXPECT_EQ(acl.init(nullptr), ascend::code::success);
    }
}

Application::~Application() {
    if (library_ != nullptr) ::dlclose(library_);
}

void* Application::symbol(const char* name) const {
    return ::dlsym(library_, name);
}

int Application::current() const {
    int device = -1;
    return acl.get_device(&device) == ascend::code::success ? device : -1;
}

std::uint64_t Application::allocate(std::size_t bytes) const {
    void* memory = nullptr;
    EXPECT_EQ(acl.memory_allocate(&memory, bytes, 0), ascend::code::success);
    return address_of(memory);
}

void Application::free(std::uint64_t address) const {
    EXPECT_EQ(acl.memory_free(pointer(address)), ascend::code::success);
}

void Application::write(std::uint64_t to, const std::vector<std::uint8_t>& bytes) const {
    EXPECT_EQ(acl.memory_copy(pointer(to), bytes.size(), bytes.data(), bytes.size(), ascend::copy_kind::host_to_device),
              ascend::code::success);
}

std::vector<std::uint8_t> Application::read(std::uint64_t from, std::size_t bytes) const {
    std::vector<std::uint8_t> here(bytes);
    EXPECT_EQ(acl.memory_copy(here.data(), bytes, pointer(from), bytes, ascend::copy_kind::device_to_host),
              ascend::code::success);
    return here;
}

void OnAscend::on_machine(const Machine& machine, const std::function<void(Application&)>& test) {
    run_ranks(1, [&](Rank&) {
        Application application(GetParam(), machine);
        if (machine.initialises && machine.variant == "usual") application.use(0);
        test(application);
        ascend_device().close();
    });
}

peercoll_pointer_info_t classified(std::uint64_t address) {
    peercoll_pointer_info_t info{};
    ascend_device().classify(reinterpret_cast<const void*>(address), &info);
    return info;
}

std::vector<std::uint8_t> pattern(std::size_t bytes, unsigned seed) {
    std::vector<std::uint8_t> made(bytes);
    for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::uint8_t>((i * 7 + i / 251 + seed * 31) % 256);
    return made;
}

void copy_by_stream(int device, std::uint64_t to, std::uint64_t from, std::size_t bytes) {
    peercoll_stream_t stream = nullptr;
    peercoll_reason_t reason{};
    ASSERT_EQ(ascend_device().stream_create(device, &stream, &reason), PEERCOLL_SUCCESS) << reason.text;
    EXPECT_EQ(ascend_device().copy(stream, to, from, bytes, &reason), PEERCOLL_SUCCESS) << reason.text;
    EXPECT_EQ(ascend_device().stream_synchronize(stream, &reason), PEERCOLL_SUCCESS) << reason.text;
    ascend_device().stream_destroy(stream);
}

std::vector<std::uint8_t> read_by_stream(int device, std::uint64_t from, std::size_t bytes) {
    std::vector<std::uint8_t> here(bytes);
    copy_by_stream(device, address_of(here.data()), from, bytes);
    return here;
}

}  // namespace peercoll::test
