// SPDX-License-Identifier: BSD-3-Clause
#include "plugin_counters.hpp"

#include <array>

namespace peercoll::bench {

namespace {

struct Variable {
    int index = -1;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int binding = MPI_T_BIND_NO_OBJECT;
    bool continuous = true;
};

std::optional<Variable> find_variable(const std::string& wanted) {
    int count = 0;
    MPI_T_pvar_get_num(&count);
    for (int index = 0; index < count; ++index) {
        std::array<char, 256> name{};
        std::array<char, 2> description{};
        int name_length = name.size();
        int description_length = description.size();
        int verbosity = 0;
        int variable_class = 0;
        int readonly = 0;
        int continuous = 0;
        int atomic = 0;
        MPI_T_enum values = MPI_T_ENUM_NULL;
        Variable variable;
        variable.index = index;
        if (MPI_T_pvar_get_info(index, name.data(), &name_length, &verbosity, &variable_class, &variable.type, &values,
                                description.data(), &description_length, &variable.binding, &readonly, &continuous,
                                &atomic) != MPI_SUCCESS) {
            continue;
        }
        variable.continuous = continuous != 0;
        if (wanted == name.data()) return variable;
    }
    return std::nullopt;
}

}  // namespace

PluginCounter::PluginCounter(MPI_T_pvar_session session, const std::string& name) : session_(session) {
    const std::optional<Variable> variable = find_variable(name);
    if (!variable) return;
    type_ = variable->type;
    void* object = variable->binding == MPI_T_BIND_MPI_COMM ? &comm_ : nullptr;
    int count = 0;
    if (MPI_T_pvar_handle_alloc(session_, variable->index, object, &handle_, &count) != MPI_SUCCESS || count != 1) {
        handle_ = MPI_T_PVAR_HANDLE_NULL;
        return;
    }
    if (!variable->continuous) MPI_T_pvar_start(session_, handle_);
}

std::uint64_t PluginCounter::read() const {
    if (!found()) return 0;
    alignas(8) std::array<unsigned char, 16> raw{};
    if (MPI_T_pvar_read(session_, handle_, raw.data()) != MPI_SUCCESS) return 0;
    int size = 0;
    MPI_Type_size(type_, &size);
    // The integer types MPI_T allows for counters are all little-endian unsigned here.
    std::uint64_t value = 0;
    for (int byte = 0; byte < size && byte < 8; ++byte)
        value |= std::uint64_t{raw[static_cast<std::size_t>(byte)]} << (8 * byte);
    return value;
}

PluginCounters::PluginCounters(const std::string& collective) {
    int provided = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return;
    if (MPI_T_pvar_session_create(&session_) != MPI_SUCCESS) {
        session_ = MPI_T_PVAR_SESSION_NULL;
        MPI_T_finalize();
        return;
    }
    served_.emplace(session_, "coll_peercoll_" + collective + "_served");
    passed_on_.emplace(session_, "coll_peercoll_" + collective + "_passed_on");
    served_before_ = served_->read();
    passed_on_before_ = passed_on_->read();
}

PluginCounters::~PluginCounters() {
    if (session_ == MPI_T_PVAR_SESSION_NULL) return;
    MPI_T_pvar_session_free(&session_);
    MPI_T_finalize();
}

ServedCalls PluginCounters::since_start() const {
    const int loaded_here = served_ && served_->found() ? 1 : 0;
    const std::uint64_t served_here = loaded_here != 0 ? served_->read() - served_before_ : 0;
    const std::uint64_t passed_here = passed_on_ ? passed_on_->read() - passed_on_before_ : 0;
    ServedCalls calls;
    int loaded = 0;
    MPI_Reduce(&loaded_here, &loaded, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&served_here, &calls.served, 1, MPI_UINT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&passed_here, &calls.passed_on, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    calls.loaded = loaded != 0;
    return calls;
}

}  // namespace peercoll::bench
