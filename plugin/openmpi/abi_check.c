/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugin/openmpi/abi_check.h"

#include <stdio.h>
#include <string.h>

enum peercoll_openmpi_layout peercoll_openmpi_layout_of(struct peercoll_openmpi_release release) {
    if (release.major == 4 && release.minor == 1) {
        return PEERCOLL_OPENMPI_LAYOUT_4_1;
    }
    if (release.major == 5 && release.minor == 0) {
        return release.release >= 10 ? PEERCOLL_OPENMPI_LAYOUT_5_0_10 : PEERCOLL_OPENMPI_LAYOUT_5_0;
    }
    return PEERCOLL_OPENMPI_LAYOUT_UNKNOWN;
}

bool peercoll_openmpi_parse_release(const char* library_version, struct peercoll_openmpi_release* release) {
    struct peercoll_openmpi_release read = {-1, -1, -1};
    if (library_version == NULL ||
        sscanf(library_version, "Open MPI v%d.%d.%d", &read.major, &read.minor, &read.release) != 3 || read.major < 0 ||
        read.minor < 0 || read.release < 0) {
        return false;
    }
    *release = read;
    return true;
}

static const char* releases_of(enum peercoll_openmpi_layout layout) {
    switch (layout) {
        case PEERCOLL_OPENMPI_LAYOUT_4_1:
            return "4.1";
        case PEERCOLL_OPENMPI_LAYOUT_5_0:
            return "5.0.0 to 5.0.9";
        case PEERCOLL_OPENMPI_LAYOUT_5_0_10:
            return "5.0.10 and later 5.0";
        case PEERCOLL_OPENMPI_LAYOUT_UNKNOWN:
            break;
    }
    return "no release";
}

bool peercoll_openmpi_fits(struct peercoll_openmpi_release built, const char* library_version, char* sentence,
                           size_t sentence_size) {
    const enum peercoll_openmpi_layout layout = peercoll_openmpi_layout_of(built);
    struct peercoll_openmpi_release running;
    if (!peercoll_openmpi_parse_release(library_version, &running)) {
        const char* text = library_version == NULL ? "" : library_version;
        const int first_line = (int)strcspn(text, "\n");
        snprintf(sentence, sentence_size,
                 "peercoll is off: the MPI library calls itself \"%.*s\"; expected \"Open MPI v\" and a release "
                 "number, of " PEERCOLL_OPENMPI_SUPPORTED ".",
                 first_line < 60 ? first_line : 60, text);
        return false;
    }
    if (layout == PEERCOLL_OPENMPI_LAYOUT_UNKNOWN || peercoll_openmpi_layout_of(running) != layout) {
        snprintf(sentence, sentence_size,
                 "peercoll is off: this component was built with Open MPI %d.%d.%d and fits %s, but the job runs Open "
                 "MPI %d.%d.%d; build peercoll with the Open MPI that runs the job (" PEERCOLL_OPENMPI_SUPPORTED
                 " are supported).",
                 built.major, built.minor, built.release, releases_of(layout), running.major, running.minor,
                 running.release);
        return false;
    }
    return true;
}
