/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which Open MPI a component object fits. The layout of the module struct is private to Open MPI and changes between
 * releases; an object built for one layout must refuse a library with another. A pure function, tested without MPI.
 */
#ifndef PEERCOLL_OPENMPI_ABI_CHECK_H
#define PEERCOLL_OPENMPI_ABI_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct peercoll_openmpi_release {
    int major;
    int minor;
    int release;
};

/* Releases that one source of ours can be compiled for. */
#define PEERCOLL_OPENMPI_SUPPORTED "Open MPI 4.1 and 5.0"

/* Layouts of the module struct that are told apart. */
enum peercoll_openmpi_layout {
    PEERCOLL_OPENMPI_LAYOUT_UNKNOWN,
    PEERCOLL_OPENMPI_LAYOUT_4_1,
    PEERCOLL_OPENMPI_LAYOUT_5_0,    /* 5.0.0 to 5.0.9 */
    PEERCOLL_OPENMPI_LAYOUT_5_0_10, /* 5.0.10 and later 5.0: one member more before base_data */
};

enum peercoll_openmpi_layout peercoll_openmpi_layout_of(struct peercoll_openmpi_release release);

/* Reads the release out of MPI_Get_library_version()'s text, "Open MPI v4.1.4, package: ...". */
bool peercoll_openmpi_parse_release(const char* library_version, struct peercoll_openmpi_release* release);

/* Whether an object compiled for `built` may run in the library that says `library_version` of itself. If not, writes
 * one sentence for the person running the job: what is wrong, and what to do. */
bool peercoll_openmpi_fits(struct peercoll_openmpi_release built, const char* library_version, char* sentence,
                           size_t sentence_size);

#ifdef __cplusplus
}
#endif

#endif
