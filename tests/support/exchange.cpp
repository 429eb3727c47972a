// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/exchange.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>

namespace peercoll::test {

bool Exchange::meet() {
    const std::uint32_t round = area_->round.load(std::memory_order_acquire);
    if (area_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint32_t>(members_)) {
        area_->arrived.store(0, std::memory_order_relaxed);
        area_->round.store(round + 1, std::memory_order_release);
        return true;
    }
    const auto give_up = std::chrono::steady_clock::now() + limit_;
    while (area_->round.load(std::memory_order_acquire) == round) {
        if (broken_->load(std::memory_order_relaxed) || std::chrono::steady_clock::now() > give_up) {
            return false;
        }
        sched_yield();  // there may be more ranks than cores
    }
    return true;
}

bool Exchange::allgather(const void* mine, void* all, std::size_t bytes) {
    const auto* from = static_cast<const std::byte*>(mine);
    auto* to = static_cast<std::byte*>(all);
    std::size_t done = 0;
    do {
        const std::size_t piece = std::min(bytes - done, ExchangeArea::slot_bytes);
        if (piece > 0) {
            std::memcpy(area_->slots[member_], from + done, piece);
        }
        if (!meet()) {
            return false;
        }
        for (int other = 0; other < members_ && piece > 0; ++other) {
            std::memcpy(to + static_cast<std::size_t>(other) * bytes + done, area_->slots[other], piece);
        }
        // Nobody may write its slot again before all have read it.
        if (!meet()) {
            return false;
        }
        done += piece;
    } while (done < bytes);
    return true;
}

int Exchange::allgather_callback(const void* mine, void* all, std::size_t bytes, void* user) {
    return static_cast<Exchange*>(user)->allgather(mine, all, bytes) ? 0 : 1;
}

}  // namespace peercoll::test
