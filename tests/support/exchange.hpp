// SPDX-License-Identifier: BSD-3-Clause
// An allgather between forked processes over a shared anonymous mapping: what an MPI would hand to comm_create.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace peercoll::test {

inline constexpr int max_ranks = 32;

// Lies in memory shared by all processes of a group. Each member writes its own slot between two meetings.
struct ExchangeArea {
    static constexpr std::size_t slot_bytes = 4096;

    alignas(64) std::atomic<std::uint32_t> arrived;  // all members; reset by the last to arrive
    alignas(64) std::atomic<std::uint32_t> round;    // written by the last to arrive; the others wait for it to change
    alignas(64) std::byte slots[max_ranks][slot_bytes];
};

// One member's end of an area. Every member makes its own with the same `members`.
class Exchange {
public:
    Exchange(ExchangeArea& area, const std::atomic<bool>& broken, int member, int members,
             std::chrono::milliseconds limit)
        : area_(&area), broken_(&broken), member_(member), members_(members), limit_(limit) {}

    int member() const { return member_; }
    int members() const { return members_; }

    // False if another member did not come within the limit, or the group is broken.
    bool meet();
    bool allgather(const void* mine, void* all, std::size_t bytes);

    // The shape of peercoll_allgather_fn; `user` is an Exchange*.
    static int allgather_callback(const void* mine, void* all, std::size_t bytes, void* user);

private:
    ExchangeArea* area_;
    const std::atomic<bool>* broken_;
    int member_;
    int members_;
    std::chrono::milliseconds limit_;
};

}  // namespace peercoll::test
