// SPDX-License-Identifier: BSD-3-Clause
#include "collective.hpp"

namespace peercoll::bench {

Collective::Collective(const Settings& settings, std::size_t bytes, int rank, int ranks, std::size_t buffers,
                       Memory& memory)
    : broadcast_(settings.subject == Subject::Broadcast),
      in_place_(settings.in_place),
      root_(settings.root),
      rank_(rank),
      pattern_{settings.element, broadcast_ ? Operation::Min : settings.operation, ranks},
      element_bytes_(size_of(settings.element)),
      bytes_(bytes),
      count_(static_cast<int>(bytes / element_bytes_)),
      type_(mpi_type(settings.element)),
      op_(mpi_op(settings.operation)),
      set_(buffers, bytes, memory) {
    for (std::size_t index = 0; index < set_.size(); ++index) refill_and_poison(index);
}

void Collective::refill(std::size_t index) {
    const std::uint32_t seed = next_seed_++;
    set_.seed(index) = seed;
    if (!sends(index)) return;
    set_.memory().write(set_.send(index), bytes_, [&](void* window, std::size_t offset, std::size_t bytes) {
        fill_input(pattern_, seed, rank_, {window, offset / element_bytes_, bytes / element_bytes_});
    });
}

void Collective::refill_and_poison(std::size_t index) {
    refill(index);
    poison_result(index);
}

void Collective::poison_result(std::size_t index) {
    if (broadcast_) {
        if (!sends(index)) set_.memory().set(set_.send(index), poison_byte, bytes_);
    } else if (!in_place_) {
        set_.memory().set(set_.receive(index), poison_byte, bytes_);
    }
}

std::size_t Collective::count_wrong_copies(const void* buffer, std::uint32_t seed, int from) const {
    std::size_t wrong = 0;
    set_.memory().read(buffer, bytes_, [&](const void* window, std::size_t offset, std::size_t bytes) {
        wrong += count_wrong_copied(pattern_, seed, from, {window, offset / element_bytes_, bytes / element_bytes_});
    });
    return wrong;
}

std::size_t Collective::count_wrong_results(const void* buffer, std::uint32_t seed) const {
    std::size_t wrong = 0;
    set_.memory().read(buffer, bytes_, [&](const void* window, std::size_t offset, std::size_t bytes) {
        wrong += count_wrong_reduced(pattern_, seed, {window, offset / element_bytes_, bytes / element_bytes_});
    });
    return wrong;
}

std::size_t Collective::count_wrong(std::size_t index) {
    const std::uint32_t seed = set_.seed(index);
    if (broadcast_) return count_wrong_copies(set_.send(index), seed, root_of(index));
    if (in_place_) return count_wrong_results(set_.send(index), seed);
    return count_wrong_copies(set_.send(index), seed, rank_) + count_wrong_results(set_.receive(index), seed);
}

}  // namespace peercoll::bench
