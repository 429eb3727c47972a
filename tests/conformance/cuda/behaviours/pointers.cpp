// SPDX-License-Identifier: BSD-3-Clause
// What the driver says about each kind of pointer: the table that classify() is written by.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/shareable_memory.hpp"
#include "tests/conformance/runner/shared_host_memory.hpp"

#include <array>
#include <memory>

namespace peercoll::conformance::cuda {

namespace {

struct Answers {
    std::uint64_t memory_type = 0;
    std::uint64_t managed = 0;
    std::uint64_t ordinal = 0;
    std::uint64_t legacy_ipc = 0;
    std::uint64_t handle_types = 0;
    std::uint64_t pool = 0;
    std::uint64_t id = 0;
    std::uint64_t mapped = 0;

    bool operator==(const Answers&) const = default;
};

// Zeroed 8 bytes for each: the widths are not all documented.
CUresult ask(CUdeviceptr address, Answers& answers) {
    std::array<int, 8> attributes{attribute_memory_type,
                                  attribute_is_managed,
                                  attribute_device_ordinal,
                                  attribute_is_legacy_ipc_capable,
                                  attribute_allowed_handle_types,
                                  attribute_mempool_handle,
                                  attribute_buffer_id,
                                  attribute_mapped};
    std::array<void*, 8> data{&answers.memory_type,  &answers.managed, &answers.ordinal, &answers.legacy_ipc,
                              &answers.handle_types, &answers.pool,    &answers.id,      &answers.mapped};
    return driver().cuPointerGetAttributes(attributes.size(), attributes.data(), data.data(), address);
}

struct Row {
    unsigned memory_type;
    bool managed;
    bool legacy_ipc;
    unsigned handle_types;
    bool pool;
    CUresult sync_memops;
};

void expect_row(Scene& scene, const Gpu& gpu, CUdeviceptr address, std::size_t bytes, std::size_t offset,
                const Row& row) {
    Answers answers;
    scene.expect("plural query", success, ask(address + offset, answers));
    scene.expect("memory type", row.memory_type, answers.memory_type);
    scene.expect("managed", row.managed, answers.managed != 0);
    scene.expect("device", static_cast<unsigned>(gpu.device()), answers.ordinal);
    scene.expect("legacy IPC", row.legacy_ipc, answers.legacy_ipc != 0);
    scene.expect("allowed handle types", row.handle_types, answers.handle_types);
    scene.expect("of a pool", row.pool, answers.pool != 0);
    scene.expect("has an id", true, answers.id != 0);
    scene.expect("mapped", true, answers.mapped != 0);

    std::uint64_t id = 0;
    scene.expect("single query", success, driver().cuPointerGetAttribute(&id, attribute_buffer_id, address + offset));
    scene.expect("single and plural query agree", true, id == answers.id);

    CUdeviceptr base = 0;
    std::size_t size = 0;
    scene.expect("address range", success, driver().cuMemGetAddressRange(&base, &size, address + offset));
    scene.expect("base", true, base == address);
    scene.expect("size", bytes, size);

    const int one = 1;
    scene.expect("set SYNC_MEMOPS", row.sync_memops,
                 driver().cuPointerSetAttribute(&one, attribute_sync_memops, address + offset));
}

constexpr std::size_t bytes = 4 * MiB;

void plain(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(bytes);
    expect_row(scene, gpu, memory.address(), bytes, 0, {2, false, true, 0, false, success});
}

void interior(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(bytes);
    expect_row(scene, gpu, memory.address(), bytes, 3 * MiB + 17, {2, false, true, 0, false, success});
    Answers at_base;
    Answers inside;
    need("cuPointerGetAttributes", ask(memory.address(), at_base));
    need("cuPointerGetAttributes", ask(memory.address() + 3 * MiB + 17, inside));
    scene.expect("the same answers as at the base", true, at_base == inside);
}

void small(Scene& scene) {
    const Gpu gpu(scene);
    const Memory first(1000);
    const Memory second(1000);
    expect_row(scene, gpu, first.address(), 1000, 999, {2, false, true, 0, false, success});
    scene.expect("two small allocations have two ids", true, buffer_id(first.address()) != buffer_id(second.address()));
}

void default_pool(Scene& scene) {
    const Gpu gpu(scene);
    const StreamOrderedMemory memory(bytes);
    expect_row(scene, gpu, memory.address(), bytes, 8, {2, false, false, 0, true, success});
}

void shareable_pool(Scene& scene) {
    const Gpu gpu(scene);
    const Pool pool(gpu, handle_posix_fd);
    const StreamOrderedMemory memory(bytes, &pool);
    expect_row(scene, gpu, memory.address(), bytes, 8, {2, false, false, handle_posix_fd, true, success});
}

void vmm(Scene& scene) {
    const Gpu gpu(scene);
    const MappedAllocation memory(gpu, bytes, handle_posix_fd);
    expect_row(scene, gpu, memory.address(), memory.bytes(), 8,
               {2, false, false, handle_posix_fd, false, not_supported});
}

void vmm_without_handles(Scene& scene) {
    const Gpu gpu(scene);
    const MappedAllocation memory(gpu, bytes, handle_none);
    expect_row(scene, gpu, memory.address(), memory.bytes(), 8, {2, false, false, 0, false, not_supported});
}

void managed(Scene& scene) {
    const Gpu gpu(scene);
    CUdeviceptr address = 0;
    need("cuMemAllocManaged", driver().cuMemAllocManaged(&address, bytes, managed_attach_global));
    expect_row(scene, gpu, address, bytes, 8, {2, true, false, 0, false, success});
    scene.expect("free", success, driver().cuMemFree(address));
}

void pinned(Scene& scene) {
    const Gpu gpu(scene);
    void* address = nullptr;
    need("cuMemHostAlloc", driver().cuMemHostAlloc(&address, bytes, 0));
    expect_row(scene, gpu, reinterpret_cast<CUdeviceptr>(address), bytes, 8, {1, false, false, 0, false, success});
    scene.expect("free", success, driver().cuMemFreeHost(address));
}

void registered(Scene& scene) {
    const Gpu gpu(scene);
    const SharedHostMemory memory(bytes);
    need("cuMemHostRegister",
         driver().cuMemHostRegister(memory.address(), memory.bytes(), host_register_portable_mapped));
    expect_row(scene, gpu, reinterpret_cast<CUdeviceptr>(memory.address()), bytes, 8,
               {1, false, false, 0, false, success});
    scene.expect("unregister", success, driver().cuMemHostUnregister(memory.address()));
}

}  // namespace

void add_pointers(Suite& suite) {
    suite.enter("pointers");
    suite.add("cuMemAlloc", plain);
    suite.add("cuMemAlloc, inside", interior);
    suite.add("cuMemAlloc of odd small sizes", small);
    suite.add("cuMemAllocAsync, default pool", default_pool);
    suite.add("pool made with POSIX descriptors", shareable_pool);
    suite.add("cuMemCreate with POSIX descriptors", vmm);
    suite.add("cuMemCreate without handle types", vmm_without_handles);
    suite.add("managed", managed);
    suite.add("cuMemHostAlloc", pinned);
    suite.add("registered shared host memory", registered);
}

}  // namespace peercoll::conformance::cuda
