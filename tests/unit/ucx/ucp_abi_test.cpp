// SPDX-License-Identifier: BSD-3-Clause
// The hand-declared interface (ucp_abi.hpp) is UCX's own. Built where UCX's header is installed; fails to compile where
// a value or a layout differs.
#include "plugin/ucx/ucp_abi.hpp"

#include <gtest/gtest.h>

#include <ucp/api/ucp.h>

namespace ours = peercoll::ucx;

#define SAME_MEMBER(our_type, our_member, their_type, their_member)                      \
    static_assert(offsetof(our_type, our_member) == offsetof(their_type, their_member)); \
    static_assert(sizeof(our_type::our_member) == sizeof(their_type::their_member))

static_assert(sizeof(ours::UcsStatus) == sizeof(ucs_status_t));
static_assert(ours::ucs_status::ok == UCS_OK && ours::ucs_status::in_progress == UCS_INPROGRESS);
static_assert(ours::ucs_status::message_truncated == UCS_ERR_MESSAGE_TRUNCATED);
static_assert(ours::ucs_status::canceled == UCS_ERR_CANCELED && ours::ucs_status::last_error == UCS_ERR_LAST);

using Parameters = ours::UcpParameters;
SAME_MEMBER(Parameters, field_mask, ucp_params_t, field_mask);
SAME_MEMBER(Parameters, features, ucp_params_t, features);
SAME_MEMBER(Parameters, request_size, ucp_params_t, request_size);
SAME_MEMBER(Parameters, request_init, ucp_params_t, request_init);
SAME_MEMBER(Parameters, request_cleanup, ucp_params_t, request_cleanup);
SAME_MEMBER(Parameters, tag_sender_mask, ucp_params_t, tag_sender_mask);
SAME_MEMBER(Parameters, workers_shared, ucp_params_t, mt_workers_shared);
SAME_MEMBER(Parameters, estimated_endpoints, ucp_params_t, estimated_num_eps);
SAME_MEMBER(Parameters, estimated_per_node, ucp_params_t, estimated_num_ppn);
SAME_MEMBER(Parameters, name, ucp_params_t, name);
static_assert(Parameters::field_features == UCP_PARAM_FIELD_FEATURES);
static_assert(Parameters::field_tag_sender_mask == UCP_PARAM_FIELD_TAG_SENDER_MASK);
static_assert(Parameters::field_estimated_endpoints == UCP_PARAM_FIELD_ESTIMATED_NUM_EPS);
static_assert(Parameters::field_estimated_per_node == UCP_PARAM_FIELD_ESTIMATED_NUM_PPN);
static_assert(Parameters::field_name == UCP_PARAM_FIELD_NAME);
static_assert(Parameters::feature_tag == UCP_FEATURE_TAG);

using ContextAttributes = ours::UcpContextAttributes;
SAME_MEMBER(ContextAttributes, field_mask, ucp_context_attr_t, field_mask);
SAME_MEMBER(ContextAttributes, request_size, ucp_context_attr_t, request_size);
SAME_MEMBER(ContextAttributes, thread_mode, ucp_context_attr_t, thread_mode);
SAME_MEMBER(ContextAttributes, memory_types, ucp_context_attr_t, memory_types);
static_assert(ContextAttributes::field_memory_types == UCP_ATTR_FIELD_MEMORY_TYPES);

using WorkerParameters = ours::UcpWorkerParameters;
SAME_MEMBER(WorkerParameters, field_mask, ucp_worker_params_t, field_mask);
SAME_MEMBER(WorkerParameters, thread_mode, ucp_worker_params_t, thread_mode);
SAME_MEMBER(WorkerParameters, cpu_mask, ucp_worker_params_t, cpu_mask);
SAME_MEMBER(WorkerParameters, events, ucp_worker_params_t, events);
SAME_MEMBER(WorkerParameters, user_data, ucp_worker_params_t, user_data);
SAME_MEMBER(WorkerParameters, event_descriptor, ucp_worker_params_t, event_fd);
SAME_MEMBER(WorkerParameters, flags, ucp_worker_params_t, flags);
SAME_MEMBER(WorkerParameters, name, ucp_worker_params_t, name);
static_assert(WorkerParameters::field_thread_mode == UCP_WORKER_PARAM_FIELD_THREAD_MODE);
static_assert(WorkerParameters::field_flags == UCP_WORKER_PARAM_FIELD_FLAGS);
static_assert(WorkerParameters::thread_mode_serialized == UCS_THREAD_MODE_SERIALIZED);
static_assert(WorkerParameters::flag_ignore_request_leak == UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK);

using EndpointParameters = ours::UcpEndpointParameters;
SAME_MEMBER(EndpointParameters, field_mask, ucp_ep_params_t, field_mask);
SAME_MEMBER(EndpointParameters, address, ucp_ep_params_t, address);
SAME_MEMBER(EndpointParameters, error_mode, ucp_ep_params_t, err_mode);
SAME_MEMBER(EndpointParameters, error_callback, ucp_ep_params_t, err_handler.cb);
SAME_MEMBER(EndpointParameters, error_argument, ucp_ep_params_t, err_handler.arg);
SAME_MEMBER(EndpointParameters, user_data, ucp_ep_params_t, user_data);
SAME_MEMBER(EndpointParameters, flags, ucp_ep_params_t, flags);
SAME_MEMBER(EndpointParameters, socket_address, ucp_ep_params_t, sockaddr);
SAME_MEMBER(EndpointParameters, connection_request, ucp_ep_params_t, conn_request);
SAME_MEMBER(EndpointParameters, name, ucp_ep_params_t, name);
SAME_MEMBER(EndpointParameters, local_socket_address, ucp_ep_params_t, local_sockaddr);
static_assert(EndpointParameters::field_address == UCP_EP_PARAM_FIELD_REMOTE_ADDRESS);
static_assert(EndpointParameters::field_error_mode == UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE);
static_assert(EndpointParameters::field_error_handler == UCP_EP_PARAM_FIELD_ERR_HANDLER);
static_assert(EndpointParameters::error_mode_none == UCP_ERR_HANDLING_MODE_NONE);
static_assert(EndpointParameters::error_mode_peer == UCP_ERR_HANDLING_MODE_PEER);

SAME_MEMBER(ours::UcpTagInfo, sender_tag, ucp_tag_recv_info_t, sender_tag);
SAME_MEMBER(ours::UcpTagInfo, length, ucp_tag_recv_info_t, length);

using RequestParameters = ours::UcpRequestParameters;
SAME_MEMBER(RequestParameters, mask, ucp_request_param_t, op_attr_mask);
SAME_MEMBER(RequestParameters, flags, ucp_request_param_t, flags);
SAME_MEMBER(RequestParameters, request, ucp_request_param_t, request);
SAME_MEMBER(RequestParameters, callback, ucp_request_param_t, cb);
SAME_MEMBER(RequestParameters, datatype, ucp_request_param_t, datatype);
SAME_MEMBER(RequestParameters, user_data, ucp_request_param_t, user_data);
SAME_MEMBER(RequestParameters, memory_type, ucp_request_param_t, memory_type);
SAME_MEMBER(RequestParameters, receive_info, ucp_request_param_t, recv_info);
static_assert(RequestParameters::field_callback == UCP_OP_ATTR_FIELD_CALLBACK);
static_assert(RequestParameters::field_user_data == UCP_OP_ATTR_FIELD_USER_DATA);
static_assert(RequestParameters::field_flags == UCP_OP_ATTR_FIELD_FLAGS);
static_assert(RequestParameters::field_memory_type == UCP_OP_ATTR_FIELD_MEMORY_TYPE);
static_assert(RequestParameters::flag_always_call_back == UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
static_assert(RequestParameters::flag_close_force == UCP_EP_CLOSE_FLAG_FORCE);

// What transport.h numbers for itself goes to UCX as it is.
static_assert(UCS_MEMORY_TYPE_HOST == 0 && UCS_MEMORY_TYPE_CUDA == 1 && UCS_MEMORY_TYPE_CUDA_MANAGED == 2 &&
              UCS_MEMORY_TYPE_ROCM == 3 && UCS_MEMORY_TYPE_ROCM_MANAGED == 4);

namespace {

TEST(UcpAbi, ReturnedPointersAreToldFromErrorsAsUcxTellsThem) {
    int object = 0;
    void* const returned[] = {nullptr,
                              &object,
                              UCS_STATUS_PTR(UCS_ERR_CANCELED),
                              UCS_STATUS_PTR(UCS_ERR_LAST),
                              reinterpret_cast<void*>(1),
                              UCS_STATUS_PTR(UCS_ERR_NO_MESSAGE)};
    for (void* pointer : returned) {
        EXPECT_EQ(ours::is_error(pointer), UCS_PTR_IS_ERR(pointer)) << pointer;
        if (ours::is_error(pointer)) {
            EXPECT_EQ(ours::error_of(pointer), UCS_PTR_RAW_STATUS(pointer));
        }
    }
}

}  // namespace
