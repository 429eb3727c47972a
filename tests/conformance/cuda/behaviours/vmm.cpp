// SPDX-License-Identifier: BSD-3-Clause
// Physical allocations that travel as descriptors.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/shareable_memory.hpp"

#include <fcntl.h>

namespace peercoll::conformance::cuda {

namespace {

constexpr std::size_t bytes = 4 * MiB;
constexpr std::size_t count = bytes / 8;

void granularity(Scene& scene) {
    const Gpu gpu(scene);
    const CUmemAllocationProp properties = allocation_on(gpu.device(), handle_posix_fd);
    std::size_t step = 0;
    scene.expect("code", success, driver().cuMemGetAllocationGranularity(&step, &properties, 0));
    scene.observe("granularity", step);
    CUmemGenericAllocationHandle handle = 0;
    scene.expect("a size that is no multiple", invalid_value, driver().cuMemCreate(&handle, step / 2, &properties, 0));
}

void pieces(Scene& scene) {
    const Gpu gpu(scene);
    const CUmemAllocationProp properties = allocation_on(gpu.device(), handle_posix_fd);
    const CUmemAccessDesc access = read_write_from(gpu.device());
    std::size_t step = 0;
    need("cuMemGetAllocationGranularity", driver().cuMemGetAllocationGranularity(&step, &properties, 0));
    CUdeviceptr range = 0;
    CUmemGenericAllocationHandle first = 0;
    CUmemGenericAllocationHandle second = 0;
    need("cuMemAddressReserve", driver().cuMemAddressReserve(&range, 2 * step, 0, 0, 0));
    need("cuMemCreate", driver().cuMemCreate(&first, step, &properties, 0));
    need("cuMemCreate", driver().cuMemCreate(&second, step, &properties, 0));
    need("cuMemMap", driver().cuMemMap(range, step, 0, first, 0));
    need("cuMemMap", driver().cuMemMap(range + step, step, 0, second, 0));
    scene.expect("access to both at once", success, driver().cuMemSetAccess(range, 2 * step, &access, 1));
    scene.observe("two pieces of one range have two ids", buffer_id(range) != buffer_id(range + step));
    CUdeviceptr base = 0;
    std::size_t size = 0;
    need("cuMemGetAddressRange", driver().cuMemGetAddressRange(&base, &size, range + step + 8));
    scene.expect("the address range of the second is the second", true, base == range + step && size == step);
    store(range + step - 8, words_from(4, 2));
    scene.expect("a copy goes across the seam", true, load(range + step - 8, 2) == words_from(4, 2));

    CUmemGenericAllocationHandle found = 0;
    scene.expect("handle of an address", success,
                 driver().cuMemRetainAllocationHandle(&found, reinterpret_cast<void*>(range + step + 64)));
    CUmemAllocationProp told{};
    scene.expect("its properties", success, driver().cuMemGetAllocationPropertiesFromHandle(&told, found));
    scene.expect("handle types", handle_posix_fd, told.requested_handle_types);
    scene.expect("device", gpu.device(), told.location.id);
    scene.expect("release what was retained", success, driver().cuMemRelease(found));

    scene.expect("unmap", success, driver().cuMemUnmap(range, 2 * step));
    scene.expect("give the range back", success, driver().cuMemAddressFree(range, 2 * step));
    scene.expect("release", success, driver().cuMemRelease(first));
    scene.expect("release the second", success, driver().cuMemRelease(second));
}

void no_handle_in_other_memory(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(bytes);
    CUmemGenericAllocationHandle found = 0;
    scene.expect("handle of cuMemAlloc memory", invalid_value,
                 driver().cuMemRetainAllocationHandle(&found, reinterpret_cast<void*>(memory.address())));
    const MappedAllocation unshared(gpu, bytes, handle_none);
    int descriptor = -1;
    scene.expect("descriptor of an allocation without handle types", invalid_value,
                 driver().cuMemExportToShareableHandle(&descriptor, unshared.handle(), handle_posix_fd, 0));
    const CUmemAllocationProp fabric = allocation_on(gpu.device(), handle_posix_fd | handle_fabric);
    CUmemGenericAllocationHandle handle = 0;
    const CUresult code = driver().cuMemCreate(&handle, bytes, &fabric, 0);
    scene.note("allocation with POSIX descriptor and fabric handle", code);
    if (code == success) driver().cuMemRelease(handle);
}

void owner(Scene& scene) {
    const Gpu gpu(scene);
    const MappedAllocation memory(gpu, bytes, handle_posix_fd);
    store(memory.address(), words_from(100, count));
    CUmemGenericAllocationHandle handle = 0;
    need("cuMemRetainAllocationHandle",
         driver().cuMemRetainAllocationHandle(&handle, reinterpret_cast<void*>(memory.address())));
    int descriptor = -1;
    scene.expect("export", success, driver().cuMemExportToShareableHandle(&descriptor, handle, handle_posix_fd, 0));
    scene.expect("a descriptor", true, descriptor >= 0);
    Descriptor owned(descriptor);
    scene.observe("it is closed by exec", (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0);
    need("cuMemRelease", driver().cuMemRelease(handle));
    scene.other().send(memory.bytes());
    scene.other().send_descriptor(owned.get());
    owned.reset();
    scene.other().hear("written");
    scene.expect("what the reader wrote is there", true, load(memory.address(), count) == words_from(700, count));
    scene.other().say("seen");
}

void reader(Scene& scene) {
    const Gpu gpu(scene);
    const auto size = scene.other().receive<std::size_t>();
    Descriptor descriptor = scene.other().receive_descriptor();
    CUmemGenericAllocationHandle handle = 0;
    scene.expect("import", success,
                 driver().cuMemImportFromShareableHandle(&handle, as_os_handle(descriptor.get()), handle_posix_fd));
    descriptor.reset();
    {
        const MappedAllocation memory(gpu.device(), handle, size);
        scene.expect("what the owner wrote is there", true, load(memory.address(), count) == words_from(100, count));
        store(memory.address(), words_from(700, count));
        std::uint64_t value = 0;
        need("cuPointerGetAttribute",
             driver().cuPointerGetAttribute(&value, attribute_allowed_handle_types, memory.address()));
        scene.expect("allowed handle types", 0u, value);
        scene.expect("has an id", true, buffer_id(memory.address()) != 0);
        const int one = 1;
        scene.expect("set SYNC_MEMOPS", not_supported,
                     driver().cuPointerSetAttribute(&one, attribute_sync_memops, memory.address()));
        CUipcMemHandle legacy{};
        scene.expect("legacy handle", invalid_value, driver().cuIpcGetMemHandle(&legacy, memory.address()));
        scene.other().say("written");
        scene.other().hear("seen");
    }
}

void owner_that_frees(Scene& scene) {
    const Gpu gpu(scene);
    scene.other().hear("ready");
    const auto in_mib = [](std::size_t value) { return static_cast<std::int64_t>(value / MiB); };
    const std::int64_t before = in_mib(free_bytes());
    {
        const MappedAllocation memory(gpu, 64 * MiB, handle_posix_fd);
        store(memory.address(), words_from(100, count));
        int descriptor = -1;
        need("cuMemExportToShareableHandle",
             driver().cuMemExportToShareableHandle(&descriptor, memory.handle(), handle_posix_fd, 0));
        const Descriptor owned(descriptor);
        scene.other().send_descriptor(owned.get());
        scene.other().hear("mapped");
    }
    scene.expect("MiB that the reader keeps", 64, before - in_mib(free_bytes()));
    scene.other().say("freed");
    scene.other().hear("released");
    scene.expect("MiB missing when the reader has released", 0, before - in_mib(free_bytes()));
    scene.other().say("looked");
}

void reader_that_keeps(Scene& scene) {
    const Gpu gpu(scene);
    const Stream stream;
    scene.other().say("ready");
    Descriptor descriptor = scene.other().receive_descriptor();
    CUmemGenericAllocationHandle handle = 0;
    need("cuMemImportFromShareableHandle",
         driver().cuMemImportFromShareableHandle(&handle, as_os_handle(descriptor.get()), handle_posix_fd));
    descriptor.reset();
    {
        const MappedAllocation memory(gpu.device(), handle, 64 * MiB);
        scene.other().say("mapped");
        scene.other().hear("freed");
        scene.expect("what the owner wrote is still there", true,
                     load(memory.address(), count) == words_from(100, count));
    }
    scene.other().say("released");
    scene.other().hear("looked");
}

}  // namespace

void add_vmm(Suite& suite) {
    suite.enter("VMM");
    suite.add("allocations are multiples of a granularity", granularity);
    suite.add("a range of two allocations", pieces);
    suite.add("memory that has no descriptor", no_handle_in_other_memory);
    suite.add("the other process reads and writes", owner, reader);
    suite.add("memory freed by its owner comes back when the reader releases", owner_that_frees, reader_that_keeps);
}

}  // namespace peercoll::conformance::cuda
