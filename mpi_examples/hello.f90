! SPDX-License-Identifier: BSD-3-Clause
!
! An unmodified MPI program in Fortran: one allreduce, one broadcast, checked.
!
!     mpif90 hello.f90 -o hello_fortran && mpirun -n 2 ./hello_fortran
program hello
    use mpi
    implicit none
    integer :: rank, ranks, sum, error
    double precision :: answer
    character(len=5) :: verdict

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)

    call MPI_Allreduce(rank + 1, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)

    answer = 0
    if (rank == 0) answer = 42
    call MPI_Bcast(answer, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)

    verdict = 'WRONG'
    if (sum == ranks * (ranks + 1) / 2 .and. answer == 42) verdict = 'right'
    print '(a,i0,a,i0,a,i0,a,i0,2a)', 'hello from rank ', rank, ' of ', ranks, ': sum ', sum, ', answer ', int(answer), &
        ', ', verdict

    call MPI_Finalize(error)
    if (verdict /= 'right') error stop 1
end program hello
