// SPDX-License-Identifier: BSD-3-Clause
// What the MPI test programs share. They are plain MPI programs, not linked to peercoll: that they were served they
// read from MPI_T, as any program can.
#pragma once

#include <mpi.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace test {

inline int rank_of(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

inline int size_of(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

// Ends the whole job with a sentence if `condition` does not hold.
__attribute__((format(printf, 2, 3))) inline void require(bool condition, const char* sentence, ...) {
    if (condition) {
        return;
    }
    char text[500];
    va_list arguments;
    va_start(arguments, sentence);
    std::vsnprintf(text, sizeof(text), sentence, arguments);
    va_end(arguments);
    std::fprintf(stderr, "FAILED on rank %d: %s\n", rank_of(MPI_COMM_WORLD), text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

// One of the component's MPI_T performance variables.
class Total {
public:
    explicit Total(const char* name) {
        int index = -1;
        if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_LEVEL, &index) != MPI_SUCCESS) {
            return;
        }
        int count = 0;
        MPI_T_pvar_session_create(&session_);
        require(MPI_T_pvar_handle_alloc(session_, index, nullptr, &handle_, &count) == MPI_SUCCESS && count == 1,
                "no handle for the MPI_T variable %s", name);
        exists_ = true;
    }
    Total(const Total&) = delete;
    Total& operator=(const Total&) = delete;
    ~Total() {
        if (exists_) {
            MPI_T_pvar_handle_free(session_, &handle_);
            MPI_T_pvar_session_free(&session_);
        }
    }
    bool exists() const { return exists_; }
    unsigned long long read() const {
        unsigned long long value = 0;
        require(exists_ && MPI_T_pvar_read(session_, handle_, &value) == MPI_SUCCESS,
                "an MPI_T variable is not readable");
        return value;
    }

private:
    MPI_T_pvar_session session_{};
    MPI_T_pvar_handle handle_{};
    bool exists_ = false;
};

struct Totals {
    Total allreduce_served{"coll_peercoll_allreduce_served"};
    Total allreduce_passed_on{"coll_peercoll_allreduce_passed_on"};
    Total broadcast_served{"coll_peercoll_broadcast_served"};
    Total broadcast_passed_on{"coll_peercoll_broadcast_passed_on"};
};

// MPI and MPI_T for the life of main().
class Mpi {
public:
    Mpi(int* argc, char*** argv, int level = MPI_THREAD_SINGLE) {
        int provided = 0;
        MPI_Init_thread(argc, argv, level, &provided);
        require(provided >= level, "this MPI gives thread level %d, the test needs %d", provided, level);
        MPI_T_init_thread(level, &provided);
    }
    Mpi(const Mpi&) = delete;
    Mpi& operator=(const Mpi&) = delete;
    ~Mpi() {
        MPI_T_finalize();
        MPI_Finalize();
    }
};

// Says so on rank 0, when all ranks have come here.
inline void passed(const char* what) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of(MPI_COMM_WORLD) == 0) {
        std::printf("passed: %s, %d ranks\n", what, size_of(MPI_COMM_WORLD));
    }
}

}  // namespace test
