#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""CuPy arrays in mpi4py's collectives, without a copy to the host in the program: an allreduce and a broadcast, checked.

    mpirun -n 2 python3 cupy_allreduce.py

mpi4py takes what has __cuda_array_interface__ (CuPy, PyTorch, Numba) and hands MPI its device pointer. The plugin makes
that right on an MPI that knows nothing of GPUs; mpi4py must be built for the MPI that runs the job.
"""

import os
import sys

import cupy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
local = int(os.environ.get("OMPI_COMM_WORLD_LOCAL_RANK", rank))
cupy.cuda.Device(local % cupy.cuda.runtime.getDeviceCount()).use()


def finish_kernels():
    """MPI gets a pointer, not a stream: what it shall read must be there."""
    cupy.cuda.get_current_stream().synchronize()


right = True
for pool in ("CuPy's pool of cudaMalloc memory", "cudaMallocAsync"):
    allocator = cupy.get_default_memory_pool().malloc if pool.startswith("CuPy") else cupy.cuda.malloc_async
    with cupy.cuda.using_allocator(allocator):
        for count in (3, 1000, 1 << 20):
            mine = cupy.arange(count, dtype=cupy.float64) + rank
            total = cupy.empty_like(mine)
            answer = cupy.full(count, 42 if rank == 0 else 0, dtype=cupy.int32)
            finish_kernels()
            world.Allreduce(mine, total, op=MPI.SUM)
            world.Bcast(answer, root=0)
            expected = size * cupy.arange(count) + size * (size - 1) // 2
            same = bool((total == expected).all()) and bool((answer == 42).all())
            right = right and same
            print(f"rank {rank} of {size}, {pool}, {count} elements: {'right' if same else 'WRONG'}", flush=True)
            del mine, total, answer, expected
sys.exit(0 if right else 1)
