/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Preloaded, it makes the MPI library call itself the nearest release whose module layout is another than this one's.
 */
#include <mpi.h>

#include <stdio.h>

#if OMPI_MAJOR_VERSION == 5 && OMPI_RELEASE_VERSION >= 10
#define OTHER_RELEASE "5.0.9"
#else
#define OTHER_RELEASE "5.0.10"
#endif

__attribute__((visibility("default"))) int PMPI_Get_library_version(char* version, int* length) {
    *length = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "Open MPI v%s, package: another one", OTHER_RELEASE);
    return MPI_SUCCESS;
}
