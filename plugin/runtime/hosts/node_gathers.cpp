// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/hosts/node_gathers.hpp"

#include <algorithm>
#include <cstring>

namespace peercoll {

peercoll_comm_params_t NodeGathers::node_comm() {
    peercoll_comm_params_t node = *comm_;
    node.rank = static_cast<std::int32_t>(std::find(ranks_->begin(), ranks_->end(), comm_->rank) - ranks_->begin());
    node.size = static_cast<std::int32_t>(ranks_->size());
    node.allgather = &NodeGathers::gather;
    node.user = this;
    return node;
}

bool NodeGathers::round(const Record& mine) {
    records_.resize(static_cast<std::size_t>(comm_->size));
    return comm_->allgather(&mine, records_.data(), sizeof mine, comm_->user) == 0;
}

int NodeGathers::gather(const void* mine, void* all, std::size_t bytes, void* user) {
    auto& self = *static_cast<NodeGathers*>(user);
    for (std::size_t done = 0; done < bytes; done += record_bytes) {
        const std::size_t now = std::min(record_bytes, bytes - done);
        Record record{};
        record.bytes = static_cast<std::uint32_t>(now);
        std::memcpy(record.data.data(), static_cast<const std::byte*>(mine) + done, now);
        if (!self.round(record)) return 1;
        for (std::size_t i = 0; i < self.ranks_->size(); ++i) {
            const Record& theirs = self.records_[static_cast<std::size_t>((*self.ranks_)[i])];
            if (theirs.bytes != now) return 1;  // a rank of the node is somewhere else in the set-up
            std::memcpy(static_cast<std::byte*>(all) + i * bytes + done, theirs.data.data(), now);
        }
    }
    return 0;
}

Status NodeGathers::finish() {
    Record record{};
    record.finished = 1;
    do {
        if (!round(record))
            return {PEERCOLL_ERR_CALLBACK, "the caller's allgather failed while the communicator was set up"};
    } while (std::any_of(records_.begin(), records_.end(), [](const Record& one) { return one.finished == 0; }));
    return {};
}

}  // namespace peercoll
