// SPDX-License-Identifier: BSD-3-Clause
// Memory of other processes, by keys: of whole allocations, for the processes on a list unless the key is for all. What
// belongs to a key lies in a file of its owner that others map, so that a key says no more than where that is.
#include "tests/simulated_devices/ascend/entry_points.hpp"
#include "tests/simulated_devices/ascend/runtime.hpp"
#include "tests/simulated_devices/core/call_counts.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <system_error>

namespace peercoll::simulator::acl {

namespace {

constexpr std::uint64_t key_magic = 0x61636c6b65793031;
constexpr std::size_t key_room = 65;
constexpr std::size_t most_readers = 64;

// In shared memory. The owner writes all but `openings`.
struct KeyRecord {
    std::uint64_t magic;
    std::uint64_t bytes;
    std::uint64_t block;
    std::uint64_t offset;
    std::int32_t arena;  // a descriptor of the owner
    std::int32_t for_all;
    std::atomic<std::int32_t> closed;
    std::atomic<std::int32_t> openings;
    std::atomic<std::uint32_t> n_readers;
    std::array<std::atomic<std::int32_t>, most_readers> readers;
};

}  // namespace

struct KeyFile {
    explicit KeyFile(Descriptor opened) : file(std::move(opened)) {
        void* const address = ::mmap(nullptr, sizeof(KeyRecord), PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
        if (address == MAP_FAILED) {
            throw std::system_error(errno, std::generic_category(), "a key's file");
        }
        record = static_cast<KeyRecord*>(address);
    }
    ~KeyFile() { ::munmap(record, sizeof(KeyRecord)); }
    KeyFile(const KeyFile&) = delete;
    KeyFile& operator=(const KeyFile&) = delete;

    Descriptor file;
    KeyRecord* record;
};

namespace {

// "acl:<pid>:<start>:<descriptor>"; null: it names nothing.
std::shared_ptr<KeyFile> open_key(const char* key) {
    ProcessName owner;
    int descriptor = -1;
    unsigned long long start = 0;
    if (::strnlen(key, key_room) == key_room ||
        std::sscanf(key, "acl:%d:%llu:%d", &owner.pid, &start, &descriptor) != 3) {
        return nullptr;
    }
    owner.start_time = start;
    Descriptor file = open_of(owner, descriptor);
    if (!file || ::lseek(file.number(), 0, SEEK_END) != static_cast<off_t>(sizeof(KeyRecord))) {
        return nullptr;
    }
    auto opened = std::make_shared<KeyFile>(std::move(file));
    return opened->record->magic == key_magic && opened->record->closed.load() == 0 ? opened : nullptr;
}

bool may_read(const KeyRecord& record) {
    const std::uint32_t n = std::min<std::uint32_t>(record.n_readers.load(), most_readers);
    return record.for_all != 0 || std::any_of(record.readers.begin(), record.readers.begin() + n,
                                              [](const auto& pid) { return pid.load() == ::getpid(); });
}

bool has_ipc() {
    return soc().rfind("Ascend310B", 0) != 0;
}

aclError import(const Context& context, const std::string& key, const KeyFile& file, bool with_peers, void** address) {
    const KeyRecord& record = *file.record;
    const ProcessName owner = [&] {
        ProcessName name;
        unsigned long long start = 0;
        (void)std::sscanf(key.c_str(), "acl:%d:%llu:", &name.pid, &start);
        name.start_time = start;
        return name;
    }();
    Descriptor arena = open_of(owner, record.arena);
    if (!arena) {
        return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
    }
    const auto block = Block::open(std::make_shared<Arena>(std::move(arena)), record.offset, record.block);
    if (!block || record.bytes > block->bytes()) {
        return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
    }
    const int of_node = process().node().device_with_uuid(block->device());
    if (of_node < 0 ||
        (of_node != context.of_node && (!with_peers || !process().node().link(context.of_node, of_node).access))) {
        return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
    }
    auto mapping = std::make_shared<Mapping>();
    mapping->kind = MemoryKind::Imported;
    mapping->bytes = record.bytes;
    mapping->device = context.of_node;
    mapping->physical_device = of_node;
    mapping->readers.store(one_device(context.of_node));
    mapping->writers.store(one_device(context.of_node));
    mapping->block = block;
    mapping->range = process().addresses().reserve(block->bytes(), page_bytes);
    if (!mapping->range) {
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    mapping->base = mapping->range->base();
    if (!process().addresses().map(mapping)) {
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    file.record->openings.fetch_add(1);
    const std::lock_guard lock(runtime().mutex);
    runtime().imported.emplace(key, mapping);
    *address = pointer(mapping->base);
    return ACL_SUCCESS;
}

}  // namespace

std::size_t key_count() {
    const std::lock_guard lock(runtime().mutex);
    std::size_t alive = 0;
    for (const auto& [key, file] : runtime().exported) {
        // One that others had open when it was to be closed goes with its memory.
        for (const auto& mapping : process().addresses().all()) {
            alive += mapping->block && mapping->block->id() == file->record->block ? 1 : 0;
        }
    }
    return alive;
}

extern "C" {

aclError aclrtIpcMemGetExportKey(void* address, std::size_t bytes, char* key, std::size_t room, std::uint64_t flags) {
    note_call(Call::Export);
    return call_in_context([&](Context& context) -> aclError {
        const auto mapping = find_mapping(address);
        if (!has_ipc()) {
            return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
        }
        if (key == nullptr || room < key_room || flags > 1) {
            return ACL_ERROR_RT_PARAM_INVALID;
        }
        if (!mapping || mapping->kind != MemoryKind::Device || mapping->base != number(address) ||
            mapping->device != context.of_node || bytes == 0 || bytes > mapping->bytes) {
            return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
        }
        Descriptor file(::memfd_create("key", MFD_CLOEXEC));
        if (!file || ::ftruncate(file.number(), sizeof(KeyRecord)) != 0) {
            return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
        }
        const ProcessName owner = this_process();
        std::array<char, key_room> text{};
        std::snprintf(text.data(), text.size(), "acl:%d:%llu:%d", owner.pid,
                      static_cast<unsigned long long>(owner.start_time), file.number());
        const auto made = std::make_shared<KeyFile>(std::move(file));
        KeyRecord& record = *made->record;
        record.bytes = bytes;
        record.block = mapping->block->id();
        record.offset = mapping->block->offset();
        record.arena = mapping->block->arena()->descriptor();
        record.for_all = flags == 1 ? 1 : 0;
        record.magic = key_magic;
        const std::lock_guard lock(runtime().mutex);
        runtime().exported[text.data()] = made;
        std::memcpy(key, text.data(), text.size());
        return ACL_SUCCESS;
    });
}

aclError aclrtIpcMemSetImportPid(const char* key, std::int32_t* pids, std::size_t n) {
    return call_in_context([&](Context&) -> aclError {
        const std::lock_guard lock(runtime().mutex);
        const auto found = runtime().exported.find(key);
        if (found == runtime().exported.end() || pids == nullptr) {
            return ACL_ERROR_RT_PARAM_INVALID;
        }
        KeyRecord& record = *found->second->record;
        const std::uint32_t known = record.n_readers.load();
        if (known + n > most_readers) {
            return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
        }
        for (std::size_t i = 0; i < n; ++i) {
            record.readers[known + i].store(pids[i]);
        }
        record.n_readers.store(known + static_cast<std::uint32_t>(n));
        return ACL_SUCCESS;
    });
}

aclError aclrtIpcMemImportByKey(void** address, const char* key, std::uint64_t flags) {
    note_call(Call::Import);
    return call_in_context([&](Context& context) -> aclError {
        if (!has_ipc()) {
            return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
        }
        if (address == nullptr || key == nullptr || flags > 1) {
            return ACL_ERROR_RT_PARAM_INVALID;
        }
        const auto file = open_key(key);
        if (!file || process().node().ipc_refused) {
            return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
        }
        return may_read(*file->record) ? import(context, key, *file, flags == 1, address) : ACL_ERROR_RT_NO_PERMISSION;
    });
}

// Of an importer: one of its openings, whichever. Of the owner: the key, unless it is open somewhere.
aclError aclrtIpcMemClose(const char* key) {
    return call_in_context([&](Context& context) -> aclError {
        process().scheduler().synchronize(*context.execution);
        const std::lock_guard lock(runtime().mutex);
        if (const auto opened = runtime().imported.find(key); opened != runtime().imported.end()) {
            process().addresses().remove(opened->second);
            runtime().imported.erase(opened);
            if (const auto file = open_key(key)) {
                file->record->openings.fetch_sub(1);
            }
            return ACL_SUCCESS;
        }
        const auto found = runtime().exported.find(key);
        if (found == runtime().exported.end()) {
            return ACL_ERROR_RT_PARAM_INVALID;
        }
        if (found->second->record->openings.load() > 0) {
            return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
        }
        found->second->record->closed.store(1);
        runtime().exported.erase(found);
        return ACL_SUCCESS;
    });
}

aclError aclrtDeviceGetBareTgid(std::int32_t* pid) {
    return call([&]() -> aclError {
        if (pid == nullptr) {
            return ACL_ERROR_INVALID_PARAM;
        }
        *pid = ::getpid();
        return ACL_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::acl
