// SPDX-License-Identifier: BSD-3-Clause
// The functions of the C ABI, a file each for what they are about; capi.cpp puts them into the struct. They check their
// arguments and keep C++ inside.
#pragma once

#include <peercoll/peercoll.h>

#include <cstddef>
#include <cstdint>

namespace peercoll::capi {

// capi_queries.cpp: names, options, counters, and descriptions for people.
const char* version();
const char* status_name(peercoll_status_t status);
int op_supports(peercoll_op_t op, peercoll_datatype_t datatype);
peercoll_status_t option_info(size_t index, peercoll_option_info_t* info);
peercoll_status_t context_option(peercoll_context_t context, const char* name, const char** value, const char** origin);
peercoll_status_t statistic(peercoll_context_t context, size_t index, const char** name, uint64_t* value);
peercoll_status_t count(peercoll_context_t context, const char* subject, const char* event);
peercoll_status_t describe_topology(peercoll_context_t context, peercoll_line_fn line, void* user);
peercoll_status_t describe_comm(peercoll_comm_t comm, peercoll_line_fn line, void* user);
peercoll_status_t describe_devices(peercoll_context_t context, peercoll_line_fn line, void* user);

// capi_objects.cpp: contexts and communicators.
peercoll_status_t context_create(const peercoll_context_params_t* params, peercoll_context_t* context);
peercoll_status_t context_destroy(peercoll_context_t context);
peercoll_status_t context_progress(peercoll_context_t context);
peercoll_status_t comm_create(peercoll_context_t context, const peercoll_comm_params_t* params, peercoll_comm_t* comm);
peercoll_status_t comm_destroy(peercoll_comm_t comm);
peercoll_status_t comm_passed_on(peercoll_comm_t comm, peercoll_collective_t collective, const char* reason);

// capi_collectives.cpp
peercoll_status_t allreduce(const void* sendbuf, void* recvbuf, size_t count, peercoll_datatype_t datatype,
                            peercoll_op_t op, peercoll_comm_t comm);
peercoll_status_t broadcast(void* buffer, size_t bytes, int32_t root, peercoll_comm_t comm);

// capi_requests.cpp
peercoll_status_t allreduce_start(const void* sendbuf, void* recvbuf, size_t count, peercoll_datatype_t datatype,
                                  peercoll_op_t op, peercoll_comm_t comm, peercoll_request_t* request);
peercoll_status_t broadcast_start(void* buffer, size_t bytes, int32_t root, peercoll_comm_t comm,
                                  peercoll_request_t* request);
peercoll_status_t allreduce_init(const void* sendbuf, void* recvbuf, size_t count, peercoll_datatype_t datatype,
                                 peercoll_op_t op, peercoll_comm_t comm, peercoll_request_t* request);
peercoll_status_t broadcast_init(void* buffer, size_t bytes, int32_t root, peercoll_comm_t comm,
                                 peercoll_request_t* request);
peercoll_status_t request_start(peercoll_request_t request);
peercoll_status_t request_test(peercoll_request_t* request, int* done);
peercoll_status_t request_wait(peercoll_request_t* request);
peercoll_status_t request_free(peercoll_request_t* request);

// capi_memory.cpp: device memory.
int devices_in_use(peercoll_context_t context);
int memory_is_device(peercoll_context_t context, const void* address);
peercoll_status_t memory_copy(peercoll_context_t context, void* to, const void* from, size_t bytes);
peercoll_status_t staging_take(peercoll_context_t context, size_t bytes, void** memory);
void staging_give_back(peercoll_context_t context, void* memory);

}  // namespace peercoll::capi
