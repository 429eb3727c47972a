/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the Open MPI component share. The component sits between Open MPI's coll framework and the C ABI
 * (peercoll.h): one component per process, one module per communicator.
 *
 *   component.c              what Open MPI looks up: registration, opening, closing
 *   parameters.c             MCA parameters coll_peercoll_*
 *   process_context.c        the process's one peercoll context, or the sentence why there is none
 *   module.c                 the module of a communicator: capture, enable, disable
 *   agreement.c              whether all ranks of a communicator can serve it
 *   operands.c               MPI datatypes and operations to peercoll's
 *   allreduce.c broadcast.c  the collectives that peercoll serves
 *   staged_*.c               all others, and those two where they are passed on: staged if they use device memory
 *   performance_variables.c  counters for MPI_T
 */
#ifndef PEERCOLL_OPENMPI_COMPONENT_H
#define PEERCOLL_OPENMPI_COMPONENT_H

#include "plugin/openmpi/openmpi.h"
#include "plugin/openmpi/slots.h"

#include <peercoll/peercoll.h>

/* ---- component.c ---- */

extern const mca_coll_base_component_t mca_coll_peercoll_component __attribute__((visibility("default")));

/* A line for who asked with coll_peercoll_verbose: 1 why peercoll is off, 10 each communicator. */
void peercoll_openmpi_log(int level, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* A line on stderr that nobody has to ask for: something the user wrote or installed does not work. */
void peercoll_openmpi_warn(const char* sentence);

/* ---- parameters.c ---- */

struct peercoll_openmpi_parameters {
    int priority;
    bool enable;
    int verbose;
};
extern struct peercoll_openmpi_parameters peercoll_openmpi_parameters;

int peercoll_openmpi_register_parameters(void);

/* The parameters that name options and were given, as "name=value" strings ended by NULL. NULL: out of memory. */
char** peercoll_openmpi_options(void);
void peercoll_openmpi_free_options(char** options);

/* ---- process_context.c ---- */

/* The process's context, made at the first call. NULL: this process stands aside. */
peercoll_context_t peercoll_openmpi_context(void);
/* The context if there is one by now. */
peercoll_context_t peercoll_openmpi_existing_context(void);
/* Shows why there is no context to the user, at most once per process; not if it was the user's own wish (enable = 0).
 */
void peercoll_openmpi_show_off_reason(void);
void peercoll_openmpi_destroy_context(void);

/* ---- module.c ---- */

enum peercoll_openmpi_agreement {
    PEERCOLL_OPENMPI_NOT_ASKED, /* no collective yet */
    PEERCOLL_OPENMPI_SERVED,
    PEERCOLL_OPENMPI_STANDS_ASIDE, /* some rank cannot: all pass everything on */
};

/* An MPI operation and datatype, and ours. */
struct peercoll_openmpi_operands {
    const struct ompi_datatype_t* mpi_datatype; /* NULL: none */
    const struct ompi_op_t* mpi_op;
    peercoll_datatype_t datatype;
    peercoll_op_t op;
};

struct peercoll_openmpi_module {
    mca_coll_base_module_t super;
    struct ompi_communicator_t* comm;
    peercoll_context_t context; /* NULL: this rank stands aside */
    peercoll_comm_t peers;      /* NULL: it does, or only stages: one rank, or an inter-communicator */
    enum peercoll_openmpi_agreement agreement;
    /* Of the last allreduce that was served. Handles of MPI's own only: a freed one's address could come back. */
    struct peercoll_openmpi_operands last;
    mca_coll_base_comm_coll_t captured; /* the slots of slots.h, each with its module retained */
    void* packed;                       /* broadcast.c: kept between calls */
    size_t packed_size;
};
typedef struct peercoll_openmpi_module peercoll_openmpi_module_t;
OBJ_CLASS_DECLARATION(peercoll_openmpi_module_t);

mca_coll_base_module_t* peercoll_openmpi_comm_query(struct ompi_communicator_t* comm, int* priority);

/* Counts a call that goes to the captured function. */
void peercoll_openmpi_count_passed_on(peercoll_openmpi_module_t* module, peercoll_collective_t collective,
                                      const char* reason);

/* Logs last_error() and gives the MPI error class for a failed call. */
int peercoll_openmpi_error(peercoll_openmpi_module_t* module, const char* collective, peercoll_status_t status);

/* ---- agreement.c ---- */

/* Collective over the module's communicator if it is the first collective there. Sets module->agreement, or returns the
 * error of the captured allreduce. */
int peercoll_openmpi_agree(peercoll_openmpi_module_t* module);

/* ---- allreduce.c, broadcast.c ---- */

int peercoll_openmpi_allreduce(const void* sendbuf, void* recvbuf, int count, struct ompi_datatype_t* datatype,
                               struct ompi_op_t* op, struct ompi_communicator_t* comm, mca_coll_base_module_t* base);
int peercoll_openmpi_bcast(void* buffer, int count, struct ompi_datatype_t* datatype, int root,
                           struct ompi_communicator_t* comm, mca_coll_base_module_t* base);

/* ---- staged_*.c ---- */

/* The captured function of each slot, with host memory in place of device memory: of the slot's own type. */
#define PEERCOLL_OPENMPI_DECLARE_STAGED(slot) \
    __typeof__(*((mca_coll_base_module_t*)NULL)->coll_##slot) peercoll_openmpi_staged_##slot;
PEERCOLL_OPENMPI_SLOTS(PEERCOLL_OPENMPI_DECLARE_STAGED)
#undef PEERCOLL_OPENMPI_DECLARE_STAGED

/* ---- performance_variables.c ---- */

int peercoll_openmpi_register_performance_variables(void);
/* Calls passed on by modules that have no peercoll communicator to count them. */
void peercoll_openmpi_count_without_context(peercoll_collective_t collective);

#endif
