// SPDX-License-Identifier: BSD-3-Clause
// Element types and operations by the names of the command line, and what MPI calls them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>

namespace peercoll::bench {

enum class ElementType : std::uint8_t {
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Float,
    Double,
    LongDouble
};
enum class Operation : std::uint8_t { Sum, Prod, Min, Max, Land, Lor, Lxor, Band, Bor, Bxor };

std::size_t size_of(ElementType type);
std::string_view name_of(ElementType type);
std::string_view name_of(Operation operation);
MPI_Datatype mpi_type(ElementType type);
MPI_Op mpi_op(Operation operation);

// What MPI defines: logical and bitwise operations for integers only.
bool is_defined(Operation operation, ElementType type);

const std::map<std::string, ElementType>& elements_by_name();
const std::map<std::string, Operation>& operations_by_name();
std::string element_names();
std::string operation_names();

// Calls visit(T{}) with the C++ type of `type`.
template <typename Visitor>
decltype(auto) with_type(ElementType type, Visitor&& visit) {
    switch (type) {
        case ElementType::Int8:
            return visit(std::int8_t{});
        case ElementType::Uint8:
            return visit(std::uint8_t{});
        case ElementType::Int16:
            return visit(std::int16_t{});
        case ElementType::Uint16:
            return visit(std::uint16_t{});
        case ElementType::Int32:
            return visit(std::int32_t{});
        case ElementType::Uint32:
            return visit(std::uint32_t{});
        case ElementType::Int64:
            return visit(std::int64_t{});
        case ElementType::Uint64:
            return visit(std::uint64_t{});
        case ElementType::Double:
            return visit(double{});
        case ElementType::LongDouble:
            return visit(0.0L);
        case ElementType::Float:
            break;
    }
    return visit(float{});
}

}  // namespace peercoll::bench
