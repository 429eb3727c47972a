// SPDX-License-Identifier: BSD-3-Clause
// Text for people and JSON for programs. Called on rank 0 only.
#pragma once

#include "device_floors.hpp"
#include "floors.hpp"
#include "machine.hpp"
#include "measure.hpp"
#include "plugin_counters.hpp"
#include "settings.hpp"

#include <optional>
#include <string>
#include <vector>

namespace peercoll::bench {

class Report {
public:
    Report(const Settings& settings, Machine machine);

    // Before head(), where buffers are on devices.
    void devices(const DeviceJob& job, const DeviceFloors& floors);
    // The rival's name and version; before head().
    void rival(const std::string& name) { rival_ = name; }
    void head() const;
    void row(const Result& result);
    void copy_bandwidth(const std::vector<CopyBandwidth>& rates);
    void line_latencies(const std::vector<LineLatency>& latencies);
    // The plugin's part, and whether all results were right.
    void foot(const ServedCalls& served);

    // Writes the JSON, if one was asked for. False (and a sentence on stderr) if that failed.
    bool write_json() const;
    bool all_right() const { return wrong_ == 0; }

private:
    std::string json() const;
    // What a device run is compared with: columns for people.
    std::string floor_titles() const;
    std::string floor_columns(const Result& result) const;

    const Settings& settings_;
    Machine machine_;
    std::vector<Result> results_;
    std::vector<CopyBandwidth> copies_;
    std::vector<LineLatency> lines_;
    std::optional<DeviceJob> job_;
    DeviceFloors device_floors_;
    std::string rival_;
    ServedCalls served_;
    std::uint64_t calls_ = 0;
    std::uint64_t wrong_ = 0;
};

}  // namespace peercoll::bench
