// SPDX-License-Identifier: BSD-3-Clause
// peer_copy: which devices of this machine reach each other's memory, whether what is copied there arrives, and how
// fast.
//
//     peer_copy [--runtime cuda|hip|ascend] [--bytes 64M] [--library PATH]
//
// For each pair of devices it does what Ascend's sample of cross-device data exchange does and what HIP's page on
// device memory access describes: ask both directions, enable both, allocate, copy, look at the bytes, disable, free.
// It is written once, on the functions of peercoll/device.h; there is one process and no MPI. The bytes are brought
// twice, by the runtime's copy and by stores of a kernel: machines are known where one arrives and the other does not.
//
// Ends with 0 if every byte arrived, with 1 if one did not or the runtime is off, with 2 for wrong arguments.
#include "mpi_examples/peer_copy/report.hpp"
#include "mpi_examples/peer_copy/runtime.hpp"
#include "mpi_examples/peer_copy/transfer.hpp"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

namespace {

using namespace peercoll::peer_copy;

struct Arguments {
    std::string runtime = "cuda";
    std::string library{};
    std::size_t bytes = std::size_t{64} << 20U;
};

// Nothing: run. Otherwise the exit status.
std::optional<int> parse(int argc, char** argv, Arguments& arguments) {
    CLI::App app("Copies between the devices of this machine, checks every byte and measures.");
    app.add_option("--runtime", arguments.runtime, "whose devices")
        ->check(CLI::IsMember(runtime_names()))
        ->capture_default_str();
    app.add_option("--library", arguments.library, "the vendor's library, instead of its usual names");
    app.add_option("--bytes", arguments.bytes, "size of each copy: a number, or with K, M or G")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40U))
        ->default_str("64M");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    return {};
}

int run(const Arguments& arguments) {
    Runtime runtime(arguments.runtime, arguments.library);
    std::fputs((devices_text(runtime) + access_text(runtime)).c_str(), stdout);
    std::fflush(stdout);  // before the devices are tried
    const std::int32_t devices = runtime->device_count();
    Results results;
    for (std::int32_t from = 0; from < devices; ++from) {
        results.emplace_back();
        for (std::int32_t to = 0; to < devices; ++to) {
            results.back().emplace_back();
            if (reach_each_other(runtime, from, to))
                results.back().back() = transfer(runtime, from, to, arguments.bytes);
        }
    }
    std::fputs((bandwidth_text(results, arguments.bytes) + kernels_text(runtime) + summary_text(results)).c_str(),
               stdout);
    std::fflush(stdout);
    runtime.close();
    return problems(results) == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        Arguments arguments;
        if (const std::optional<int> status = parse(argc, argv, arguments)) return *status;
        return run(arguments);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "peer_copy: %s\n", error.what());
        return 1;
    }
}
