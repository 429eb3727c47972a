// SPDX-License-Identifier: BSD-3-Clause
// Legacy IPC: what can be named, and how a name is opened.
#include "tests/conformance/cuda/ipc.hpp"
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/shareable_memory.hpp"

namespace peercoll::conformance::cuda {

namespace {

constexpr std::size_t bytes = 4 * MiB;
constexpr std::size_t count = bytes / 8;

void handle_names_the_allocation(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(bytes);
    const Memory other(bytes);
    const CUipcMemHandle at_base = ipc_handle(memory.address());
    scene.expect("asked again, the same handle", true, same_bytes(at_base, ipc_handle(memory.address())));
    scene.expect("asked inside, the same handle", true,
                 same_bytes(at_base, ipc_handle(memory.address() + 3 * MiB + 5)));
    scene.expect("another allocation, the same handle", false, same_bytes(at_base, ipc_handle(other.address())));
}

void pools_and_vmm_have_no_handle(Scene& scene) {
    const Gpu gpu(scene);
    CUipcMemHandle handle{};
    const StreamOrderedMemory of_default_pool(bytes);
    scene.expect("default pool", invalid_value, driver().cuIpcGetMemHandle(&handle, of_default_pool.address()));
    const Pool pool(gpu, handle_posix_fd);
    const StreamOrderedMemory of_pool(bytes, &pool);
    scene.expect("pool with POSIX descriptors", invalid_value, driver().cuIpcGetMemHandle(&handle, of_pool.address()));
    const MappedAllocation mapped(gpu, bytes, handle_posix_fd);
    scene.expect("VMM", invalid_value, driver().cuIpcGetMemHandle(&handle, mapped.address()));
}

void managed_and_host_have_no_handle(Scene& scene) {
    const Gpu gpu(scene);
    CUipcMemHandle handle{};
    CUdeviceptr managed = 0;
    need("cuMemAllocManaged", driver().cuMemAllocManaged(&managed, bytes, managed_attach_global));
    scene.expect("managed", invalid_value, driver().cuIpcGetMemHandle(&handle, managed));
    need("cuMemFree", driver().cuMemFree(managed));
    void* pinned = nullptr;
    need("cuMemHostAlloc", driver().cuMemHostAlloc(&pinned, bytes, 0));
    scene.expect("pinned host memory", invalid_value,
                 driver().cuIpcGetMemHandle(&handle, reinterpret_cast<CUdeviceptr>(pinned)));
    need("cuMemFreeHost", driver().cuMemFreeHost(pinned));
}

void own_handle(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(bytes);
    CUdeviceptr address = 0;
    scene.expect("open the own handle", invalid_context,
                 driver().cuIpcOpenMemHandle(&address, ipc_handle(memory.address()), ipc_lazy_enable_peer_access));
    scene.expect("close own memory", invalid_value, driver().cuIpcCloseMemHandle(memory.address()));
}

// The owner of one allocation of known words, for as long as the reader wants it.
void owner(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(bytes);
    store(memory.address(), words_from(100, count));
    scene.other().send(ipc_handle(memory.address()));
    scene.other().hear("done");
    scene.expect("what the reader wrote is there", true, load(memory.address(), count) == words_from(700, count));
}

void reads_and_writes(Scene& scene) {
    const Gpu gpu(scene);
    const auto handle = scene.other().receive<CUipcMemHandle>();
    CUdeviceptr address = 0;
    scene.expect("open", success, driver().cuIpcOpenMemHandle(&address, handle, ipc_lazy_enable_peer_access));
    scene.expect("what the owner wrote is there", true, load(address, count) == words_from(100, count));
    store(address, words_from(700, count));

    std::uint64_t value = 0;
    scene.expect("memory type: code", success, driver().cuPointerGetAttribute(&value, attribute_memory_type, address));
    scene.expect("memory type", 2u, value);
    value = 0;
    need("cuPointerGetAttribute", driver().cuPointerGetAttribute(&value, attribute_is_legacy_ipc_capable, address));
    scene.expect("legacy IPC", false, value != 0);
    value = 0;
    need("cuPointerGetAttribute", driver().cuPointerGetAttribute(&value, attribute_allowed_handle_types, address));
    scene.expect("allowed handle types", 0u, value);
    scene.expect("has an id", true, buffer_id(address) != 0);
    CUdeviceptr base = 0;
    std::size_t size = 0;
    scene.expect("address range", success, driver().cuMemGetAddressRange(&base, &size, address + 17));
    scene.expect("base", true, base == address);
    scene.expect("size", bytes, size);
    const int one = 1;
    scene.expect("set SYNC_MEMOPS", success, driver().cuPointerSetAttribute(&one, attribute_sync_memops, address));
    CUipcMemHandle onwards{};
    scene.expect("name it to a third process", invalid_value, driver().cuIpcGetMemHandle(&onwards, address));

    scene.expect("close", success, driver().cuIpcCloseMemHandle(address));
    scene.expect("the address afterwards", invalid_value,
                 driver().cuPointerGetAttribute(&value, attribute_memory_type, address));
    scene.other().say("done");
}

void owner_of_something(Scene& scene) {
    const Gpu gpu(scene);
    Memory memory(bytes);
    scene.other().send(ipc_handle(memory.address()));
    scene.other().hear("done");
    scene.expect("free", success, memory.free());
}

void opens_are_counted(Scene& scene) {
    const Gpu gpu(scene);
    const auto handle = scene.other().receive<CUipcMemHandle>();
    CUdeviceptr first = 0;
    CUdeviceptr second = 0;
    CUdeviceptr third = 0;
    scene.expect("open", success, driver().cuIpcOpenMemHandle(&first, handle, ipc_lazy_enable_peer_access));
    scene.expect("open again", success, driver().cuIpcOpenMemHandle(&second, handle, ipc_lazy_enable_peer_access));
    scene.expect("open a third time", success,
                 driver().cuIpcOpenMemHandle(&third, handle, ipc_lazy_enable_peer_access));
    scene.expect("all at the same address", true, first == second && second == third);
    scene.expect("close", success, driver().cuIpcCloseMemHandle(first));
    scene.expect("close again", success, driver().cuIpcCloseMemHandle(first));
    std::uint64_t word = 0;
    scene.expect("it is still there", success, driver().cuMemcpyDtoH(&word, first, 8));
    scene.expect("close a third time", success, driver().cuIpcCloseMemHandle(first));
    scene.expect("close a fourth time", invalid_value, driver().cuIpcCloseMemHandle(first));
    scene.other().say("done");
}

void misuse(Scene& scene) {
    const Gpu gpu(scene);
    const auto handle = scene.other().receive<CUipcMemHandle>();
    CUdeviceptr address = 0;
    scene.expect("flags 0", invalid_value, driver().cuIpcOpenMemHandle(&address, handle, 0));
    const IpcMapping mapping(handle);
    scene.expect("close inside", invalid_value, driver().cuIpcCloseMemHandle(mapping.address() + MiB));
    scene.other().say("done");
}

void owner_of_interior(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(bytes);
    store(memory.address(), words_from(100, count));
    scene.other().send(ipc_handle(memory.address() + 2 * MiB));
    scene.other().hear("done");
}

void opens_at_the_base(Scene& scene) {
    const Gpu gpu(scene);
    const IpcMapping mapping(scene.other().receive<CUipcMemHandle>());
    scene.expect("the first word is the allocation's", 100u, load(mapping.address(), 1)[0]);
    scene.other().say("done");
}

// Two allocations in one page of the driver's.
void owner_of_neighbours(Scene& scene) {
    const Gpu gpu(scene);
    const Memory first(1000);
    const Memory second(1000);
    store(first.address(), words_from(10, 100));
    store(second.address(), words_from(500, 100));
    scene.other().send(ipc_handle(first.address()));
    scene.other().send(ipc_handle(second.address()));
    scene.other().hear("done");
}

void reads_neighbours(Scene& scene) {
    const Gpu gpu(scene);
    const auto first_handle = scene.other().receive<CUipcMemHandle>();
    const auto second_handle = scene.other().receive<CUipcMemHandle>();
    IpcMapping first(first_handle);
    const IpcMapping second(second_handle);
    scene.expect("words of the first", true, load(first.address(), 100) == words_from(10, 100));
    scene.expect("words of the second", true, load(second.address(), 100) == words_from(500, 100));
    scene.expect("close the first", success, first.close());
    scene.expect("words of the second afterwards", true, load(second.address(), 100) == words_from(500, 100));
    scene.other().say("done");
}

}  // namespace

void add_ipc(Suite& suite) {
    suite.enter("IPC");
    suite.add("a handle names the whole allocation", handle_names_the_allocation);
    suite.add("managed and host memory have no handle", managed_and_host_have_no_handle);
    suite.add("memory of pools and VMM has no handle", pools_and_vmm_have_no_handle);
    suite.add("a process cannot open its own handle", own_handle);
    suite.add("the other process reads and writes", owner, reads_and_writes);
    suite.add("opens are counted", owner_of_something, opens_are_counted);
    suite.add("wrong flags and addresses are refused", owner_of_something, misuse);
    suite.add("the handle of an address inside opens at the base", owner_of_interior, opens_at_the_base);
    suite.add("two small allocations are opened apart", owner_of_neighbours, reads_neighbours);
}

}  // namespace peercoll::conformance::cuda
