// SPDX-License-Identifier: BSD-3-Clause
// Pointers that the driver does not know, or no longer knows.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/gpu.hpp"

#include <array>
#include <vector>

namespace peercoll::conformance::cuda {

namespace {

void expect_unknown(Scene& scene, CUdeviceptr address) {
    // Marks show what was written.
    constexpr std::uint64_t mark = 0x5a5a5a5a5a5a5a5a;
    std::uint64_t single = mark;
    scene.expect("single query", invalid_value,
                 driver().cuPointerGetAttribute(&single, attribute_memory_type, address));
    scene.expect("its output is untouched", true, single == mark);

    std::uint64_t type = mark;
    std::uint64_t device = mark;
    std::uint64_t id = mark;
    std::uint64_t legacy_ipc = 0;
    std::array<int, 4> attributes{attribute_memory_type, attribute_device_ordinal, attribute_buffer_id,
                                  attribute_is_legacy_ipc_capable};
    std::array<void*, 4> data{&type, &device, &id, &legacy_ipc};
    scene.expect("plural query", success,
                 driver().cuPointerGetAttributes(attributes.size(), attributes.data(), data.data(), address));
    scene.expect("memory type", 0u, static_cast<std::uint32_t>(type));
    scene.expect("device", -2, static_cast<std::int32_t>(device));
    scene.expect("id", 0u, id);
    scene.expect("legacy IPC", 0u, legacy_ipc);

    const int one = 1;
    scene.expect("set SYNC_MEMOPS", invalid_value,
                 driver().cuPointerSetAttribute(&one, attribute_sync_memops, address));
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    scene.expect("address range", not_found, driver().cuMemGetAddressRange(&base, &bytes, address));
    CUipcMemHandle handle{};
    scene.expect("name for other processes", invalid_value, driver().cuIpcGetMemHandle(&handle, address));
}

void malloc_pointer(Scene& scene) {
    const Gpu gpu(scene);
    const std::vector<char> memory(4096);
    expect_unknown(scene, reinterpret_cast<CUdeviceptr>(memory.data()));
}

void small_numbers(Scene& scene) {
    const Gpu gpu(scene);
    expect_unknown(scene, 1);
}

void null_pointer(Scene& scene) {
    const Gpu gpu(scene);
    expect_unknown(scene, 0);
}

void one_past_the_end(Scene& scene) {
    const Gpu gpu(scene);
    // The last of several, so that nothing of ours follows.
    const Memory memory(64 * MiB);
    std::uint64_t id = 0;
    const CUresult code = driver().cuPointerGetAttribute(&id, attribute_buffer_id, memory.address() + memory.bytes());
    scene.expect("the address one past the end belongs to the allocation", false,
                 code == success && id == buffer_id(memory.address()));
    scene.expect("the last byte does", true,
                 buffer_id(memory.address() + memory.bytes() - 1) == buffer_id(memory.address()));
}

void freed(Scene& scene) {
    const Gpu gpu(scene);
    Memory memory(8 * MiB);
    const CUdeviceptr address = memory.address();
    scene.expect("free", success, memory.free());
    expect_unknown(scene, address);
    scene.expect("free again", invalid_value, driver().cuMemFree(address));
}

void reused(Scene& scene) {
    const Gpu gpu(scene);
    Memory first(8 * MiB);
    const CUdeviceptr address = first.address();
    const std::uint64_t first_id = buffer_id(address);
    need("cuMemFree", first.free());
    const Memory second(8 * MiB);
    scene.observe("the next allocation has the same address", second.address() == address);
    scene.expect("it has the same id", false, buffer_id(second.address()) == first_id);
}

void interior_free(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(4 * MiB);
    scene.expect("free inside an allocation", invalid_value, driver().cuMemFree(memory.address() + MiB));
    scene.observe("free nothing", driver().cuMemFree(0));
}

}  // namespace

void add_pointer_traps(Suite& suite) {
    suite.enter("unknown pointers");
    suite.add("memory of malloc", malloc_pointer);
    suite.add("a small number", small_numbers);
    suite.add("null", null_pointer);
    suite.add("one past the end of an allocation", one_past_the_end);
    suite.add("freed memory", freed);
    suite.add("an address that was freed and is in use again", reused);
    suite.add("only a base can be freed", interior_free);
}

}  // namespace peercoll::conformance::cuda
