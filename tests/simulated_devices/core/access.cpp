// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/core/access.hpp"

#include "tests/simulated_devices/core/process.hpp"

#include <algorithm>
#include <cstring>

namespace peercoll::simulator {

namespace {

bool kernel_may(const ExecutionContext& context, const Mapping& mapping, bool write) {
    if (mapping.is_host() || mapping.kind == MemoryKind::Managed) {
        return true;
    }
    const DeviceSet me = one_device(context.device);
    if (mapping.open_to_peers && mapping.device >= 0) {
        const DeviceSet reached = context.peers.load(std::memory_order_acquire) | me;
        if ((reached & one_device(mapping.device)) != 0) {
            return true;
        }
    }
    return ((write ? mapping.writers : mapping.readers).load(std::memory_order_acquire) & me) != 0;
}

// A copy engine of the memory's own device can do what the context's cannot.
bool copy_may(const ExecutionContext& context, const Mapping& mapping, bool write) {
    if (kernel_may(context, mapping, write) || mapping.open_to_peers || mapping.kind == MemoryKind::Imported) {
        return true;
    }
    const DeviceSet own = mapping.physical_device >= 0 ? one_device(mapping.physical_device) : 0;
    return ((write ? mapping.writers : mapping.readers).load(std::memory_order_acquire) & own) != 0;
}

template <typename May>
Resolved resolve(const ExecutionContext& context, std::uint64_t address, std::uint64_t bytes, bool write, May may) {
    Resolved resolved;
    std::uint64_t at = address;
    const Node& node = process().node();
    while (at < address + bytes) {
        std::shared_ptr<Mapping> mapping = process().addresses().find(at);
        if (!mapping || !may(context, *mapping, write)) {
            return Resolved();
        }
        if (at == address) {
            resolved.address = static_cast<std::byte*>(mapping->shadow) + (at - mapping->base);
        } else if (mapping->kind != MemoryKind::Virtual) {
            return Resolved();  // ran out of one allocation into the next
        }
        if (mapping->physical_device >= 0 && mapping->physical_device != context.device) {
            const Link& link = node.link(context.device, mapping->physical_device);
            resolved.stores_lost |= link.stores_lost;
            resolved.copies_lost |= link.copies_lost;
        }
        at = mapping->end();
        resolved.mappings.push_back(std::move(mapping));
    }
    return resolved;
}

}  // namespace

Resolved resolve_for_kernel(const ExecutionContext& context, std::uint64_t address, std::uint64_t bytes, bool write) {
    return resolve(context, address, bytes, write, kernel_may);
}

Resolved resolve_for_copy(const ExecutionContext& context, std::uint64_t address, std::uint64_t bytes, bool write) {
    const AddressSpace& addresses = process().addresses();
    if (!addresses.in_window(address)) {
        Resolved host;
        host.address = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
        if (std::shared_ptr<Mapping> mapping = addresses.find(address)) {
            host.mappings.push_back(std::move(mapping));
        }
        return host;
    }
    return resolve(context, address, bytes, write, copy_may);
}

Result copy_bytes(const ExecutionContext& context, std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
    const Resolved target = resolve_for_copy(context, to, bytes, true);
    const Resolved source = resolve_for_copy(context, from, bytes, false);
    if (bytes != 0 && (target.address == nullptr || source.address == nullptr)) {
        return Result::IllegalAddress;
    }
    // The path is the one between the two memories, whichever device copies.
    const auto place = [&](const Resolved& side) {
        return side.mappings.empty() ? -1 : side.mappings.front()->physical_device;
    };
    const int from_device = place(source);
    const int to_device = place(target);
    const bool lost = target.copies_lost || (from_device >= 0 && to_device >= 0 && from_device != to_device &&
                                             process().node().link(from_device, to_device).copies_lost);
    if (bytes != 0 && !lost) {
        std::memmove(target.address, source.address, bytes);
    }
    return Result::Ok;
}

Result fill_bytes(const ExecutionContext& context, std::uint64_t to, std::uint32_t pattern, std::size_t pattern_bytes,
                  std::uint64_t count) {
    const Resolved target = resolve_for_copy(context, to, count * pattern_bytes, true);
    if (count != 0 && target.address == nullptr) {
        return Result::IllegalAddress;
    }
    auto* bytes = static_cast<unsigned char*>(target.address);
    for (std::uint64_t i = 0; i < count && !target.stores_lost; ++i) {
        std::memcpy(bytes + i * pattern_bytes, &pattern, pattern_bytes);
    }
    return Result::Ok;
}

}  // namespace peercoll::simulator
