// SPDX-License-Identifier: BSD-3-Clause
// Options: one table, read from the environment (PEERCOLL_NAME=value) and from the caller (for Open MPI: MCA parameters
// coll_peercoll_name). The caller's word wins. Text that does not parse is an error that names the option. Values are
// words, sizes ("64KiB", "4096", "1M") or durations ("500ms", "2s"); upper and lower case are the same.
#pragma once

#include "collectives/algorithms.hpp"
#include "collectives/device/select.hpp"
#include "plugin/common/status.hpp"
#include "plugin/peer/pair_matrix.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peercoll {

enum class TrialsChoice : std::uint8_t { On, Off };
enum class Order : std::uint8_t { Topology, Rank };
enum class GroupLevel : std::uint8_t { Auto, None, Cache, Numa, Package };
enum class SingleCopyChoice : std::uint8_t { Auto, Cma, Xpmem, Off };
enum class SegmentKind : std::uint8_t { Auto, Memfd, Shm };
enum class WaitMode : std::uint8_t { Auto, Spin, Yield, Sleep };
enum class LogLevel : std::uint8_t { Off, Error, Warn, Info, Debug };
enum class StatisticsOutput : std::uint8_t { Off, Summary, All };
enum class Devices : std::uint8_t { On, Off };
enum class PeerProof : std::uint8_t { On, Off };

// The parsed values. A member's meaning is in the table of options.cpp, which is also what README and peercoll-info
// print.
struct Options {
    AllreduceAlgorithm allreduce_algorithm = AllreduceAlgorithm::Auto;
    BroadcastAlgorithm broadcast_algorithm = BroadcastAlgorithm::Auto;
    TrialsChoice trials = TrialsChoice::On;
    Order order = Order::Topology;
    GroupLevel groups = GroupLevel::Auto;
    SingleCopyChoice single_copy = SingleCopyChoice::Auto;
    SegmentKind segment = SegmentKind::Auto;
    std::optional<std::size_t> segment_size;  // bytes per communicator and node; nullopt: auto
    WaitMode wait = WaitMode::Auto;
    std::optional<std::chrono::milliseconds> timeout;  // of one collective; nullopt: off
    // How often a waiting rank looks whether its peers live; nullopt: off.
    std::optional<std::chrono::milliseconds> peer_check = std::chrono::milliseconds(1000);
    LogLevel log = LogLevel::Warn;
    StatisticsOutput statistics = StatisticsOutput::Off;
    std::string topology_file;  // hwloc XML; empty: this machine
    Devices devices = Devices::On;
    std::string device_runtimes;  // paths separated by ':'
    DeviceAlgorithm device_algorithm = DeviceAlgorithm::Auto;
    Executors executors = Executors::Auto;
    // How long the kernel of a small collective stays on its device for the next one; nullopt: off.
    std::optional<std::chrono::microseconds> device_standby = std::chrono::microseconds(30);
    PeerLevel peer_access = PeerLevel::All;
    std::string peer_veto;  // plugin/peer/veto_words.hpp
    PeerProof peer_proof = PeerProof::On;
    std::chrono::milliseconds peer_proof_limit = std::chrono::milliseconds(5000);
    std::size_t mapping_cache = std::size_t{64} << 30;  // bytes
};

// One row, as people read it. All text is static and ends with a NUL, so that data() is a C string.
struct OptionRow {
    std::string_view name;
    std::string_view meaning;        // one sentence
    std::string_view values;         // "auto|spin|yield|sleep", or words: "off or a duration from 1ms to 24h"
    std::string_view default_value;  // parses to the default of the member of Options
};

// The whole table, in the order it is documented.
const std::vector<OptionRow>& option_table();

// What is in force, with its text and origin, in the order of option_table().
struct OptionSetting {
    std::string name;
    std::string value;
    std::string origin;  // "default", "environment" or the caller's word
};

// Reads `environment` ("NAME=value" strings ended by nullptr, as `environ`; nullptr: none), then `caller` ("name=value"
// each; the last of two wins). A bad value, or an unknown name of the caller, is PEERCOLL_ERR_INVALID_ARGUMENT, and
// then nothing is changed. An unknown PEERCOLL_* of the environment may be meant for something else: it is one sentence
// in `warnings`, unless its prefix is known to be another part's (PEERCOLL_UCX_*: the transport's).
Status read_options(const char* const* environment, const std::vector<std::string>& caller,
                    std::string_view caller_origin, Options& options, std::vector<OptionSetting>& settings,
                    std::vector<std::string>& warnings);

}  // namespace peercoll
