// SPDX-License-Identifier: BSD-3-Clause
#include "nccl.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>

#include <stdexcept>

namespace peercoll::bench {

namespace {

// The part of NCCL's interface used here; its numbers have not changed since NCCL 2.
struct UniqueId {
    char bytes[128];
};
using Communicator = struct ncclComm*;

int datatype_of(ElementType type) {
    switch (type) {
        case ElementType::Int8:
            return 0;
        case ElementType::Uint8:
            return 1;
        case ElementType::Int32:
            return 2;
        case ElementType::Uint32:
            return 3;
        case ElementType::Int64:
            return 4;
        case ElementType::Uint64:
            return 5;
        case ElementType::Float:
            return 7;
        case ElementType::Double:
            return 8;
        default:
            throw std::runtime_error(fmt::format("--rival nccl: NCCL has no {}", name_of(type)));
    }
}

int operation_of(Operation operation) {
    switch (operation) {
        case Operation::Sum:
            return 0;
        case Operation::Prod:
            return 1;
        case Operation::Max:
            return 2;
        case Operation::Min:
            return 3;
        default:
            throw std::runtime_error(fmt::format("--rival nccl: NCCL has no {}", name_of(operation)));
    }
}

class Nccl : public Rival {
public:
    Nccl(const Settings& settings, Device& device, int rank, int ranks)
        : device_(device), datatype_(datatype_of(settings.element)), operation_(operation_of(settings.operation)) {
        void* library = dlopen(settings.nccl_library.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            throw std::runtime_error(fmt::format("--rival nccl: {} (--nccl-library takes its path)", dlerror()));
        }
        int (*get_version)(int*) = nullptr;
        int (*get_unique_id)(UniqueId*) = nullptr;
        int (*init_rank)(Communicator*, int, UniqueId, int) = nullptr;
        find(library, get_version, "ncclGetVersion");
        find(library, get_unique_id, "ncclGetUniqueId");
        find(library, init_rank, "ncclCommInitRank");
        find(library, error_string_, "ncclGetErrorString");
        find(library, destroy_, "ncclCommDestroy");
        find(library, allreduce_, "ncclAllReduce");
        find(library, broadcast_, "ncclBroadcast");

        require(get_version(&version_), "ncclGetVersion");
        UniqueId id{};
        if (rank == 0) require(get_unique_id(&id), "ncclGetUniqueId");
        // By MPI_Scatter: MPI's broadcasts are what is counted.
        std::vector<UniqueId> ids(static_cast<std::size_t>(ranks), id);
        MPI_Scatter(ids.data(), sizeof(id), MPI_BYTE, &id, sizeof(id), MPI_BYTE, 0, MPI_COMM_WORLD);
        require(init_rank(&communicator_, ranks, id, rank), "ncclCommInitRank");
    }
    ~Nccl() override { destroy_(communicator_); }

    std::string name() const override {
        return fmt::format("NCCL {}.{}.{}", version_ / 10000, version_ / 100 % 100, version_ % 100);
    }
    void allreduce(const void* send, void* receive, std::size_t count) override {
        require(allreduce_(send, receive, count, datatype_, operation_, communicator_, device_.stream()),
                "ncclAllReduce");
    }
    void broadcast(void* buffer, std::size_t count, int root) override {
        require(broadcast_(buffer, buffer, count, datatype_, root, communicator_, device_.stream()), "ncclBroadcast");
    }
    void finish() override { device_.synchronize(); }

private:
    template <typename Function>
    static void find(void* library, Function*& function, const char* name) {
        function = reinterpret_cast<Function*>(dlsym(library, name));
        if (function == nullptr) throw std::runtime_error(fmt::format("--rival nccl: the library has no {}", name));
    }
    void require(int result, const char* what) const {
        if (result != 0) throw std::runtime_error(fmt::format("{}: {}", what, error_string_(result)));
    }

    Device& device_;
    int datatype_;
    int operation_;
    int version_ = 0;
    Communicator communicator_ = nullptr;
    const char* (*error_string_)(int) = nullptr;
    int (*destroy_)(Communicator) = nullptr;
    int (*allreduce_)(const void*, void*, std::size_t, int, int, Communicator, void*) = nullptr;
    int (*broadcast_)(const void*, void*, std::size_t, int, int, Communicator, void*) = nullptr;
};

}  // namespace

std::unique_ptr<Rival> make_nccl(const Settings& settings, Device& device, const DeviceJob& job, int rank, int ranks) {
    if (job.most_ranks_on_one > 1) {
        throw std::runtime_error(fmt::format(
            "--rival nccl: NCCL takes one rank for each device, and here {} ranks share one", job.most_ranks_on_one));
    }
    return std::make_unique<Nccl>(settings, device, rank, ranks);
}

}  // namespace peercoll::bench
