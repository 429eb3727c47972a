// SPDX-License-Identifier: BSD-3-Clause
// The C ABI's nonblocking and persistent collectives.
#include "plugin/runtime/capi_functions.hpp"

#include "plugin/runtime/capi_calls.hpp"
#include "plugin/runtime/capi_guard.hpp"
#include "plugin/runtime/capi_objects.hpp"

#include <memory>

#include <fmt/format.h>

namespace peercoll::capi {

namespace {

Status make_request(peercoll_comm_t comm, const Call& call, bool persistent, peercoll_request_t* request) {
    auto made = std::make_unique<peercoll_request>(comm->implementation, call, persistent);
    if (persistent) {
        ++comm->implementation.requests;
    } else if (Status status = comm->implementation.start(made->implementation); !status.ok()) {
        return status;
    }
    *request = made.release();
    return {};
}

template <typename Check>
peercoll_status_t begin_request(Check&& check, peercoll_comm_t comm, bool persistent, peercoll_request_t* request) {
    return guarded([&]() -> Status {
        if (request == nullptr) return invalid("the pointer for the request is NULL");
        *request = nullptr;
        Call call;
        if (Status status = check(call); !status.ok()) return status;
        return make_request(comm, call, persistent, request);
    });
}

// Ends a request that has completed; frees it unless it is persistent.
Status finish(peercoll_request_t* request) {
    peercoll_request_t done = *request;
    Status status = done->implementation.status;
    done->implementation.communicator.retire(done->implementation);
    if (done->implementation.persistent) {
        done->in_use = false;
    } else {
        delete done;
        *request = nullptr;
    }
    return status;
}

}  // namespace

peercoll_status_t allreduce_start(const void* sendbuf, void* recvbuf, size_t count, peercoll_datatype_t datatype,
                                  peercoll_op_t op, peercoll_comm_t comm, peercoll_request_t* request) {
    return begin_request([&](Call& call) { return allreduce_call(sendbuf, recvbuf, count, datatype, op, comm, call); },
                         comm, false, request);
}

peercoll_status_t broadcast_start(void* buffer, size_t bytes, int32_t root, peercoll_comm_t comm,
                                  peercoll_request_t* request) {
    return begin_request([&](Call& call) { return broadcast_call(buffer, bytes, root, comm, call); }, comm, false,
                         request);
}

peercoll_status_t allreduce_init(const void* sendbuf, void* recvbuf, size_t count, peercoll_datatype_t datatype,
                                 peercoll_op_t op, peercoll_comm_t comm, peercoll_request_t* request) {
    return begin_request([&](Call& call) { return allreduce_call(sendbuf, recvbuf, count, datatype, op, comm, call); },
                         comm, true, request);
}

peercoll_status_t broadcast_init(void* buffer, size_t bytes, int32_t root, peercoll_comm_t comm,
                                 peercoll_request_t* request) {
    return begin_request([&](Call& call) { return broadcast_call(buffer, bytes, root, comm, call); }, comm, true,
                         request);
}

peercoll_status_t request_start(peercoll_request_t request) {
    return guarded([&]() -> Status {
        if (request == nullptr) return invalid("request is NULL");
        if (!request->implementation.persistent)
            return invalid("the request is not persistent; it was started when it was made");
        if (request->in_use) return {PEERCOLL_ERR_BUSY, "the request is active; wait for it first"};
        Status status = request->implementation.communicator.start(request->implementation);
        request->in_use = status.ok();
        return status;
    });
}

peercoll_status_t request_test(peercoll_request_t* request, int* done) {
    return guarded([&]() -> Status {
        if (request == nullptr || done == nullptr) return invalid("request or done is NULL");
        *done = 1;
        if (*request == nullptr) return {};
        Request& asked = (*request)->implementation;
        if (asked.persistent && !(*request)->in_use) return {};
        if (asked.active.load(std::memory_order_acquire)) {
            asked.communicator.test(asked);
            *done = asked.active.load(std::memory_order_acquire) ? 0 : 1;
            if (*done == 0) return {};
        }
        return finish(request);
    });
}

peercoll_status_t request_wait(peercoll_request_t* request) {
    return guarded([&]() -> Status {
        if (request == nullptr) return invalid("the pointer to the request is NULL");
        if (*request == nullptr) return {};
        Request& asked = (*request)->implementation;
        if (asked.persistent && !(*request)->in_use) return {};
        // The request keeps its status; finish() returns it.
        (void)asked.communicator.wait(asked);
        return finish(request);
    });
}

peercoll_status_t request_free(peercoll_request_t* request) {
    return guarded([&]() -> Status {
        if (request == nullptr || *request == nullptr) return {};
        if (!(*request)->implementation.persistent || (*request)->in_use)
            return {PEERCOLL_ERR_BUSY, "the request is active; wait for it first"};
        --(*request)->implementation.communicator.requests;
        delete *request;
        *request = nullptr;
        return {};
    });
}

}  // namespace peercoll::capi
