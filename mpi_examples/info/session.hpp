// SPDX-License-Identifier: BSD-3-Clause
// A context and a communicator of libpeercoll over MPI_COMM_WORLD, made as any program with an allgather would.
#pragma once

#include "mpi_examples/devices/device.hpp"

#include <peercoll/peercoll.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace peercoll::info {

// A call of the library failed; the sentence is the library's.
class Failure : public std::runtime_error {
public:
    Failure(const std::string& what, peercoll_status_t status);
    peercoll_status_t status() const { return status_; }

private:
    peercoll_status_t status_;
};

// Throws unless `status` is success.
void require(peercoll_status_t status, const std::string& what);

// This rank's device, as a program that computes on it would have it; or why there is none.
struct RankDevice {
    std::unique_ptr<devices::Device> device;
    std::string why_not;
};
RankDevice take_device(int rank);

class Session {
public:
    // Throws Failure. The options are those of the job: PEERCOLL_* as always, and MCA parameters coll_peercoll_* where
    // they are in the environment, as mpirun's --mca puts them.
    Session(int rank, int ranks);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    peercoll_context_t context() const { return context_; }
    peercoll_comm_t comm() const { return comm_; }

    // A few collectives of a few sizes, so that there is something to tell; in memory of `device` too, unless it is
    // nullptr. False if this communicator is not served (on all ranks alike); then `why` says why. Throws Failure on
    // anything else, wrong results included.
    bool try_collectives(devices::Device* device, std::string& why) const;

private:
    int rank_;
    int ranks_;
    peercoll_context_t context_ = nullptr;
    peercoll_comm_t comm_ = nullptr;
};

}  // namespace peercoll::info
