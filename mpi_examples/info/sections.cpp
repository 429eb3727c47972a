// SPDX-License-Identifier: BSD-3-Clause
#include "sections.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>

namespace peercoll::info {

namespace {

constexpr const peercoll_plugin_t& library = peercoll_plugin_v1;

void title(std::string_view text) {
    fmt::print("\n{}\n", text);
}

void print_line(const char* line, void*) {
    fmt::print("  {}\n", line);
}

void drop_line(const char*, void*) {}

// Whether the MPI_T performance variables of the Open MPI component exist in this process.
bool component_is_loaded() {
    int provided = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return false;
    int count = 0;
    MPI_T_pvar_get_num(&count);
    bool found = false;
    for (int index = 0; index < count && !found; ++index) {
        std::array<char, 256> name{};
        int name_length = name.size();
        int description_length = 0;
        int verbosity = 0;
        int variable_class = 0;
        int binding = 0;
        int readonly = 0;
        int continuous = 0;
        int atomic = 0;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_T_enum values = MPI_T_ENUM_NULL;
        const int result =
            MPI_T_pvar_get_info(index, name.data(), &name_length, &verbosity, &variable_class, &type, &values, nullptr,
                                &description_length, &binding, &readonly, &continuous, &atomic);
        found = result == MPI_SUCCESS && std::string_view(name.data()) == "coll_peercoll_allreduce_served";
    }
    MPI_T_finalize();
    return found;
}

}  // namespace

void print_version() {
    fmt::print("{} {}\n", library.name, library.version());
}

void print_component() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    const std::string_view mpi(text.data());
    fmt::print("{}\n", mpi.substr(0, mpi.find(',')));
    if (component_is_loaded()) {
        fmt::print("the plugin is loaded in this job: MPI's own collectives use it\n");
    } else {
        fmt::print("the plugin is not loaded in this job: MPI's own collectives do not use it (README.md, Loading)\n");
    }
}

void print_options(const Session& session) {
    title("options (environment PEERCOLL_NAME, MCA parameter coll_peercoll_name)");
    peercoll_option_info_t row{};
    row.struct_size = sizeof(row);
    for (std::size_t index = 0; library.option_info(index, &row) == PEERCOLL_SUCCESS; ++index) {
        const char* value = nullptr;
        const char* origin = nullptr;
        require(library.context_option(session.context(), row.name, &value, &origin), row.name);
        fmt::print("  {:<20} = {:<10} ({})\n", row.name, *value == '\0' ? "(empty)" : value, origin);
        fmt::print("      {}\n      values: {}; default: {}\n", row.meaning, row.values,
                   *row.default_value == '\0' ? "(empty)" : row.default_value);
    }
}

void print_topology(const Session& session) {
    title("topology of this node, as rank 0 sees it");
    require(library.describe_topology(session.context(), print_line, nullptr), "topology");
}

void print_devices(const Session& session, const std::string& why_not) {
    title("devices, as rank 0 sees them");
    if (PEERCOLL_HAS(&library, describe_devices)) {
        require(library.describe_devices(session.context(), print_line, nullptr), "devices");
    }
    if (!why_not.empty()) fmt::print("  rank 0 uses none: {}\n", why_not);
}

void print_communicator(const Session& session, bool speaker) {
    if (speaker) title("communicator: MPI_COMM_WORLD");
    require(library.describe_comm(session.comm(), speaker ? print_line : drop_line, nullptr), "communicator");
}

void print_statistics(const Session& session) {
    title("statistics of rank 0, after the collectives tried here");
    const char* name = nullptr;
    std::uint64_t value = 0;
    for (std::size_t index = 0; library.statistic(session.context(), index, &name, &value) == PEERCOLL_SUCCESS;
         ++index) {
        fmt::print("  {:<40} {}\n", name, value);
    }
}

}  // namespace peercoll::info
