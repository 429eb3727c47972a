// SPDX-License-Identifier: BSD-3-Clause
#include "device_floors.hpp"

#include "percentiles.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <functional>

namespace peercoll::bench {

namespace {

using devices::SharedMemoryHandle;

constexpr int launches = 1000;
constexpr int launches_after_others = 21;
constexpr int batches = 7;
constexpr int copies_in_batch = 8;

// Memory of a device for the length of a measurement.
class Scratch {
public:
    Scratch(Device& device, std::size_t bytes) : device_(device), memory_(device.allocate(bytes)) {}
    ~Scratch() { device_.release(memory_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    void* get() const { return memory_; }

private:
    Device& device_;
    void* memory_;
};

// Another process's memory for the same.
class Opened {
public:
    Opened(Device& device, const SharedMemoryHandle& handle) : device_(device), memory_(device.open_shared(handle)) {}
    ~Opened() { device_.close_shared(memory_); }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    void* get() const { return memory_; }

private:
    Device& device_;
    void* memory_;
};

class Measurement {
public:
    Measurement(Device& device, const DeviceJob& job, int rank, int ranks, std::size_t copy_bytes)
        : device_(device), job_(job), rank_(rank), ranks_(ranks), copy_bytes_(copy_bytes) {}

    DeviceFloors run() {
        DeviceFloors floors;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank_ == 0) attempt("launch", [&] { floors.launch_us = launch_us(); });
        floors.launch_after_others_us = launch_after_others_us();
        if (rank_ == 0) attempt("copy", [&] { floors.copy_GBs = copy_rate() * 2; });
        MPI_Barrier(MPI_COMM_WORLD);
        if (job_.count() > 1) measure_links(floors);
        floors.missing = gather_missing();
        return floors;
    }

private:
    void attempt(const char* what, const std::function<void()>& step) {
        try {
            step();
        } catch (const std::exception& error) {
            if (missing_.empty()) missing_ = fmt::format("{} not measured: {}", what, error.what());
        }
    }

    double one_launch() {
        const double start = MPI_Wtime();
        device_.launch_empty_kernel();
        device_.synchronize();
        return (MPI_Wtime() - start) * 1e6;
    }

    double launch_us() {
        std::vector<double> samples;
        for (int launch = 0; launch < launches / 10; ++launch) one_launch();
        samples.reserve(launches);
        for (int launch = 0; launch < launches; ++launch) samples.push_back(one_launch());
        return spread_of(samples).median;
    }

    // Only if the others are there; all ranks take part in the barriers.
    std::optional<double> launch_after_others_us() {
        const bool beside_rank_0 = rank_ != 0 && job_.device_of_rank[static_cast<std::size_t>(rank_)] == 0;
        std::vector<double> samples;
        attempt("launch after others", [&] {
            if (beside_rank_0) word_.emplace(device_, sizeof(double));
        });
        for (int launch = 0; launch < launches_after_others; ++launch) {
            attempt("launch after others", [&] {
                if (word_) device_.set(word_->get(), 0, sizeof(double));
            });
            MPI_Barrier(MPI_COMM_WORLD);
            attempt("launch after others", [&] {
                if (rank_ == 0) samples.push_back(one_launch());
            });
            MPI_Barrier(MPI_COMM_WORLD);
        }
        word_.reset();
        const auto on_first = std::count(job_.device_of_rank.begin(), job_.device_of_rank.end(), 0);
        if (samples.empty() || on_first < 2) return std::nullopt;
        return spread_of(samples).median;
    }

    // GB copied per second.
    double rate_of(void* to, const void* from) {
        double best = 0;
        for (int batch = 0; batch <= batches; ++batch) {
            const double start = MPI_Wtime();
            for (int copy = 0; copy < copies_in_batch; ++copy) device_.start_copy(to, from, copy_bytes_);
            device_.synchronize();
            const double seconds = MPI_Wtime() - start;
            if (batch > 0) best = std::max(best, static_cast<double>(copy_bytes_) * copies_in_batch / seconds / 1e9);
        }
        return best;
    }

    double copy_rate() {
        const Scratch from(device_, copy_bytes_);
        const Scratch to(device_, copy_bytes_);
        return rate_of(to.get(), from.get());
    }

    // Every device's first rank shares a buffer, opens the next device's and writes to it.
    void measure_links(DeviceFloors& floors) {
        const auto index = static_cast<std::size_t>(job_.device_of_rank[static_cast<std::size_t>(rank_)]);
        const bool leader = job_.leaders[index] == rank_;
        std::optional<Scratch> from;
        std::optional<Scratch> target;
        std::optional<Opened> next;
        SharedMemoryHandle handle;
        if (leader) {
            attempt("link", [&] {
                from.emplace(device_, copy_bytes_);
                target.emplace(device_, copy_bytes_);
                handle = device_.share(target->get());
            });
        }
        std::vector<SharedMemoryHandle> handles(static_cast<std::size_t>(ranks_));
        MPI_Allgather(&handle, sizeof(handle), MPI_BYTE, handles.data(), sizeof(handle), MPI_BYTE, MPI_COMM_WORLD);
        const int next_leader = job_.leaders[(index + 1) % job_.leaders.size()];
        if (leader) attempt("link", [&] { next.emplace(device_, handles[static_cast<std::size_t>(next_leader)]); });

        MPI_Barrier(MPI_COMM_WORLD);
        if (rank_ == 0 && next) attempt("link", [&] { floors.link_GBs = rate_of(next->get(), from->get()); });
        MPI_Barrier(MPI_COMM_WORLD);
        double mine = leader ? 0 : 1e30;
        if (next) attempt("ring", [&] { mine = rate_of(next->get(), from->get()); });
        double slowest = 0;
        MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
        if (slowest > 0) floors.ring_GBs = slowest;
        // Closed before its owner frees it.
        next.reset();
        MPI_Barrier(MPI_COMM_WORLD);
    }

    std::vector<std::string> gather_missing() const {
        std::array<char, 256> mine{};
        std::snprintf(mine.data(), mine.size(), "%s", missing_.c_str());
        std::vector<char> all(rank_ == 0 ? mine.size() * static_cast<std::size_t>(ranks_) : 0);
        const int bytes = mine.size();
        MPI_Gather(mine.data(), bytes, MPI_CHAR, all.data(), bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
        std::vector<std::string> reasons;
        for (std::size_t offset = 0; offset < all.size(); offset += mine.size()) {
            const std::string reason = all.data() + offset;
            if (reason.empty()) continue;
            if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(reason);
        }
        return reasons;
    }

    Device& device_;
    const DeviceJob& job_;
    int rank_;
    int ranks_;
    std::size_t copy_bytes_;
    std::optional<Scratch> word_;
    std::string missing_;
};

}  // namespace

DeviceFloors measure_device_floors(Device& device, const DeviceJob& job, int rank, int ranks, std::size_t copy_bytes) {
    return Measurement(device, job, rank, ranks, copy_bytes).run();
}

double least_traffic(Subject subject, std::size_t bytes, int ranks) {
    const double p = ranks;
    const auto n = static_cast<double>(bytes);
    // Allreduce reads every rank's input and writes every rank's result; broadcast reads once and writes p - 1 times.
    return subject == Subject::Allreduce ? 2 * p * n : (1 + (p - 1)) * n;
}

}  // namespace peercoll::bench
