// SPDX-License-Identifier: BSD-3-Clause
// The C ABI's contexts and communicators.
#include "plugin/runtime/capi_objects.hpp"

#include "plugin/runtime/capi_functions.hpp"
#include "plugin/runtime/capi_guard.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace peercoll::capi {

peercoll_status_t context_create(const peercoll_context_params_t* params, peercoll_context_t* context) {
    return guarded([&]() -> Status {
        if (context == nullptr) return invalid("the pointer for the context is NULL");
        *context = nullptr;
        std::vector<std::string> options;
        std::string origin;
        std::string label;
        if (params != nullptr) {
            const auto known = known_part(params, offsetof(peercoll_context_params_t, options_origin));
            if (!known) return invalid("struct_size is smaller than any version's struct; expected sizeof the struct");
            for (const char* const* option = known->options; option != nullptr && *option != nullptr; ++option)
                options.emplace_back(*option);
            if (known->options_origin != nullptr) origin = known->options_origin;
            if (known->label != nullptr) label = known->label;
        }
        auto made = std::make_unique<peercoll_context>();
        if (Status status = Context::create(options, origin, label, made->implementation); !status.ok()) return status;
        *context = made.release();
        return {};
    });
}

peercoll_status_t context_destroy(peercoll_context_t context) {
    return guarded([&]() -> Status {
        if (context == nullptr) return {};
        if (const int left = context->implementation->communicators.load(); left > 0)
            return {PEERCOLL_ERR_BUSY, fmt::format("{} communicators of the context still exist", left)};
        delete context;
        return {};
    });
}

peercoll_status_t context_progress(peercoll_context_t context) {
    return guarded([&]() -> Status {
        if (context == nullptr) return invalid("context is NULL");
        context->implementation->progress_active(nullptr);
        return {};
    });
}

peercoll_status_t comm_create(peercoll_context_t context, const peercoll_comm_params_t* params, peercoll_comm_t* comm) {
    return guarded([&]() -> Status {
        if (comm == nullptr) return invalid("the pointer for the communicator is NULL");
        *comm = nullptr;
        if (context == nullptr || params == nullptr) return invalid("context or params is NULL");
        const auto known = known_part(params, offsetof(peercoll_comm_params_t, label));
        if (!known) return invalid("struct_size is smaller than any version's struct; expected sizeof the struct");
        if (params->size < 1 || params->rank < 0 || params->rank >= params->size)
            return {PEERCOLL_ERR_INVALID_ARGUMENT,
                    fmt::format("rank {} of {} is none; expected 0 <= rank < size", params->rank, params->size)};
        if (params->size > 1 && params->allgather == nullptr)
            return invalid("allgather is NULL; it is required with more than one rank");
        *comm = std::make_unique<peercoll_comm>(*context->implementation, *known).release();
        return {};
    });
}

peercoll_status_t comm_destroy(peercoll_comm_t comm) {
    return guarded([&]() -> Status {
        if (comm == nullptr) return {};
        if (comm->implementation.requests > 0)
            return {PEERCOLL_ERR_BUSY, fmt::format("the communicator has {} requests that are active or persistent",
                                                   comm->implementation.requests)};
        delete comm;
        return {};
    });
}

peercoll_status_t comm_passed_on(peercoll_comm_t comm, peercoll_collective_t collective, const char* reason) {
    return guarded([&]() -> Status {
        if (comm == nullptr) return invalid("comm is NULL");
        return comm->implementation.passed_on(collective, reason);
    });
}

}  // namespace peercoll::capi
