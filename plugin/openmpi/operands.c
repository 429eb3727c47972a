/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugin/openmpi/operands.h"

#include <float.h>
#include <limits.h>

/* What a predefined MPI datatype is made of; together with its extent this gives the representation. */
enum kind {
    SIGNED,
    UNSIGNED,
    BYTES,
    REAL,        /* size 2, 4, 8, or Fortran's 16: IEEE */
    LONG_DOUBLE, /* whatever the C compiler has */
    COMPLEX,
    LONG_DOUBLE_COMPLEX,
    C_BOOLEAN,
    LOGICAL,
    REAL_INT,
    LONG_DOUBLE_INT,
    SIGNED_INT,
    TWO_REALS,
};

struct datatype_row {
    struct ompi_predefined_datatype_t* handle;
    enum kind kind;
};

static const struct datatype_row datatype_rows[] = {
    /* C */
    {&ompi_mpi_byte, BYTES},
    {&ompi_mpi_char, CHAR_MIN < 0 ? SIGNED : UNSIGNED},
    {&ompi_mpi_signed_char, SIGNED},
    {&ompi_mpi_unsigned_char, UNSIGNED},
    {&ompi_mpi_short, SIGNED},
    {&ompi_mpi_unsigned_short, UNSIGNED},
    {&ompi_mpi_int, SIGNED},
    {&ompi_mpi_unsigned, UNSIGNED},
    {&ompi_mpi_long, SIGNED},
    {&ompi_mpi_unsigned_long, UNSIGNED},
    {&ompi_mpi_long_long_int, SIGNED},
    {&ompi_mpi_unsigned_long_long, UNSIGNED},
    {&ompi_mpi_int8_t, SIGNED},
    {&ompi_mpi_uint8_t, UNSIGNED},
    {&ompi_mpi_int16_t, SIGNED},
    {&ompi_mpi_uint16_t, UNSIGNED},
    {&ompi_mpi_int32_t, SIGNED},
    {&ompi_mpi_uint32_t, UNSIGNED},
    {&ompi_mpi_int64_t, SIGNED},
    {&ompi_mpi_uint64_t, UNSIGNED},
    {&ompi_mpi_aint, SIGNED},
    {&ompi_mpi_offset, SIGNED},
    {&ompi_mpi_count, SIGNED},
    {&ompi_mpi_float, REAL},
    {&ompi_mpi_double, REAL},
    {&ompi_mpi_long_double, LONG_DOUBLE},
    {&ompi_mpi_c_bool, C_BOOLEAN},
    {&ompi_mpi_c_float_complex, COMPLEX},
    {&ompi_mpi_c_double_complex, COMPLEX},
    {&ompi_mpi_c_long_double_complex, LONG_DOUBLE_COMPLEX},
    {&ompi_mpi_float_int, REAL_INT},
    {&ompi_mpi_double_int, REAL_INT},
    {&ompi_mpi_longdbl_int, LONG_DOUBLE_INT},
    {&ompi_mpi_long_int, SIGNED_INT},
    {&ompi_mpi_short_int, SIGNED_INT},
    {&ompi_mpi_2int, SIGNED_INT},
    /* C++ */
    {&ompi_mpi_cxx_bool, C_BOOLEAN},
    {&ompi_mpi_cxx_cplex, COMPLEX},
    {&ompi_mpi_cxx_dblcplex, COMPLEX},
    {&ompi_mpi_cxx_ldblcplex, LONG_DOUBLE_COMPLEX},
    /* Fortran; those the library's Fortran compiler lacks have size 0 */
    {&ompi_mpi_integer, SIGNED},
    {&ompi_mpi_integer1, SIGNED},
    {&ompi_mpi_integer2, SIGNED},
    {&ompi_mpi_integer4, SIGNED},
    {&ompi_mpi_integer8, SIGNED},
    {&ompi_mpi_integer16, SIGNED},
    {&ompi_mpi_real, REAL},
#ifdef MPI_REAL2
    {&ompi_mpi_real2, REAL},
#endif
    {&ompi_mpi_real4, REAL},
    {&ompi_mpi_real8, REAL},
    {&ompi_mpi_real16, REAL},
    {&ompi_mpi_dblprec, REAL},
    {&ompi_mpi_cplex, COMPLEX},
    {&ompi_mpi_complex8, COMPLEX},
    {&ompi_mpi_complex16, COMPLEX},
    {&ompi_mpi_complex32, COMPLEX},
    {&ompi_mpi_dblcplex, COMPLEX},
#if OMPI_FORTRAN_VALUE_TRUE == 1 /* the value our logical operations write */
    {&ompi_mpi_logical, LOGICAL},
    {&ompi_mpi_logical1, LOGICAL},
    {&ompi_mpi_logical2, LOGICAL},
    {&ompi_mpi_logical4, LOGICAL},
    {&ompi_mpi_logical8, LOGICAL},
#endif
    {&ompi_mpi_2integer, SIGNED_INT},
    {&ompi_mpi_2real, TWO_REALS},
    {&ompi_mpi_2dblprec, TWO_REALS},
};

/* Handles of mpi.h: op/op.h itself cannot be included, a header that it needs is not installed. */
static const struct {
    struct ompi_predefined_op_t* handle;
    peercoll_op_t op;
} op_rows[] = {
    /* the most used ones first: looked up in this order */
    {&ompi_mpi_op_sum, PEERCOLL_SUM},         {&ompi_mpi_op_max, PEERCOLL_MAX},
    {&ompi_mpi_op_min, PEERCOLL_MIN},         {&ompi_mpi_op_prod, PEERCOLL_PROD},
    {&ompi_mpi_op_land, PEERCOLL_LAND},       {&ompi_mpi_op_lor, PEERCOLL_LOR},
    {&ompi_mpi_op_band, PEERCOLL_BAND},       {&ompi_mpi_op_bor, PEERCOLL_BOR},
    {&ompi_mpi_op_minloc, PEERCOLL_MINLOC},   {&ompi_mpi_op_maxloc, PEERCOLL_MAXLOC},
    {&ompi_mpi_op_lxor, PEERCOLL_LXOR},       {&ompi_mpi_op_bxor, PEERCOLL_BXOR},
    {&ompi_mpi_op_replace, PEERCOLL_REPLACE}, {&ompi_mpi_op_no_op, PEERCOLL_NO_OP},
};
enum { OPS = sizeof(op_rows) / sizeof(op_rows[0]) };

/* What `kind` can be; the one whose size is `extent` is meant. */
static const peercoll_datatype_t* candidates(enum kind kind) {
    /* Index by kind, ended by NONE. FLOAT16's C name and Fortran's REAL*2 are both IEEE binary16. */
    static const peercoll_datatype_t of_kind[][5] = {
        [SIGNED] = {PEERCOLL_INT8, PEERCOLL_INT16, PEERCOLL_INT32, PEERCOLL_INT64},
        [UNSIGNED] = {PEERCOLL_UINT8, PEERCOLL_UINT16, PEERCOLL_UINT32, PEERCOLL_UINT64},
        [BYTES] = {PEERCOLL_BYTE},
        [REAL] = {PEERCOLL_FLOAT16, PEERCOLL_FLOAT32, PEERCOLL_FLOAT64, PEERCOLL_FLOAT128},
        [COMPLEX] = {PEERCOLL_COMPLEX_FLOAT32, PEERCOLL_COMPLEX_FLOAT64, PEERCOLL_COMPLEX_FLOAT128},
#if LDBL_MANT_DIG == 64
        [LONG_DOUBLE] = {PEERCOLL_FLOAT80},
        [LONG_DOUBLE_COMPLEX] = {PEERCOLL_COMPLEX_FLOAT80},
        [LONG_DOUBLE_INT] = {PEERCOLL_PAIR_FLOAT80_INT32},
#elif LDBL_MANT_DIG == 113
        [LONG_DOUBLE] = {PEERCOLL_FLOAT128},
        [LONG_DOUBLE_COMPLEX] = {PEERCOLL_COMPLEX_FLOAT128},
        [LONG_DOUBLE_INT] = {PEERCOLL_DATATYPE_NONE},
#elif LDBL_MANT_DIG == 53
        [LONG_DOUBLE] = {PEERCOLL_FLOAT64},
        [LONG_DOUBLE_COMPLEX] = {PEERCOLL_COMPLEX_FLOAT64},
        [LONG_DOUBLE_INT] = {PEERCOLL_PAIR_FLOAT64_INT32},
#else
        [LONG_DOUBLE_INT] = {PEERCOLL_DATATYPE_NONE},
#endif
        [C_BOOLEAN] = {PEERCOLL_BOOL},
        [LOGICAL] = {PEERCOLL_LOGICAL8, PEERCOLL_LOGICAL16, PEERCOLL_LOGICAL32, PEERCOLL_LOGICAL64},
        [REAL_INT] = {PEERCOLL_PAIR_FLOAT32_INT32, PEERCOLL_PAIR_FLOAT64_INT32},
        [TWO_REALS] = {PEERCOLL_PAIR_FLOAT32_FLOAT32, PEERCOLL_PAIR_FLOAT64_FLOAT64},
        [SIGNED_INT] = {PEERCOLL_DATATYPE_NONE}, /* two of them have 8 bytes: pair_of_ints() */
    };
    return of_kind[kind];
}

/* MPI_LONG_INT, MPI_2INT and MPI_SHORT_INT: the sizes tell them apart, the extents do not. */
static peercoll_datatype_t pair_of_ints(size_t size, size_t extent) {
    if (extent == 16 && size == 12) {
        return PEERCOLL_PAIR_INT64_INT32;
    }
    if (extent == 8) {
        return size == 8 ? PEERCOLL_PAIR_INT32_INT32 : size == 6 ? PEERCOLL_PAIR_INT16_INT32 : PEERCOLL_DATATYPE_NONE;
    }
    return PEERCOLL_DATATYPE_NONE;
}

static peercoll_datatype_t resolve(const struct datatype_row* row) {
    size_t size = 0;
    ptrdiff_t lower_bound = 0;
    ptrdiff_t extent = 0;
    ompi_datatype_type_size(&row->handle->dt, &size);
    ompi_datatype_get_extent(&row->handle->dt, &lower_bound, &extent);
    if (size == 0 || lower_bound != 0 || extent <= 0) {
        return PEERCOLL_DATATYPE_NONE;
    }
    if (row->kind == SIGNED_INT) {
        const peercoll_datatype_t pair = pair_of_ints(size, (size_t)extent);
        return peercoll_plugin_v1.datatype_size(pair) == (size_t)extent ? pair : PEERCOLL_DATATYPE_NONE;
    }
    for (const peercoll_datatype_t* candidate = candidates(row->kind); *candidate != PEERCOLL_DATATYPE_NONE;
         ++candidate) {
        if (peercoll_plugin_v1.datatype_size(*candidate) == (size_t)extent) {
            return *candidate;
        }
    }
    return PEERCOLL_DATATYPE_NONE;
}

/* Look-up by the small number that Open MPI keeps in each handle for Fortran. User-made handles have numbers too, so
 * the handle itself is compared. */
enum { MAX_DATATYPES = 128 };
static struct {
    const struct ompi_datatype_t* handle;
    peercoll_datatype_t datatype;
} datatype_of_number[MAX_DATATYPES];

/* Look-up by Open MPI's number of the representation, for the predefined but unnamed datatypes that
 * MPI_Type_create_f90_real() and its like return. AMBIGUOUS where it stands for several of ours. */
enum { AMBIGUOUS = -1 };
static int32_t datatype_of_representation[OMPI_DATATYPE_MAX_PREDEFINED];

static uint64_t datatypes_of_op[PEERCOLL_OP_END]; /* bit = datatype */
_Static_assert(PEERCOLL_DATATYPE_END <= 64, "one bit for each datatype");

static void add_datatype(const struct datatype_row* row) {
    const struct ompi_datatype_t* handle = &row->handle->dt;
    const peercoll_datatype_t datatype = resolve(row);
    if (datatype == PEERCOLL_DATATYPE_NONE) {
        return;
    }
    if (handle->d_f_to_c_index >= 0 && handle->d_f_to_c_index < MAX_DATATYPES) {
        datatype_of_number[handle->d_f_to_c_index].handle = handle;
        datatype_of_number[handle->d_f_to_c_index].datatype = datatype;
    }
    if (handle->id >= 0 && handle->id < OMPI_DATATYPE_MAX_PREDEFINED) {
        int32_t* known = &datatype_of_representation[handle->id];
        *known = *known == PEERCOLL_DATATYPE_NONE || *known == datatype ? datatype : AMBIGUOUS;
    }
}

void peercoll_openmpi_build_operand_tables(void) {
    for (size_t row = 0; row < sizeof(datatype_rows) / sizeof(datatype_rows[0]); ++row) {
        add_datatype(&datatype_rows[row]);
    }
    for (peercoll_op_t op = PEERCOLL_OP_NONE + 1; op < PEERCOLL_OP_END; ++op) {
        datatypes_of_op[op] = 0;
        for (peercoll_datatype_t datatype = PEERCOLL_DATATYPE_NONE + 1; datatype < PEERCOLL_DATATYPE_END; ++datatype) {
            if (peercoll_plugin_v1.op_supports(op, datatype)) {
                datatypes_of_op[op] |= UINT64_C(1) << datatype;
            }
        }
    }
}

bool peercoll_openmpi_is_named(const struct ompi_datatype_t* datatype) {
    const int32_t number = datatype->d_f_to_c_index;
    return number >= 0 && number < MAX_DATATYPES && datatype_of_number[number].handle == datatype;
}

peercoll_datatype_t peercoll_openmpi_datatype(const struct ompi_datatype_t* datatype) {
    if (peercoll_openmpi_is_named(datatype)) {
        return datatype_of_number[datatype->d_f_to_c_index].datatype;
    }
    if (!ompi_datatype_is_predefined(datatype) || datatype->id < 0 || datatype->id >= OMPI_DATATYPE_MAX_PREDEFINED) {
        return PEERCOLL_DATATYPE_NONE;
    }
    const int32_t known = datatype_of_representation[datatype->id];
    return known == AMBIGUOUS ? PEERCOLL_DATATYPE_NONE : known;
}

peercoll_op_t peercoll_openmpi_op(const struct ompi_op_t* op) {
    for (size_t row = 0; row < OPS; ++row) {
        if ((const void*)op_rows[row].handle == (const void*)op) {
            return op_rows[row].op;
        }
    }
    return PEERCOLL_OP_NONE;
}

bool peercoll_openmpi_reduces(peercoll_op_t op, peercoll_datatype_t datatype) {
    return datatype != PEERCOLL_DATATYPE_NONE && (datatypes_of_op[op] >> datatype & 1) != 0;
}
