// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/options.hpp"

#include "plugin/peer/veto_words.hpp"
#include "plugin/runtime/option_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <type_traits>
#include <utility>

namespace peercoll {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view environment_prefix = "PEERCOLL_";

// Variables that begin so belong to other parts of the project, which read them themselves.
constexpr std::array<std::string_view, 3> prefixes_of_others{"PEERCOLL_UCX_", "PEERCOLL_SIMULATOR_",
                                                             "PEERCOLL_ASCEND_"};

// The words of each enumeration, in its order.
constexpr std::array<std::string_view, 2> trials_words{"on", "off"};
constexpr std::array<std::string_view, 2> order_words{"topology", "rank"};
constexpr std::array<std::string_view, 5> group_words{"auto", "none", "cache", "numa", "package"};
constexpr std::array<std::string_view, 4> single_copy_words{"auto", "cma", "xpmem", "off"};
constexpr std::array<std::string_view, 3> segment_words{"auto", "memfd", "shm"};
constexpr std::array<std::string_view, 4> wait_words{"auto", "spin", "yield", "sleep"};
constexpr std::array<std::string_view, 5> log_words{"off", "error", "warn", "info", "debug"};
constexpr std::array<std::string_view, 3> statistics_words{"off", "summary", "all"};
constexpr std::array<std::string_view, 2> on_off_words{"on", "off"};
constexpr std::array<std::string_view, 5> device_algorithm_words{"auto", "fused", "one_shot", "two_shot", "staged"};
constexpr std::array<std::string_view, 4> executor_words{"auto", "one", "per_device", "per_rank"};
constexpr std::array<std::string_view, 3> peer_access_words{"off", "same_device", "all"};

static_assert(static_cast<std::size_t>(TrialsChoice::Off) + 1 == trials_words.size());
static_assert(static_cast<std::size_t>(Order::Rank) + 1 == order_words.size());
static_assert(static_cast<std::size_t>(GroupLevel::Package) + 1 == group_words.size());
static_assert(static_cast<std::size_t>(SingleCopyChoice::Off) + 1 == single_copy_words.size());
static_assert(static_cast<std::size_t>(SegmentKind::Shm) + 1 == segment_words.size());
static_assert(static_cast<std::size_t>(WaitMode::Sleep) + 1 == wait_words.size());
static_assert(static_cast<std::size_t>(LogLevel::Debug) + 1 == log_words.size());
static_assert(static_cast<std::size_t>(StatisticsOutput::All) + 1 == statistics_words.size());
static_assert(static_cast<std::size_t>(Devices::Off) + 1 == on_off_words.size());
static_assert(static_cast<std::size_t>(PeerProof::Off) + 1 == on_off_words.size());
static_assert(static_cast<std::size_t>(DeviceAlgorithm::Staged) + 1 == device_algorithm_words.size());
static_assert(static_cast<std::size_t>(Executors::PerRank) + 1 == executor_words.size());
static_assert(static_cast<std::size_t>(PeerLevel::All) + 1 == peer_access_words.size());

constexpr std::size_t smallest_segment = std::size_t{64} << 10;
constexpr std::size_t largest_segment = std::size_t{1} << 30;
constexpr std::size_t smallest_mapping_cache = std::size_t{1} << 20;
constexpr std::size_t largest_mapping_cache = std::size_t{1} << 50;
constexpr std::chrono::milliseconds shortest_duration = 1ms;
constexpr std::chrono::milliseconds longest_duration = 24h;
constexpr std::chrono::microseconds shortest_standby = 1us;
constexpr std::chrono::microseconds longest_standby = 1s;

// Sets its member of Options from text; answers the text to show for it, or nullopt if the text does not parse.
using Reader = std::function<std::optional<std::string>(std::string_view text, Options& options)>;

template <typename Enum>
Reader word_reader(Enum Options::*member, std::span<const std::string_view> words) {
    return [member, words](std::string_view text, Options& options) -> std::optional<std::string> {
        const auto index = parse_word(text, words);
        if (!index) return std::nullopt;
        options.*member = static_cast<Enum>(*index);
        return std::string(words[*index]);
    };
}

// `none` is the word for nullopt.
template <typename Value>
Reader bounded_reader(std::optional<Value> Options::*member, std::string_view none,
                      std::optional<Value> (*parse)(std::string_view), Value least, Value most) {
    return [=](std::string_view text, Options& options) -> std::optional<std::string> {
        if (parse_word(text, std::array{none})) {
            options.*member = std::nullopt;
            return std::string(none);
        }
        const auto value = parse(text);
        if (!value || *value < least || *value > most) return std::nullopt;
        options.*member = *value;
        return std::string(trimmed(text));
    };
}

Reader size_reader(std::optional<std::size_t> Options::*member) {
    return bounded_reader<std::size_t>(member, "auto", parse_size, smallest_segment, largest_segment);
}

Reader duration_reader(std::optional<std::chrono::milliseconds> Options::*member) {
    return bounded_reader<std::chrono::milliseconds>(member, "off", parse_duration, shortest_duration,
                                                     longest_duration);
}

Reader short_duration_reader(std::optional<std::chrono::microseconds> Options::*member) {
    return bounded_reader<std::chrono::microseconds>(member, "off", parse_short_duration, shortest_standby,
                                                     longest_standby);
}

// The same for an option that always has a value.
template <typename Value>
Reader plain_reader(Value Options::*member, std::optional<Value> (*parse)(std::string_view), Value least, Value most) {
    return [=](std::string_view text, Options& options) -> std::optional<std::string> {
        const auto value = parse(text);
        if (!value || *value < least || *value > most) return std::nullopt;
        options.*member = *value;
        return std::string(trimmed(text));
    };
}

Reader veto_reader(std::string Options::*member) {
    return [member](std::string_view text, Options& options) -> std::optional<std::string> {
        VetoWords words;
        if (!VetoWords::parse(std::string(text), words).ok()) return std::nullopt;
        options.*member = std::string(trimmed(text));
        return options.*member;
    };
}

Reader path_reader(std::string Options::*member) {
    return [member](std::string_view text, Options& options) -> std::optional<std::string> {
        options.*member = std::string(text);
        return std::string(text);
    };
}

struct Row {
    OptionRow shown;
    Reader read;
};

std::string joined(std::span<const std::string_view> words) {
    return fmt::format("{}", fmt::join(words, "|"));
}

const std::vector<Row>& rows() {
    static const std::string allreduce_values = joined(allreduce_algorithm_names);
    static const std::string broadcast_values = joined(broadcast_algorithm_names);
    static const std::string trials_values = joined(trials_words);
    static const std::string order_values = joined(order_words);
    static const std::string group_values = joined(group_words);
    static const std::string single_copy_values = joined(single_copy_words);
    static const std::string segment_values = joined(segment_words);
    static const std::string wait_values = joined(wait_words);
    static const std::string log_values = joined(log_words);
    static const std::string statistics_values = joined(statistics_words);
    static const std::string on_off_values = joined(on_off_words);
    static const std::string device_algorithm_values = joined(device_algorithm_words);
    static const std::string executor_values = joined(executor_words);
    static const std::string peer_access_values = joined(peer_access_words);
    static const std::vector<Row> table{
        {{"allreduce_algorithm",
          "Forces one algorithm for every allreduce that it can serve; auto chooses by size, ranks and topology.",
          allreduce_values, "auto"},
         word_reader(&Options::allreduce_algorithm, allreduce_algorithm_names)},
        {{"broadcast_algorithm",
          "Forces one algorithm for every broadcast that it can serve; auto chooses by size, ranks and topology.",
          broadcast_values, "auto"},
         word_reader(&Options::broadcast_algorithm, broadcast_algorithm_names)},
        {{"trials",
          "Whether the first calls of a communicator and size try the algorithms between which only the machine can "
          "decide, and keep the fastest; off takes the first of them. The results are the same to the bit.",
          trials_values, "on"},
         word_reader(&Options::trials, trials_words)},
        {{"order",
          "The order in which a reduction combines the ranks: by topology group, which is faster, or in rank order, "
          "which gives the same bits however the ranks are placed.",
          order_values, "topology"},
         word_reader(&Options::order, order_words)},
        {{"groups",
          "The level of the machine whose ranks work together before they meet the others; none treats all ranks of "
          "a node alike.",
          group_values, "auto"},
         word_reader(&Options::groups, group_words)},
        {{"single_copy",
          "How a rank reads another rank's memory directly: by CMA (process_vm_readv) or XPMEM; auto takes the best "
          "that has been proven to work, and off copies through shared memory.",
          single_copy_values, "auto"},
         word_reader(&Options::single_copy, single_copy_words)},
        {{"segment",
          "What shared memory is made of: memfd (anonymous, sent to the peers) or shm (a file in /dev/shm that is "
          "unlinked at once); auto takes the first that works.",
          segment_values, "auto"},
         word_reader(&Options::segment, segment_words)},
        {{"segment_size",
          "Shared memory of one communicator on one node; auto is 1 MiB and 64 KiB for each of its ranks there.",
          "auto or a size from 64KiB to 1GiB", "auto"},
         size_reader(&Options::segment_size)},
        {{"wait",
          "What a waiting rank does between looks: spin, yield its processor or sleep; auto spins, and yields when "
          "ranks outnumber processors.",
          wait_values, "auto"},
         word_reader(&Options::wait, wait_words)},
        {{"timeout", "How long one collective may take before it fails with PEERCOLL_ERR_TIMEOUT; off waits for ever.",
          "off or a duration from 1ms to 24h", "off"},
         duration_reader(&Options::timeout)},
        {{"peer_check", "How often a waiting rank checks that the processes it waits for still live.",
          "off or a duration from 1ms to 24h", "1s"},
         duration_reader(&Options::peer_check)},
        {{"log", "The least important messages that are written to standard error.", log_values, "warn"},
         word_reader(&Options::log, log_words)},
        {{"statistics",
          "What is counted about the collectives is written to standard error at the end: one summary line, or all "
          "counters.",
          statistics_values, "off"},
         word_reader(&Options::statistics, statistics_words)},
        {{"topology_file", "An hwloc XML file that is read in place of this machine's own topology.",
          "a path, or nothing for this machine", ""},
         path_reader(&Options::topology_file)},
        {{"devices",
          "Whether buffers are looked at for being device memory; off is for jobs that pass host memory only.",
          on_off_values, "on"},
         word_reader(&Options::devices, on_off_words)},
        {{"device_runtimes", "Shared libraries that implement peercoll/device.h for devices of other makers.",
          "paths separated by a colon, or nothing", ""},
         path_reader(&Options::device_runtimes)},
        {{"device_algorithm",
          "What is done with device buffers: fused folds all ranks' buffers by kernels, one_shot and two_shot name its "
          "two shapes between devices, staged copies through host memory; auto is fused where all can be reached.",
          device_algorithm_values, "auto"},
         word_reader(&Options::device_algorithm, device_algorithm_words)},
        {{"executors",
          "How many ranks launch the work on devices: one for all, one per device, or every rank for its part (only "
          "where processes share a device at the same time, as under MPS); auto decides between the first two by size. "
          "Also how many ranks of a host take turns at exchanging with other hosts: one, or with auto up to eight, or "
          "all.",
          executor_values, "auto"},
         word_reader(&Options::executors, executor_words)},
        {{"device_standby",
          "Where small collectives follow each other closely, and one rank alone uses a device: how long the kernel of "
          "one waits on the device for the next, which then needs no launch.",
          "off or a duration from 1us to 1s", "30us"},
         short_duration_reader(&Options::device_standby)},
        {{"peer_access",
          "Which devices may read and write each other's memory: all that have been proven to, only a device its own "
          "(of several processes), or none.",
          peer_access_values, "all"},
         word_reader(&Options::peer_access, peer_access_words)},
        {{"peer_veto", "Pairs of devices that must not use each other's memory, by UUID or PCI id.",
          "pairs \"A,B\" separated by spaces, or nothing", ""},
         veto_reader(&Options::peer_veto)},
        {{"peer_proof",
          "Whether each pair of devices must prove, by kernel stores and copies that the owner reads back, that it "
          "reaches the other's memory; off believes the runtime.",
          on_off_values, "on"},
         word_reader(&Options::peer_proof, on_off_words)},
        {{"peer_proof_limit", "How long the proof of one pair of devices may take before the pair is not used.",
          "a duration from 1ms to 24h", "5s"},
         plain_reader<std::chrono::milliseconds>(&Options::peer_proof_limit, parse_duration, shortest_duration,
                                                 longest_duration)},
        {{"mapping_cache",
          "So many bytes of other processes' device memory stay mapped in a process for the next collective.",
          "a size from 1MiB", "64GiB"},
         plain_reader<std::size_t>(&Options::mapping_cache, parse_size, smallest_mapping_cache, largest_mapping_cache)},
    };
    return table;
}

std::optional<std::size_t> row_named(std::string_view name) {
    const auto found =
        std::find_if(rows().begin(), rows().end(), [&](const Row& row) { return row.shown.name == name; });
    if (found == rows().end()) return std::nullopt;
    return static_cast<std::size_t>(found - rows().begin());
}

std::string_view nearest_option(std::string_view name) {
    std::vector<std::string_view> names;
    names.reserve(rows().size());
    for (const Row& row : rows()) names.push_back(row.shown.name);
    return nearest_name(name, names);
}

Status bad_value(std::string_view subject, const OptionRow& row, std::string_view text) {
    const bool words = row.values.find(' ') == std::string_view::npos;
    return {PEERCOLL_ERR_INVALID_ARGUMENT, words ? fmt::format("{}: \"{}\" is not one of {}", subject, text, row.values)
                                                 : fmt::format("{}: \"{}\" is not {}", subject, text, row.values)};
}

bool belongs_to_another_part(std::string_view variable) {
    return std::any_of(prefixes_of_others.begin(), prefixes_of_others.end(),
                       [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

std::string unknown_variable(std::string_view variable, std::string_view name) {
    const std::string_view nearest = nearest_option(name);
    if (nearest.empty()) return fmt::format("unknown option {} in the environment", variable);
    return fmt::format("unknown option {} in the environment; did you mean {}{}?", variable, environment_prefix,
                       upper_case(nearest));
}

Status unknown_of_caller(std::string_view origin, std::string_view name) {
    const std::string_view nearest = nearest_option(name);
    return {PEERCOLL_ERR_INVALID_ARGUMENT,
            nearest.empty()
                ? fmt::format("{} {}: there is no option of this name", origin, name)
                : fmt::format("{} {}: there is no option of this name; did you mean {}?", origin, name, nearest)};
}

struct Reading {
    Options options;
    std::vector<OptionSetting> settings;
    std::vector<std::string> warnings;

    // Answers whether `text` was understood.
    bool take(std::size_t row, std::string_view text, std::string_view origin) {
        auto shown = rows()[row].read(text, options);
        if (!shown) return false;
        settings[row].value = std::move(*shown);
        settings[row].origin = std::string(origin);
        return true;
    }

    Status read_environment(const char* const* environment);
    Status read_caller(const std::vector<std::string>& caller, std::string_view origin);
};

Status Reading::read_environment(const char* const* environment) {
    std::vector<bool> seen(rows().size());
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        const std::string_view entry(*environment);
        const std::size_t equals = entry.find('=');
        if (!entry.starts_with(environment_prefix) || equals == std::string_view::npos) continue;

        const std::string_view variable = entry.substr(0, equals);
        if (belongs_to_another_part(variable)) continue;
        const std::string name = lower_case(variable.substr(environment_prefix.size()));
        const auto row = row_named(name);
        if (!row || variable.substr(environment_prefix.size()) != upper_case(name)) {
            warnings.push_back(unknown_variable(variable, name));
            continue;
        }
        if (seen[*row]) continue;  // as getenv(), which finds the first of two
        seen[*row] = true;
        const std::string_view text = entry.substr(equals + 1);
        if (!take(*row, text, "environment")) {
            return bad_value(fmt::format("environment variable {}", variable), rows()[*row].shown, text);
        }
    }
    return {};
}

Status Reading::read_caller(const std::vector<std::string>& caller, std::string_view origin) {
    for (const std::string_view entry : caller) {
        const std::size_t equals = entry.find('=');
        if (equals == std::string_view::npos) {
            return {PEERCOLL_ERR_INVALID_ARGUMENT, fmt::format("{} \"{}\": expected name=value", origin, entry)};
        }
        const std::string_view name = trimmed(entry.substr(0, equals));
        const auto row = row_named(lower_case(name));
        if (!row) return unknown_of_caller(origin, name);
        const std::string_view text = entry.substr(equals + 1);
        if (!take(*row, text, origin)) {
            return bad_value(fmt::format("{} {}", origin, name), rows()[*row].shown, text);
        }
    }
    return {};
}

}  // namespace

const std::vector<OptionRow>& option_table() {
    static const std::vector<OptionRow> table = [] {
        std::vector<OptionRow> shown;
        for (const Row& row : rows()) shown.push_back(row.shown);
        return shown;
    }();
    return table;
}

Status read_options(const char* const* environment, const std::vector<std::string>& caller,
                    std::string_view caller_origin, Options& options, std::vector<OptionSetting>& settings,
                    std::vector<std::string>& warnings) {
    Reading reading;
    for (const Row& row : rows()) {
        reading.settings.push_back({std::string(row.shown.name), std::string(row.shown.default_value), "default"});
    }
    if (Status status = reading.read_environment(environment); !status.ok()) return status;
    if (Status status = reading.read_caller(caller, caller_origin); !status.ok()) return status;

    options = std::move(reading.options);
    settings = std::move(reading.settings);
    warnings = std::move(reading.warnings);
    return {};
}

}  // namespace peercoll
