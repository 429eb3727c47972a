// SPDX-License-Identifier: BSD-3-Clause
// What the datatypes and operations are: sizes, names, and which operation takes which datatype (MPI's rules).
#include "collectives/reduction/host_kernels.hpp"
#include "collectives/reduction/wide_float_types.hpp"

namespace peercoll {
namespace {

enum class Kind { None, Integer, Byte, Float, Complex, Logical, Pair };

struct Datatype {
    const char* name;
    std::size_t bytes;
    Kind kind;
};

constexpr Datatype absent = {nullptr, 0, Kind::None};

// A type that this machine's compiler lacks is no datatype here.
constexpr Datatype if_present(bool present, Datatype datatype) {
    return present ? datatype : absent;
}

constexpr Datatype datatypes[] = {
    absent,
    {"int8", 1, Kind::Integer},
    {"uint8", 1, Kind::Integer},
    {"int16", 2, Kind::Integer},
    {"uint16", 2, Kind::Integer},
    {"int32", 4, Kind::Integer},
    {"uint32", 4, Kind::Integer},
    {"int64", 8, Kind::Integer},
    {"uint64", 8, Kind::Integer},
    {"byte", 1, Kind::Byte},
    {"float16", 2, Kind::Float},
    {"bfloat16", 2, Kind::Float},
    {"float32", 4, Kind::Float},
    {"float64", 8, Kind::Float},
    if_present(has_float80, {"float80", 16, Kind::Float}),
    if_present(has_float128, {"float128", 16, Kind::Float}),
    {"complex_float32", 8, Kind::Complex},
    {"complex_float64", 16, Kind::Complex},
    if_present(has_float80, {"complex_float80", 32, Kind::Complex}),
    if_present(has_float128, {"complex_float128", 32, Kind::Complex}),
    {"bool", 1, Kind::Logical},
    {"logical8", 1, Kind::Logical},
    {"logical16", 2, Kind::Logical},
    {"logical32", 4, Kind::Logical},
    {"logical64", 8, Kind::Logical},
    {"pair_float32_int32", 8, Kind::Pair},
    {"pair_float64_int32", 16, Kind::Pair},
    {"pair_int64_int32", 16, Kind::Pair},
    {"pair_int32_int32", 8, Kind::Pair},
    {"pair_int16_int32", 8, Kind::Pair},
    if_present(has_float80, {"pair_float80_int32", 32, Kind::Pair}),
    {"pair_float32_float32", 8, Kind::Pair},
    {"pair_float64_float64", 16, Kind::Pair},
};
static_assert(sizeof(datatypes) / sizeof(datatypes[0]) == PEERCOLL_DATATYPE_END);

constexpr const char* op_names[] = {nullptr, "sum", "prod", "min",    "max",    "land",    "lor",  "lxor",
                                    "band",  "bor", "bxor", "minloc", "maxloc", "replace", "no_op"};
static_assert(sizeof(op_names) / sizeof(op_names[0]) == PEERCOLL_OP_END);

const Datatype& describe(peercoll_datatype_t datatype) {
    return datatype > PEERCOLL_DATATYPE_NONE && datatype < PEERCOLL_DATATYPE_END ? datatypes[datatype] : absent;
}

}  // namespace

std::size_t datatype_size(peercoll_datatype_t datatype) {
    return describe(datatype).bytes;
}

const char* datatype_name(peercoll_datatype_t datatype) {
    return describe(datatype).name;
}

const char* op_name(peercoll_op_t op) {
    return op > PEERCOLL_OP_NONE && op < PEERCOLL_OP_END ? op_names[op] : nullptr;
}

bool op_supports(peercoll_op_t op, peercoll_datatype_t datatype) {
    const Kind kind = describe(datatype).kind;
    switch (op) {
        case PEERCOLL_SUM:
        case PEERCOLL_PROD:
            return kind == Kind::Integer || kind == Kind::Float || kind == Kind::Complex;
        case PEERCOLL_MIN:
        case PEERCOLL_MAX:
            return kind == Kind::Integer || kind == Kind::Float;
        case PEERCOLL_LAND:
        case PEERCOLL_LOR:
        case PEERCOLL_LXOR:
            return kind == Kind::Integer || kind == Kind::Logical;
        case PEERCOLL_BAND:
        case PEERCOLL_BOR:
        case PEERCOLL_BXOR:
            return kind == Kind::Integer || kind == Kind::Byte;
        case PEERCOLL_MINLOC:
        case PEERCOLL_MAXLOC:
            return kind == Kind::Pair;
        case PEERCOLL_REPLACE:
        case PEERCOLL_NO_OP:
            return kind != Kind::None;
        default:
            return false;
    }
}

bool op_is_commutative(peercoll_op_t op) {
    return op_name(op) && op != PEERCOLL_REPLACE && op != PEERCOLL_NO_OP;
}

}  // namespace peercoll
