// SPDX-License-Identifier: BSD-3-Clause
// An MPI program whose buffers are device memory, on an MPI that knows nothing of devices: right sums and broadcasts,
// and totals that say that the blocking ones were served and not passed on. Nonblocking ones are Open MPI's own,
// staged.
#include "device_memory.hpp"

#include <vector>

namespace {

using test::require;

class DeviceArray {
public:
    DeviceArray(const test::Driver& driver, int count)
        : driver_(&driver),
          bytes_(static_cast<std::size_t>(count) * sizeof(double)),
          memory_(driver.allocate(bytes_)) {}
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    ~DeviceArray() { driver_->free(memory_); }

    void* address() const { return memory_; }
    void fill(int rank) const {
        std::vector<double> values(bytes_ / sizeof(double));
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = rank + static_cast<double>(i);
        }
        driver_->upload(memory_, values.data(), bytes_);
    }
    // Element i is factor * i + constant.
    void expect(int factor, int constant, const char* call) const {
        std::vector<double> values(bytes_ / sizeof(double));
        driver_->download(values.data(), memory_, bytes_);
        for (std::size_t i = 0; i < values.size(); ++i) {
            require(values[i] == factor * static_cast<double>(i) + constant, "element %zu of %s is %g", i, call,
                    values[i]);
        }
    }

private:
    const test::Driver* driver_;
    std::size_t bytes_;
    void* memory_;
};

constexpr int counts[] = {1, 1'000, 100'001};

void use(const test::Driver& driver, MPI_Comm comm) {
    const int rank = test::rank_of(comm);
    const int size = test::size_of(comm);
    const int sum = size * (size - 1) / 2;
    for (const int count : counts) {
        const DeviceArray mine(driver, count);
        const DeviceArray result(driver, count);
        mine.fill(rank);
        MPI_Allreduce(mine.address(), result.address(), count, MPI_DOUBLE, MPI_SUM, comm);
        result.expect(size, sum, "MPI_Allreduce");
        mine.expect(1, rank, "the input");
        MPI_Allreduce(MPI_IN_PLACE, mine.address(), count, MPI_DOUBLE, MPI_SUM, comm);
        mine.expect(size, sum, "MPI_Allreduce in place");
        const int root = count % size;
        mine.fill(rank);
        MPI_Bcast(mine.address(), count, MPI_DOUBLE, root, comm);
        mine.expect(1, root, "MPI_Bcast");
        MPI_Request requests[2];
        result.fill(rank);
        mine.fill(rank);
        MPI_Iallreduce(MPI_IN_PLACE, result.address(), count, MPI_DOUBLE, MPI_SUM, comm, &requests[0]);
        MPI_Ibcast(mine.address(), count, MPI_DOUBLE, root, comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        result.expect(size, sum, "MPI_Iallreduce");
        mine.expect(1, root, "MPI_Ibcast");
    }
}

}  // namespace

int main(int argc, char** argv) {
    const test::Mpi mpi(&argc, &argv);
    const test::Totals totals;
    require(totals.allreduce_served.exists(), "the peercoll component is not loaded");
    {
        const test::Driver driver;
        use(driver, MPI_COMM_WORLD);
        MPI_Comm copy = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        use(driver, copy);
        MPI_Comm_free(&copy);
    }
    require(totals.allreduce_served.read() == 12, "%llu allreduces were served", totals.allreduce_served.read());
    require(totals.broadcast_served.read() == 6, "%llu broadcasts were served", totals.broadcast_served.read());
    require(totals.allreduce_passed_on.read() == 0, "%llu allreduces were passed on",
            totals.allreduce_passed_on.read());
    require(totals.broadcast_passed_on.read() == 0, "%llu broadcasts were passed on",
            totals.broadcast_passed_on.read());
    test::passed("device collectives");
    return 0;
}
