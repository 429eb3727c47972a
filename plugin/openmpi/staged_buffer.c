/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugin/openmpi/staged_buffer.h"

#include "plugin/openmpi/datatype_segments.h"

#include <limits.h>
#include <stdlib.h>

enum { PIECE_ALIGNMENT = 64 };

bool peercoll_openmpi_is_on_device(peercoll_context_t context, const struct peercoll_openmpi_argument* argument) {
    if (argument->use == 0) {
        return false;
    }
    for (int index = 0; index < argument->layout.n; ++index) {
        const struct peercoll_openmpi_piece piece = peercoll_openmpi_piece(&argument->layout, index);
        if (piece.count == 0) {
            continue;
        }
        ptrdiff_t begin = 0;
        peercoll_openmpi_piece_span(&piece, &begin);
        const uintptr_t first = (uintptr_t)argument->address + (uintptr_t)(piece.offset + begin);
        if (peercoll_plugin_v1.memory_is_device(context, (const void*)first) != 0) {
            return true;
        }
        if (argument->layout.datatypes == NULL) { /* one allocation, or MPI could not count its displacements */
            return false;
        }
    }
    return false;
}

static int failed(const char* what, peercoll_status_t status) {
    opal_output(0, "coll:peercoll: %s (%s): %s", what, peercoll_plugin_v1.status_name(status),
                peercoll_plugin_v1.last_error());
    return status == PEERCOLL_ERR_OUT_OF_MEMORY ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
}

static int out_of_memory(void) {
    opal_output(0, "coll:peercoll: no memory to stage a device buffer");
    return MPI_ERR_NO_MEM;
}

/* ---- Where everything lies --------------------------------------------------------------------------------------- */

static int list_pieces(const struct peercoll_openmpi_buffer_layout* layout,
                       struct peercoll_openmpi_staged_buffer* staged, int* index_of_piece) {
    for (int index = 0; index < layout->n; ++index) {
        const struct peercoll_openmpi_piece piece = peercoll_openmpi_piece(layout, index);
        if (piece.count == 0) {
            continue;
        }
        index_of_piece[staged->n] = index;
        staged->pieces[staged->n].piece = piece;
        OBJ_RETAIN(piece.datatype); /* a request may outlive the call that it was made in */
        ++staged->n;
    }
    return staged->n;
}

/* One image of everything from the first to the last byte; `*base`: where the buffer argument would be in it. */
static size_t place_together(struct peercoll_openmpi_staged_buffer* staged, ptrdiff_t* base) {
    ptrdiff_t first = 0;
    ptrdiff_t end = 0;
    for (int i = 0; i < staged->n; ++i) {
        const struct peercoll_openmpi_piece* piece = &staged->pieces[i].piece;
        ptrdiff_t begin = 0;
        const size_t bytes = peercoll_openmpi_piece_span(piece, &begin);
        begin += piece->offset;
        first = i == 0 || begin < first ? begin : first;
        end = i == 0 || begin + (ptrdiff_t)bytes > end ? begin + (ptrdiff_t)bytes : end;
    }
    for (int i = 0; i < staged->n; ++i) {
        staged->pieces[i].image = staged->pieces[i].piece.offset - first;
    }
    *base = -first;
    return (size_t)(end - first);
}

/* An image of each piece, one behind the other. 0: displacements of `int` do not reach them all. */
static size_t place_apart(const struct peercoll_openmpi_buffer_layout* layout, const int* index_of_piece,
                          struct peercoll_openmpi_staged_buffer* staged) {
    size_t end = 0;
    for (int i = 0; i < staged->n; ++i) {
        ptrdiff_t begin = 0;
        const size_t bytes = peercoll_openmpi_piece_span(&staged->pieces[i].piece, &begin);
        const ptrdiff_t image = (ptrdiff_t)end - begin;
        staged->pieces[i].image = image;
        if (layout->byte_displacements != NULL) {
            staged->byte_displacements[index_of_piece[i]] = image;
        } else if (image < INT_MIN || image > INT_MAX) {
            return 0;
        } else {
            staged->displacements[index_of_piece[i]] = (int)image;
        }
        end = (end + bytes + PIECE_ALIGNMENT - 1) / PIECE_ALIGNMENT * PIECE_ALIGNMENT;
    }
    return end;
}

static int take_image(const struct peercoll_openmpi_buffer_layout* layout, const int* index_of_piece,
                      struct peercoll_openmpi_staged_buffer* staged) {
    size_t bytes = 0;
    ptrdiff_t base = 0;
    if (layout->datatypes == NULL) {
        bytes = place_together(staged, &base);
    } else {
        bytes = place_apart(layout, index_of_piece, staged);
        if (bytes == 0) {
            opal_output(0,
                        "coll:peercoll: the device memory of an alltoallw is too large to be staged: pieces must "
                        "begin in the first 2 GiB");
            return MPI_ERR_COUNT;
        }
    }
    void* memory = NULL;
    const peercoll_status_t status = peercoll_plugin_v1.staging_take(staged->context, bytes, &memory);
    if (status != PEERCOLL_SUCCESS) {
        return failed("no host memory to stage a device buffer", status);
    }
    staged->image = memory;
    staged->address = (void*)((uintptr_t)memory + (uintptr_t)base);
    return MPI_SUCCESS;
}

int peercoll_openmpi_stage_buffer(peercoll_context_t context, const struct peercoll_openmpi_argument* argument,
                                  struct peercoll_openmpi_staged_buffer* staged) {
    const struct peercoll_openmpi_buffer_layout* layout = &argument->layout;
    const size_t n = (size_t)layout->n;
    *staged = (struct peercoll_openmpi_staged_buffer){
        .context = context,
        .use = argument->use,
        .written_count = argument->written_count,
        .device = argument->address,
        .address = argument->address,
    };
    int* index_of_piece = malloc(n * sizeof(int));
    staged->pieces = malloc(n * sizeof(staged->pieces[0]));
    bool enough = index_of_piece != NULL && staged->pieces != NULL;
    if (layout->byte_displacements != NULL) {
        staged->byte_displacements = calloc(n, sizeof(MPI_Aint));
        enough = enough && staged->byte_displacements != NULL;
    } else if (layout->datatypes != NULL) {
        staged->displacements = calloc(n, sizeof(int));
        enough = enough && staged->displacements != NULL;
    }
    int result = MPI_SUCCESS;
    if (!enough) {
        result = out_of_memory();
    } else if (list_pieces(layout, staged, index_of_piece) > 0) {
        result = take_image(layout, index_of_piece, staged);
    }
    free(index_of_piece);
    if (result != MPI_SUCCESS) {
        peercoll_openmpi_release_buffer(staged);
    }
    return result;
}

void peercoll_openmpi_release_buffer(struct peercoll_openmpi_staged_buffer* staged) {
    if (staged->image != NULL) {
        peercoll_plugin_v1.staging_give_back(staged->context, staged->image);
    }
    for (int i = 0; i < staged->n; ++i) {
        OBJ_RELEASE(staged->pieces[i].piece.datatype);
    }
    free(staged->pieces);
    free(staged->displacements);
    free(staged->byte_displacements);
    *staged = (struct peercoll_openmpi_staged_buffer){0};
}

/* ---- Copies: neighbors in both memories go together -------------------------------------------------------------- */

struct copy {
    peercoll_context_t context;
    char* to;
    const char* from;
    size_t bytes;
    peercoll_status_t status; /* of the first copy that failed */
};

static void finish_copy(struct copy* copy) {
    if (copy->bytes > 0 && copy->status == PEERCOLL_SUCCESS) {
        copy->status = peercoll_plugin_v1.memory_copy(copy->context, copy->to, copy->from, copy->bytes);
    }
    copy->bytes = 0;
}

static void add_to_copy(struct copy* copy, char* to, const char* from, size_t bytes) {
    if (copy->bytes > 0 && copy->to + copy->bytes == to && copy->from + copy->bytes == from) {
        copy->bytes += bytes;
        return;
    }
    finish_copy(copy);
    copy->to = to;
    copy->from = from;
    copy->bytes = bytes;
}

int peercoll_openmpi_fill_image(struct peercoll_openmpi_staged_buffer* staged) {
    if (staged->image == NULL || (staged->use & PEERCOLL_OPENMPI_READ) == 0) {
        return MPI_SUCCESS;
    }
    struct copy copy = {.context = staged->context, .status = PEERCOLL_SUCCESS};
    for (int i = 0; i < staged->n; ++i) {
        const struct peercoll_openmpi_staged_piece* staged_piece = &staged->pieces[i];
        ptrdiff_t begin = 0;
        const size_t bytes = peercoll_openmpi_piece_span(&staged_piece->piece, &begin);
        add_to_copy(&copy, staged->image + staged_piece->image + begin,
                    staged->device + staged_piece->piece.offset + begin, bytes);
    }
    finish_copy(&copy);
    return copy.status == PEERCOLL_SUCCESS ? MPI_SUCCESS
                                           : failed("a device buffer could not be copied to the host", copy.status);
}

/* The padding of predefined pairs, MPI_DOUBLE_INT, belongs to them. */
static bool is_one_segment(const struct peercoll_openmpi_piece* piece) {
    return ompi_datatype_is_predefined(piece->datatype) ||
           ompi_datatype_is_contiguous_memory_layout(piece->datatype, piece->count > 1 ? 2 : 1) != 0;
}

static bool add_segments(const struct peercoll_openmpi_staged_piece* staged_piece, size_t count, char* to,
                         const char* from, struct copy* copy) {
    struct peercoll_openmpi_segments segments;
    ptrdiff_t lower_bound = 0;
    ptrdiff_t extent = 0;
    ompi_datatype_get_extent(staged_piece->piece.datatype, &lower_bound, &extent);
    if (!peercoll_openmpi_find_segments(staged_piece->piece.datatype, &segments)) {
        return false;
    }
    for (size_t element = 0; element < count; ++element) {
        for (size_t i = 0; i < segments.n; ++i) {
            const ptrdiff_t at = extent * (ptrdiff_t)element + segments.list[i].offset;
            add_to_copy(copy, to + at, from + at, segments.list[i].bytes);
        }
    }
    free(segments.list);
    return true;
}

int peercoll_openmpi_copy_back(struct peercoll_openmpi_staged_buffer* staged) {
    if (staged->image == NULL || (staged->use & PEERCOLL_OPENMPI_WRITTEN) == 0) {
        return MPI_SUCCESS;
    }
    struct copy copy = {.context = staged->context, .status = PEERCOLL_SUCCESS};
    for (int i = 0; i < staged->n; ++i) {
        const struct peercoll_openmpi_staged_piece* staged_piece = &staged->pieces[i];
        struct peercoll_openmpi_piece piece = staged_piece->piece;
        if (staged->written_count != 0) {
            piece.count = staged->written_count;
        }
        char* to = staged->device + piece.offset;
        const char* from = staged->image + staged_piece->image;
        if (is_one_segment(&piece)) {
            ptrdiff_t begin = 0;
            const size_t bytes = peercoll_openmpi_piece_span(&piece, &begin);
            add_to_copy(&copy, to + begin, from + begin, bytes);
        } else if (!add_segments(staged_piece, piece.count, to, from, &copy)) {
            return out_of_memory();
        }
    }
    finish_copy(&copy);
    return copy.status == PEERCOLL_SUCCESS
               ? MPI_SUCCESS
               : failed("a result could not be copied from the host to a device buffer", copy.status);
}
