// SPDX-License-Identifier: BSD-3-Clause
// transport_over_hosts TRANSPORT exchange|cut: the UCX transport between the processes of an MPI job over several
// hosts. MPI only carries addresses and barriers.
//   exchange  messages of 0 B to 64 MiB between each two neighbours of a ring, and small ones between all; then close
//   cut       rank 0 waits for the last rank, whose host's link goes down as soon as the file
//   LABORATORY_FOLDER/connected
//             is there: an error, not a hang
#include "plugin/ucx/transport.h"

#include <mpi.h>

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const char* what, const char* why) {
    std::fprintf(stderr, "transport_over_hosts: %s: %s\n", what, why);
    std::fflush(nullptr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::_Exit(1);
}

struct Job {
    int rank = 0;
    int size = 0;
    const peercoll_transport_t* transport = nullptr;
    peercoll_wire_t wire = nullptr;
    std::vector<peercoll_wire_peer_t> peers;
    peercoll_reason_t reason = {};

    void expect(bool good, const char* what) {
        if (!good) fail(what, reason.text);
    }
    void open(const char* file) {
        void* library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) fail("opening the transport", ::dlerror());
        transport = static_cast<const peercoll_transport_t*>(::dlsym(library, PEERCOLL_TRANSPORT_SYMBOL));
        if (transport == nullptr) fail("opening the transport", "its symbol is not there");
        peercoll_wire_options_t options = {};
        options.struct_size = sizeof options;
        options.processes = static_cast<std::uint32_t>(size);
        expect(transport->open(&options, &wire, &reason) == PEERCOLL_SUCCESS, "open");

        struct Card {
            std::size_t bytes;
            std::array<char, 1016> address;
        };
        Card mine = {};
        const void* address = transport->address(wire, &mine.bytes);
        expect(mine.bytes <= mine.address.size(), "address");
        std::memcpy(mine.address.data(), address, mine.bytes);
        std::vector<Card> all(static_cast<std::size_t>(size));
        MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
        for (std::size_t other = 0; other < all.size(); ++other) {
            const peercoll_process_key_t key = {{other, 0}};
            expect(transport->peer(wire, &key, all[other].address.data(), all[other].bytes, 0, &peers.emplace_back(),
                                   &reason) == PEERCOLL_SUCCESS,
                   "peer");
        }
    }
    peercoll_transfer_t send(int to, std::uint32_t stage, const void* data, std::size_t bytes) {
        const peercoll_message_t message = {1, 0, static_cast<std::uint32_t>(rank), stage};
        peercoll_transfer_t transfer = nullptr;
        expect(transport->send(wire, peers[static_cast<std::size_t>(to)], &message, PEERCOLL_WIRE_HOST, data, bytes,
                               &transfer, &reason) == PEERCOLL_SUCCESS,
               "send");
        return transfer;
    }
    peercoll_transfer_t receive(int from, std::uint32_t stage, void* data, std::size_t bytes) {
        const peercoll_message_t message = {1, 0, static_cast<std::uint32_t>(from), stage};
        peercoll_transfer_t transfer = nullptr;
        expect(transport->receive(wire, peers[static_cast<std::size_t>(from)], &message, PEERCOLL_WIRE_HOST, data,
                                  bytes, &transfer, &reason) == PEERCOLL_SUCCESS,
               "receive");
        return transfer;
    }
    peercoll_status_t wait(peercoll_transfer_t transfer, std::chrono::seconds limit) {
        const auto end = Clock::now() + limit;
        for (;;) {
            const peercoll_status_t status = transport->test(wire, &transfer, &reason);
            if (status != PEERCOLL_ERR_BUSY || Clock::now() > end) return status;
            if (transport->progress(wire) == 0) ::sched_yield();
        }
    }
    void wait_well(peercoll_transfer_t transfer) {
        expect(wait(transfer, std::chrono::seconds(60)) == PEERCOLL_SUCCESS, "a transfer");
    }
    // All ranks have got here; the wire goes on meanwhile.
    void barrier() {
        MPI_Request request;
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        for (int done = 0; done == 0;) {
            transport->progress(wire);
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            ::sched_yield();
        }
    }
    void close() {
        transport->close_begin(wire);
        for (const auto end = Clock::now() + std::chrono::seconds(20); transport->busy(wire) != 0;) {
            expect(Clock::now() < end, "close_begin does not come to an end");
            if (transport->progress(wire) == 0) ::sched_yield();
        }
        barrier();
        expect(transport->close(wire, 10, &reason) == PEERCOLL_SUCCESS, "close");
    }
};

std::uint64_t element(int from, std::size_t bytes, std::size_t index) {
    return (static_cast<std::uint64_t>(from) << 48) ^ (bytes * 0x9E3779B97F4A7C15u) ^ index;
}

void exchange(Job& job) {
    const int right = (job.rank + 1) % job.size;
    const int left = (job.rank + job.size - 1) % job.size;
    std::uint32_t stage = 0;
    for (std::size_t bytes = 0; bytes <= std::size_t{64} << 20; bytes = bytes == 0 ? 8 : bytes * 8, ++stage) {
        const std::size_t count = bytes / sizeof(std::uint64_t);
        std::vector<std::uint64_t> mine(count);
        std::vector<std::uint64_t> theirs(count);
        for (std::size_t i = 0; i < count; ++i) mine[i] = element(job.rank, bytes, i);
        peercoll_transfer_t receiving = job.receive(left, stage, theirs.data(), bytes);
        peercoll_transfer_t sending = job.send(right, stage, mine.data(), bytes);
        job.wait_well(receiving);
        job.wait_well(sending);
        for (std::size_t i = 0; i < count; ++i) {
            if (theirs[i] != element(left, bytes, i)) fail("a message", "its data is wrong");
        }
    }
    std::vector<int> greetings(static_cast<std::size_t>(job.size), -1);
    std::vector<peercoll_transfer_t> transfers;
    for (int other = 0; other < job.size; ++other) {
        transfers.push_back(job.receive(other, stage, &greetings[static_cast<std::size_t>(other)], sizeof(int)));
        transfers.push_back(job.send(other, stage, &job.rank, sizeof(int)));
    }
    for (peercoll_transfer_t transfer : transfers) job.wait_well(transfer);
    for (int other = 0; other < job.size; ++other) {
        if (greetings[static_cast<std::size_t>(other)] != other) fail("a greeting", "it is another rank's");
    }
    job.close();
    if (job.rank == 0) std::printf("exchanged\n");
}

void wait_for_a_host_that_is_cut_off(Job& job) {
    const int last = job.size - 1;
    int word = job.rank;
    if (job.rank == last) {
        job.wait_well(job.send(0, 0, &word, sizeof word));
        ::pause();  // mpirun, or the laboratory, ends it
    }
    if (job.rank != 0) ::pause();
    job.wait_well(job.receive(last, 0, &word, sizeof word));
    if (word != last) fail("the first message", "it is wrong");
    peercoll_transfer_t never = job.receive(last, 1, &word, sizeof word);
    std::ofstream(std::string(std::getenv("LABORATORY_FOLDER")) + "/connected").put('\n');
    // UCX itself may not notice for many minutes; a caller that has lost its patience says so.
    const peercoll_status_t noticed = job.wait(never, std::chrono::seconds(5));
    peercoll_status_t status = noticed;
    if (noticed == PEERCOLL_ERR_BUSY) {
        job.transport->drop_peer(job.wire, job.peers[static_cast<std::size_t>(last)]);
        status = job.transport->test(job.wire, &never, &job.reason);
    }
    const auto start = Clock::now();
    peercoll_reason_t reason = {};
    const peercoll_status_t closed = job.transport->close(job.wire, 10, &reason);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    std::printf("status %d (%s), then %d from close after %.1f s: %s\n", static_cast<int>(status), job.reason.text,
                static_cast<int>(closed), seconds, reason.text);
    const bool good = status == PEERCOLL_ERR_PEER_LOST && closed == PEERCOLL_SUCCESS;
    std::printf(good ? "told that the peer is lost\n" : "NOT told that the peer is lost\n");
    std::fflush(nullptr);
    // The job cannot end in an orderly way without its host.
    MPI_Abort(MPI_COMM_WORLD, good ? 3 : 1);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    Job job;
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.size);
    const std::string what = argc == 3 ? argv[2] : "";
    if (what != "exchange" && what != "cut") fail("arguments", "expected TRANSPORT exchange|cut");
    job.open(argv[1]);
    if (what == "exchange") {
        exchange(job);
    } else {
        wait_for_a_host_that_is_cut_off(job);
    }
    MPI_Finalize();
    return 0;
}
