// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/cuda_device/application.hpp"

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

}  // namespace

Application::Application(const Machine& machine, bool start) {
    describe_node(machine.node);
    ::setenv("PEERCOLL_SIMULATOR_VARIANT", machine.variant.c_str(), 1);
    library_ = ::dlopen(machine.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library_, nullptr) << ::dlerror();
    if (library_ == nullptr) return;
    cuda::for_each_driver_function(cu, [&](auto& member, const char* name, bool) {
        member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(::dlsym(library_, name));
    });
    if (start) {
        EXPECT_EQ(cu.init(0), cuda::code::success);
    }
}

Application::~Application() {
    for (const int device : retained_) {
        cuda::CuContext popped = nullptr;
        cu.context_pop(&popped);
        cu.primary_context_release(device);
    }
    if (library_ != nullptr) ::dlclose(library_);
}

void Application::use(int device) {
    cuda::CuContext context = nullptr;
    ASSERT_EQ(cu.primary_context_retain(&context, device), cuda::code::success);
    ASSERT_EQ(cu.context_push(context), cuda::code::success);
    retained_.push_back(device);
}

void* Application::symbol(const char* name) const {
    void* const found = ::dlsym(library_, name);
    EXPECT_NE(found, nullptr) << name;
    return found;
}

cuda::CuAddress Application::allocate(std::size_t bytes) const {
    cuda::CuAddress address = 0;
    EXPECT_EQ(cu.memory_allocate(&address, bytes), cuda::code::success);
    return address;
}

void Application::free(cuda::CuAddress address) const {
    EXPECT_EQ(cu.memory_free(address), cuda::code::success);
}

cuda::CuAddress Application::map_physical(std::size_t bytes, int handle_types, int device) const {
    cuda::CuAddress address = 0;
    EXPECT_EQ(cu.address_reserve(&address, bytes, 0, 0, 0), cuda::code::success);
    map_piece(address, bytes, handle_types, device);
    return address;
}

void Application::map_piece(cuda::CuAddress at, std::size_t bytes, int handle_types, int device) const {
    constexpr int pinned = 1;
    cuda::CuAllocationProperties properties{};
    properties.type = pinned;
    properties.handle_types = handle_types;
    properties.location = {cuda::location_device, device};
    cuda::CuAllocation allocation = 0;
    EXPECT_EQ(
        call("cuMemCreate", &allocation, bytes, static_cast<const cuda::CuAllocationProperties*>(&properties), 0ULL),
        cuda::code::success);
    EXPECT_EQ(cu.memory_map(at, bytes, 0, allocation, 0), cuda::code::success);
    const cuda::CuAccess access = {{cuda::location_device, device}, cuda::access_read_write};
    EXPECT_EQ(cu.memory_set_access(at, bytes, &access, 1), cuda::code::success);
    EXPECT_EQ(cu.allocation_release(allocation), cuda::code::success);
}

cuda::CuMemoryPool Application::make_pool(int handle_types, int device) const {
    struct PoolProperties {  // CUmemPoolProps
        int type;
        int handle_types;
        cuda::CuLocation location;
        void* windows_attributes;
        std::size_t most_bytes;
        unsigned short usage;
        unsigned char reserved[54];
    };
    PoolProperties properties{};
    properties.type = 1;
    properties.handle_types = handle_types;
    properties.location = {cuda::location_device, device};
    cuda::CuMemoryPool pool = nullptr;
    EXPECT_EQ(call("cuMemPoolCreate", &pool, static_cast<const PoolProperties*>(&properties)), cuda::code::success);
    return pool;
}

cuda::CuAddress Application::allocate_from(cuda::CuMemoryPool pool, std::size_t bytes) const {
    cuda::CuAddress address = 0;
    EXPECT_EQ(call("cuMemAllocFromPoolAsync", &address, bytes, pool, cuda::CuStream{nullptr}), cuda::code::success);
    EXPECT_EQ(cu.context_synchronize(), cuda::code::success);
    return address;
}

cuda::CuAddress Application::allocate_async(std::size_t bytes) const {
    cuda::CuAddress address = 0;
    EXPECT_EQ(call("cuMemAllocAsync", &address, bytes, cuda::CuStream{nullptr}), cuda::code::success);
    EXPECT_EQ(cu.context_synchronize(), cuda::code::success);
    return address;
}

cuda::CuAddress Application::allocate_managed(std::size_t bytes) const {
    cuda::CuAddress address = 0;
    EXPECT_EQ(call("cuMemAllocManaged", &address, bytes, 1U), cuda::code::success);
    return address;
}

void Application::write(cuda::CuAddress to, const std::vector<std::uint8_t>& bytes) const {
    EXPECT_EQ(cu.memory_copy_async(to, reinterpret_cast<cuda::CuAddress>(bytes.data()), bytes.size(), nullptr),
              cuda::code::success);
    EXPECT_EQ(cu.context_synchronize(), cuda::code::success);
}

std::vector<std::uint8_t> Application::read(cuda::CuAddress from, std::size_t bytes) const {
    std::vector<std::uint8_t> here(bytes);
    EXPECT_EQ(cu.memory_copy_async(reinterpret_cast<cuda::CuAddress>(here.data()), from, bytes, nullptr),
              cuda::code::success);
    EXPECT_EQ(cu.context_synchronize(), cuda::code::success);
    return here;
}

bool Application::is_active(int device) const {
    unsigned flags = 0;
    int active = 0;
    EXPECT_EQ(cu.primary_context_get_state(device, &flags, &active), cuda::code::success);
    return active != 0;
}

void on_machine(const Machine& machine, const std::function<void(Application&)>& test) {
    run_ranks(1, [&](Rank&) {
        Application application(machine);
        test(application);
        cuda_device().close();
    });
}

std::vector<std::uint8_t> pattern(std::size_t bytes, unsigned seed) {
    std::vector<std::uint8_t> made(bytes);
    for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::uint8_t>((i * 7 + i / 251 + seed * 31) % 256);
    return made;
}

}  // namespace peercoll::test
