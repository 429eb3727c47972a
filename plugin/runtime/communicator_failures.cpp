// SPDX-License-Identifier: BSD-3-Clause
// When a collective does not end: limits of time, peers that died, refused copies. A rank that gives up says so in the
// node's segment, so that the others give up too; the communicator gives the same error ever after.
#include "plugin/runtime/communicator.hpp"

#include <thread>

#include <fmt/format.h>

namespace peercoll {

namespace {
// How long a copy that the system refused may be the first sign of a peer's death, and between two looks.
constexpr std::chrono::milliseconds dying_takes{200};
constexpr std::chrono::milliseconds look_every{2};
}  // namespace

void Communicator::break_with(Status status) {
    broken_ = std::move(status);
    SegmentHeader& header = node_.team->header();
    std::uint32_t none = 0;
    if (header.abort_code.compare_exchange_strong(none, static_cast<std::uint32_t>(-broken_.code()),
                                                  std::memory_order_relaxed))
        header.abort_rank.store(rank(), std::memory_order_relaxed);
}

bool Communicator::on_check(std::chrono::nanoseconds waited) {
    const SegmentHeader& header = node_.team->header();
    if (header.abort_code.load(std::memory_order_relaxed) != 0) return false;
    const Options& options = context_.options();
    if (options.timeout && waited >= *options.timeout) {
        break_with({PEERCOLL_ERR_TIMEOUT, fmt::format("{}: a collective did not end within {} ms (option timeout)",
                                                      label_, options.timeout->count())});
        return false;
    }
    if (waited < last_waited_) next_peer_check_ = std::chrono::nanoseconds{0};  // a new wait
    last_waited_ = waited;
    if (next_peer_check_.count() == 0 && options.peer_check) next_peer_check_ = *options.peer_check;
    if (!options.peer_check || waited < next_peer_check_) return true;
    next_peer_check_ = waited + *options.peer_check;
    return !break_with_lost_peer();
}

bool Communicator::break_with_lost_peer() {
    for (int peer = 0; peer < node_.team->size(); ++peer) {
        const ProcessIdentity& process = node_.identities[static_cast<std::size_t>(peer)];
        // A rank that has taken all steps of this operation may be gone: it has left nothing undone.
        if (peer == node_.team->rank() || is_alive(process, context_.identity()) || node_.team->has_left(peer))
            continue;
        break_with({PEERCOLL_ERR_PEER_LOST, fmt::format("{}: rank {} (process {}) died in the middle of a collective",
                                                        label_, rank_of(peer), process.pid)});
        return true;
    }
    return false;
}

int Communicator::rank_of(int local) const {
    return hosts_ != nullptr ? hosts_->own_ranks()[static_cast<std::size_t>(local)] : local;
}

bool Communicator::break_with_dying_peer() {
    // A process that is killed loses its memory, and so refuses copies, a moment before it counts as dead.
    const auto limit = std::chrono::steady_clock::now() + dying_takes;
    do {
        if (break_with_lost_peer()) return true;
        std::this_thread::sleep_for(look_every);
    } while (std::chrono::steady_clock::now() < limit);
    return false;
}

Status Communicator::give_up(const Status& cause) {
    if (broken_.ok() && !cause.ok()) break_with({cause.code(), fmt::format("{}: {}", label_, cause.sentence())});
    if (broken_.ok()) {
        const SegmentHeader& header = node_.team->header();
        if (header.abort_code.load(std::memory_order_relaxed) != 0)
            broken_ = {PEERCOLL_ERR_PEER_LOST, fmt::format("{}: rank {} gave up on a collective", label_,
                                                           header.abort_rank.load(std::memory_order_relaxed))};
        else if (!break_with_dying_peer())
            break_with(
                {PEERCOLL_ERR_SYSTEM,
                 fmt::format("{}: the system refused to copy from another rank's buffer in the middle of a collective; "
                             "option single_copy=off avoids such copies",
                             label_)});
    }
    straight_ = false;
    if (unusable_.ok()) {
        if (hosts_ != nullptr && hosts_->speaks()) hosts_->link->drop_all();
        unusable_ = broken_;
        context_.log().error(broken_.sentence());
    }
    return broken_;
}

}  // namespace peercoll
