// SPDX-License-Identifier: BSD-3-Clause
#include "settings.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace peercoll::bench {

namespace {

constexpr std::size_t default_smallest = 8;
constexpr std::size_t default_largest = std::size_t{16} << 20;

const std::map<std::string, Subject> subjects{{"allreduce", Subject::Allreduce},
                                              {"broadcast", Subject::Broadcast},
                                              {"copy-bandwidth", Subject::CopyBandwidth},
                                              {"pingpong-lines", Subject::PingpongLines}};

const std::map<std::string, Place> places{{"host", Place::Host}, {"cuda", Place::Cuda}};
const std::map<std::string, bool> device_memories{{"plain", false}, {"pool", true}};
const std::map<std::string, bool> rivals{{"none", false}, {"nccl", true}};

std::vector<std::size_t> sweep(std::size_t smallest, std::size_t largest, double factor, std::size_t element) {
    std::vector<std::size_t> sizes;
    const auto whole = [element](std::size_t bytes) { return std::max(bytes / element, std::size_t{1}) * element; };
    for (double bytes = static_cast<double>(smallest); bytes <= static_cast<double>(largest) * 1.000001;
         bytes *= factor) {
        const std::size_t size = whole(static_cast<std::size_t>(bytes + 0.5));
        if (sizes.empty() || sizes.back() != size) sizes.push_back(size);
    }
    return sizes;
}

void parse_root(const std::string& text, int ranks, Settings& settings) {
    if (text == "rotating") {
        settings.root.reset();
        return;
    }
    int root = -1;
    if (!CLI::detail::lexical_cast(text, root) || root < 0 || root >= ranks) {
        throw CLI::ValidationError("--root",
                                   fmt::format("'{}' is neither 'rotating' nor a rank below {}", text, ranks));
    }
    settings.root = root;
    return;
}

void check_combination(const Settings& settings) {
    const bool collective = settings.subject == Subject::Allreduce || settings.subject == Subject::Broadcast;
    const std::size_t element = collective ? size_of(settings.element) : 1;
    for (const std::size_t size : settings.sizes) {
        if (size % element != 0 || size == 0) {
            throw CLI::ValidationError("--sizes", fmt::format("{} bytes are no whole number of {} elements of {} bytes",
                                                              size, name_of(settings.element), element));
        }
        if (size / element > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
            throw CLI::ValidationError("--sizes",
                                       fmt::format("{} bytes are more elements than MPI's int counts", size));
        }
    }
    if (settings.subject == Subject::Allreduce && !is_defined(settings.operation, settings.element)) {
        throw CLI::ValidationError("--op", fmt::format("MPI does not define '{}' for {}", name_of(settings.operation),
                                                       name_of(settings.element)));
    }
    if (settings.in_place && settings.subject != Subject::Allreduce) {
        throw CLI::ValidationError("--in-place", "only allreduce has an in-place form");
    }
    if (settings.place != Place::Host && !collective) {
        throw CLI::ValidationError("-d", fmt::format("'{}' is measured in host memory", name_of(settings.subject)));
    }
    if (settings.rival && settings.place == Place::Host) {
        throw CLI::ValidationError("--rival", "NCCL takes device memory: -d cuda");
    }
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

std::optional<int> read_command_line(int argc, char** argv, int ranks, bool speaker, Settings& settings) {
    CLI::App app{
        "Times MPI_Allreduce or MPI_Bcast, checks every element of the results, and says whether peercoll served the\n"
        "calls. Sizes up to --batch-limit are timed as batches of calls back to back, larger ones call by call behind "
        "a\n"
        "barrier; a sample is the slowest rank's. Buffers on devices are timed back to back at all sizes. Two more "
        "subjects\nmeasure this machine's floors.\n"
        "Run it under mpirun:  mpirun -n 4 peercoll-bench allreduce -b 8 -e 16M",
        "peercoll-bench"};
    std::size_t smallest = default_smallest;
    std::size_t largest = default_largest;
    double factor = 2;
    int check = 1;
    std::string root = "0";
    bool back_to_back = false;
    bool single = false;
    bool reverse = false;
    const auto bytes = CLI::AsSizeValue(false);

    app.add_option("subject", settings.subject, "allreduce, broadcast, copy-bandwidth or pingpong-lines")
        ->required()
        ->transform(CLI::CheckedTransformer(subjects).description(""));
    app.add_option("-b,--minbytes", smallest, "smallest size (8, 4K, 16M)")->transform(bytes)->capture_default_str();
    app.add_option("-e,--maxbytes", largest, "largest size")->transform(bytes)->capture_default_str();
    app.add_option("-f,--stepfactor", factor, "factor from size to size")
        ->check(CLI::Range(1.01, 1e9))
        ->capture_default_str();
    app.add_option("--sizes", settings.sizes, "these sizes instead, separated by commas")
        ->delimiter(',')
        ->transform(bytes);
    app.add_flag("--reverse", reverse, "the last size first");
    app.add_option("-n,--iters", settings.iterations, "samples per size; 0: as many as --seconds allows")
        ->capture_default_str();
    app.add_option("-w,--warmup", settings.warmup, "calls before the first sample of a size")->capture_default_str();
    app.add_option("-c,--check", check, "1: check every element of results; 0: do not")
        ->check(CLI::Range(0, 1))
        ->capture_default_str();
    app.add_option("-t,--datatype", settings.element, "element type: " + element_names())
        ->transform(CLI::CheckedTransformer(elements_by_name()).description(""))
        ->default_str("float");
    app.add_option("-o,--op", settings.operation, "operation: " + operation_names())
        ->transform(CLI::CheckedTransformer(operations_by_name()).description(""))
        ->default_str("sum");
    app.add_option("-d,--place", settings.place, "where buffers lie: host or cuda")
        ->transform(CLI::CheckedTransformer(places).description(""))
        ->default_str("host");
    app.add_option("-r,--root", root, "root of broadcasts: a rank, or 'rotating' from call to call")
        ->capture_default_str();
    app.add_flag("--in-place", settings.in_place, "allreduce with MPI_IN_PLACE");
    auto* back = app.add_flag("--back-to-back", back_to_back, "time all sizes as batches of calls without barriers");
    app.add_flag("--single", single, "time all sizes call by call, each behind a barrier")->excludes(back);
    app.add_option("--batch-limit", settings.back_to_back_limit, "largest size timed back to back by default")
        ->transform(bytes)
        ->capture_default_str();
    app.add_option("--buffers", settings.buffers,
                   "buffers used in turn; 0: 8 back to back, else 4, and for sizes above 1 MiB as many as make all\n"
                   "ranks' buffers together larger than the last-level caches")
        ->capture_default_str();
    app.add_option("--seconds", settings.seconds, "time budget of a size, without checks")
        ->check(CLI::Range(0.001, 3600.0))
        ->capture_default_str();
    auto* one_device = app.add_option("--device", settings.device.device,
                                      "with -d cuda: all ranks use this device; else devices are taken in turn")
                           ->check(CLI::NonNegativeNumber);
    app.add_option("--ranks-per-device", settings.device.ranks_per_device,
                   "with -d cuda: so many neighbouring ranks of a host on each device")
        ->check(CLI::PositiveNumber)
        ->excludes(one_device);
    app.add_option("--device-memory", settings.device.pool,
                   "plain, or pool: stream-ordered memory (cudaMallocAsync), which other processes cannot open")
        ->transform(CLI::CheckedTransformer(device_memories).description(""))
        ->default_str("plain");
    app.add_option("--device-copy", settings.device_copy_bytes, "size of the copies that measure a device's bandwidth")
        ->transform(bytes)
        ->capture_default_str();
    app.add_option("--rival", settings.rival, "nccl: measure NCCL too, alternating with MPI on the same devices")
        ->transform(CLI::CheckedTransformer(rivals).description(""))
        ->default_str("none");
    app.add_option("--nccl-library", settings.nccl_library, "where NCCL is")->capture_default_str();
    app.add_option("--json", settings.json, "write everything measured to this file ('-': standard output)");
    app.add_option("--label", settings.label, "a word for the report, for example 'stock'");
    app.add_flag("--percentiles", settings.percentiles, "also print p90, p99 and the mean");
    app.add_flag("--progress", settings.progress, "tell on stderr what is running (always done on a terminal)");
    app.set_version_flag("--version", PEERCOLL_BENCH_VERSION);

    try {
        app.parse(argc, argv);
        settings.check = check == 1;
        settings.timing = back_to_back ? Timing::BackToBack : single ? Timing::Single : Timing::Auto;
        if (smallest == 0 || largest < smallest) {
            throw CLI::ValidationError("--maxbytes", fmt::format("sizes must begin above 0 and end at or above the "
                                                                 "first; got {} to {}",
                                                                 smallest, largest));
        }
        parse_root(root, ranks, settings);
        if (settings.sizes.empty()) settings.sizes = sweep(smallest, largest, factor, size_of(settings.element));
        if (reverse) std::reverse(settings.sizes.begin(), settings.sizes.end());
        check_combination(settings);
    } catch (const CLI::ParseError& error) {
        if (!speaker) return error.get_exit_code();
        return app.exit(error);
    }
    return std::nullopt;
}

}  // namespace peercoll::bench
