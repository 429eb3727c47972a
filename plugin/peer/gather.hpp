// SPDX-License-Identifier: BSD-3-Clause
// Every rank's records on every rank, by the communicator's allgather, in pieces of a moderate size.
#pragma once

#include "plugin/common/status.hpp"

#include <peercoll/peercoll.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

namespace peercoll {

// all[rank * each + i]. `each`, the number of every rank's records, is the same on all ranks; `mine` may have fewer,
// the rest is zeros.
template <typename Record>
Status gather_records(const peercoll_comm_params_t& comm, const std::vector<Record>& mine, std::size_t each,
                      std::vector<Record>& all) {
    static_assert(std::is_trivially_copyable_v<Record>);
    constexpr std::size_t at_once = std::max<std::size_t>(2048 / sizeof(Record), 1);
    const auto ranks = static_cast<std::size_t>(comm.size);
    all.assign(ranks * each, Record{});
    std::vector<std::byte> out;
    std::vector<std::byte> in;
    for (std::size_t first = 0; first < each; first += at_once) {
        const std::size_t n = std::min(at_once, each - first);
        out.assign(n * sizeof(Record), std::byte{});
        if (first < mine.size())
            std::memcpy(out.data(), &mine[first], std::min(n, mine.size() - first) * sizeof(Record));
        in.assign(ranks * out.size(), std::byte{});
        if (comm.size == 1)
            in = out;
        else if (comm.allgather(out.data(), in.data(), out.size(), comm.user) != 0)
            return {PEERCOLL_ERR_CALLBACK, "the caller's allgather failed while the communicator was set up"};
        for (std::size_t rank = 0; rank < ranks; ++rank)
            std::memcpy(&all[rank * each + first], &in[rank * out.size()], out.size());
    }
    return {};
}

// One record of every rank.
template <typename Record>
Status gather(const peercoll_comm_params_t& comm, const Record& mine, std::vector<Record>& all) {
    return gather_records(comm, std::vector<Record>{mine}, 1, all);
}

}  // namespace peercoll
