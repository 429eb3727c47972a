/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugin/openmpi/packing.h"

#include "opal/datatype/opal_convertor.h"

typedef int32_t (*move_fn)(opal_convertor_t* convertor, struct iovec* pieces, uint32_t* number, size_t* bytes);

/* The convertor may stop early; it remembers where it was. */
static bool move_all(opal_convertor_t* convertor, move_fn move, char* packed, size_t bytes) {
    size_t done = 0;
    while (done < bytes) {
        struct iovec piece = {.iov_base = packed + done, .iov_len = bytes - done};
        uint32_t number = 1;
        size_t moved = bytes - done;
        if (move(convertor, &piece, &number, &moved) < 0 || moved == 0) {
            return false;
        }
        done += moved;
    }
    return done == bytes;
}

bool peercoll_openmpi_pack(const void* buffer, size_t count, const struct ompi_datatype_t* datatype, void* packed,
                           size_t bytes) {
    opal_convertor_t convertor;
    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    const bool packed_all = opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &datatype->super, count,
                                                                     buffer, 0, &convertor) == OPAL_SUCCESS &&
                            move_all(&convertor, opal_convertor_pack, packed, bytes);
    OBJ_DESTRUCT(&convertor);
    return packed_all;
}

bool peercoll_openmpi_unpack(const void* packed, size_t bytes, void* buffer, size_t count,
                             const struct ompi_datatype_t* datatype) {
    opal_convertor_t convertor;
    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    const bool unpacked_all = opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &datatype->super,
                                                                       count, buffer, 0, &convertor) == OPAL_SUCCESS &&
                              move_all(&convertor, opal_convertor_unpack, (char*)packed, bytes);
    OBJ_DESTRUCT(&convertor);
    return unpacked_all;
}
