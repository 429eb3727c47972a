// SPDX-License-Identifier: BSD-3-Clause
// The C ABI over the runtime: checks arguments, keeps C++ inside, remembers the last error's sentence.
#include <peercoll/peercoll.h>

#include "plugin/runtime/capi_objects.hpp"
#include "plugin/runtime/last_error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

using peercoll::Call;
using peercoll::Context;
using peercoll::Status;

namespace {

const char version_text[] = PEERCOLL_VERSION;

Status invalid(const char* sentence) {
    return {PEERCOLL_ERR_INVALID_ARGUMENT, sentence};
}

// Runs `body`, which gives a Status, with everything it may throw turned into one.
template <typename Body>
peercoll_status_t guarded(Body&& body) noexcept {
    try {
        const Status status = body();
        if (!status.ok()) peercoll::set_last_error(status.sentence());
        return status.code();
    } catch (const std::bad_alloc&) {
        peercoll::set_last_error("out of memory");
        return PEERCOLL_ERR_OUT_OF_MEMORY;
    } catch (const std::exception& fault) {
        peercoll::set_last_error(fault.what());
        return PEERCOLL_ERR_INTERNAL;
    }
}

// What a caller's struct has of this version's members, the rest zero; nothing if it lacks what the first version had
// to have. The caller's struct may end earlier than ours, so nothing behind its size is read.
template <typename Params>
std::optional<Params> known_part(const Params* given, std::size_t least) {
    if (given->struct_size < least) return std::nullopt;
    Params known{};
    std::memcpy(&known, given, std::min(given->struct_size, sizeof known));
    return known;
}

const char* version() {
    return version_text;
}

const char* status_name(peercoll_status_t status) {
    switch (status) {
        case PEERCOLL_SUCCESS:
            return "PEERCOLL_SUCCESS";
        case PEERCOLL_ERR_INVALID_ARGUMENT:
            return "PEERCOLL_ERR_INVALID_ARGUMENT";
        case PEERCOLL_ERR_NOT_SUPPORTED:
            return "PEERCOLL_ERR_NOT_SUPPORTED";
        case PEERCOLL_ERR_OUT_OF_MEMORY:
            return "PEERCOLL_ERR_OUT_OF_MEMORY";
        case PEERCOLL_ERR_PEER_LOST:
            return "PEERCOLL_ERR_PEER_LOST";
        case PEERCOLL_ERR_TIMEOUT:
            return "PEERCOLL_ERR_TIMEOUT";
        case PEERCOLL_ERR_BUSY:
            return "PEERCOLL_ERR_BUSY";
        case PEERCOLL_ERR_SYSTEM:
            return "PEERCOLL_ERR_SYSTEM";
        case PEERCOLL_ERR_CALLBACK:
            return "PEERCOLL_ERR_CALLBACK";
        case PEERCOLL_ERR_INTERNAL:
            return "PEERCOLL_ERR_INTERNAL";
        default:
            return "unknown status";
    }
}

int op_supports(peercoll_op_t op, peercoll_datatype_t datatype) {
    return peercoll::op_supports(op, datatype) ? 1 : 0;
}

// -- Options ------------------------------------------------------------------------------------------------------

peercoll_status_t option_info(size_t index, peercoll_option_info_t* info) {
    return guarded([&]() -> Status {
        const auto& table = peercoll::option_table();
        if (info == nullptr || info->struct_size < sizeof *info)
            return invalid("info is NULL or its struct_size is not set");
        if (index >= table.size()) return invalid("there is no option of that index");
        info->name = table[index].name.data();
        info->meaning = table[index].meaning.data();
        info->values = table[index].values.data();
        info->default_value = table[index].default_value.data();
        return {};
    });
}

peercoll_status_t context_option(peercoll_context_t context, const char* name, const char** value,
                                 const char** origin) {
    return guarded([&]() -> Status {
        if (context == nullptr || name == nullptr) return invalid("context or name is NULL");
        for (const auto& setting : context->implementation->settings()) {
            if (setting.name != name) continue;
            if (value != nullptr) *value = setting.value.c_str();
            if (origin != nullptr) *origin = setting.origin.c_str();
            return {};
        }
        return {PEERCOLL_ERR_INVALID_ARGUMENT, fmt::format("there is no option \"{}\"", name)};
    });
}

// -- Contexts -----------------------------------------------------------------------------------------------------

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

peercoll_status_t statistic(peercoll_context_t context, size_t index, const char** name, uint64_t* value) {
    return guarded([&]() -> Status {
        if (context == nullptr) return invalid("context is NULL");
        if (index >= context->implementation->statistics().size()) return invalid("there is no counter of that index");
        const auto counter = context->implementation->statistics().at(index);
        if (name != nullptr) *name = counter.name;
        if (value != nullptr) *value = counter.value;
        return {};
    });
}

void tell(const std::vector<std::string>& lines, peercoll_line_fn line, void* user) {
    for (const std::string& text : lines) line(text.c_str(), user);
}

peercoll_status_t describe_topology(peercoll_context_t context, peercoll_line_fn line, void* user) {
    return guarded([&]() -> Status {
        if (context == nullptr || line == nullptr) return invalid("context or line is NULL");
        // Loaded anew, with PCI devices, which the collectives do without.
        std::unique_ptr<peercoll::Topology> topology;
        Status status = peercoll::Topology::load(context->implementation->options().topology_file, true, topology);
        if (status.ok()) tell(topology->describe(), line, user);
        return status;
    });
}

// -- Communicators ------------------------------------------------------------------------------------------------

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

peercoll_status_t describe_comm(peercoll_comm_t comm, peercoll_line_fn line, void* user) {
    return guarded([&]() -> Status {
        if (comm == nullptr || line == nullptr) return invalid("comm or line is NULL");
        std::vector<std::string> lines;
        Status status = comm->implementation.describe(lines);
        if (status.ok()) tell(lines, line, user);
        return status;
    });
}

// -- Collectives --------------------------------------------------------------------------------------------------

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
        Call call;
        if (Status status = allreduce_call(sendbuf, recvbuf, count, datatype, op, comm, call); !status.ok())
            return status;
        return comm->implementation.run(call);
    });
}

peercoll_status_t broadcast(void* buffer, size_t bytes, int32_t root, peercoll_comm_t comm) {
    return guarded([&]() -> Status {
        Call call;
        if (Status status = broadcast_call(buffer, bytes, root, comm, call); !status.ok()) return status;
        return comm->implementation.run(call);
    });
}

// -- Requests -----------------------------------------------------------------------------------------------------

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

peercoll_status_t request_test(peercoll_request_t* request, int* done) {
    return guarded([&]() -> Status {
        if (request == nullptr || done == nullptr) return invalid("request or done is NULL");
        *done = 1;
        if (*request == nullptr) return {};
        peercoll::Request& asked = (*request)->implementation;
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
        peercoll::Request& asked = (*request)->implementation;
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

// -- Device memory ------------------------------------------------------------------------------------------------

// These two are asked in every call of every collective: no try block, and nothing in them throws.
int devices_in_use(peercoll_context_t context) {
    return context != nullptr && context->implementation->devices().in_use() ? 1 : 0;
}

int memory_is_device(peercoll_context_t context, const void* address) {
    if (context == nullptr) return 0;
    peercoll::ProcessDevices& devices = context->implementation->devices();
    return devices.in_use() && devices.classify(address).on_device() ? 1 : 0;
}

peercoll_status_t memory_copy(peercoll_context_t context, void* to, const void* from, size_t bytes) {
    return guarded([&]() -> Status {
        if (context == nullptr) return invalid("context is NULL");
        if (bytes > 0 && (to == nullptr || from == nullptr))
            return invalid("an address is NULL although bytes is not 0");
        return context->implementation->devices().copy(to, from, bytes);
    });
}

peercoll_status_t staging_take(peercoll_context_t context, size_t bytes, void** memory) {
    return guarded([&]() -> Status {
        if (context == nullptr || memory == nullptr) return invalid("context or the pointer for the memory is NULL");
        *memory = nullptr;
        std::byte* taken = nullptr;
        Status status = context->implementation->devices().take_staging(bytes, taken);
        *memory = taken;
        return status;
    });
}

void staging_give_back(peercoll_context_t context, void* memory) {
    if (context != nullptr && memory != nullptr)
        context->implementation->devices().staging().give_back(static_cast<std::byte*>(memory));
}

peercoll_status_t count(peercoll_context_t context, const char* subject, const char* event) {
    return guarded([&]() -> Status {
        if (context == nullptr) return invalid("context is NULL");
        if (subject == nullptr || event == nullptr || !peercoll::is_counter_word(subject) ||
            !peercoll::is_counter_word(event))
            return invalid("subject or event is not a short word of a-z, 0-9 and _");
        context->implementation->statistics()
            .shared(fmt::format("{}.{}", subject, event))
            .fetch_add(1, std::memory_order_relaxed);
        return {};
    });
}

peercoll_status_t describe_devices(peercoll_context_t context, peercoll_line_fn line, void* user) {
    return guarded([&]() -> Status {
        if (context == nullptr || line == nullptr) return invalid("context or line is NULL");
        tell(context->implementation->devices().describe(), line, user);
        return {};
    });
}

}  // namespace

extern "C" {

const peercoll_plugin_t peercoll_plugin_v1 = {
    PEERCOLL_ABI_VERSION,
    sizeof(peercoll_plugin_t),
    "peercoll",
    version,
    peercoll::last_error,
    status_name,
    peercoll::datatype_size,
    peercoll::datatype_name,
    peercoll::op_name,
    op_supports,
    option_info,
    context_create,
    context_destroy,
    context_progress,
    context_option,
    comm_create,
    comm_destroy,
    allreduce,
    broadcast,
    allreduce_start,
    broadcast_start,
    allreduce_init,
    broadcast_init,
    request_start,
    request_test,
    request_wait,
    request_free,
    comm_passed_on,
    statistic,
    describe_topology,
    describe_comm,
    memory_is_device,
    memory_copy,
    staging_take,
    staging_give_back,
    count,
    describe_devices,
    devices_in_use,
};
}
