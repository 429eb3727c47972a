// SPDX-License-Identifier: BSD-3-Clause
// peercoll-bench: times MPI_Allreduce and MPI_Bcast of whatever MPI runs it, and says what the plugin did in it.
#include "device_floors.hpp"
#include "floors.hpp"
#include "machine.hpp"
#include "measure.hpp"
#include "mpi_examples/devices/device.hpp"
#include "nccl.hpp"
#include "plugin_counters.hpp"
#include "report.hpp"
#include "settings.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
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

// Handing device memory to an MPI that takes it for its own crashes the job, far from the cause.
void require_device_aware_mpi(bool plugin_loaded) {
    using Query = int (*)();
    const auto query = reinterpret_cast<Query>(dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
    if (plugin_loaded || (query != nullptr && query() == 1)) return;
    throw std::runtime_error(
        "-d cuda: this MPI takes device pointers for host memory; load the plugin (README.md, Loading it in a job)");
}

// The device of this rank, and what comes with it.
class DeviceSession {
public:
    DeviceSession(const Settings& settings, const MpiSession& mpi, Report& report) {
        MPI_Comm host = MPI_COMM_NULL;
        peercoll::devices::LocalRank local;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, mpi.rank, MPI_INFO_NULL, &host);
        MPI_Comm_rank(host, &local.rank);
        MPI_Comm_size(host, &local.ranks);
        MPI_Comm_free(&host);
        device_ = peercoll::devices::open_device(peercoll::devices::Vendor::Cuda, settings.device, local);
        job_ = describe_devices(device_->facts(), mpi.ranks);
        report.devices(job_, measure_device_floors(*device_, job_, mpi.rank, mpi.ranks, settings.device_copy_bytes));
        if (settings.rival) {
            rival_ = make_nccl(settings, *device_, job_, mpi.rank, mpi.ranks);
            report.rival(rival_->name());
        }
    }

    Participants participants(const MpiSession& mpi) const {
        return {mpi.rank, mpi.ranks, *device_, job_.most_ranks_on_one, rival_.get()};
    }

private:
    std::unique_ptr<Device> device_;
    DeviceJob job_;
    std::unique_ptr<Rival> rival_;
};

bool run_collective(const Settings& settings, const MpiSession& mpi, Report& report) {
    HostMemory host;
    std::optional<DeviceSession> device;
    if (settings.place != Place::Host) {
        require_device_aware_mpi(PluginCounters(std::string(name_of(settings.subject))).plugin_is_loaded());
        device.emplace(settings, mpi, report);
    }
    const Participants participants = device ? device->participants(mpi) : Participants{mpi.rank, mpi.ranks, host};
    if (mpi.rank == 0) report.head();
    // From here on, all calls of the collective are the measured ones.
    const PluginCounters counters(std::string(name_of(settings.subject)));
    bool right = true;
    for (const std::size_t bytes : settings.sizes) {
        const Result result = measure(settings, bytes, participants, [&](double done) {
            if (mpi.rank == 0) tell_progress(settings, bytes, done);
        });
        right = right && result.wrong == 0 && (!result.rival || result.rival->wrong == 0);
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
