! SPDX-License-Identifier: BSD-3-Clause
! A Fortran program with the Fortran compiler's own kinds: sums, products, minima, logical operations, locations, and
! broadcasts, all exact. quad is REAL(16): peercoll adds it in full precision.
program fortran_types
  use mpi
  use iso_fortran_env, only: int8, int16, int32, int64, real32, real64, real128
  implicit none
  integer, parameter :: n = 1000
  integer :: rank, ranks, error, i, total
  integer(int8) :: a1(n), b1(n)
  integer(int16) :: a2(n), b2(n)
  integer(int32) :: a4(n), b4(n)
  integer(int64) :: a8(n), b8(n)
  real(real32) :: r4(n), s4(n)
  real(real64) :: r8(n), s8(n)
  real(real128) :: r16(n), s16(n), quad
  complex(real32) :: c4(n), d4(n)
  complex(real64) :: c8(n), d8(n)
  complex(real128) :: c16(n), d16(n)
  logical :: l(n), m(n)
  integer :: pair(2, n), best(2, n)
  real(real32) :: rpair(2, n), rbest(2, n)
  double precision :: dpair(2, n), dbest(2, n)
  character(len=26) :: text

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  total = ranks * (ranks + 1) / 2

  a1 = int(rank + 1, int8)
  call MPI_Allreduce(a1, b1, n, MPI_INTEGER1, MPI_SUM, MPI_COMM_WORLD, error)
  call check(all(b1 == total), 'INTEGER(1) sum')
  a2 = int(rank + 1, int16)
  call MPI_Allreduce(a2, b2, n, MPI_INTEGER2, MPI_MAX, MPI_COMM_WORLD, error)
  call check(all(b2 == ranks), 'INTEGER(2) maximum')
  a4 = [(rank + i, i = 1, n)]
  call MPI_Allreduce(a4, b4, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call check(all(b4 == [(ranks * (ranks - 1) / 2 + ranks * i, i = 1, n)]), 'INTEGER sum')
  a8 = ishft(1_int64, 40 + rank)
  call MPI_Allreduce(a8, b8, n, MPI_INTEGER8, MPI_BOR, MPI_COMM_WORLD, error)
  call check(all(b8 == ishft(ishft(1_int64, ranks) - 1, 40)), 'INTEGER(8) bitwise or')

  r4 = rank + 0.5
  call MPI_Allreduce(r4, s4, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, error)
  call check(all(s4 == total - 0.5 * ranks), 'REAL sum')
  r8 = 2.0_real64 ** rank
  call MPI_Allreduce(r8, s8, n, MPI_DOUBLE_PRECISION, MPI_PROD, MPI_COMM_WORLD, error)
  call check(all(s8 == 2.0_real64 ** (ranks * (ranks - 1) / 2)), 'DOUBLE PRECISION product')
  ! 1 + 2^-100 is exact in REAL(16) and in nothing shorter.
  quad = 1.0_real128 + 2.0_real128 ** (-100)
  r16 = quad
  call MPI_Allreduce(r16, s16, n, MPI_REAL16, MPI_SUM, MPI_COMM_WORLD, error)
  call check(all(s16 == ranks * quad), 'REAL(16) sum')

  c4 = cmplx(rank, -1)
  call MPI_Allreduce(c4, d4, n, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, error)
  call check(all(d4 == cmplx(total - ranks, -ranks)), 'COMPLEX sum')
  c8 = (0.0_real64, 1.0_real64)
  call MPI_Allreduce(c8, d8, n, MPI_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD, error)
  call check(all(d8 == (0.0_real64, 1.0_real64) ** ranks), 'DOUBLE COMPLEX product')
  c16 = cmplx(quad, rank, real128)
  call MPI_Allreduce(c16, d16, n, MPI_COMPLEX32, MPI_SUM, MPI_COMM_WORLD, error)
  call check(all(d16 == cmplx(ranks * quad, total - ranks, real128)), 'COMPLEX(16) sum')

  l = [(mod(i + rank, ranks) == 0, i = 1, n)]
  call MPI_Allreduce(l, m, n, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, error)
  call check(all(m), 'LOGICAL or')
  call MPI_Allreduce(l, m, n, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
  call check(.not. any(m), 'LOGICAL and')

  pair(1, :) = mod([(i, i = 1, n)] + rank, ranks)
  pair(2, :) = rank
  call MPI_Allreduce(pair, best, n, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, error)
  call check(all(best(1, :) == ranks - 1) .and. all(mod([(i, i = 1, n)] + best(2, :), ranks) == ranks - 1), '2INTEGER')
  rpair = real(pair)
  call MPI_Allreduce(rpair, rbest, n, MPI_2REAL, MPI_MAXLOC, MPI_COMM_WORLD, error)
  call check(all(rbest == real(best)), '2REAL')
  dpair = pair
  call MPI_Allreduce(dpair, dbest, n, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD, error)
  call check(all(dbest == best), '2DOUBLE PRECISION')

  text = ''
  if (rank == ranks - 1) text = 'abcdefghijklmnopqrstuvwxyz'
  call MPI_Bcast(text, len(text), MPI_CHARACTER, ranks - 1, MPI_COMM_WORLD, error)
  call check(text == 'abcdefghijklmnopqrstuvwxyz', 'CHARACTER broadcast')
  call MPI_Allreduce(MPI_IN_PLACE, a4, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call check(all(a4 == b4), 'MPI_IN_PLACE')

  if (rank == 0) print '(a, i0, a)', 'passed: Fortran datatypes, ', ranks, ' ranks'
  call MPI_Finalize(error)

contains

  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    integer :: ignored
    if (right) return
    print '(a, i0, 2a)', 'FAILED on rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine check
end program fortran_types
