// SPDX-License-Identifier: BSD-3-Clause
#include "collective.hpp"

namespace peercoll::bench {

Collective::Collective(const Settings& settings, std::size_t bytes, int rank, int ranks, std::size_t buffers)
    : broadcast_(settings.subject == Subject::Broadcast),
      in_place_(settings.in_place),
      root_(settings.root),
      rank_(rank),
      pattern_{settings.element, broadcast_ ? Operation::Min : settings.operation, ranks},
      bytes_(bytes),
      count_(static_cast<int>(bytes / size_of(settings.element))),
      type_(mpi_type(settings.element)),
      op_(mpi_op(settings.operation)),
      set_(buffers, bytes) {
    for (std::size_t index = 0; index < set_.size(); ++index) refill_and_poison(index);
}

void Collective::refill(std::size_t index) {
    set_.seed(index) = next_seed_++;
    if (sends(index)) {
        fill_input(pattern_, set_.seed(index), rank_, set_.send(index), static_cast<std::size_t>(count_));
    }
}

void Collective::refill_and_poison(std::size_t index) {
    refill(index);
    const auto count = static_cast<std::size_t>(count_);
    if (broadcast_) {
        if (!sends(index)) poison(pattern_, set_.send(index), count);
    } else if (!in_place_) {
        poison(pattern_, set_.receive(index), count);
    }
}

std::size_t Collective::count_wrong(std::size_t index) {
    const auto count = static_cast<std::size_t>(count_);
    const std::uint32_t seed = set_.seed(index);
    if (broadcast_) return count_wrong_copied(pattern_, seed, root_of(index), set_.send(index), count);
    std::size_t wrong = 0;
    if (!in_place_) wrong += count_wrong_copied(pattern_, seed, rank_, set_.send(index), count);
    return wrong + count_wrong_reduced(pattern_, seed, in_place_ ? set_.send(index) : set_.receive(index), count);
}

}  // namespace peercoll::bench
