// SPDX-License-Identifier: BSD-3-Clause
// Collectives that peercoll does not serve work on device memory: on every rank the send buffer, the receive buffer,
// both, or neither is on the device, or the call is in place; elements with and without gaps; blocking, nonblocking and
// persistent. Expected values are sums and numbers made of rank, block and element; gaps must stay as they were. Each
// call that uses device memory counts as staged, and no other one does.
#include "device_arrays.hpp"

#include <string>

namespace {

using test::Array;
using test::Form;
using test::Place;
using test::require;
using test::Shape;

constexpr int count = 37;  // elements of a block

struct Case {
    const test::Driver& driver;
    const Shape& shape;
    Form form;
    Place send;
    Place receive;
    bool in_place;
    MPI_Comm comm;
    int rank;
    int size;
    int root;
    const test::Total& staged;

    Array sent(int elements) const { return {driver, send, shape, elements}; }
    Array received(int elements) const { return {driver, receive, shape, elements}; }

    // `staged_here`: whether this rank's part uses device memory.
    void run(const std::string& what, bool staged_here, const test::Forms& forms, const std::function<void()>& prepare,
             const std::function<void()>& check) const {
        test::current_call() = std::string(test::name_of(form)) + " " + what + (in_place ? " in place" : "") +
                               " from " + (send == Place::device ? "device" : "host") + " to " +
                               (receive == Place::device ? "device" : "host") + ", " + shape.name;
        const auto before = staged.read();
        test::run(form, forms, prepare, check);
        const auto counted = staged.read() - before;
        require(counted == (staged_here ? 1 : 0), "%s: staged %llu times, expected %d", test::current_call().c_str(),
                counted, staged_here ? 1 : 0);
    }
    bool is_root() const { return rank == root; }
    bool uses_send() const { return !in_place && send == Place::device; }
    bool uses_receive() const { return receive == Place::device; }
};

// The datum `k` of element `e` that `from` has for `to`.
int number(int from, int to, int e, int k) {
    return from * 1000000 + to * 10000 + e * 4 + k;
}

int sum_of_numbers(int ranks, int to, int e, int k) {
    int sum = 0;
    for (int from = 0; from < ranks; ++from) {
        sum += number(from, to, e, k);
    }
    return sum;
}

// ---- One to all, all to one, all to all ----

void broadcast(const Case& c) {
    Array data = c.received(count);
    const bool served = c.form == Form::blocking && c.shape.stride == 1;
    c.run(
        "broadcast", c.uses_receive() && !served,
        TEST_FORMS(Bcast, Ibcast, data.address(), count, c.shape.type, c.root, c.comm),
        [&] { data.fill([&](int e, int k) { return number(c.rank, 0, e, k); }); },
        [&] { data.expect([&](int e, int k) { return number(c.root, 0, e, k); }); });
}

void gather(const Case& c) {
    Array mine = c.sent(count);
    Array all = c.received(c.is_root() ? count * c.size : 0);
    const bool in_place = c.in_place && c.is_root();
    // Elsewhere than at the root the receive arguments may be anything.
    void* receive = c.is_root() ? all.address() : reinterpret_cast<void*>(16);
    const auto prepare = [&] {
        mine.fill([&](int e, int k) { return number(c.rank, 0, e, k); });
        all.fill([&](int e, int k) {
            return in_place && e / count == c.rank ? number(c.rank, 0, e % count, k) : test::guard;
        });
    };
    const auto check = [&] { all.expect([&](int e, int k) { return number(e / count, 0, e % count, k); }); };
    const bool staged = (!in_place && c.send == Place::device) || (c.is_root() && c.uses_receive());
    const void* send = in_place ? MPI_IN_PLACE : mine.address();
    c.run("gather", staged,
          TEST_FORMS(Gather, Igather, send, count, c.shape.type, receive, count, c.shape.type, c.root, c.comm), prepare,
          check);
}

void scatter(const Case& c) {
    Array all = c.sent(c.is_root() ? count * c.size : 0);
    Array mine = c.received(count);
    const bool in_place = c.in_place && c.is_root();
    const void* send = c.is_root() ? all.address() : reinterpret_cast<void*>(16);
    void* receive = in_place ? MPI_IN_PLACE : mine.address();
    const bool staged = (!in_place && c.uses_receive()) || (c.is_root() && c.send == Place::device);
    c.run(
        "scatter", staged,
        TEST_FORMS(Scatter, Iscatter, send, count, c.shape.type, receive, count, c.shape.type, c.root, c.comm),
        [&] {
            all.fill([&](int e, int k) { return number(c.rank, e / count, e % count, k); });
            mine.fill(test::untouched);
        },
        [&] { mine.expect([&](int e, int k) { return in_place ? test::guard : number(c.root, c.rank, e, k); }); });
}

void allgather(const Case& c) {
    Array mine = c.sent(count);
    Array all = c.received(count * c.size);
    const void* send = c.in_place ? MPI_IN_PLACE : mine.address();
    c.run(
        "allgather", c.uses_send() || c.uses_receive(),
        TEST_FORMS(Allgather, Iallgather, send, count, c.shape.type, all.address(), count, c.shape.type, c.comm),
        [&] {
            mine.fill([&](int e, int k) { return number(c.rank, 0, e, k); });
            all.fill([&](int e, int k) {
                return c.in_place && e / count == c.rank ? number(c.rank, 0, e % count, k) : test::guard;
            });
        },
        [&] { all.expect([&](int e, int k) { return number(e / count, 0, e % count, k); }); });
}

void alltoall(const Case& c) {
    Array to_all = c.sent(count * c.size);
    Array from_all = c.received(count * c.size);
    const void* send = c.in_place ? MPI_IN_PLACE : to_all.address();
    const auto outgoing = [&](int e, int k) { return number(c.rank, e / count, e % count, k); };
    c.run(
        "alltoall", c.uses_send() || c.uses_receive(),
        TEST_FORMS(Alltoall, Ialltoall, send, count, c.shape.type, from_all.address(), count, c.shape.type, c.comm),
        [&] {
            to_all.fill(outgoing);
            from_all.fill(c.in_place ? test::Values(outgoing) : test::Values(test::untouched));
        },
        [&] { from_all.expect([&](int e, int k) { return number(e / count, c.rank, e % count, k); }); });
}

// ---- The same with a count for each rank, blocks in reverse order, and an element between them that is nobody's ----

struct Blocks {
    std::vector<int> counts;
    std::vector<int> displacements;
    int elements = 0;

    Blocks(int size, const std::function<int(int)>& count_of) : counts(size), displacements(size) {
        for (int rank = size - 1; rank >= 0; --rank) {
            counts[rank] = count_of(rank);
            displacements[rank] = elements;
            elements += counts[rank] + 1;
        }
    }
    // Value of an element by its block and place in it; between the blocks there is none.
    test::Values values(const std::function<int(int block, int e, int k)>& value) const {
        return [this, value](int element, int k) {
            for (std::size_t block = 0; block < counts.size(); ++block) {
                const int e = element - displacements[block];
                if (e >= 0 && e < counts[block]) {
                    return value(static_cast<int>(block), e, k);
                }
            }
            return test::guard;
        };
    }
};

int some(int rank) {
    return rank == 1 ? 0 : 5 + 3 * rank;
}

void gatherv(const Case& c) {
    const Blocks blocks(c.size, some);
    Array mine = c.sent(some(c.rank));
    Array all = c.received(c.is_root() ? blocks.elements : 0);
    const bool in_place = c.in_place && c.is_root();
    const void* send = in_place ? MPI_IN_PLACE : mine.address();
    const int* counts = c.is_root() ? blocks.counts.data() : nullptr;
    const int* displacements = c.is_root() ? blocks.displacements.data() : nullptr;
    const bool staged = (!in_place && c.send == Place::device && some(c.rank) > 0) || (c.is_root() && c.uses_receive());
    c.run(
        "gatherv", staged,
        TEST_FORMS(Gatherv, Igatherv, send, some(c.rank), c.shape.type, all.address(), counts, displacements,
                   c.shape.type, c.root, c.comm),
        [&] {
            mine.fill([&](int e, int k) { return number(c.rank, 0, e, k); });
            all.fill(blocks.values([&](int block, int e, int k) {
                return in_place && block == c.rank ? number(block, 0, e, k) : test::guard;
            }));
        },
        [&] { all.expect(blocks.values([](int from, int e, int k) { return number(from, 0, e, k); })); });
}

void scatterv(const Case& c) {
    const Blocks blocks(c.size, some);
    Array all = c.sent(c.is_root() ? blocks.elements : 0);
    Array mine = c.received(some(c.rank));
    const bool in_place = c.in_place && c.is_root();
    void* receive = in_place ? MPI_IN_PLACE : mine.address();
    const int* counts = c.is_root() ? blocks.counts.data() : nullptr;
    const int* displacements = c.is_root() ? blocks.displacements.data() : nullptr;
    const bool staged = (!in_place && c.uses_receive() && some(c.rank) > 0) || (c.is_root() && c.send == Place::device);
    c.run(
        "scatterv", staged,
        TEST_FORMS(Scatterv, Iscatterv, all.address(), counts, displacements, c.shape.type, receive, some(c.rank),
                   c.shape.type, c.root, c.comm),
        [&] {
            all.fill(blocks.values([&](int to, int e, int k) { return number(c.rank, to, e, k); }));
            mine.fill(test::untouched);
        },
        [&] { mine.expect([&](int e, int k) { return in_place ? test::guard : number(c.root, c.rank, e, k); }); });
}

void allgatherv(const Case& c) {
    const Blocks blocks(c.size, some);
    Array mine = c.sent(some(c.rank));
    Array all = c.received(blocks.elements);
    const void* send = c.in_place ? MPI_IN_PLACE : mine.address();
    c.run(
        "allgatherv", (c.uses_send() && some(c.rank) > 0) || c.uses_receive(),
        TEST_FORMS(Allgatherv, Iallgatherv, send, some(c.rank), c.shape.type, all.address(), blocks.counts.data(),
                   blocks.displacements.data(), c.shape.type, c.comm),
        [&] {
            mine.fill([&](int e, int k) { return number(c.rank, 0, e, k); });
            all.fill(blocks.values([&](int block, int e, int k) {
                return c.in_place && block == c.rank ? number(block, 0, e, k) : test::guard;
            }));
        },
        [&] { all.expect(blocks.values([](int from, int e, int k) { return number(from, 0, e, k); })); });
}

// The same number in both directions, as MPI wants it in place.
int between(int a, int b) {
    return (a + b) % 4 == 1 ? 0 : 2 + a + b;
}

void alltoallv(const Case& c) {
    const Blocks blocks(c.size, [&](int peer) { return between(c.rank, peer); });
    Array to_all = c.sent(blocks.elements);
    Array from_all = c.received(blocks.elements);
    const void* send = c.in_place ? MPI_IN_PLACE : to_all.address();
    const auto outgoing = blocks.values([&](int to, int e, int k) { return number(c.rank, to, e, k); });
    c.run(
        "alltoallv", c.uses_send() || c.uses_receive(),
        TEST_FORMS(Alltoallv, Ialltoallv, send, blocks.counts.data(), blocks.displacements.data(), c.shape.type,
                   from_all.address(), blocks.counts.data(), blocks.displacements.data(), c.shape.type, c.comm),
        [&] {
            to_all.fill(outgoing);
            from_all.fill(c.in_place ? outgoing : test::Values(test::untouched));
        },
        [&] { from_all.expect(blocks.values([&](int from, int e, int k) { return number(from, c.rank, e, k); })); });
}

void alltoallw(const Case& c) {
    const Blocks blocks(c.size, [&](int peer) { return between(c.rank, peer); });
    Array to_all = c.sent(blocks.elements);
    Array from_all = c.received(blocks.elements);
    const void* send = c.in_place ? MPI_IN_PLACE : to_all.address();
    std::vector<int> bytes(c.size);
    for (int peer = 0; peer < c.size; ++peer) {
        bytes[peer] = blocks.displacements[peer] * c.shape.stride * static_cast<int>(sizeof(int));
    }
    const std::vector<MPI_Datatype> types(c.size, c.shape.type);
    const auto outgoing = blocks.values([&](int to, int e, int k) { return number(c.rank, to, e, k); });
    c.run(
        "alltoallw", c.uses_send() || c.uses_receive(),
        TEST_FORMS(Alltoallw, Ialltoallw, send, blocks.counts.data(), bytes.data(), types.data(), from_all.address(),
                   blocks.counts.data(), bytes.data(), types.data(), c.comm),
        [&] {
            to_all.fill(outgoing);
            from_all.fill(c.in_place ? outgoing : test::Values(test::untouched));
        },
        [&] { from_all.expect(blocks.values([&](int from, int e, int k) { return number(from, c.rank, e, k); })); });
}

// ---- Reductions ----

void fill_input(const Case& c, Array& mine, Array& result) {
    const auto input = [&](int e, int k) { return number(c.rank, 0, e, k); };
    mine.fill(input);
    result.fill(c.in_place ? test::Values(input) : test::Values(test::untouched));
}

void allreduce(const Case& c) {
    Array mine = c.sent(count);
    Array result = c.received(count);
    const void* send = c.in_place ? MPI_IN_PLACE : mine.address();
    const bool served = c.form == Form::blocking && c.shape.stride == 1;
    c.run(
        "allreduce", (c.uses_send() || c.uses_receive()) && !served,
        TEST_FORMS(Allreduce, Iallreduce, send, result.address(), count, c.shape.type, c.shape.sum, c.comm),
        [&] { fill_input(c, mine, result); },
        [&] { result.expect([&](int e, int k) { return sum_of_numbers(c.size, 0, e, k); }); });
}

void reduce(const Case& c) {
    Array mine = c.sent(count);
    Array result = c.received(count);
    const bool in_place = c.in_place && c.is_root();
    const void* send = in_place ? MPI_IN_PLACE : mine.address();
    void* receive = c.is_root() ? result.address() : reinterpret_cast<void*>(16);
    const bool staged = (!in_place && c.send == Place::device) || (c.is_root() && c.uses_receive());
    c.run(
        "reduce", staged, TEST_FORMS(Reduce, Ireduce, send, receive, count, c.shape.type, c.shape.sum, c.root, c.comm),
        [&] { fill_input(c, mine, result); },
        [&] {
            if (c.is_root()) {
                result.expect([&](int e, int k) { return sum_of_numbers(c.size, 0, e, k); });
            }
        });
}

void scan(const Case& c) {
    Array mine = c.sent(count);
    Array result = c.received(count);
    const void* send = c.in_place ? MPI_IN_PLACE : mine.address();
    c.run(
        "scan", c.uses_send() || c.uses_receive(),
        TEST_FORMS(Scan, Iscan, send, result.address(), count, c.shape.type, c.shape.sum, c.comm),
        [&] { fill_input(c, mine, result); },
        [&] { result.expect([&](int e, int k) { return sum_of_numbers(c.rank + 1, 0, e, k); }); });
}

void exscan(const Case& c) {
    Array mine = c.sent(count);
    Array result = c.received(count);
    const void* send = c.in_place ? MPI_IN_PLACE : mine.address();
    c.run(
        "exscan", c.uses_send() || c.uses_receive(),
        TEST_FORMS(Exscan, Iexscan, send, result.address(), count, c.shape.type, c.shape.sum, c.comm),
        [&] { fill_input(c, mine, result); },
        [&] {
            // Rank 0 gets no result.
            if (c.rank > 0) {
                result.expect([&](int e, int k) { return sum_of_numbers(c.rank, 0, e, k); });
            } else if (!c.in_place) {
                result.expect(test::untouched);
            }
        });
}

void reduce_scatter_block(const Case& c) {
    Array mine = c.sent(count * c.size);
    Array result = c.received(c.in_place ? count * c.size : count);
    const void* send = c.in_place ? MPI_IN_PLACE : mine.address();
    c.run(
        "reduce_scatter_block", c.uses_send() || c.uses_receive(),
        TEST_FORMS(Reduce_scatter_block, Ireduce_scatter_block, send, result.address(), count, c.shape.type,
                   c.shape.sum, c.comm),
        [&] { fill_input(c, mine, result); },
        [&] {
            result.expect([&](int e, int k) {
                return e < count ? sum_of_numbers(c.size, 0, c.rank * count + e, k) : number(c.rank, 0, e, k);
            });
        });
}

void reduce_scatter(const Case& c) {
    std::vector<int> counts(c.size);
    int all = 0;
    int before = 0;
    for (int rank = 0; rank < c.size; ++rank) {
        counts[rank] = 4 + 3 * rank;
        before += rank < c.rank ? counts[rank] : 0;
        all += counts[rank];
    }
    const int own = counts[c.rank];
    Array mine = c.sent(all);
    Array result = c.received(c.in_place ? all : own);
    const void* send = c.in_place ? MPI_IN_PLACE : mine.address();
    c.run(
        "reduce_scatter", c.uses_send() || c.uses_receive(),
        TEST_FORMS(Reduce_scatter, Ireduce_scatter, send, result.address(), counts.data(), c.shape.type, c.shape.sum,
                   c.comm),
        [&] { fill_input(c, mine, result); },
        [&] {
            result.expect([&](int e, int k) {
                return e < own ? sum_of_numbers(c.size, 0, before + e, k) : number(c.rank, 0, e, k);
            });
        });
}

}  // namespace

int main(int argc, char** argv) {
    const test::Mpi mpi(&argc, &argv);
    const test::Driver driver;
    const test::Total staged("coll_peercoll_staged");
    require(staged.exists(), "the peercoll component is not loaded");
    const test::Shapes shapes;
    const std::vector<void (*)(const Case&)> collectives = {
        broadcast,     gather,   scatter,    allgather, alltoall,
        gatherv,       scatterv, allgatherv, alltoallv, alltoallw,
        allreduce,     reduce,   scan,       exscan,    reduce_scatter_block,
        reduce_scatter};
    const int rank = test::rank_of(MPI_COMM_WORLD);
    const int size = test::size_of(MPI_COMM_WORLD);
    const Place mine = rank % 2 == 0 ? Place::device : Place::host;
    const Place other = rank % 2 == 0 ? Place::host : Place::device;
    struct Buffers {
        Place send;
        Place receive;
        bool in_place;
    };
    const std::vector<Buffers> kinds = {
        {Place::host, Place::host, false},
        {Place::device, Place::host, false},
        {Place::host, Place::device, false},
        {Place::device, Place::device, false},
        {Place::host, Place::host, true},
        {Place::device, Place::device, true},
        {mine, other, false},  // not the same on all ranks
    };
    for (const Form form : {Form::blocking, Form::nonblocking, Form::persistent}) {
        for (const Shape& shape : shapes.all) {
            for (const Buffers& buffers : kinds) {
                const Case c{driver,         shape, form, buffers.send, buffers.receive, buffers.in_place,
                             MPI_COMM_WORLD, rank,  size, size - 1,     staged};
                for (const auto collective : collectives) {
                    collective(c);
                }
            }
        }
    }
    test::passed("collectives on device memory are staged");
    return 0;
}
