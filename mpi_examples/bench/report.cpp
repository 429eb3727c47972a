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

Json or_null(const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json to_json(const Spread& time) {
    return Json{{"median_us", time.median},
                {"p90_us", time.p90},
                {"p99_us", time.p99},
                {"min_us", time.min},
                {"mean_us", time.mean}};
}

Json to_json(const Result& result) {
    Json row{{"bytes", result.bytes},
             {"timing", result.back_to_back ? "back-to-back" : "single"},
             {"buffers", result.buffers},
             {"calls_per_sample", result.calls_per_sample},
             {"samples", result.samples}};
    row.update(to_json(result.microseconds));
    row["algbw_GBs"] = result.algbw;
    row["busbw_GBs"] = result.busbw;
    row["wrong"] = result.checked ? Json(result.wrong) : Json(nullptr);
    if (result.rival) {
        Json rival = to_json(result.rival->microseconds);
        rival["in_a_row_median_us"] = result.rival->in_a_row_microseconds.median;
        rival["algbw_GBs"] = result.rival->algbw;
        rival["busbw_GBs"] = result.rival->busbw;
        rival["wrong"] = result.checked ? Json(result.rival->wrong) : Json(nullptr);
        row["rival"] = rival;
    }
    return row;
}

Json to_json(const DeviceJob& job, const DeviceFloors& floors) {
    Json devices = Json::array();
    for (const DeviceFacts& device : job.devices) {
        devices.push_back(Json{{"name", device.name.data()}, {"pci_id", device.pci_id.data()}});
    }
    return Json{{"text", job.text()},
                {"driver", job.devices.front().driver.data()},
                {"devices", devices},
                {"device_of_rank", job.device_of_rank},
                {"most_ranks_on_one", job.most_ranks_on_one},
                {"floors", Json{{"launch_us", or_null(floors.launch_us)},
                                {"launch_after_others_us", or_null(floors.launch_after_others_us)},
                                {"copy_GBs", or_null(floors.copy_GBs)},
                                {"link_GBs", or_null(floors.link_GBs)},
                                {"ring_GBs", or_null(floors.ring_GBs)},
                                {"missing", floors.missing}}}};
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

Report::Report(const Settings& settings, Machine machine) : settings_(settings), machine_(std::move(machine)) {}

void Report::devices(const DeviceJob& job, const DeviceFloors& floors) {
    job_ = job;
    device_floors_ = floors;
}

std::string Report::floor_titles() const {
    if (!job_) return "";
    std::string titles = fmt::format(" {:>9}", "x launch");
    titles += fmt::format(" {:>9}", job_->count() == 1 ? "% of copy" : "% of link");
    if (!rival_.empty())
        titles += fmt::format(" {:>11} {:>11} {:>9} {:>7}", "rival us", "in a row us", "busbw", "ratio");
    return titles;
}

// One device: the share of a copy's bandwidth that the least traffic would need. Several: busbw between as many ranks
// as there are devices, against the ring's link.
std::string Report::floor_columns(const Result& result) const {
    if (!job_) return "";
    const double seconds = result.microseconds.median * 1e-6;
    const auto number = [](const std::optional<double>& value) {
        return value ? fmt::format(" {:>9.2f}", *value) : fmt::format(" {:>9}", "-");
    };
    std::optional<double> launches;
    if (device_floors_.launch_us) launches = result.microseconds.median / *device_floors_.launch_us;
    std::optional<double> share;
    if (job_->count() == 1 && device_floors_.copy_GBs) {
        const double moved = least_traffic(settings_.subject, result.bytes, machine_.ranks);
        share = moved / seconds / 1e9 / *device_floors_.copy_GBs * 100;
    } else if (job_->count() > 1 && device_floors_.ring_GBs) {
        const double devices = job_->count();
        const double bus = settings_.subject == Subject::Allreduce ? 2 * (devices - 1) / devices : 1;
        share = result.algbw * bus / *device_floors_.ring_GBs * 100;
    }
    std::string text = number(launches) + number(share);
    if (result.rival) {
        text += fmt::format(" {:>11.3f} {:>11.3f} {:>9.3f} {:>7.2f}", result.rival->microseconds.median,
                            result.rival->in_a_row_microseconds.median, result.rival->busbw,
                            result.rival->microseconds.median / result.microseconds.median);
    }
    return text;
}

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
    if (job_) {
        const auto number = [](const std::optional<double>& value, const char* unit) {
            return value ? fmt::format("{:.1f} {}", *value, unit) : std::string("not measured");
        };
        say(fmt::format("# {}; launch and wait {}, after other ranks' use {}; copy {}", job_->text(),
                        number(device_floors_.launch_us, "us"), number(device_floors_.launch_after_others_us, "us"),
                        number(device_floors_.copy_GBs, "GB/s")));
        if (job_->count() > 1) {
            say(fmt::format("# link {}, in a ring of all {}", number(device_floors_.link_GBs, "GB/s"),
                            number(device_floors_.ring_GBs, "GB/s")));
        }
        for (const std::string& reason : device_floors_.missing) say("# " + reason);
        if (!rival_.empty()) say(fmt::format("# rival: {}; ratio = its time / MPI's", rival_));
    }
    std::string titles = fmt::format("#{:>11} {:>10} {:>7} {:>8} {:>11} {:>11}", "bytes", "count", "timing", "samples",
                                     "median us", "min us");
    if (settings_.percentiles) titles += fmt::format(" {:>11} {:>11} {:>11}", "mean us", "p90 us", "p99 us");
    say(titles + fmt::format(" {:>9} {:>9} {:>7}", "algbw", "busbw", "#wrong") + floor_titles());
}

void Report::row(const Result& result) {
    results_.push_back(result);
    calls_ += result.calls;
    wrong_ += result.wrong + (result.rival ? result.rival->wrong : 0);
    const Spread& time = result.microseconds;
    std::string text = fmt::format("{:>12} {:>10} {:>7} {:>8} {:>11.3f} {:>11.3f}", result.bytes,
                                   result.bytes / size_of(settings_.element), result.back_to_back ? "batch" : "single",
                                   result.samples, time.median, time.min);
    if (settings_.percentiles) text += fmt::format(" {:>11.3f} {:>11.3f} {:>11.3f}", time.mean, time.p90, time.p99);
    say(text +
        fmt::format(" {:>9.3f} {:>9.3f} {:>7}", result.algbw, result.busbw,
                    result.checked ? std::to_string(result.wrong) : "n/a") +
        floor_columns(result));
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
        document["settings"]["place"] = settings_.place == Place::Host ? "host" : "cuda";
        if (job_) document["device"] = to_json(*job_, device_floors_);
        if (!rival_.empty()) document["rival"] = rival_;
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
