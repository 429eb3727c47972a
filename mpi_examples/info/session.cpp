// SPDX-License-Identifier: BSD-3-Clause
#include "session.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace peercoll::info {

namespace {

constexpr const peercoll_plugin_t& library = peercoll_plugin_v1;

int allgather(const void* mine, void* all, std::size_t bytes, void*) {
    const int count = static_cast<int>(bytes);
    return MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, MPI_COMM_WORLD);
}

// "name=value" of each option that an MCA parameter in the environment sets.
std::vector<std::string> options_of_the_job() {
    std::vector<std::string> options;
    peercoll_option_info_t row{};
    row.struct_size = sizeof(row);
    for (std::size_t index = 0; library.option_info(index, &row) == PEERCOLL_SUCCESS; ++index) {
        const char* value = std::getenv(fmt::format("OMPI_MCA_coll_peercoll_{}", row.name).c_str());
        if (value != nullptr) options.push_back(fmt::format("{}={}", row.name, value));
    }
    return options;
}

void try_allreduce(peercoll_comm_t comm, int rank, int ranks, std::size_t count) {
    const std::vector<std::int32_t> mine(count, rank + 1);
    std::vector<std::int32_t> sum(count, -1);
    require(library.allreduce(mine.data(), sum.data(), count, PEERCOLL_INT32, PEERCOLL_SUM, comm), "allreduce");
    for (const std::int32_t element : sum) {
        if (element != ranks * (ranks + 1) / 2) throw Failure("an allreduce gave a wrong sum", PEERCOLL_ERR_INTERNAL);
    }
}

void try_broadcast(peercoll_comm_t comm, int rank, int root, std::size_t count) {
    std::vector<std::int32_t> buffer(count, rank == root ? 4711 : -1);
    require(library.broadcast(buffer.data(), count * sizeof(buffer[0]), root, comm), "broadcast");
    for (const std::int32_t element : buffer) {
        if (element != 4711) throw Failure("a broadcast gave wrong values", PEERCOLL_ERR_INTERNAL);
    }
}

}  // namespace

Failure::Failure(const std::string& what, peercoll_status_t status) : std::runtime_error(what), status_(status) {}

void require(peercoll_status_t status, const std::string& what) {
    if (status == PEERCOLL_SUCCESS) return;
    throw Failure(fmt::format("{}: {} ({})", what, library.last_error(), library.status_name(status)), status);
}

Session::Session(int rank, int ranks) : rank_(rank), ranks_(ranks) {
    const std::vector<std::string> options = options_of_the_job();
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    pointers.push_back(nullptr);
    const std::string label = fmt::format("rank {}", rank);

    peercoll_context_params_t context_params{};
    context_params.struct_size = sizeof(context_params);
    context_params.options = pointers.data();
    context_params.options_origin = "MCA parameter";
    context_params.label = label.c_str();
    require(library.context_create(&context_params, &context_), "the options");

    peercoll_comm_params_t comm_params{};
    comm_params.struct_size = sizeof(comm_params);
    comm_params.rank = rank;
    comm_params.size = ranks;
    comm_params.allgather = allgather;
    comm_params.label = "MPI_COMM_WORLD";
    const peercoll_status_t status = library.comm_create(context_, &comm_params, &comm_);
    if (status != PEERCOLL_SUCCESS) {
        const std::string why = library.last_error();
        library.context_destroy(context_);
        throw Failure("the communicator: " + why, status);
    }
}

Session::~Session() {
    library.comm_destroy(comm_);
    library.context_destroy(context_);
}

bool Session::try_collectives(std::string& why) const {
    try {
        for (const std::size_t count : {2u, 1024u, 65536u, 1u << 20}) {
            try_allreduce(comm_, rank_, ranks_, count);
            for (int root = 0; root < ranks_; ++root) try_broadcast(comm_, rank_, root, count);
        }
    } catch (const Failure& failure) {
        if (failure.status() != PEERCOLL_ERR_NOT_SUPPORTED) throw;
        why = failure.what();
        return false;
    }
    return true;
}

}  // namespace peercoll::info
