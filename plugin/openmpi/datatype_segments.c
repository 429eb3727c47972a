/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Found by unpacking bytes that are all ones into an image of one element that is all zeros: the ones are data. It
 * takes the convertor's word for it, which is the one that counts, and needs nothing of a datatype's inside.
 */
#include "plugin/openmpi/datatype_segments.h"

#include "plugin/openmpi/packing.h"

#include <stdlib.h>
#include <string.h>

/* Length of the run of bytes like the first one. */
static size_t run_length(const char* bytes, size_t most) {
    size_t length = 1;
    while (length < most && bytes[length] == bytes[0]) {
        ++length;
    }
    return length;
}

/* Writes the runs of ones to `list` if it is not NULL; gives their number. */
static size_t list_runs(const char* image, size_t bytes, ptrdiff_t first, struct peercoll_openmpi_segment* list) {
    size_t n = 0;
    for (size_t at = 0, length = 0; at < bytes; at += length) {
        length = run_length(image + at, bytes - at);
        if (image[at] == 0) {
            continue;
        }
        if (list != NULL) {
            list[n] = (struct peercoll_openmpi_segment){.offset = first + (ptrdiff_t)at, .bytes = length};
        }
        ++n;
    }
    return n;
}

bool peercoll_openmpi_find_segments(struct ompi_datatype_t* datatype, struct peercoll_openmpi_segments* segments) {
    size_t size = 0;
    ptrdiff_t first = 0;
    ptrdiff_t extent = 0;
    ompi_datatype_type_size(datatype, &size);
    ompi_datatype_get_true_extent(datatype, &first, &extent);
    *segments = (struct peercoll_openmpi_segments){0};
    char* ones = malloc(size);
    char* image = calloc(1, (size_t)extent);
    bool found = ones != NULL && image != NULL;
    if (found) {
        memset(ones, 0xff, size);
        found = peercoll_openmpi_unpack(ones, size, image - first, 1, datatype);
    }
    if (found) {
        segments->n = list_runs(image, (size_t)extent, first, NULL);
        segments->list = malloc(segments->n * sizeof(segments->list[0]));
        found = segments->list != NULL;
    }
    if (found) {
        list_runs(image, (size_t)extent, first, segments->list);
    }
    free(image);
    free(ones);
    return found;
}
