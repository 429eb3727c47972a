// SPDX-License-Identifier: BSD-3-Clause
// What a process has for device buffers: its runtimes, and what its communicators share of them.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/device/device_runtimes.hpp"
#include "plugin/device/host_staging.hpp"
#include "plugin/device/stream_pool.hpp"
#include "plugin/peer/descriptor_channel.hpp"
#include "plugin/peer/export_table.hpp"
#include "plugin/peer/mapping_cache.hpp"
#include "plugin/peer/proof_cache.hpp"
#include "plugin/runtime/options.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace peercoll {

class ProcessDevices {
public:
    // What cannot be used of option device_runtimes is one sentence each in `problems`.
    ProcessDevices(const Options& options, std::vector<std::string>& problems);

    // Whether buffers have to be looked at. Thread safe, as all that follows.
    bool in_use() { return wanted_ && runtimes_.in_use(); }
    ClassifiedMemory classify(const void* address) {
        return wanted_ ? runtimes_.classify(address) : ClassifiedMemory{};
    }
    // Waits for the application's own "synchronous" copies from and to it, which may still run.
    static Status settle(const ClassifiedMemory& memory);
    // Blocking, between any two memories of this process.
    Status copy(void* to, const void* from, std::size_t bytes);
    // Staging for callers; pinned for a device that the process uses.
    Status take_staging(std::size_t bytes, std::byte*& memory);

    // Whether this process has a context on a device already.
    bool has_active_device();
    // For people: the runtimes, and each device of those in use.
    std::vector<std::string> describe();

    DeviceRuntimes& runtimes() { return runtimes_; }
    StreamPool& streams() { return streams_; }
    HostStaging& staging() { return staging_; }
    ExportTable& exports() { return exports_; }
    MappingCache& mappings() { return mappings_; }
    ProofCache& proofs() { return proofs_; }
    // Made at the first call; null if the system gives no socket.
    DescriptorChannel* channel();

private:
    bool wanted_;
    DeviceRuntimes runtimes_;  // closed last
    StreamPool streams_;
    HostStaging staging_;
    ExportTable exports_;
    ProofCache proofs_;
    MappingCache mappings_;
    std::mutex channel_mutex_;
    bool channel_tried_ = false;
    std::unique_ptr<DescriptorChannel> channel_;
};

}  // namespace peercoll
