/* SPDX-License-Identifier: BSD-3-Clause
 *
 * peercoll without MPI: opens the library with dlopen, forks its own processes, and runs collectives between them.
 *
 *     cc -std=c99 -I include dlopen_c_abi.c -ldl -o dlopen_c_abi        (C99, and the compiler's atomic builtins)
 *     ./dlopen_c_abi [LIBRARY [PROCESSES]]                              libpeercoll.so.1 and 3, if not given
 *
 * All the library asks of a caller is an allgather, used once, inside the first collective. Here it is a barrier and a
 * memory area that the processes inherit.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <peercoll/peercoll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_PROCESSES = 64, MAX_GATHERED = 65536, COUNT = 10000, SECONDS = 60 };

/* Inherited by all processes. `arrived` counts barrier entries and never falls. */
struct exchange {
    unsigned long arrived;
    char data[MAX_PROCESSES][MAX_GATHERED];
};

struct process {
    struct exchange* exchange;
    int rank;
    int size;
    unsigned long barriers;
};

static void barrier(struct process* self) {
    const unsigned long all = ++self->barriers * (unsigned long)self->size;
    __atomic_add_fetch(&self->exchange->arrived, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&self->exchange->arrived, __ATOMIC_ACQUIRE) < all) {
        sched_yield();
    }
}

static int allgather(const void* mine, void* all, size_t bytes, void* user) {
    struct process* self = user;
    if (bytes > MAX_GATHERED) {
        return 1; /* the same on all ranks, because `bytes` is */
    }
    memcpy(self->exchange->data[self->rank], mine, bytes);
    barrier(self);
    for (int rank = 0; rank < self->size; ++rank) {
        memcpy((char*)all + (size_t)rank * bytes, self->exchange->data[rank], bytes);
    }
    barrier(self); /* nobody writes the next round over what another still reads */
    return 0;
}

static const peercoll_plugin_t* peercoll;

static void require(peercoll_status_t status, const char* what) {
    if (status != PEERCOLL_SUCCESS) {
        fprintf(stderr, "dlopen_c_abi: %s: %s (%s)\n", what, peercoll->last_error(), peercoll->status_name(status));
        exit(1);
    }
}

static void require_equal(double got, double expected, const char* what, int index) {
    if (got != expected) {
        fprintf(stderr, "dlopen_c_abi: %s: element %d is %g, not %g\n", what, index, got, expected);
        exit(1);
    }
}

/* Rank r gives (r + 1) * (i % 10 + step); all these sums are exact in double. */
static double input(int rank, int index, int step) {
    return (rank + 1.0) * (index % 10 + step);
}

static void fill(double* values, int rank, int step) {
    for (int index = 0; index < COUNT; ++index) {
        values[index] = input(rank, index, step);
    }
}

static void check_sums(const double* sums, int size, int step, const char* what) {
    for (int index = 0; index < COUNT; ++index) {
        require_equal(sums[index], size * (size + 1) / 2 * (double)(index % 10 + step), what, index);
    }
}

static void blocking(const struct process* self, peercoll_comm_t comm, double* mine, double* sums) {
    fill(mine, self->rank, 1);
    require(peercoll->allreduce(mine, sums, COUNT, PEERCOLL_FLOAT64, PEERCOLL_SUM, comm), "allreduce");
    check_sums(sums, self->size, 1, "allreduce");
    for (int root = 0; root < self->size; ++root) {
        fill(mine, self->rank, root);
        require(peercoll->broadcast(mine, COUNT * sizeof(double), root, comm), "broadcast");
        for (int index = 0; index < COUNT; ++index) {
            require_equal(mine[index], input(root, index, root), "broadcast", index);
        }
    }
}

static void started(const struct process* self, peercoll_comm_t comm, double* mine, double* sums) {
    int32_t greeting = self->rank == 0 ? 4711 : -1;
    peercoll_request_t first = NULL;
    peercoll_request_t second = NULL;
    fill(mine, self->rank, 2);
    require(peercoll->allreduce_start(mine, sums, COUNT, PEERCOLL_FLOAT64, PEERCOLL_SUM, comm, &first), "start");
    require(peercoll->broadcast_start(&greeting, sizeof(greeting), 0, comm, &second), "start");
    int done = 0;
    while (!done) { /* a program does its own work here */
        require(peercoll->request_test(&first, &done), "test");
    }
    require(peercoll->request_wait(&second), "wait");
    check_sums(sums, self->size, 2, "started allreduce");
    require_equal(greeting, 4711, "started broadcast", 0);
}

static void persistent(const struct process* self, peercoll_comm_t comm, double* mine, double* sums) {
    peercoll_request_t request = NULL;
    require(peercoll->allreduce_init(mine, sums, COUNT, PEERCOLL_FLOAT64, PEERCOLL_SUM, comm, &request), "init");
    for (int step = 1; step <= 5; ++step) {
        fill(mine, self->rank, step);
        require(peercoll->request_start(request), "start of a persistent allreduce");
        require(peercoll->request_wait(&request), "wait for a persistent allreduce");
        check_sums(sums, self->size, step, "persistent allreduce");
    }
    require(peercoll->request_free(&request), "free");
}

static void print_statistics(peercoll_context_t context) {
    const char* name = NULL;
    uint64_t value = 0;
    for (size_t index = 0; peercoll->statistic(context, index, &name, &value) == PEERCOLL_SUCCESS; ++index) {
        printf("  %s %llu\n", name, (unsigned long long)value);
    }
}

static int run_rank(struct process* self) {
    char label[32];
    snprintf(label, sizeof(label), "rank %d", self->rank);
    peercoll_context_params_t context_params;
    memset(&context_params, 0, sizeof(context_params));
    context_params.struct_size = sizeof(context_params);
    context_params.label = label;
    peercoll_context_t context = NULL;
    require(peercoll->context_create(&context_params, &context), "context_create");

    peercoll_comm_params_t comm_params;
    memset(&comm_params, 0, sizeof(comm_params));
    comm_params.struct_size = sizeof(comm_params);
    comm_params.rank = self->rank;
    comm_params.size = self->size;
    comm_params.allgather = allgather;
    comm_params.user = self;
    comm_params.label = "all";
    peercoll_comm_t comm = NULL;
    require(peercoll->comm_create(context, &comm_params, &comm), "comm_create");

    static double mine[COUNT];
    static double sums[COUNT];
    blocking(self, comm, mine, sums);
    started(self, comm, mine, sums);
    persistent(self, comm, mine, sums);

    if (self->rank == 0) {
        printf("%d processes: blocking, started and persistent collectives are right\n", self->size);
        print_statistics(context);
    }
    require(peercoll->comm_destroy(comm), "comm_destroy");
    require(peercoll->context_destroy(context), "context_destroy");
    return 0;
}

static int open_library(const char* name) {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "dlopen_c_abi: %s\n", dlerror());
        return 1;
    }
    peercoll = dlsym(library, PEERCOLL_PLUGIN_SYMBOL);
    if (peercoll == NULL || peercoll->abi_version != PEERCOLL_ABI_VERSION) {
        fprintf(stderr, "dlopen_c_abi: %s has no %s of version %u\n", name, PEERCOLL_PLUGIN_SYMBOL,
                PEERCOLL_ABI_VERSION);
        return 1;
    }
    printf("%s %s from %s\n", peercoll->name, peercoll->version(), name);
    fflush(stdout); /* before fork, or every process prints it */
    return 0;
}

/* Waits for all processes. When one fails, ends the others, which would wait for it for ever. */
static int wait_for_all(const pid_t* children, int size) {
    int result = 0;
    for (int ended = 0; ended < size; ++ended) {
        int status = 0;
        if (wait(&status) < 0) {
            return 1;
        }
        if ((!WIFEXITED(status) || WEXITSTATUS(status) != 0) && result == 0) {
            result = 1;
            for (int rank = 0; rank < size; ++rank) {
                kill(children[rank], SIGKILL);
            }
        }
    }
    return result;
}

int main(int argc, char** argv) {
    const char* library = argc > 1 ? argv[1] : "libpeercoll.so.1";
    const int size = argc > 2 ? atoi(argv[2]) : 3;
    if (size < 1 || size > MAX_PROCESSES) {
        fprintf(stderr, "usage: dlopen_c_abi [LIBRARY [PROCESSES]], with 1 to %d processes\n", MAX_PROCESSES);
        return 2;
    }
    if (open_library(library) != 0) {
        return 1;
    }
    struct exchange* exchange =
        mmap(NULL, sizeof(*exchange), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (exchange == MAP_FAILED) {
        perror("dlopen_c_abi: mmap");
        return 1;
    }
    pid_t children[MAX_PROCESSES];
    for (int rank = 0; rank < size; ++rank) {
        children[rank] = fork();
        if (children[rank] < 0) {
            perror("dlopen_c_abi: fork");
            for (int started_rank = 0; started_rank < rank; ++started_rank) {
                kill(children[started_rank], SIGKILL);
            }
            return 1;
        }
        if (children[rank] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            alarm(SECONDS);
            struct process self = {exchange, rank, size, 0};
            const int result = run_rank(&self);
            fflush(stdout);
            _exit(result);
        }
    }
    return wait_for_all(children, size);
}
