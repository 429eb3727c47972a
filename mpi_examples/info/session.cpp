// SPDX-License-Identifier: BSD-3-Clause
#include "session.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
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

// So many equal integers in some memory.
class Integers {
public:
    Integers(devices::Memory& memory, std::size_t count, std::int32_t value)
        : memory_(memory), bytes_(count * sizeof(value)), integers_(memory.allocate(bytes_)) {
        memory_.write(integers_, bytes_, [value](void* window, std::size_t, std::size_t bytes) {
            std::fill_n(static_cast<std::int32_t*>(window), bytes / sizeof(value), value);
        });
    }
    ~Integers() { memory_.release(integers_); }
    Integers(const Integers&) = delete;
    Integers& operator=(const Integers&) = delete;

    void* get() const { return integers_; }
    std::size_t bytes() const { return bytes_; }
    bool all_are(std::int32_t value) const {
        bool all = true;
        memory_.read(integers_, bytes_, [&](const void* window, std::size_t, std::size_t bytes) {
            const auto* first = static_cast<const std::int32_t*>(window);
            all = all && std::all_of(first, first + bytes / sizeof(value),
                                     [value](std::int32_t element) { return element == value; });
        });
        return all;
    }

private:
    devices::Memory& memory_;
    std::size_t bytes_;
    void* integers_;
};

void try_allreduce(peercoll_comm_t comm, devices::Memory& memory, int rank, int ranks, std::size_t count) {
    const Integers mine(memory, count, rank + 1);
    const Integers sum(memory, count, -1);
    require(library.allreduce(mine.get(), sum.get(), count, PEERCOLL_INT32, PEERCOLL_SUM, comm), "allreduce");
    if (!sum.all_are(ranks * (ranks + 1) / 2)) throw Failure("an allreduce gave a wrong sum", PEERCOLL_ERR_INTERNAL);
}

void try_broadcast(peercoll_comm_t comm, devices::Memory& memory, int rank, int root, std::size_t count) {
    const Integers buffer(memory, count, rank == root ? 4711 : -1);
    require(library.broadcast(buffer.get(), buffer.bytes(), root, comm), "broadcast");
    if (!buffer.all_are(4711)) throw Failure("a broadcast gave wrong values", PEERCOLL_ERR_INTERNAL);
}

void try_in(peercoll_comm_t comm, devices::Memory& memory, int rank, int ranks) {
    for (const std::size_t count : {2u, 1024u, 65536u, 1u << 20}) {
        try_allreduce(comm, memory, rank, ranks, count);
        for (int root = 0; root < ranks; ++root) try_broadcast(comm, memory, rank, root, count);
    }
}

}  // namespace

Failure::Failure(const std::string& what, peercoll_status_t status) : std::runtime_error(what), status_(status) {}

void require(peercoll_status_t status, const std::string& what) {
    if (status == PEERCOLL_SUCCESS) return;
    throw Failure(fmt::format("{}: {} ({})", what, library.last_error(), library.status_name(status)), status);
}

RankDevice take_device(int rank) {
    RankDevice taken;
    MPI_Comm host = MPI_COMM_NULL;
    devices::LocalRank local;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &local.rank);
    MPI_Comm_size(host, &local.ranks);
    MPI_Comm_free(&host);
    try {
        taken.device = devices::open_device(devices::Vendor::Cuda, {}, local);
    } catch (const std::runtime_error& error) {
        taken.why_not = error.what();
    }
    return taken;
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

bool Session::try_collectives(devices::Device* device, std::string& why) const {
    try {
        devices::HostMemory host;
        try_in(comm_, host, rank_, ranks_);
        // A rank without a device takes part from host memory: buffers may lie anywhere.
        int with_device = device != nullptr ? 1 : 0;
        int any_with_device = 0;
        MPI_Allreduce(&with_device, &any_with_device, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (any_with_device != 0)
            try_in(comm_, device != nullptr ? *device : static_cast<devices::Memory&>(host), rank_, ranks_);
    } catch (const Failure& failure) {
        if (failure.status() != PEERCOLL_ERR_NOT_SUPPORTED) throw;
        why = failure.what();
        return false;
    }
    return true;
}

}  // namespace peercoll::info
