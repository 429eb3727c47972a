// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

namespace peercoll::bench {

namespace {

using Json = nlohmann::ordered_json;

void say(const std::string& text) {
    std::fputs((text + "\n").c_str(), stdout);
    std::fflush(stdout);
}

std::string root_text(const Settings& settings) {
    return settings.root ? std::to_string(*settings.root) : "rotating";
}

std::string served_text(const ServedCalls& served, std::uint64_t calls) {
    if (!served.loaded) return "plugin: not loaded";
    std::string text = fmt::format("plugin: served {} of {} calls on every rank", served.served, calls);
    if (served.passed_on != 0) text += fmt::format(", passed on {}", served.passed_on);
    return text;
}

bool is_collective(Subject subject) {
    return subject == Subject::Allreduce || subject == Subject::Broadcast;
}

Json to_json(const Result& result) {
    const Spread& time = result.microseconds;
    return Json{{"bytes", result.bytes},
                {"timing", result.back_to_back ? "back-to-back" : "single"},
                {"buffers", result.buffers},
                {"calls_per_sample", result.calls_per_sample},
                {"samples", result.samples},
                {"median_us", time.median},
                {"p90_us", time.p90},
                {"p99_us", time.p99},
                {"min_us", time.min},
                {"mean_us", time.mean},
                {"algbw_GBs", result.algbw},
                {"busbw_GBs", result.busbw},
                {"wrong", result.checked ? Json(result.wrong) : Json(nullptr)}};
}

Json to_json(const Machine& machine) {
    return Json{{"cpu_model", machine.cpu_model},
                {"cpus_online", machine.cpus_online},
                {"cpus_of_rank_0", machine.cpus_of_rank_0},
                {"last_level_cache_bytes", machine.last_level_cache_bytes},
                {"ranks", machine.ranks},
                {"hosts", machine.hosts},
                {"kernel", machine.kernel},
                {"mpi_library", machine.mpi_library},
                {"date", machine.date}};
}

}  // namespace

std::string_view name_of(Subject subject) {
    switch (subject) {
        case Subject::Broadcast:
            return "broadcast";
        case Subject::CopyBandwidth:
            return "copy-bandwidth";
        case Subject::PingpongLines:
            return "pingpong-lines";
        case Subject::Allreduce:
            break;
    }
    return "allreduce";
}

Report::Report(const Settings& settings, Machine machine) : settings_(settings), machine_(std::move(machine)) {}

void Report::head() const {
    const std::string label = settings_.label.empty() ? "" : " [" + settings_.label + "]";
    say(fmt::format("# peercoll-bench {} {}{}", PEERCOLL_BENCH_VERSION, name_of(settings_.subject), label));
    say(fmt::format("# {} rank{} on {} host{}; {}, {} cpus online, {} for rank 0", machine_.ranks,
                    machine_.ranks == 1 ? "" : "s", machine_.hosts, machine_.hosts == 1 ? "" : "s", machine_.cpu_model,
                    machine_.cpus_online, machine_.cpus_of_rank_0));
    say(fmt::format("# {}; {}", machine_.mpi_library, machine_.date));
    if (!is_collective(settings_.subject)) return;
    say(fmt::format("# {}{}{}", name_of(settings_.element),
                    settings_.subject == Subject::Allreduce ? fmt::format(" {}", name_of(settings_.operation))
                                                            : ", root " + root_text(settings_),
                    settings_.in_place ? ", in place" : ""));
    std::string titles = fmt::format("#{:>11} {:>10} {:>7} {:>8} {:>11} {:>11}", "bytes", "count", "timing", "samples",
                                     "median us", "min us");
    if (settings_.percentiles) titles += fmt::format(" {:>11} {:>11} {:>11}", "mean us", "p90 us", "p99 us");
    say(titles + fmt::format(" {:>9} {:>9} {:>7}", "algbw", "busbw", "#wrong"));
}

void Report::row(const Result& result) {
    results_.push_back(result);
    calls_ += result.calls;
    wrong_ += result.wrong;
    const Spread& time = result.microseconds;
    std::string text = fmt::format("{:>12} {:>10} {:>7} {:>8} {:>11.3f} {:>11.3f}", result.bytes,
                                   result.bytes / size_of(settings_.element), result.back_to_back ? "batch" : "single",
                                   result.samples, time.median, time.min);
    if (settings_.percentiles) text += fmt::format(" {:>11.3f} {:>11.3f} {:>11.3f}", time.mean, time.p90, time.p99);
    say(text + fmt::format(" {:>9.3f} {:>9.3f} {:>7}", result.algbw, result.busbw,
                           result.checked ? std::to_string(result.wrong) : "n/a"));
}

void Report::copy_bandwidth(const std::vector<CopyBandwidth>& rates) {
    copies_ = rates;
    say("# memcpy by all ranks at once; GB copied per second and rank");
    say(fmt::format("#{:>11} {:>11} {:>11}", "bytes", "hot GB/s", "cold GB/s"));
    for (const CopyBandwidth& rate : rates)
        say(fmt::format("{:>12} {:>11.2f} {:>11.2f}", rate.bytes, rate.hot, rate.cold));
}

void Report::line_latencies(const std::vector<LineLatency>& latencies) {
    lines_ = latencies;
    say("# one cache line from rank to rank, one way");
    say(fmt::format("#{:>5} {:>5} {:>11}", "from", "to", "ns"));
    for (const LineLatency& line : latencies)
        say(fmt::format("{:>6} {:>5} {:>11.1f}", line.from, line.to, line.one_way_ns));
}

void Report::foot(const ServedCalls& served) {
    served_ = served;
    if (settings_.check && wrong_ != 0) say(fmt::format("# WRONG RESULTS: {} elements", wrong_));
    if (settings_.check && wrong_ == 0) say("# all results checked and right");
    say("# " + served_text(served, calls_));
}

std::string Report::json() const {
    Json document{{"tool", "peercoll-bench"},
                  {"version", PEERCOLL_BENCH_VERSION},
                  {"label", settings_.label},
                  {"subject", name_of(settings_.subject)},
                  {"machine", to_json(machine_)}};
    if (is_collective(settings_.subject)) {
        document["settings"] = Json{{"datatype", name_of(settings_.element)},
                                    {"op", name_of(settings_.operation)},
                                    {"root", root_text(settings_)},
                                    {"in_place", settings_.in_place},
                                    {"warmup", settings_.warmup},
                                    {"seconds", settings_.seconds},
                                    {"batch_limit", settings_.back_to_back_limit}};
        document["plugin"] = Json{{"loaded", served_.loaded},
                                  {"calls", calls_},
                                  {"served", served_.served},
                                  {"passed_on", served_.passed_on},
                                  {"text", served_text(served_, calls_)}};
        for (const Result& result : results_) document["results"].push_back(to_json(result));
    }
    for (const CopyBandwidth& rate : copies_) {
        document["results"].push_back(Json{{"bytes", rate.bytes}, {"hot_GBs", rate.hot}, {"cold_GBs", rate.cold}});
    }
    for (const LineLatency& line : lines_) {
        document["results"].push_back(Json{{"from", line.from}, {"to", line.to}, {"one_way_ns", line.one_way_ns}});
    }
    return document.dump(2) + "\n";
}

bool Report::write_json() const {
    if (settings_.json.empty()) return true;
    const std::string text = json();
    if (settings_.json == "-") {
        std::fputs(text.c_str(), stdout);
        return std::fflush(stdout) == 0;
    }
    std::ofstream file(settings_.json);
    file << text;
    file.close();
    if (file) return true;
    std::fputs(fmt::format("peercoll-bench: '{}' could not be written\n", settings_.json).c_str(), stderr);
    return false;
}

}  // namespace peercoll::bench
