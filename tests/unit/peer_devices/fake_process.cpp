// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/peer_devices/fake_process.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>

// One copy, by a kernel or not, that has not run yet.
struct FakeWork {
    std::uint64_t to, from;
    std::size_t bytes;
    bool by_kernel;
};

struct peercoll_stream {
    int device = 0;
    bool failed = false;
    std::deque<FakeWork> work{};
};

namespace peercoll::test {

namespace {

FakeProcess* current = nullptr;

peercoll_status_t refuse(peercoll_reason_t* reason, const char* text) {
    if (reason != nullptr) std::snprintf(reason->text, sizeof reason->text, "%s", text);
    return PEERCOLL_ERR_SYSTEM;
}

}  // namespace

FakeProcess::FakeProcess(FakeNode& node, std::vector<int> visible, std::vector<int> active)
    : node_(node), visible_(std::move(visible)), active_(active.begin(), active.end()) {
    if (current != nullptr) abort();
    current = this;
}

FakeProcess::~FakeProcess() {
    current = nullptr;
}

int FakeProcess::local_number(int device) const {
    const auto found = std::find(visible_.begin(), visible_.end(), device);
    return found != visible_.end() ? static_cast<int>(found - visible_.begin()) : -1;
}

peercoll_pointer_info_t FakeProcess::info_of(const FakeNode::Allocation& allocation) const {
    peercoll_pointer_info_t info{};
    info.kind = PEERCOLL_MEMORY_DEVICE;
    info.device = local_number(allocation.device);
    info.allocation_id = allocation.id;
    info.base = reinterpret_cast<std::uintptr_t>(node_.own_view_) + allocation.offset;
    info.bytes = allocation.bytes;
    info.handle_kinds = handle_kind != 0 ? 1u << handle_kind : 0;
    return info;
}

peercoll_pointer_info_t FakeProcess::allocate(int device, std::size_t bytes) {
    const FakeNode::Lock lock(*node_.table_);
    const FakeNode::Allocation* made = node_.allocate(visible_[static_cast<std::size_t>(device)], bytes, getpid());
    return made != nullptr ? info_of(*made) : peercoll_pointer_info_t{};
}

void FakeProcess::free(const peercoll_pointer_info_t& memory) {
    const FakeNode::Lock lock(*node_.table_);
    FakeNode::Allocation* one = node_.find(memory.allocation_id);
    if (one == nullptr || !one->live || one->owner != getpid()) abort();
    one->live = false;
    FakeNode::settle(*one);
}

// False: a real device would report an illegal access.
bool FakeProcess::find(std::uint64_t address, std::size_t bytes, int device, Place& place) {
    const auto own = reinterpret_cast<std::uintptr_t>(node_.own_view_);
    const auto peer = reinterpret_cast<std::uintptr_t>(node_.peer_view_);
    const FakeNode::Lock lock(*node_.table_);
    if (address >= own && address < own + node_.view_bytes()) {
        const FakeNode::Allocation* one = node_.containing(address - own, getpid());
        if (one == nullptr || address - own + bytes > one->offset + one->bytes) return false;
        const bool other_device = one->device != visible_[static_cast<std::size_t>(device)];
        if (other_device && !enabled_.contains({device, local_number(one->device)})) return false;
        place = {true, other_device, node_.own_view_ + (address - own)};
        return true;
    }
    if (address >= peer && address < peer + node_.view_bytes()) {
        const std::uint64_t offset = address - peer;
        const bool is_mapped = std::any_of(mapped_.begin(), mapped_.end(), [&](const auto& mapping) {
            const FakeNode::Allocation* one = node_.find(mapping.first);
            return one != nullptr && one->offset <= offset && offset + bytes <= one->offset + one->bytes;
        });
        place = {true, true, node_.peer_view_ + offset};
        return is_mapped;
    }
    place = {false, false, reinterpret_cast<std::byte*>(address)};
    return true;
}

bool FakeProcess::move(int device, std::uint64_t to, std::uint64_t from, std::size_t bytes, bool by_kernel) {
    Place target;
    Place source;
    if (!find(to, bytes, device, target) || !find(from, bytes, device, source)) return false;
    if (target.foreign && (by_kernel ? faults.kernel_stores_lost : faults.copies_lost)) return true;
    std::memcpy(target.bytes, source.bytes, bytes);
    if (source.foreign && (by_kernel ? faults.kernel_loads_wrong : faults.copy_reads_wrong))
        target.bytes[bytes - 1] ^= std::byte{1};
    return true;
}

struct FakeFunctions {
    static peercoll_status_t open(peercoll_reason_t*) { return PEERCOLL_SUCCESS; }
    static void close() {}
    static int32_t device_count() { return static_cast<int32_t>(current->visible_.size()); }
    static const char* version_text() { return "fake 1.0"; }

    static peercoll_status_t device_info(int32_t device, peercoll_device_info_t* info, peercoll_reason_t*) {
        *info = {};
        const int real = current->visible_[static_cast<std::size_t>(device)];
        std::fill_n(info->uuid, sizeof info->uuid, static_cast<std::uint8_t>(0xd0 + real));
        std::snprintf(info->pci_id, sizeof info->pci_id, "0000:%02x:00.0", 0x10 + real);
        std::snprintf(info->name, sizeof info->name, "Fake %d", real);
        info->active = current->active_.contains(device) ? 1 : 0;
        info->import_kinds = 1u << PEERCOLL_HANDLE_IPC | 1u << PEERCOLL_HANDLE_FD;
        return PEERCOLL_SUCCESS;
    }

    static void classify(const void* address, peercoll_pointer_info_t* info) {
        *info = {};
        info->device = -1;
        FakeNode& node = current->node_;
        const auto* at = static_cast<const std::byte*>(address);
        if (at < node.own_view_ || at >= node.own_view_ + node.view_bytes()) return;
        const FakeNode::Lock lock(*node.table_);
        const FakeNode::Allocation* one = node.containing(static_cast<std::uint64_t>(at - node.own_view_), getpid());
        if (one != nullptr) *info = current->info_of(*one);
    }

    static int is_live(uint64_t, uint64_t allocation_id) {
        const FakeNode::Lock lock(*current->node_.table_);
        const FakeNode::Allocation* one = current->node_.find(allocation_id);
        return one != nullptr && one->live ? 1 : 0;
    }

    static int can_access_peer(int32_t device, int32_t peer) {
        return current->node_.access(current->visible_[static_cast<std::size_t>(device)],
                                     current->visible_[static_cast<std::size_t>(peer)])
                   ? 1
                   : 0;
    }
    static peercoll_status_t enable_peer(int32_t device, int32_t peer, peercoll_reason_t* reason) {
        if (can_access_peer(device, peer) == 0) return refuse(reason, "no peer access");
        ++current->enabled_[{device, peer}];
        return PEERCOLL_SUCCESS;
    }
    static peercoll_status_t disable_peer(int32_t device, int32_t peer, peercoll_reason_t*) {
        const auto found = current->enabled_.find({device, peer});
        if (found == current->enabled_.end()) abort();
        if (--found->second == 0) current->enabled_.erase(found);
        return PEERCOLL_SUCCESS;
    }

    static peercoll_status_t export_memory(const peercoll_pointer_info_t* info, peercoll_handle_kind_t kind, int32_t,
                                           peercoll_memory_handle_t* handle, int* fd, peercoll_reason_t* reason) {
        if (current->faults.export_refused) return refuse(reason, "exports are refused here");
        const FakeNode::Lock lock(*current->node_.table_);
        const FakeNode::Allocation* one = current->node_.find(info->allocation_id);
        if (one == nullptr || !one->live || kind != current->handle_kind) return refuse(reason, "no such memory");
        *handle = {};
        handle->kind = kind;
        handle->allocation_id = one->id;
        handle->base = info->base;
        handle->bytes = one->bytes;
        std::fill_n(handle->device_uuid, sizeof handle->device_uuid, static_cast<std::uint8_t>(0xd0 + one->device));
        std::memcpy(handle->data, &one->id, sizeof one->id);
        *fd = kind == PEERCOLL_HANDLE_FD ? dup(STDERR_FILENO) : -1;
        return PEERCOLL_SUCCESS;
    }

    static peercoll_status_t import_memory(int32_t device, const peercoll_memory_handle_t* handle, int fd,
                                           peercoll_mapping_t* mapping, peercoll_reason_t* reason) {
        FakeProcess& self = *current;
        if (self.faults.import_refused) return refuse(reason, "imports are refused here");
        if (handle->kind == PEERCOLL_HANDLE_FD && fd < 0) return refuse(reason, "no descriptor");
        std::uint64_t id = 0;
        std::memcpy(&id, handle->data, sizeof id);
        const FakeNode::Lock lock(*self.node_.table_);
        FakeNode::Allocation* one = self.node_.find(id);
        if (one == nullptr || !one->live) return refuse(reason, "the memory is gone");
        if (one->owner == getpid()) return refuse(reason, "the memory is this process's own");
        if (self.local_number(one->device) < 0 && (!self.imports_unseen || self.faults.unseen_refused))
            return refuse(reason, "the device is not visible");
        if (self.faults.overlap_refused)
            for (const auto& [other_id, base] : self.mapped_) {
                const FakeNode::Allocation* other = self.node_.find(other_id);
                if (other_id != id && other->owner == one->owner && other->offset < one->offset + one->bytes &&
                    one->offset < other->offset + other->bytes)
                    return refuse(reason, "already mapped");
            }
        ++one->mappings;
        ++self.imports_;
        *mapping = {};
        mapping->address = reinterpret_cast<std::uintptr_t>(self.node_.peer_view_) + one->offset;
        mapping->bytes = one->bytes - static_cast<std::uint64_t>(self.faults.short_mapping);
        mapping->device = device;
        mapping->kind = handle->kind;
        mapping->opaque[0] = id;
        self.mapped_.emplace(id, handle->base);
        return PEERCOLL_SUCCESS;
    }
    static void release_mapping(peercoll_mapping_t* mapping) {
        FakeProcess& self = *current;
        const FakeNode::Lock lock(*self.node_.table_);
        FakeNode::Allocation* one = self.node_.find(mapping->opaque[0]);
        const auto mapped = self.mapped_.find(mapping->opaque[0]);
        if (one == nullptr || one->mappings == 0 || mapped == self.mapped_.end()) abort();
        self.mapped_.erase(mapped);
        --one->mappings;
        ++self.releases_;
        FakeNode::settle(*one);
    }

    static uint32_t unseen_import_kinds(int32_t) {
        return current->imports_unseen ? 1u << PEERCOLL_HANDLE_IPC | 1u << PEERCOLL_HANDLE_FD : 0;
    }

    static peercoll_status_t allocate(int32_t device, size_t bytes, uint64_t* address, peercoll_reason_t* reason) {
        if (current->faults.allocation_refused) return refuse(reason, "no memory is left");
        const peercoll_pointer_info_t made = current->allocate(device, bytes);
        if (made.base == 0) return refuse(reason, "no memory is left");
        *address = made.base;
        return PEERCOLL_SUCCESS;
    }
    static void free_memory(int32_t, uint64_t address) {
        peercoll_pointer_info_t info{};
        classify(reinterpret_cast<const void*>(address), &info);
        current->free(info);
    }
    static peercoll_status_t allocate_host(int32_t, size_t bytes, void** address, peercoll_reason_t*) {
        *address = std::malloc(bytes);
        return PEERCOLL_SUCCESS;
    }
    static void free_host(int32_t, void* address) { std::free(address); }

    static peercoll_status_t stream_create(int32_t device, peercoll_stream_t* stream, peercoll_reason_t*) {
        *stream = std::make_unique<peercoll_stream>(peercoll_stream{.device = device}).release();
        ++current->streams_;
        return PEERCOLL_SUCCESS;
    }
    static void stream_destroy(peercoll_stream_t stream) {
        const std::unique_ptr<peercoll_stream> gone(stream);
        --current->streams_;
    }
    // Everything is late: each question lets one piece of work happen.
    static peercoll_status_t stream_query(peercoll_stream_t stream, peercoll_reason_t* reason) {
        if (current->faults.work_never_ends) return PEERCOLL_ERR_BUSY;
        if (current->faults.work_fails) return refuse(reason, "the device has fallen off the bus");
        if (stream->failed) return refuse(reason, "illegal access");
        if (stream->work.empty()) return PEERCOLL_SUCCESS;
        const FakeWork work = stream->work.front();
        stream->work.pop_front();
        stream->failed = !current->move(stream->device, work.to, work.from, work.bytes, work.by_kernel);
        return PEERCOLL_ERR_BUSY;
    }
    static peercoll_status_t copy(peercoll_stream_t stream, uint64_t to, uint64_t from, size_t bytes,
                                  peercoll_reason_t*) {
        stream->work.push_back({to, from, bytes, false});
        return PEERCOLL_SUCCESS;
    }
    static int can_fold(int32_t, peercoll_datatype_t datatype, peercoll_op_t op) {
        return !current->faults.no_kernels && datatype == PEERCOLL_BYTE && op == PEERCOLL_NO_OP ? 1 : 0;
    }
    static peercoll_status_t fold(peercoll_stream_t stream, const peercoll_fold_t* fold, peercoll_reason_t* reason) {
        if (can_fold(0, fold->datatype, fold->op) == 0 || fold->n_inputs != 1)
            return refuse(reason, "only copies are known");
        for (std::uint32_t i = 0; i < fold->n_outputs; ++i)
            stream->work.push_back({fold->outputs[i], fold->inputs[0], fold->count, true});
        return PEERCOLL_SUCCESS;
    }
};

const peercoll_device_runtime_t& FakeProcess::runtime() {
    static const peercoll_device_runtime_t functions = [] {
        peercoll_device_runtime_t made{};
        made.abi_version = PEERCOLL_DEVICE_ABI_VERSION;
        made.struct_size = sizeof made;
        made.name = "fake";
        made.open = FakeFunctions::open;
        made.close = FakeFunctions::close;
        made.device_count = FakeFunctions::device_count;
        made.device_info = FakeFunctions::device_info;
        made.version_text = FakeFunctions::version_text;
        made.classify = FakeFunctions::classify;
        made.is_live = FakeFunctions::is_live;
        made.can_access_peer = FakeFunctions::can_access_peer;
        made.enable_peer = FakeFunctions::enable_peer;
        made.disable_peer = FakeFunctions::disable_peer;
        made.export_memory = FakeFunctions::export_memory;
        made.import_memory = FakeFunctions::import_memory;
        made.release_mapping = FakeFunctions::release_mapping;
        made.allocate = FakeFunctions::allocate;
        made.free_memory = FakeFunctions::free_memory;
        made.allocate_host = FakeFunctions::allocate_host;
        made.free_host = FakeFunctions::free_host;
        made.stream_create = FakeFunctions::stream_create;
        made.stream_destroy = FakeFunctions::stream_destroy;
        made.stream_query = FakeFunctions::stream_query;
        made.copy = FakeFunctions::copy;
        made.can_fold = FakeFunctions::can_fold;
        made.fold = FakeFunctions::fold;
        made.unseen_import_kinds = FakeFunctions::unseen_import_kinds;
        return made;
    }();
    return functions;
}

}  // namespace peercoll::test
