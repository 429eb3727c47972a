// SPDX-License-Identifier: BSD-3-Clause
// What the datatypes and operations are: sizes, names, and which operation takes which datatype (MPI's rules).
#include "collectives/reduction/host_kernels.hpp"
#include "collectives/reduction/wide_float_types.hpp"

namespace peercoll {
namespace {

enum class Kind { kNone, kInteger, kByte, kFloat, kComplex, kLogical, kPair };

struct Datatype {
    const char* name;
    std::size_t bytes;
    Kind kind;
};

constexpr Datatype kAbsent = {nullptr, 0, Kind::kNone};

// A type that this machine's compiler lacks is no datatype here.
constexpr Datatype if_present(bool present, Datatype datatype) {
    return present ? datatype : kAbsent;
}

constexpr Datatype kDatatypes[] = {
    kAbsent,
    {"int8", 1, Kind::kInteger},
    {"uint8", 1, Kind::kInteger},
    {"int16", 2, Kind::kInteger},
    {"uint16", 2, Kind::kInteger},
    {"int32", 4, Kind::kInteger},
    {"uint32", 4, Kind::kInteger},
    {"int64", 8, Kind::kInteger},
    {"uint64", 8, Kind::kInteger},
    {"byte", 1, Kind::kByte},
    {"float16", 2, Kind::kFloat},
    {"bfloat16", 2, Kind::kFloat},
    {"float32", 4, Kind::kFloat},
    {"float64", 8, Kind::kFloat},
    if_present(kHasFloat80, {"float80", 16, Kind::kFloat}),
    if_present(kHasFloat128, {"float128", 16, Kind::kFloat}),
    {"complex_float32", 8, Kind::kComplex},
    {"complex_float64", 16, Kind::kComplex},
    if_present(kHasFloat80, {"complex_float80", 32, Kind::kComplex}),
    if_present(kHasFloat128, {"complex_float128", 32, Kind::kComplex}),
    {"bool", 1, Kind::kLogical},
    {"logical8", 1, Kind::kLogical},
    {"logical16", 2, Kind::kLogical},
    {"logical32", 4, Kind::kLogical},
    {"logical64", 8, Kind::kLogical},
    {"pair_float32_int32", 8, Kind::kPair},
    {"pair_float64_int32", 16, Kind::kPair},
    {"pair_int64_int32", 16, Kind::kPair},
    {"pair_int32_int32", 8, Kind::kPair},
    {"pair_int16_int32", 8, Kind::kPair},
    if_present(kHasFloat80, {"pair_float80_int32", 32, Kind::kPair}),
    {"pair_float32_float32", 8, Kind::kPair},
    {"pair_float64_float64", 16, Kind::kPair},
};
static_assert(sizeof(kDatatypes) / sizeof(kDatatypes[0]) == PEERCOLL_DATATYPE_END);

constexpr const char* kOpNames[] = {nullptr, "sum", "prod", "min",    "max",    "land",    "lor",  "lxor",
                                    "band",  "bor", "bxor", "minloc", "maxloc", "replace", "no_op"};
static_assert(sizeof(kOpNames) / sizeof(kOpNames[0]) == PEERCOLL_OP_END);

const Datatype& describe(peercoll_datatype_t datatype) {
    return datatype > PEERCOLL_DATATYPE_NONE && datatype < PEERCOLL_DATATYPE_END ? kDatatypes[datatype] : kAbsent;
}

}  // namespace

std::size_t datatype_size(peercoll_datatype_t datatype) {
    return describe(datatype).bytes;
}

const char* datatype_name(peercoll_datatype_t datatype) {
    return describe(datatype).name;
}

const char* op_name(peercoll_op_t op) {
    return op > PEERCOLL_OP_NONE && op < PEERCOLL_OP_END ? kOpNames[op] : nullptr;
}

bool op_supports(peercoll_op_t op, peercoll_datatype_t datatype) {
    const Kind kind = describe(datatype).kind;
    switch (op) {
        case PEERCOLL_SUM:
        case PEERCOLL_PROD:
            return kind == Kind::kInteger || kind == Kind::kFloat || kind == Kind::kComplex;
        case PEERCOLL_MIN:
        case PEERCOLL_MAX:
            return kind == Kind::kInteger || kind == Kind::kFloat;
        case PEERCOLL_LAND:
        case PEERCOLL_LOR:
        case PEERCOLL_LXOR:
            return kind == Kind::kInteger || kind == Kind::kLogical;
        case PEERCOLL_BAND:
        case PEERCOLL_BOR:
        case PEERCOLL_BXOR:
            return kind == Kind::kInteger || kind == Kind::kByte;
        case PEERCOLL_MINLOC:
        case PEERCOLL_MAXLOC:
            return kind == Kind::kPair;
        case PEERCOLL_REPLACE:
        case PEERCOLL_NO_OP:
            return kind != Kind::kNone;
        default:
            return false;
    }
}

bool op_is_commutative(peercoll_op_t op) {
    return op_name(op) && op != PEERCOLL_REPLACE && op != PEERCOLL_NO_OP;
}

}  // namespace peercoll
