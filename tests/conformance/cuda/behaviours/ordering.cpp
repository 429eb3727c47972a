// SPDX-License-Identifier: BSD-3-Clause
// "Synchronous" calls followed at once by a read in another process, with and without SYNC_MEMOPS.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/ipc.hpp"
#include "tests/conformance/cuda/shareable_memory.hpp"
#include "tests/conformance/runner/shared_host_memory.hpp"

#include <cstring>

namespace peercoll::conformance::cuda {

namespace {

constexpr std::uint64_t rounds = 100;
constexpr std::size_t page = 64 * KiB;  // at most this is copied out of pageable memory before the call returns

// The owner calls, and says so in a word that both see; the reader looks at the last word that the call was to write.
enum Word : std::size_t { called = 0, looked = 8 };

std::size_t size_of_large() {
    return std::min(64 * MiB, free_bytes() / 8 / MiB * MiB);
}

template <typename Call>
void call_and_tell(Scene& scene, const Memory& memory, const Call& call) {
    const SharedHostMemory words(64 * KiB);
    scene.other().send_descriptor(words.descriptor());
    scene.other().send(ipc_handle(memory.address()));
    scene.other().send(memory.bytes());
    scene.other().hear("mapped");
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        call(round);
        words.word(called).store(round, std::memory_order_release);
        if (!words.wait_for(round, looked)) throw OtherProcessLost("the reader did not look");
    }
    scene.other().hear("done");
}

std::uint64_t stale_looks(Scene& scene) {
    const SharedHostMemory words(scene.other().receive_descriptor(), 64 * KiB);
    const auto handle = scene.other().receive<CUipcMemHandle>();
    const auto bytes = scene.other().receive<std::size_t>();
    const IpcMapping mapping(handle);
    const Stream stream;
    std::uint64_t stale = 0;
    void* host = nullptr;
    need("cuMemHostAlloc", driver().cuMemHostAlloc(&host, 64, 0));
    scene.other().say("mapped");
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        if (!words.wait_for(round, called)) throw OtherProcessLost("the owner did not call");
        need("cuMemcpyDtoHAsync", driver().cuMemcpyDtoHAsync(host, mapping.address() + bytes - 8, 8, stream.get()));
        need("cuStreamSynchronize", stream.synchronize());
        std::uint64_t seen = 0;
        std::memcpy(&seen, host, sizeof seen);
        stale += seen == round ? 0 : 1;
        words.word(looked).store(round, std::memory_order_release);
    }
    need("cuMemFreeHost", driver().cuMemFreeHost(host));
    scene.other().say("done");
    return stale;
}

void set_sync_memops(const Memory& memory) {
    const int one = 1;
    need("cuPointerSetAttribute", driver().cuPointerSetAttribute(&one, attribute_sync_memops, memory.address()));
}

void owner_of_pageable(Scene& scene, bool sync_memops) {
    const Gpu gpu(scene);
    const Memory memory(page);
    if (sync_memops) set_sync_memops(memory);
    std::vector<std::uint64_t> words(page / 8);
    call_and_tell(scene, memory, [&](std::uint64_t round) {
        std::fill(words.begin(), words.end(), round);
        need("cuMemcpyHtoD", driver().cuMemcpyHtoD(memory.address(), words.data(), page));
    });
}

void owner_of_device_copy(Scene& scene, bool sync_memops) {
    const Gpu gpu(scene);
    const std::size_t bytes = size_of_large();
    const Memory source(bytes);
    const Memory target(bytes);
    if (sync_memops) {
        set_sync_memops(source);
        set_sync_memops(target);
    }
    store(target.address() + bytes - 8, words_from(0, 1));
    call_and_tell(scene, target, [&](std::uint64_t round) {
        store(source.address() + bytes - 8, words_from(round, 1));
        need("cuMemcpyDtoD", driver().cuMemcpyDtoD(target.address(), source.address(), bytes));
    });
}

void note_stale(Scene& scene) {
    const Gpu gpu(scene);
    scene.note("stale looks out of 100", stale_looks(scene));
}

void expect_none_stale(Scene& scene) {
    const Gpu gpu(scene);
    scene.expect("stale looks out of 100", 0u, stale_looks(scene));
}

// The same within one process: a look from a stream that waits for no other, as a backend's copies are.
std::uint64_t stale_looks_at(CUdeviceptr address) {
    const int one = 1;
    need("cuPointerSetAttribute", driver().cuPointerSetAttribute(&one, attribute_sync_memops, address));
    const Stream stream;
    std::vector<std::uint64_t> words(page / 8);
    void* host = nullptr;
    need("cuMemHostAlloc", driver().cuMemHostAlloc(&host, 64, 0));
    std::uint64_t stale = 0;
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        std::fill(words.begin(), words.end(), round);
        need("cuMemcpyHtoD", driver().cuMemcpyHtoD(address, words.data(), page));
        need("cuMemcpyDtoHAsync", driver().cuMemcpyDtoHAsync(host, address + page - 8, 8, stream.get()));
        need("cuStreamSynchronize", stream.synchronize());
        std::uint64_t seen = 0;
        std::memcpy(&seen, host, sizeof seen);
        stale += seen == round ? 0 : 1;
    }
    need("cuMemFreeHost", driver().cuMemFreeHost(host));
    return stale;
}

void look_at_plain(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(page);
    scene.expect("stale looks out of 100", 0u, stale_looks_at(memory.address()));
}

void look_at_default_pool(Scene& scene) {
    const Gpu gpu(scene);
    const StreamOrderedMemory memory(page);
    scene.note("stale looks out of 100", stale_looks_at(memory.address()));
}

void look_at_shared_pool(Scene& scene) {
    const Gpu gpu(scene);
    const Pool pool(gpu, handle_posix_fd);
    const StreamOrderedMemory memory(page, &pool);
    scene.note("stale looks out of 100", stale_looks_at(memory.address()));
}

void look_at_managed(Scene& scene) {
    const Gpu gpu(scene);
    CUdeviceptr address = 0;
    need("cuMemAllocManaged", driver().cuMemAllocManaged(&address, page, managed_attach_global));
    scene.note("stale looks out of 100", stale_looks_at(address));
    scene.expect("free", success, driver().cuMemFree(address));
}

}  // namespace

void add_ordering(Suite& suite) {
    suite.enter("synchronous calls");
    suite.add(
        "a pageable copy, then a peer's read", [](Scene& scene) { owner_of_pageable(scene, false); }, note_stale);
    suite.add(
        "a pageable copy with SYNC_MEMOPS, then a peer's read", [](Scene& scene) { owner_of_pageable(scene, true); },
        expect_none_stale);
    suite.add(
        "a copy within the device, then a peer's read", [](Scene& scene) { owner_of_device_copy(scene, false); },
        note_stale);
    suite.add(
        "a copy within the device with SYNC_MEMOPS, then a peer's read",
        [](Scene& scene) { owner_of_device_copy(scene, true); }, expect_none_stale);
    suite.add("a pageable copy with SYNC_MEMOPS, then a look from a stream", look_at_plain);
    suite.add("a pageable copy to the default pool with SYNC_MEMOPS, then a look from a stream", look_at_default_pool);
    suite.add("a pageable copy to a pool with SYNC_MEMOPS, then a look from a stream", look_at_shared_pool);
    suite.add("a pageable copy to managed memory with SYNC_MEMOPS, then a look from a stream", look_at_managed);
}

}  // namespace peercoll::conformance::cuda
