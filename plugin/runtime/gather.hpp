// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plugin/common/status.hpp"

#include <peercoll/peercoll.h>

#include <cstddef>
#include <type_traits>
#include <vector>

namespace peercoll {

// One record of every rank, by the caller's allgather.
template <typename Record>
Status gather(const peercoll_comm_params_t& comm, const Record& mine, std::vector<Record>& all) {
    static_assert(std::is_trivially_copyable_v<Record>);
    all.resize(static_cast<std::size_t>(comm.size));
    if (comm.allgather(&mine, all.data(), sizeof mine, comm.user) != 0)
        return {PEERCOLL_ERR_CALLBACK, "the caller's allgather failed while the communicator was set up"};
    return {};
}

}  // namespace peercoll
