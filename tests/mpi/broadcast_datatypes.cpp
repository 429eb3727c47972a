// SPDX-License-Identifier: BSD-3-Clause
// MPI_Bcast from every root where each rank describes the same integers by another datatype: gaps, negative lower
// bounds, absolute addresses from MPI_BOTTOM, reversed order. Every integer must arrive where the receiver's datatype
// says, and nothing else may be touched.
#include "support.hpp"

#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

namespace {

using test::require;

constexpr int untouched = 0x5a5a5a5a;
const test::Totals* totals = nullptr;

// Memory of one rank and how MPI is told about it.
struct Layout {
    std::vector<int> storage;
    void* buffer = nullptr;
    int count = 0;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;  // committed; freed by the user of the layout
    std::vector<int> place;                     // of each transferred integer in storage
};

MPI_Aint address(const void* pointer) {
    MPI_Aint result = 0;
    MPI_Get_address(pointer, &result);
    return result;
}

std::vector<int> every(int number, int first, int step) {
    std::vector<int> places(number);
    for (int i = 0; i < number; ++i) {
        places[i] = first + i * step;
    }
    return places;
}

// Integers in a row, as `count` of them.
void plain(Layout& layout, int number) {
    MPI_Type_dup(MPI_INT, &layout.datatype);
    layout.buffer = layout.storage.data();
    layout.count = number;
    layout.place = every(number, 0, 1);
}

void one_contiguous_type(Layout& layout, int number) {
    MPI_Type_contiguous(number, MPI_INT, &layout.datatype);
    layout.buffer = layout.storage.data();
    layout.count = 1;
    layout.place = every(number, 0, 1);
}

void vector_with_gaps(Layout& layout, int number) {
    MPI_Type_vector(number, 1, 3, MPI_INT, &layout.datatype);
    layout.buffer = layout.storage.data();
    layout.count = 1;
    layout.place = every(number, 0, 3);
}

void resized_to_three(Layout& layout, int number) {
    MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &layout.datatype);
    layout.buffer = layout.storage.data();
    layout.count = number;
    layout.place = every(number, 0, 3);
}

void negative_lower_bound(Layout& layout, int number) {
    MPI_Type_create_resized(MPI_INT, -static_cast<MPI_Aint>(sizeof(int)), 2 * sizeof(int), &layout.datatype);
    layout.buffer = layout.storage.data() + 1;
    layout.count = number;
    layout.place = every(number, 1, 2);
}

void negative_displacements(Layout& layout, int number) {
    MPI_Type_create_hvector(number, 1, -static_cast<MPI_Aint>(sizeof(int)), MPI_INT, &layout.datatype);
    layout.buffer = layout.storage.data() + number - 1;
    layout.count = 1;
    layout.place = every(number, number - 1, -1);
}

void contiguous_behind_the_buffer(Layout& layout, int number) {
    const MPI_Aint displacement = 4 * sizeof(int);
    MPI_Type_create_hindexed(1, &number, &displacement, MPI_INT, &layout.datatype);
    layout.buffer = layout.storage.data();
    layout.count = 1;
    layout.place = every(number, 4, 1);
}

void contiguous_before_the_buffer(Layout& layout, int number) {
    const MPI_Aint displacement = -static_cast<MPI_Aint>(number * sizeof(int));
    MPI_Type_create_hindexed(1, &number, &displacement, MPI_INT, &layout.datatype);
    layout.buffer = layout.storage.data() + number;
    layout.count = 1;
    layout.place = every(number, 0, 1);
}

void absolute_address(Layout& layout, int number) {
    const MPI_Aint displacement = address(layout.storage.data());
    MPI_Type_create_hindexed(1, &number, &displacement, MPI_INT, &layout.datatype);
    layout.buffer = MPI_BOTTOM;
    layout.count = 1;
    layout.place = every(number, 0, 1);
}

void absolute_addresses_reversed(Layout& layout, int number) {
    std::vector<int> lengths(number, 1);
    std::vector<MPI_Aint> displacements(number);
    for (int i = 0; i < number; ++i) {
        displacements[i] = address(&layout.storage[2 * (number - 1 - i)]);
    }
    MPI_Type_create_hindexed(number, lengths.data(), displacements.data(), MPI_INT, &layout.datatype);
    layout.buffer = MPI_BOTTOM;
    layout.count = 1;
    layout.place = every(number, 2 * (number - 1), -2);
}

// Fills its memory without gaps, but not in order: each pair is swapped.
void swapped_pairs(Layout& layout, int number) {
    const int lengths[] = {1, 1};
    const MPI_Aint displacements[] = {sizeof(int), 0};
    MPI_Datatype types[] = {MPI_INT, MPI_INT};
    MPI_Type_create_struct(2, lengths, displacements, types, &layout.datatype);
    layout.buffer = layout.storage.data();
    layout.count = number / 2;
    layout.place.resize(number);
    for (int i = 0; i < number; ++i) {
        layout.place[i] = i ^ 1;
    }
}

// { int; 4 bytes of nothing; int; 4 bytes of nothing }
void structs_with_padding(Layout& layout, int number) {
    const int lengths[] = {1, 1};
    const MPI_Aint displacements[] = {0, 2 * sizeof(int)};
    MPI_Datatype types[] = {MPI_INT, MPI_INT};
    MPI_Datatype packed = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths, displacements, types, &packed);
    MPI_Type_create_resized(packed, 0, 4 * sizeof(int), &layout.datatype);
    MPI_Type_free(&packed);
    layout.buffer = layout.storage.data();
    layout.count = number / 2;
    layout.place = every(number, 0, 2);
}

using Maker = void (*)(Layout&, int);
const std::vector<Maker> makers = {
    plain,
    one_contiguous_type,
    vector_with_gaps,
    resized_to_three,
    negative_lower_bound,
    absolute_address,
    negative_displacements,
    contiguous_behind_the_buffer,
    swapped_pairs,
    structs_with_padding,
    contiguous_before_the_buffer,
    absolute_addresses_reversed,
};

int value(int root, int element) {
    return root * 1000003 + element;
}

void broadcast(Maker maker, int number, int root) {
    Layout layout;
    layout.storage.assign(3 * static_cast<std::size_t>(number) + 8, untouched);
    maker(layout, number);
    MPI_Type_commit(&layout.datatype);

    std::vector<int> expected(layout.storage);
    for (int i = 0; i < number; ++i) {
        expected[layout.place[i]] = value(root, i);
    }
    if (test::rank_of(MPI_COMM_WORLD) == root) {
        layout.storage = expected;  // same size: addresses in the datatype stay right
    }
    MPI_Bcast(layout.buffer, layout.count, layout.datatype, root, MPI_COMM_WORLD);
    require(layout.storage == expected, "a broadcast of %d integers from root %d arrived wrong", number, root);
    MPI_Type_free(&layout.datatype);
}

void different_datatypes_on_each_rank() {
    const int rank = test::rank_of(MPI_COMM_WORLD);
    const int layouts = static_cast<int>(makers.size());
    for (const int number : {2, 14, 1000, 70000, 600000}) {
        for (int root = 0; root < test::size_of(MPI_COMM_WORLD); ++root) {
            // All pairings of a root's layout with a receiver's for small data, some for large.
            const int shifts = number <= 1000 ? layouts : 3;
            for (int shift = 0; shift < shifts; ++shift) {
                for (const int stride : {0, 1, 5}) {
                    const auto served = totals->broadcast_served.read();
                    broadcast(makers[(shift * (number <= 1000 ? 1 : 4) + rank * stride) % layouts], number, root);
                    require(totals->broadcast_served.read() == served + 1, "a broadcast was not served");
                }
            }
        }
    }
}

// Where there are no bytes, some ranks say "count 0" and others give a datatype of size 0.
void nothing_to_send() {
    MPI_Datatype empty = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    const int rank = test::rank_of(MPI_COMM_WORLD);
    int untouched_by_it = 17;
    for (int root = 0; root < test::size_of(MPI_COMM_WORLD); ++root) {
        if (rank % 2 == 0) {
            MPI_Bcast(&untouched_by_it, 0, MPI_INT, root, MPI_COMM_WORLD);
        } else {
            MPI_Bcast(&untouched_by_it, 5, empty, root, MPI_COMM_WORLD);
        }
    }
    require(untouched_by_it == 17, "an empty broadcast wrote something");
    MPI_Type_free(&empty);
}

// A count on the root that is another on the receivers: 6 x 4 integers and 4 x 6 integers.
void different_counts() {
    const int rank = test::rank_of(MPI_COMM_WORLD);
    MPI_Datatype block = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(rank % 2 == 0 ? 4 : 6, MPI_INT, &block);
    MPI_Type_commit(&block);
    std::vector<int> numbers(24, 0), expected(24);
    std::iota(expected.begin(), expected.end(), 3);
    if (rank == 0) {
        numbers = expected;
    }
    MPI_Bcast(numbers.data(), rank % 2 == 0 ? 6 : 4, block, 0, MPI_COMM_WORLD);
    require(numbers == expected, "a broadcast with counts that differ arrived wrong");
    MPI_Type_free(&block);
}

}  // namespace

int main(int argc, char** argv) {
    const test::Mpi mpi(&argc, &argv);
    const test::Totals all_totals;
    totals = &all_totals;
    require(totals->broadcast_served.exists(), "the peercoll component is not loaded");
    nothing_to_send();  // the first collective of the communicator, and not one of peercoll's
    require(totals->broadcast_served.read() == 0, "an empty broadcast was counted");
    different_datatypes_on_each_rank();
    nothing_to_send();
    different_counts();
    require(totals->broadcast_passed_on.read() == 0, "a broadcast was passed on");
    test::passed("broadcast with datatypes that differ between ranks");
    return 0;
}
