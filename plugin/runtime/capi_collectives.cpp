// SPDX-License-Identifier: BSD-3-Clause
// The C ABI's blocking collectives.
#include "plugin/runtime/capi_functions.hpp"

#include "plugin/runtime/capi_calls.hpp"
#include "plugin/runtime/capi_guard.hpp"
#include "plugin/runtime/capi_objects.hpp"
#include "plugin/runtime/repeated_calls.hpp"

namespace peercoll::capi {

Status allreduce_call(const void* sendbuf, void* recvbuf, size_t count, peercoll_datatype_t datatype, peercoll_op_t op,
                      peercoll_comm_t comm, Call& call) {
    if (comm == nullptr) return invalid("comm is NULL");
    return Call::allreduce(sendbuf, recvbuf, count, datatype, op, call);
}

Status broadcast_call(void* buffer, size_t bytes, int32_t root, peercoll_comm_t comm, Call& call) {
    if (comm == nullptr) return invalid("comm is NULL");
    return Call::broadcast_of(buffer, bytes, root, comm->implementation.size(), call);
}

peercoll_status_t allreduce(const void* sendbuf, void* recvbuf, size_t count, peercoll_datatype_t datatype,
                            peercoll_op_t op, peercoll_comm_t comm) {
    return guarded([&]() -> Status {
        if (comm != nullptr && comm->implementation.repeats_allreduce(sendbuf, recvbuf, count, datatype, op))
            return comm->implementation.repeat_allreduce(sendbuf, recvbuf);
        Call call;
        if (Status status = allreduce_call(sendbuf, recvbuf, count, datatype, op, comm, call); !status.ok())
            return status;
        return comm->implementation.run(call);
    });
}

peercoll_status_t broadcast(void* buffer, size_t bytes, int32_t root, peercoll_comm_t comm) {
    return guarded([&]() -> Status {
        if (comm != nullptr && comm->implementation.repeats_broadcast(buffer, bytes, root))
            return comm->implementation.repeat_broadcast(buffer, bytes, root);
        Call call;
        if (Status status = broadcast_call(buffer, bytes, root, comm, call); !status.ok()) return status;
        return comm->implementation.run(call);
    });
}

}  // namespace peercoll::capi
