// SPDX-License-Identifier: BSD-3-Clause
// One collective as the caller asked for it, checked.
#pragma once

#include "collectives/broadcast/arguments.hpp"
#include "collectives/reduction/host_kernels.hpp"
#include "plugin/common/status.hpp"

#include <cstddef>

namespace peercoll {

struct Call {
    peercoll_collective_t kind = PEERCOLL_ALLREDUCE;
    // Allreduce.
    const std::byte* source = nullptr;
    std::byte* destination = nullptr;
    std::size_t count = 0;
    std::size_t element_bytes = 0;
    peercoll_datatype_t datatype = PEERCOLL_DATATYPE_NONE;
    peercoll_op_t op = PEERCOLL_OP_NONE;
    FoldFunction fold = nullptr;
    bool commutative = true;
    // Broadcast.
    BroadcastArguments broadcast;
    // False if a rank's buffer is memory that the system does not copy from process to process, such as a device
    // runtime's pinned memory. The same on all ranks.
    bool single_copy = true;

    const void* read_buffer() const { return kind == PEERCOLL_ALLREDUCE ? source : broadcast.buffer; }
    const void* written_buffer() const { return kind == PEERCOLL_ALLREDUCE ? destination : broadcast.buffer; }
    std::size_t bytes() const { return kind == PEERCOLL_ALLREDUCE ? count * element_bytes : broadcast.bytes; }

    static Status allreduce(const void* sendbuf, void* recvbuf, std::size_t count, peercoll_datatype_t datatype,
                            peercoll_op_t op, Call& call);
    static Status broadcast_of(void* buffer, std::size_t bytes, int root, int ranks, Call& call);
};

}  // namespace peercoll
