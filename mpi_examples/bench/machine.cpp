// SPDX-License-Identifier: BSD-3-Clause
#include "machine.hpp"

#include "buffers.hpp"

#include <mpi.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <fstream>
#include <set>
#include <vector>

namespace peercoll::bench {

namespace {

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string text; std::getline(file, text);) {
        const std::size_t colon = text.find(": ");
        if (text.starts_with("model name") && colon != std::string::npos) return text.substr(colon + 2);
    }
    return "unknown";
}

int count_hosts(int rank, int ranks) {
    std::array<char, MPI_MAX_PROCESSOR_NAME> mine{};
    int length = 0;
    MPI_Get_processor_name(mine.data(), &length);
    std::vector<char> all(mine.size() * static_cast<std::size_t>(rank == 0 ? ranks : 0));
    const int bytes = mine.size();
    MPI_Gather(mine.data(), bytes, MPI_CHAR, all.data(), bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    std::set<std::string> names;
    for (std::size_t offset = 0; offset < all.size(); offset += mine.size()) names.insert(all.data() + offset);
    return static_cast<int>(names.size());
}

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

std::string mpi_library() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    const std::string whole(text.data());
    // Some libraries add paragraphs about their build.
    return whole.substr(0, whole.find('\n'));
}

}  // namespace

Machine describe_machine(int rank, int ranks) {
    Machine machine;
    machine.cpu_model = cpu_model();
    machine.cpus_online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) machine.cpus_of_rank_0 = CPU_COUNT(&allowed);
    machine.ranks = ranks;
    machine.hosts = count_hosts(rank, ranks);
    utsname system{};
    if (uname(&system) == 0) machine.kernel = std::string(system.sysname) + " " + system.release + " " + system.machine;
    machine.mpi_library = mpi_library();
    machine.date = utc_now();
    machine.last_level_cache_bytes = last_level_cache_bytes();
    return machine;
}

}  // namespace peercoll::bench
