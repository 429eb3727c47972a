#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An unmodified MPI program in Python: an allreduce and a broadcast of arrays, checked.

    mpirun -n 2 python3 hello_mpi4py.py
"""

import sys

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size

mine = numpy.arange(1000, dtype=numpy.float64) + rank
total = numpy.empty_like(mine)
world.Allreduce(mine, total, op=MPI.SUM)

answer = numpy.full(1000, 42 if rank == 0 else 0, dtype=numpy.int32)
world.Bcast(answer, root=0)

expected = size * numpy.arange(1000) + size * (size - 1) // 2
right = numpy.array_equal(total, expected) and bool((answer == 42).all())
print(f"hello from rank {rank} of {size}: sum of element 0 {total[0]:.0f}, answer {answer[0]}, "
      f"{'right' if right else 'WRONG'}", flush=True)
sys.exit(0 if right else 1)
