// SPDX-License-Identifier: BSD-3-Clause
// Text for people and JSON for programs. Called on rank 0 only.
#pragma once

#include "floors.hpp"
#include "machine.hpp"
#include "measure.hpp"
#include "plugin_counters.hpp"
#include "settings.hpp"

#include <string>
#include <vector>

namespace peercoll::bench {

class Report {
public:
    Report(const Settings& settings, Machine machine);

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

    const Settings& settings_;
    Machine machine_;
    std::vector<Result> results_;
    std::vector<CopyBandwidth> copies_;
    std::vector<LineLatency> lines_;
    ServedCalls served_;
    std::uint64_t calls_ = 0;
    std::uint64_t wrong_ = 0;
};

std::string_view name_of(Subject subject);

}  // namespace peercoll::bench
