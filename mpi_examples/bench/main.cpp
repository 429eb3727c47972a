// SPDX-License-Identifier: BSD-3-Clause
// peercoll-bench: times MPI_Allreduce and MPI_Bcast of whatever MPI runs it, and says what the plugin did in it.
#include "floors.hpp"
#include "machine.hpp"
#include "measure.hpp"
#include "plugin_counters.hpp"
#include "report.hpp"
#include "settings.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>

namespace {

using namespace peercoll::bench;

class MpiSession {
public:
    MpiSession(int* argc, char*** argv) {
        MPI_Init(argc, argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    }
    ~MpiSession() { MPI_Finalize(); }
    MpiSession(const MpiSession&) = delete;
    MpiSession& operator=(const MpiSession&) = delete;

    int rank = 0;
    int ranks = 1;
};

// One line that rewrites itself on a terminal, lines of their own elsewhere.
void tell_progress(const Settings& settings, std::size_t bytes, double done) {
    const bool terminal = isatty(STDERR_FILENO) != 0;
    if (!terminal && !settings.progress) return;
    const std::string text = fmt::format("{} {} bytes: {:3.0f} %", name_of(settings.subject), bytes, done * 100);
    std::fputs(terminal ? fmt::format("\r{}\033[K\r", text).c_str() : fmt::format("{}\n", text).c_str(), stderr);
    std::fflush(stderr);
}

bool run_collective(const Settings& settings, const MpiSession& mpi, Report& report) {
    const PluginCounters counters(std::string(name_of(settings.subject)));
    if (mpi.rank == 0) report.head();
    bool right = true;
    for (const std::size_t bytes : settings.sizes) {
        const Result result = measure(settings, bytes, mpi.rank, mpi.ranks, [&](double done) {
            if (mpi.rank == 0) tell_progress(settings, bytes, done);
        });
        right = right && result.wrong == 0;
        if (mpi.rank == 0) report.row(result);
    }
    const ServedCalls served = counters.since_start();
    if (mpi.rank == 0) report.foot(served);
    return right;
}

bool run(const Settings& settings, const MpiSession& mpi) {
    Report report(settings, describe_machine(mpi.rank, mpi.ranks));
    bool right = true;
    if (settings.subject == Subject::CopyBandwidth) {
        const auto rates = measure_copy_bandwidth(settings.sizes, settings.seconds, mpi.ranks);
        if (mpi.rank == 0) report.head();
        if (mpi.rank == 0) report.copy_bandwidth(rates);
    } else if (settings.subject == Subject::PingpongLines) {
        const auto latencies = measure_line_latencies(mpi.rank, mpi.ranks);
        if (mpi.rank == 0) report.head();
        if (mpi.rank == 0) report.line_latencies(latencies);
    } else {
        right = run_collective(settings, mpi, report);
    }
    return (mpi.rank != 0 || report.write_json()) && right;
}

}  // namespace

int main(int argc, char** argv) {
    MpiSession mpi(&argc, &argv);
    Settings settings;
    if (const auto status = read_command_line(argc, argv, mpi.ranks, mpi.rank == 0, settings)) return *status;
    try {
        return run(settings, mpi) ? 0 : 1;
    } catch (const std::exception& error) {
        std::fputs(fmt::format("peercoll-bench: rank {}: {}\n", mpi.rank, error.what()).c_str(), stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return 2;
}
