// SPDX-License-Identifier: BSD-3-Clause
#include "tests/device_collectives/application.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace peercoll::test {

namespace {

// The node's file has no name and goes with the process.
void describe_node(const std::string& text) {
    const int file = memfd_create("node", 0);
    ASSERT_GE(file, 0);
    ASSERT_EQ(::write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::setenv("PEERCOLL_SIMULATOR_NODE", ("/proc/self/fd/" + std::to_string(file)).c_str(), 1);
}

}  // namespace

Application::Application(const Face& face, const Machine& machine) : face_(&face) {
    describe_node(machine.node);
    ::setenv("PEERCOLL_SIMULATOR_VARIANT", machine.variant.c_str(), 1);
    for (const auto& [name, value] : face.settings) {
        ::setenv(name, value, 1);
    }
    const std::string file = machine.library.empty() ? std::string(face.library) : machine.library;
    library_ = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library_, nullptr) << ::dlerror();
}

Application::~Application() {
    if (library_ != nullptr) {
        ::dlclose(library_);
    }
}

void Application::use(int device) {
    enter(device);
    used_.push_back(device);
}

void Application::leave_all() {
    for (; !used_.empty(); used_.pop_back()) {
        leave(used_.back());
    }
}

void* Application::symbol(const char* name) const {
    void* const found = ::dlsym(library_, name);
    EXPECT_NE(found, nullptr) << name;
    return found;
}

std::uint64_t Application::calls(const char* what) const {
    const auto answer = reinterpret_cast<std::uint64_t (*)(const char*)>(symbol("peercoll_simulator_calls"))(what);
    EXPECT_NE(answer, ~std::uint64_t{0}) << what << " is not counted";
    return answer;
}

std::unique_ptr<Application> load_application(const Face& face, const Machine& machine, bool start) {
    switch (face.vendor) {
        case Vendor::Hip:
            return load_hip_application(face, machine);
        case Vendor::Ascend:
            return load_ascend_application(face, machine, start);
        default:
            return load_cuda_application(face, machine, start);
    }
}

}  // namespace peercoll::test
