// SPDX-License-Identifier: BSD-3-Clause
// How many collectives the plugin served, from MPI's own tool interface (MPI_T): the performance variables
// coll_peercoll_<collective>_served and coll_peercoll_<collective>_passed_on. Without the plugin they do not exist.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>

namespace peercoll::bench {

// One started performance variable, read through its handle.
class PluginCounter {
public:
    PluginCounter(MPI_T_pvar_session session, const std::string& name);

    bool found() const { return handle_ != MPI_T_PVAR_HANDLE_NULL; }
    std::uint64_t read() const;

private:
    // Handles end with their session.
    MPI_T_pvar_session session_;
    MPI_T_pvar_handle handle_ = MPI_T_PVAR_HANDLE_NULL;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    // What an object-bound variable is asked about; must outlive the handle.
    MPI_Comm comm_ = MPI_COMM_WORLD;
};

struct ServedCalls {
    bool loaded = false;
    std::uint64_t served = 0;     // fewest of all ranks
    std::uint64_t passed_on = 0;  // most of all ranks
};

// Counts from construction on. Between MPI_Init and MPI_Finalize.
class PluginCounters {
public:
    explicit PluginCounters(const std::string& collective);
    ~PluginCounters();
    PluginCounters(const PluginCounters&) = delete;
    PluginCounters& operator=(const PluginCounters&) = delete;

    // In this process.
    bool plugin_is_loaded() const { return served_ && served_->found(); }
    // Collective over MPI_COMM_WORLD (by MPI_Reduce), complete on rank 0.
    ServedCalls since_start() const;

private:
    MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
    std::optional<PluginCounter> served_;
    std::optional<PluginCounter> passed_on_;
    std::uint64_t served_before_ = 0;
    std::uint64_t passed_on_before_ = 0;
};

}  // namespace peercoll::bench
