// SPDX-License-Identifier: BSD-3-Clause
// Context: what communicators of one process share: options, log, statistics, topology, and which of them have started
// requests that somebody must progress.
#pragma once

#include "plugin/peer/identity.hpp"
#include "plugin/runtime/log.hpp"
#include "plugin/runtime/options.hpp"
#include "plugin/runtime/process_devices.hpp"
#include "plugin/runtime/statistics.hpp"
#include "plugin/topology/topology.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace peercoll {

class Communicator;
class NodePool;
class ProcessWire;

class Context {
public:
    static Status create(const std::vector<std::string>& options, const std::string& origin, const std::string& label,
                         std::unique_ptr<Context>& context);
    // Prints the statistics if they were asked for.
    ~Context();

    const Options& options() const { return options_; }
    const std::vector<OptionSetting>& settings() const { return settings_; }
    const Log& log() const { return log_; }
    Statistics& statistics() { return statistics_; }

    // Loaded at the first call; null, with a log line, where hwloc fails. Thread safe.
    const Topology* topology();
    const ProcessIdentity& identity();
    NodePool& pool() { return *pool_; }
    ProcessDevices& devices() { return *devices_; }
    // This process's end of the transport between hosts, opened at the first call; the answer stays. Thread safe.
    Status host_wire(std::uint32_t processes, ProcessWire*& wire);

    // Communicators count themselves, so that a context is not destroyed under them.
    std::atomic<int> communicators{0};

    // -- Started requests ---------------------------------------------------------------------------------------------
    void add_active(Communicator& communicator);
    void remove_active(Communicator& communicator);
    // Advances the started requests of all communicators but `self` (which the caller holds already; may be null).
    void progress_active(const Communicator* self) {
        if (active_count_.load(std::memory_order_relaxed) > 0) progress_others(self);
    }

private:
    Context(Options options, std::vector<OptionSetting> settings, std::string label,
            std::vector<std::string>& warnings);
    void progress_others(const Communicator* self);

    Options options_;
    std::vector<OptionSetting> settings_;
    Log log_;
    Statistics statistics_;
    std::unique_ptr<ProcessDevices> devices_;
    std::unique_ptr<NodePool> pool_;  // its segments are counted in statistics_, and refer to devices_
    std::mutex mutex_;                // topology_, identity_
    bool topology_tried_ = false;
    std::unique_ptr<Topology> topology_;
    std::unique_ptr<ProcessIdentity> identity_;
    std::mutex wire_mutex_;
    std::unique_ptr<ProcessWire> wire_;
    Status wire_refused_;
    std::mutex active_mutex_;
    std::vector<Communicator*> active_;
    std::atomic<int> active_count_{0};
};

}  // namespace peercoll
