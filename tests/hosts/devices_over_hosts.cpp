// SPDX-License-Identifier: BSD-3-Clause
// devices_over_hosts: allreduce and broadcast of an MPI job over several hosts whose buffers are on simulated devices,
// with host buffers on every second rank, too. Sums of integers are exact. What was served is read from MPI_T: nothing
// was passed on, and no processor touched device memory (on the simulated node it would get a fault).
#include "tests/mpi/device_memory.hpp"

#include <cstdint>
#include <numeric>
#include <vector>

namespace {

using test::require;

// Which ranks' buffers are on their device.
enum class Places : std::uint8_t { AllDevices, EvenRanksDevices };

// A buffer of integers on the device or the host.
class Buffer {
public:
    Buffer(const test::Driver& driver, bool on_device, std::size_t count)
        : driver_(driver), host_(count), device_(on_device ? driver.allocate(bytes()) : nullptr) {}
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() {
        if (device_ != nullptr) driver_.free(device_);
    }
    void* address() { return device_ != nullptr ? device_ : host_.data(); }
    void write(const std::vector<std::int64_t>& values) {
        host_ = values;
        if (device_ != nullptr) driver_.upload(device_, host_.data(), bytes());
    }
    const std::vector<std::int64_t>& read() {
        if (device_ != nullptr) driver_.download(host_.data(), device_, bytes());
        return host_;
    }

private:
    std::size_t bytes() const { return host_.size() * sizeof(std::int64_t); }

    const test::Driver& driver_;
    std::vector<std::int64_t> host_;
    void* device_;
};

std::vector<std::int64_t> numbers(int rank, std::size_t count) {
    std::vector<std::int64_t> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = (rank + 1) * std::int64_t{1000003} + static_cast<std::int64_t>(i) * (rank + 7);
    return values;
}

void expect_equal(const std::vector<std::int64_t>& got, const std::vector<std::int64_t>& expected, const char* what) {
    for (std::size_t i = 0; i < got.size(); ++i)
        require(got[i] == expected[i], "%s of %zu elements: element %zu is %lld, expected %lld", what, got.size(), i,
                static_cast<long long>(got[i]), static_cast<long long>(expected[i]));
}

}  // namespace

int main(int argc, char** argv) {
    const test::Mpi mpi(&argc, &argv);
    const test::Driver driver;
    const test::Totals totals;
    const int rank = test::rank_of(MPI_COMM_WORLD);
    const int size = test::size_of(MPI_COMM_WORLD);
    unsigned long long calls = 0;
    unsigned long long broadcasts = 0;
    // One, a few, and several chunks between the hosts with a rest.
    for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{400001}}) {
        for (const Places places : {Places::AllDevices, Places::EvenRanksDevices}) {
            const bool on_device = places == Places::AllDevices || rank % 2 == 0;
            Buffer send(driver, on_device, count);
            Buffer receive(driver, on_device, count);
            std::vector<std::int64_t> sums(count, 0);
            for (int from = 0; from < size; ++from) {
                const std::vector<std::int64_t> theirs = numbers(from, count);
                for (std::size_t i = 0; i < count; ++i) sums[i] += theirs[i];
            }
            send.write(numbers(rank, count));
            receive.write(std::vector<std::int64_t>(count, -1));
            MPI_Allreduce(send.address(), receive.address(), static_cast<int>(count), MPI_INT64_T, MPI_SUM,
                          MPI_COMM_WORLD);
            expect_equal(receive.read(), sums, "an allreduce");
            expect_equal(send.read(), numbers(rank, count), "what an allreduce read");
            MPI_Allreduce(MPI_IN_PLACE, send.address(), static_cast<int>(count), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
            expect_equal(send.read(), sums, "an allreduce in place");
            calls += 2;
            for (int root = 0; root < size; ++root) {
                receive.write(rank == root ? numbers(root, count) : std::vector<std::int64_t>(count, -1));
                MPI_Bcast(receive.address(), static_cast<int>(count), MPI_INT64_T, root, MPI_COMM_WORLD);
                expect_equal(receive.read(), numbers(root, count), "a broadcast");
                ++broadcasts;
            }
        }
    }
    require(totals.allreduce_served.read() == calls, "%llu allreduces were served, expected %llu",
            totals.allreduce_served.read(), calls);
    require(totals.broadcast_served.read() == broadcasts, "%llu broadcasts were served, expected %llu",
            totals.broadcast_served.read(), broadcasts);
    require(totals.allreduce_passed_on.read() == 0 && totals.broadcast_passed_on.read() == 0, "calls were passed on");
    test::passed("device memory over hosts");
    return 0;
}
