// SPDX-License-Identifier: BSD-3-Clause
// peercoll-info: version, options with their origin, topology, groups, and the path of each pair of ranks with its
// reason. Started as the job would be:
//
//     mpirun -n 4 peercoll-info        or, for this process alone,        peercoll-info
//
// Written against include/peercoll/peercoll.h only, so it also shows how to use the library from an MPI program.
#include "sections.hpp"
#include "session.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <string>

namespace {

using namespace peercoll::info;

struct Wanted {
    bool options = false;
    bool topology = false;
    bool devices = false;
    bool communicator = false;
    bool statistics = false;

    bool nothing_chosen() const { return !options && !topology && !devices && !communicator && !statistics; }
};

void show(const Wanted& wanted, bool use_devices, int rank, int ranks) {
    const bool speaker = rank == 0;
    RankDevice taken;
    taken.why_not = "--no-devices";
    if (use_devices && (wanted.devices || wanted.communicator || wanted.statistics)) taken = take_device(rank);
    const Session session(rank, ranks);
    if (speaker) {
        print_version();
        print_component();
        if (wanted.options) print_options(session);
        if (wanted.topology) print_topology(session);
        if (wanted.devices) print_devices(session, taken.why_not);
    }
    std::string why;
    const bool served = !(wanted.communicator || wanted.statistics) || session.try_collectives(taken.device.get(), why);
    if (!served && speaker) fmt::print("\nMPI_COMM_WORLD is not served by peercoll: {}\n", why);
    if (served && wanted.communicator) print_communicator(session, speaker);
    if (speaker && wanted.statistics) print_statistics(session);
    std::fflush(stdout);
    // Shared memory of the ranks goes when the last one leaves; nobody leaves while another still looks.
    MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    CLI::App app{
        "Shows what peercoll knows and does for the ranks it is started with: mpirun -n 4 peercoll-info.\n"
        "Without a flag it shows everything.",
        "peercoll-info"};
    Wanted wanted;
    app.add_flag("--options", wanted.options, "options in force, their origin, meaning and values");
    app.add_flag("--topology", wanted.topology, "processors, caches, memory and devices of this node");
    app.add_flag("--devices", wanted.devices, "device runtimes, or why they are off, and devices");
    app.add_flag("--communicator", wanted.communicator, "groups of ranks, and the path of each pair with its reason");
    app.add_flag("--statistics", wanted.statistics, "counters after a few collectives");
    bool no_devices = false;
    app.add_flag("--no-devices", no_devices, "use no device, so that only host memory is shown and tried");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int status = rank == 0 ? app.exit(error) : error.get_exit_code();
        MPI_Finalize();
        return status;
    }
    if (wanted.nothing_chosen()) wanted = {true, true, true, true, true};

    try {
        show(wanted, !no_devices, rank, ranks);
    } catch (const std::exception& error) {
        fmt::print(stderr, "peercoll-info: rank {}: {}\n", rank, error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
