// SPDX-License-Identifier: BSD-3-Clause
// What a collective costs at the vendor's library, counted: allocations, imports, enabled peers, registrations, work
// given to devices, and waits, by all ranks together. The same case runs on one vendor after another: HIP and Ascend
// need no more than CUDA, and no vendor is asked for memory, mappings or peers again by a second call.
#include "tests/device_collectives/device_rank.hpp"
#include "tests/support/plugin.hpp"
#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <map>
#include <new>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

constexpr std::array<const char*, 11> kinds{
    "allocation", "host_allocation", "host_registration", "export", "import", "enable", "stream", "launch",
    "copy",       "reduction",       "synchronisation"};
// What is made once, and must not be made again by the second call.
constexpr std::array<const char*, 7> made_once{"allocation", "host_allocation", "host_registration", "export", "import",
                                               "enable",     "stream"};

using Counts = std::map<std::string, std::uint64_t>;

struct Case {
    const char* name;
    int ranks;
    int devices;
    std::size_t count;  // floats
    bool broadcast;
    const char* algorithm;
};

std::ostream& operator<<(std::ostream& out, const Case& one) {
    return out << one.name;
}

// Of all ranks together, from one moment at which all meet to the next.
class Meter {
public:
    Meter(const Rank& rank, const Application& application) : rank_(rank), application_(&application) { take(); }

    Counts since_last() {
        const std::array<std::uint64_t, kinds.size()> before = last_;
        take();
        std::array<std::uint64_t, kinds.size()> mine{};
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            mine[i] = last_[i] - before[i];
        }
        std::vector<std::array<std::uint64_t, kinds.size()>> all(static_cast<std::size_t>(rank_.size()));
        EXPECT_TRUE(rank_.exchange(exchange).allgather(mine.data(), all.data(), sizeof(mine)));
        Counts sum;
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            for (const auto& one : all) {
                sum[kinds[i]] += one[i];
            }
        }
        take();
        return sum;
    }

private:
    static constexpr int exchange = 2;
    void take() {
        EXPECT_TRUE(rank_.exchange(exchange).meet());  // nobody is still at work
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            last_[i] = application_->calls(kinds[i]);
        }
        EXPECT_TRUE(rank_.exchange(exchange).meet());
    }

    Rank rank_;
    const Application* application_;
    std::array<std::uint64_t, kinds.size()> last_{};
};

struct Calls {
    Counts first;
    Counts second;
};

// The collective alone: the application's own copies are between the meter's moments.
peercoll_status_t call(const Case& wanted, const TestMemory& memory, const Comm& comm) {
    if (wanted.broadcast) {
        return plugin.broadcast(memory.address(), wanted.count * sizeof(float), 0, comm.get());
    }
    return plugin.allreduce(memory.address(), memory.address(), wanted.count, PEERCOLL_FLOAT32, PEERCOLL_SUM,
                            comm.get());
}

// Rank r has r + 1 + i % 100 at i: small whole numbers, whose sums are exact.
void fill(const TestMemory& memory, const Case& wanted, int rank) {
    std::vector<float> values(wanted.count);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(rank + 1 + static_cast<int>(i % 100));
    }
    memory.write(0, values.data(), values.size() * sizeof(float));
}

void expect_result(const TestMemory& memory, const Case& wanted) {
    std::vector<float> values(wanted.count);
    memory.read(0, values.data(), values.size() * sizeof(float));
    const int ranks = wanted.ranks;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const int at = static_cast<int>(i % 100);
        const int expected = wanted.broadcast ? 1 + at : ranks * (ranks + 1) / 2 + ranks * at;
        ASSERT_EQ(values[i], static_cast<float>(expected)) << "element " << i;
    }
}

// Counts of the first and the second call, as rank 0 leaves them for the parent.
class Report {
public:
    Report() {
        void* const memory =
            ::mmap(nullptr, sizeof(Numbers), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            throw std::bad_alloc();
        }
        numbers_ = static_cast<Numbers*>(memory);
    }
    ~Report() { ::munmap(numbers_, sizeof(Numbers)); }
    Report(const Report&) = delete;
    Report& operator=(const Report&) = delete;

    void write(const Counts& first, const Counts& second) {
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            (*numbers_)[0][i] = first.at(kinds[i]);
            (*numbers_)[1][i] = second.at(kinds[i]);
        }
    }
    Counts call(std::size_t number) const {
        Counts counts;
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            counts[kinds[i]] = (*numbers_)[number][i];
        }
        return counts;
    }

private:
    using Numbers = std::array<std::array<std::uint64_t, kinds.size()>, 2>;
    Numbers* numbers_;
};

// Three calls: the first one maps; a second and a third one need the same. Devices from 1 on, whose use every vendor
// tells (late_devices_test.cpp).
Calls measure(const Case& wanted, const Face& on) {
    SCOPED_TRACE(std::string(on.name));
    Report report;
    run_ranks(wanted.ranks, [&](Rank& rank) {
        const DeviceRank process(rank, machine_with(wanted.devices + 1), 1 + rank.rank() % wanted.devices, on);
        const TestMemory memory(&process.application(), Memory::Device, wanted.count * sizeof(float));
        fill(memory, wanted, rank.rank());
        const Context context(
            {std::string("device_algorithm=") + wanted.algorithm, "groups=none", "peer_check=1s", "log=error"});
        const Comm comm(context, rank.exchange());
        Meter meter(rank, process.application());
        std::array<Counts, 3> counts;
        for (Counts& one : counts) {
            EXPECT_TRUE(succeeded(call(wanted, memory, comm)));
            one = meter.since_last();
            expect_result(memory, wanted);
            fill(memory, wanted, rank.rank());
            (void)meter.since_last();  // the application's own
        }
        EXPECT_EQ(counts[1], counts[2]) << "a third call costs what a second one does";
        for (const char* kind : made_once) {
            EXPECT_EQ(counts[1].at(kind), 0U) << kind << " in the second call";
        }
        expect_all(context, wanted.broadcast ? "broadcast" : "allreduce", 3, std::string(wanted.algorithm) != "staged");
        if (rank.rank() == 0) {
            report.write(counts[0], counts[1]);
        }
    });
    return {report.call(0), report.call(1)};
}

std::string text_of(const Counts& counts) {
    std::string line;
    for (const char* kind : kinds) {
        line += std::string(line.empty() ? "" : ", ") + kind + " " + std::to_string(counts.at(kind));
    }
    return line;
}

// How often a vendor may call for something in the first call or a later one, where CUDA does `theirs` times. No more,
// but for what the vendor's interface leaves no other way to do:
std::uint64_t allowed(const Face& on, const std::string& kind, bool first, const Case& wanted, const Calls& cuda) {
    const Counts& theirs = first ? cuda.first : cuda.second;
    const std::uint64_t executors = cuda.second.at("launch");
    const auto ranks = static_cast<std::uint64_t>(wanted.ranks);
    std::uint64_t more = 0;
    if (on.vendor == Vendor::Hip && kind == "synchronisation") {
        // Being told that a stream has come to its end writes no caches back: the end of what a processor or another
        // process is to read is waited for, at most once for each kernel and copy.
        more += theirs.at("launch") + theirs.at("copy");
        // ROCm before 5.5 cannot make "synchronous" copies so once and for all: each rank waits for its own each time.
        more += on.name == "hip_5" ? ranks : 0;
    }
    if (on.vendor == Vendor::Ascend) {
        // No kernels: for each of CUDA's, every input is brought near, folded into scratch memory by the copy engine
        // (one reduction less than inputs), and copied to every output. A broadcast is a copy to every output.
        if (kind == "copy") more += theirs.at("launch") * 2 * ranks;
        if (kind == "reduction" && !wanted.broadcast) more += executors * (ranks - 1);
        if (first && !wanted.broadcast) {
            // Scratch memory in three parts, and the reduction tried once by each executor, on a stream and in three
            // pieces of memory of its own.
            if (kind == "allocation") more += executors * 6;
            if (kind == "stream" || kind == "reduction") more += executors;
        }
        // The host's copies from and to memory of another process, as a proof makes them, go through memory of this
        // one's and wait for their first half.
        if (first && kind == "allocation") more += ranks;
        if (first && kind == "synchronisation") more += theirs.at("launch");
    }
    return theirs.at(kind) + more;
}

class BackendCalls : public testing::TestWithParam<Case> {};

TEST_P(BackendCalls, OfHipAndAscendAreNoMoreThanThoseOfCuda) {
    const Case& wanted = GetParam();
    const Calls cuda = measure(wanted, face_named("cuda"));
    for (const char* other : {"hip_5", "hip_6", "hip_7", "ascend"}) {
        const Face& on = face_named(other);
        const Calls calls = measure(wanted, on);
        for (const bool first : {true, false}) {
            const Counts& mine = first ? calls.first : calls.second;
            SCOPED_TRACE(std::string(first ? "first call on " : "second call on ") + other + ": " + text_of(mine) +
                         "\nand on cuda: " + text_of(first ? cuda.first : cuda.second));
            for (const char* kind : kinds) {
                EXPECT_LE(mine.at(kind), allowed(on, kind, first, wanted, cuda)) << kind;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, BackendCalls,
                         testing::Values(Case{"allreduce_on_one_device", 3, 1, 1'000, false, "auto"},
                                         Case{"allreduce_on_two_devices", 4, 2, 1'000, false, "auto"},
                                         Case{"large_allreduce_on_two_devices", 4, 2, 200'000, false, "auto"},
                                         Case{"broadcast_on_one_device", 3, 1, 1'000, true, "auto"},
                                         Case{"broadcast_on_two_devices", 4, 2, 200'000, true, "auto"},
                                         Case{"staged_allreduce", 3, 2, 1'000, false, "staged"},
                                         Case{"staged_broadcast", 3, 2, 200'000, true, "staged"}),
                         [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace peercoll::test
