// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_examples/peer_copy/report.hpp"

#include <cstdint>
#include <functional>

#include <fmt/format.h>

namespace peercoll::peer_copy {

namespace {

constexpr int column = 10;

std::string matrix(std::size_t devices, const std::function<std::string(std::size_t, std::size_t)>& cell) {
    std::string text = fmt::format("{:>4}", "");
    for (std::size_t to = 0; to < devices; ++to) text += fmt::format("{:>{}}", to, column);
    text += '\n';
    for (std::size_t from = 0; from < devices; ++from) {
        text += fmt::format("{:>4}", from);
        for (std::size_t to = 0; to < devices; ++to) text += fmt::format("{:>{}}", cell(from, to), column);
        text += '\n';
    }
    return text;
}

std::string cell_of(const Result& result) {
    if (!result.tried) return "none";
    if (!result.problem.empty()) return result.failed ? "failed" : "wrong";
    return fmt::format("{:.2f}", result.bytes_per_second / 1e9);
}

std::string bandwidths(const Results& results, Result PairResult::*way) {
    return matrix(results.size(), [&](std::size_t from, std::size_t to) {
        const std::optional<PairResult>& pair = results[from][to];
        return pair ? cell_of((*pair).*way) : std::string("-");
    });
}

template <typename Visit>
void for_each_problem(const Results& results, Visit visit) {
    for (const auto& row : results)
        for (const std::optional<PairResult>& pair : row) {
            if (!pair) continue;
            if (!pair->by_copy.problem.empty()) visit(pair->by_copy.problem);
            if (!pair->by_kernel.problem.empty()) visit(pair->by_kernel.problem);
        }
}

}  // namespace

std::string devices_text(const Runtime& runtime) {
    const std::int32_t devices = runtime->device_count();
    std::string text =
        fmt::format("{}: {}, {} device{}\n", runtime->name, runtime->version_text(), devices, devices == 1 ? "" : "s");
    for (std::int32_t device = 0; device < devices; ++device) {
        peercoll_device_info_t info{};
        peercoll_reason_t reason{};
        require(runtime->device_info(device, &info, &reason), reason, fmt::format("asking for device {}", device));
        text += fmt::format("{:>4}  {}, {}, {:.1f} GiB, PCI {}\n", device, info.name, info.architecture,
                            static_cast<double>(info.memory_bytes) / (std::uint64_t{1} << 30U),
                            info.pci_id[0] == '\0' ? "unknown" : info.pci_id);
    }
    return text;
}

std::string kernels_text(const Runtime& runtime) {
    std::string text;
    for (std::int32_t device = 0; device < runtime->device_count(); ++device) {
        peercoll_device_info_t info{};
        peercoll_reason_t reason{};
        require(runtime->device_info(device, &info, &reason), reason, fmt::format("asking for device {}", device));
        text += fmt::format("kernels of device {}: {}\n", device, info.reductions);
    }
    return text;
}

std::string access_text(const Runtime& runtime) {
    return "peer access as the runtime says (row: the device that reaches, column: whose memory)\n" +
           matrix(static_cast<std::size_t>(runtime->device_count()), [&](std::size_t device, std::size_t peer) {
               if (device == peer) return std::string("itself");
               const int can =
                   runtime->can_access_peer(static_cast<std::int32_t>(device), static_cast<std::int32_t>(peer));
               return std::string(can != 0 ? "yes" : "no");
           });
}

std::string bandwidth_text(const Results& results, std::size_t bytes) {
    return fmt::format(
        "copies of {} bytes, GB/s (row: from, column: to)\n{}folds of one input (stores of a kernel where there are "
        "kernels), {} bytes, GB/s\n{}",
        bytes, bandwidths(results, &PairResult::by_copy), bytes, bandwidths(results, &PairResult::by_kernel));
}

std::string summary_text(const Results& results) {
    std::size_t pairs = 0;
    for (std::size_t from = 0; from < results.size(); ++from)
        for (std::size_t to = 0; to < results.size(); ++to)
            if (from != to && results[from][to]) ++pairs;
    const std::size_t all = results.size() * (results.size() - 1);
    std::string text;
    if (all == 0)
        text = "one device: it has no peer, so the copies stayed within it\n";
    else if (pairs == 0)
        text = "no two devices reach each other in both directions: the copies stayed within each device\n";
    else
        text = fmt::format("{} of {} pairs reach each other in both directions\n", pairs, all);
    for_each_problem(results, [&](const std::string& problem) { text += problem + '\n'; });
    if (problems(results) == 0) text += "every byte arrived\n";
    return text;
}

std::size_t problems(const Results& results) {
    std::size_t count = 0;
    for_each_problem(results, [&](const std::string&) { ++count; });
    return count;
}

}  // namespace peercoll::peer_copy
