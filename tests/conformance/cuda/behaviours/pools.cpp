// SPDX-License-Identifier: BSD-3-Clause
// Stream-ordered memory of a pool that travels as a descriptor.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/shareable_memory.hpp"

namespace peercoll::conformance::cuda {

namespace {

constexpr std::size_t bytes = 4 * MiB;
constexpr std::size_t count = bytes / 8;

void default_pool_stays_here(Scene& scene) {
    const Gpu gpu(scene);
    const StreamOrderedMemory memory(bytes);
    CUmemoryPool pool = nullptr;
    need("cuPointerGetAttribute", driver().cuPointerGetAttribute(&pool, attribute_mempool_handle, memory.address()));
    int descriptor = -1;
    scene.expect("export the default pool", invalid_value,
                 driver().cuMemPoolExportToShareableHandle(&descriptor, pool, handle_posix_fd, 0));
    CUmemPoolPtrExportData data{};
    scene.expect("export a pointer of it", invalid_value, driver().cuMemPoolExportPointer(&data, memory.address()));
}

void owner(Scene& scene) {
    const Gpu gpu(scene);
    const Pool pool(gpu, handle_posix_fd);
    const StreamOrderedMemory memory(bytes, &pool);
    const StreamOrderedMemory another(bytes, &pool);
    store(memory.address(), words_from(100, count));
    store(another.address(), words_from(300, count));
    CUmemPoolPtrExportData data{};
    scene.expect("export a pointer before the pool", invalid_value,
                 driver().cuMemPoolExportPointer(&data, memory.address()));
    int descriptor = -1;
    scene.expect("export the pool", success,
                 driver().cuMemPoolExportToShareableHandle(&descriptor, pool.get(), handle_posix_fd, 0));
    const Descriptor owned(descriptor);
    scene.expect("export a pointer", success, driver().cuMemPoolExportPointer(&data, memory.address()));
    scene.other().send_descriptor(owned.get());
    scene.other().send(data);
    need("cuMemPoolExportPointer", driver().cuMemPoolExportPointer(&data, another.address()));
    scene.other().send(data);
    scene.other().hear("freed");
    scene.expect("what the reader wrote is there", true, load(memory.address(), count) == words_from(700, count));
    scene.other().say("seen");
    scene.other().hear("closed");
}

void reader(Scene& scene) {
    const Gpu gpu(scene);
    const Stream stream;
    Descriptor descriptor = scene.other().receive_descriptor();
    auto data = scene.other().receive<CUmemPoolPtrExportData>();
    auto another = scene.other().receive<CUmemPoolPtrExportData>();
    CUmemoryPool imported = nullptr;
    scene.expect(
        "import the pool", success,
        driver().cuMemPoolImportFromShareableHandle(&imported, as_os_handle(descriptor.get()), handle_posix_fd, 0));
    descriptor.reset();
    {
        const Pool pool(imported);
        CUdeviceptr address = 0;
        CUdeviceptr second = 0;
        scene.expect("import a pointer", success, driver().cuMemPoolImportPointer(&address, imported, &data));
        scene.expect("import another", success, driver().cuMemPoolImportPointer(&second, imported, &another));
        scene.expect("what the owner wrote is there", true, load(address, count) == words_from(100, count));
        scene.expect("in the other one too", true, load(second, count) == words_from(300, count));
        store(address, words_from(700, count));
        std::uint64_t value = 0;
        need("cuPointerGetAttribute", driver().cuPointerGetAttribute(&value, attribute_mempool_handle, address));
        scene.expect("of a pool", true, value != 0);
        const int one = 1;
        scene.expect("set SYNC_MEMOPS", success, driver().cuPointerSetAttribute(&one, attribute_sync_memops, address));
        CUdeviceptr refused = 0;
        scene.expect("allocating from an imported pool works", false,
                     driver().cuMemAllocFromPoolAsync(&refused, bytes, imported, stream.get()) == success);
        scene.expect("free the import", success, driver().cuMemFreeAsync(address, stream.get()));
        scene.expect("free the other", success, driver().cuMemFreeAsync(second, stream.get()));
        scene.expect("synchronise", success, stream.synchronize());
        scene.other().say("freed");
        scene.other().hear("seen");
    }
    scene.other().say("closed");
}

}  // namespace

void add_pools(Suite& suite) {
    suite.enter("pools");
    suite.add("the default pool cannot be shared", default_pool_stays_here);
    suite.add("the other process reads and writes", owner, reader);
}

}  // namespace peercoll::conformance::cuda
