// SPDX-License-Identifier: BSD-3-Clause
// What the command line asks for.
#pragma once

#include "elements.hpp"
#include "mpi_examples/devices/device.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peercoll::bench {

enum class Subject : std::uint8_t { Allreduce, Broadcast, CopyBandwidth, PingpongLines };
std::string_view name_of(Subject subject);

// How a size is timed; see measure.hpp.
enum class Timing : std::uint8_t { Auto, BackToBack, Single };

// Where buffers lie.
enum class Place : std::uint8_t { Host, Cuda };

struct Settings {
    Subject subject = Subject::Allreduce;
    std::vector<std::size_t> sizes;  // bytes, in the order of measuring
    std::size_t iterations = 0;      // samples per size; 0: as many as fit into `seconds`
    std::size_t warmup = 20;         // calls before the first sample, or fewer if they take longer than the budget
    bool check = true;
    ElementType element = ElementType::Float;
    Operation operation = Operation::Sum;
    std::optional<int> root;  // nullopt: the root changes from call to call
    bool in_place = false;
    Timing timing = Timing::Auto;
    std::size_t back_to_back_limit = std::size_t{64} << 10;  // largest size that Timing::Auto times back to back
    std::size_t buffers = 0;                                 // in the set; 0: see buffers.hpp
    double seconds = 0.5;                                    // budget of a size
    Place place = Place::Host;
    devices::Choice device;
    std::size_t device_copy_bytes = std::size_t{256} << 20;  // size of the copies that measure floors
    bool rival = false;                                      // NCCL, alternating
    std::string nccl_library = "libnccl.so.2";
    std::string json;  // file; empty: none; "-": standard output
    std::string label;
    bool percentiles = false;
    bool progress = false;
};

// Parses on every rank alike. On --help or an error, prints (on `speaker` only) and returns the exit status instead.
std::optional<int> read_command_line(int argc, char** argv, int ranks, bool speaker, Settings& settings);

}  // namespace peercoll::bench
