// SPDX-License-Identifier: BSD-3-Clause
// The C ABI's questions: names, options, counters, and what people read.
#include "plugin/runtime/capi_functions.hpp"

#include "collectives/reduction/host_kernels.hpp"
#include "plugin/runtime/capi_guard.hpp"
#include "plugin/runtime/capi_objects.hpp"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace peercoll::capi {

namespace {

const char version_text[] = PEERCOLL_VERSION;

void tell(const std::vector<std::string>& lines, peercoll_line_fn line, void* user) {
    for (const std::string& text : lines) line(text.c_str(), user);
}

}  // namespace

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

peercoll_status_t option_info(size_t index, peercoll_option_info_t* info) {
    return guarded([&]() -> Status {
        const auto& table = option_table();
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

peercoll_status_t count(peercoll_context_t context, const char* subject, const char* event) {
    return guarded([&]() -> Status {
        if (context == nullptr) return invalid("context is NULL");
        if (subject == nullptr || event == nullptr || !is_counter_word(subject) || !is_counter_word(event))
            return invalid("subject or event is not a short word of a-z, 0-9 and _");
        context->implementation->statistics()
            .shared(fmt::format("{}.{}", subject, event))
            .fetch_add(1, std::memory_order_relaxed);
        return {};
    });
}

peercoll_status_t describe_topology(peercoll_context_t context, peercoll_line_fn line, void* user) {
    return guarded([&]() -> Status {
        if (context == nullptr || line == nullptr) return invalid("context or line is NULL");
        // Loaded anew, with PCI devices, which the collectives do without.
        std::unique_ptr<Topology> topology;
        Status status = Topology::load(context->implementation->options().topology_file, true, topology);
        if (status.ok()) tell(topology->describe(), line, user);
        return status;
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

peercoll_status_t describe_devices(peercoll_context_t context, peercoll_line_fn line, void* user) {
    return guarded([&]() -> Status {
        if (context == nullptr || line == nullptr) return invalid("context or line is NULL");
        tell(context->implementation->devices().describe(), line, user);
        return {};
    });
}

}  // namespace peercoll::capi
