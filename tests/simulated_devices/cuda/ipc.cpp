// SPDX-License-Identifier: BSD-3-Clause
// Memory of other processes by the legacy handles. A handle names a whole allocation; opening it again in the same
// context counts, and gives the same address.
#include "tests/simulated_devices/core/call_counts.hpp"
#include "tests/simulated_devices/cuda/driver.hpp"
#include "tests/simulated_devices/cuda/entry_points.hpp"
#include "tests/simulated_devices/cuda/ipc_handle.hpp"

namespace peercoll::simulator::cuda {

namespace {

// Called with the driver's mutex held.
ImportedMemory* find_open(std::uint64_t block, const Context& context) {
    for (auto& [base, imported] : driver().imports) {
        if (imported.mapping->block->id() == block && imported.context == &context) {
            return &imported;
        }
    }
    return nullptr;
}

bool overlaps_stale(const HandleContents& contents) {
    for (const auto& [base, imported] : driver().imports) {
        if (imported.owner == contents.owner && imported.mapping->block->freed_by_owner() &&
            imported.owner_base < contents.base + contents.bytes &&
            contents.base < imported.owner_base + imported.mapping->bytes) {
            return true;
        }
    }
    return false;
}

CUresult open(Context& context, const HandleContents& contents, CUdeviceptr* address) {
    Process& simulated = process();
    Descriptor file = open_of(contents.owner, contents.descriptor);
    if (!file) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const auto block = Block::open(std::make_shared<Arena>(std::move(file)), contents.offset, contents.id);
    if (!block || contents.bytes > block->bytes()) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const int from = context.execution->device;
    // Of any device of the node, also of one that CUDA_VISIBLE_DEVICES hides from this process.
    const int to = simulated.node().device_with_uuid(block->device());
    if (to < 0 || (simulated.node().hidden_import_refused && ordinal_of(to) < 0)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    if (to != from) {
        if (!simulated.node().link(from, to).access) {
            return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
        }
        const DeviceSet peers = context.execution->peers.load();
        if ((peers & one_device(to)) == 0 &&
            static_cast<std::size_t>(__builtin_popcountll(peers)) >= simulated.node().peer_limit) {
            return CUDA_ERROR_TOO_MANY_PEERS;
        }
    }
    if (simulated.node().ipc_overlap_refused && overlaps_stale(contents)) {
        return CUDA_ERROR_ALREADY_MAPPED;
    }
    auto mapping = std::make_shared<Mapping>();
    mapping->kind = MemoryKind::Imported;
    mapping->bytes = contents.bytes;
    mapping->device = from;
    mapping->physical_device = to;
    mapping->context = &context;
    mapping->readers.store(one_device(from));
    mapping->writers.store(one_device(from));
    mapping->block = block;
    const auto reserve = [&] { return simulated.addresses().reserve(block->bytes(), std::uint64_t{2} << 20); };
    mapping->range = reserve();
    if (mapping->range && mapping->range->base() == contents.base) {
        mapping->range = reserve();  // never where its owner has it: nobody may get used to that
    }
    if (!mapping->range) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    mapping->base = mapping->range->base();
    if (!simulated.addresses().map(mapping)) {
        return CUDA_ERROR_MAP_FAILED;
    }
    ImportedMemory imported;
    imported.mapping = mapping;
    imported.opens = 1;
    imported.context = &context;
    imported.owner = contents.owner;
    imported.owner_base = contents.base;
    driver().imports[mapping->base] = imported;
    *address = mapping->base;
    return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
    note_call(Call::Export);
    return call_with_context([&](Context&) {
        const auto mapping = find_mapping(address);
        if (handle == nullptr || !mapping || mapping->kind != MemoryKind::Device) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        HandleContents contents;
        contents.magic = memory_magic;
        contents.owner = this_process();
        contents.descriptor = mapping->block->arena()->descriptor();
        contents.id = mapping->block->id();
        contents.offset = mapping->block->offset();
        contents.base = mapping->base;
        contents.bytes = mapping->bytes;
        *handle = to_handle<CUipcMemHandle>(contents);
        return CUDA_SUCCESS;
    });
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
    note_call(Call::Import);
    return call_with_context([&](Context& context) {
        const HandleContents contents = from_handle(handle);
        if (address == nullptr || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS || contents.magic != memory_magic) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (contents.owner == this_process() || process().node().ipc_refused) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        const std::lock_guard lock(driver().mutex);
        if (ImportedMemory* const again = find_open(contents.id, context)) {
            ++again->opens;
            *address = again->mapping->base;
            return CUDA_SUCCESS;
        }
        return open(context, contents, address);
    });
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
    return call_with_context([&](Context&) {
        const std::lock_guard lock(driver().mutex);
        const auto found = driver().imports.find(address);
        if (found == driver().imports.end()) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (--found->second.opens == 0) {
            process().addresses().remove(found->second.mapping);
            driver().imports.erase(found);
        }
        return CUDA_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::cuda
