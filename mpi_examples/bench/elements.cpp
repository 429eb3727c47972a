// SPDX-License-Identifier: BSD-3-Clause
#include "elements.hpp"

namespace peercoll::bench {

namespace {

template <typename Value>
std::string_view find_name(const std::map<std::string, Value>& names, Value value) {
    for (const auto& [name, candidate] : names) {
        if (candidate == value) return name;
    }
    return "unknown";
}

template <typename Value>
std::string join(const std::map<std::string, Value>& names) {
    std::string text;
    for (const auto& [name, value] : names) text += (text.empty() ? "" : " ") + name;
    return text;
}

}  // namespace

const std::map<std::string, ElementType>& elements_by_name() {
    static const std::map<std::string, ElementType> names{
        {"int8", ElementType::Int8},     {"uint8", ElementType::Uint8},          {"int16", ElementType::Int16},
        {"uint16", ElementType::Uint16}, {"int32", ElementType::Int32},          {"uint32", ElementType::Uint32},
        {"int64", ElementType::Int64},   {"uint64", ElementType::Uint64},        {"float", ElementType::Float},
        {"double", ElementType::Double}, {"longdouble", ElementType::LongDouble}};
    return names;
}

const std::map<std::string, Operation>& operations_by_name() {
    static const std::map<std::string, Operation> names{
        {"sum", Operation::Sum},   {"prod", Operation::Prod}, {"min", Operation::Min},   {"max", Operation::Max},
        {"land", Operation::Land}, {"lor", Operation::Lor},   {"lxor", Operation::Lxor}, {"band", Operation::Band},
        {"bor", Operation::Bor},   {"bxor", Operation::Bxor}};
    return names;
}

std::string element_names() {
    return join(elements_by_name());
}
std::string operation_names() {
    return join(operations_by_name());
}
std::string_view name_of(ElementType type) {
    return find_name(elements_by_name(), type);
}
std::string_view name_of(Operation operation) {
    return find_name(operations_by_name(), operation);
}

std::size_t size_of(ElementType type) {
    return with_type(type, [](auto zero) { return sizeof(zero); });
}

MPI_Datatype mpi_type(ElementType type) {
    switch (type) {
        case ElementType::Int8:
            return MPI_INT8_T;
        case ElementType::Uint8:
            return MPI_UINT8_T;
        case ElementType::Int16:
            return MPI_INT16_T;
        case ElementType::Uint16:
            return MPI_UINT16_T;
        case ElementType::Int32:
            return MPI_INT32_T;
        case ElementType::Uint32:
            return MPI_UINT32_T;
        case ElementType::Int64:
            return MPI_INT64_T;
        case ElementType::Uint64:
            return MPI_UINT64_T;
        case ElementType::Double:
            return MPI_DOUBLE;
        case ElementType::LongDouble:
            return MPI_LONG_DOUBLE;
        case ElementType::Float:
            break;
    }
    return MPI_FLOAT;
}

MPI_Op mpi_op(Operation operation) {
    switch (operation) {
        case Operation::Prod:
            return MPI_PROD;
        case Operation::Min:
            return MPI_MIN;
        case Operation::Max:
            return MPI_MAX;
        case Operation::Land:
            return MPI_LAND;
        case Operation::Lor:
            return MPI_LOR;
        case Operation::Lxor:
            return MPI_LXOR;
        case Operation::Band:
            return MPI_BAND;
        case Operation::Bor:
            return MPI_BOR;
        case Operation::Bxor:
            return MPI_BXOR;
        case Operation::Sum:
            break;
    }
    return MPI_SUM;
}

bool is_defined(Operation operation, ElementType type) {
    const bool arithmetic = operation == Operation::Sum || operation == Operation::Prod ||
                            operation == Operation::Min || operation == Operation::Max;
    return arithmetic || with_type(type, [](auto zero) { return std::is_integral_v<decltype(zero)>; });
}

}  // namespace peercoll::bench
