# SPDX-License-Identifier: BSD-3-Clause
# The examples as tests, example.<name>. An example checks its own results and fails if they are wrong; run_example.cmake
# also looks at what it says.
# Debian's own Python: the one that has Debian's mpi4py.
find_program(EXAMPLES_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
execute_process(COMMAND ${EXAMPLES_PYTHON} -c "import mpi4py, numpy, sklearn" RESULT_VARIABLE python_lacks ERROR_QUIET)

# example_test(NAME [FAILS] [SERVED_ALL] [EXPECT regex] COMMAND ...)
function(example_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "FAILS;SERVED_ALL" "EXPECT" "COMMAND")
  add_test(NAME example.${name}
    COMMAND ${CMAKE_COMMAND} -DEXPECT=${test_EXPECT} -DFAILS=${test_FAILS} -DSERVED_ALL=${test_SERVED_ALL}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/run_example.cmake -- ${test_COMMAND})
  set_tests_properties(example.${name} PROPERTIES RUN_SERIAL ON TIMEOUT 120 LABELS example
    ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1")
endfunction()

set(mpirun ${MPIEXEC_EXECUTABLE} -n)
set(bench $<TARGET_FILE:peercoll-bench>)

example_test(bench_without_plugin EXPECT "all results checked and right.*plugin: not loaded"
  COMMAND ${mpirun} 2 ${bench} allreduce -e 1M -f 16 --seconds 0.05 --percentiles)
example_test(bench_refuses_what_mpi_does_not_define FAILS EXPECT "MPI does not define 'band' for double"
  COMMAND ${mpirun} 1 ${bench} allreduce -t double -o band)
example_test(bench_measures_cache_lines EXPECT "0     1 +[0-9.]+" COMMAND ${mpirun} 2 ${bench} pingpong-lines)
example_test(bench_measures_copies EXPECT "1048576 +[0-9.]+ +[0-9.]+"
  COMMAND ${mpirun} 2 ${bench} copy-bandwidth --sizes 1M --seconds 0.05)

if(TARGET peercoll)
  example_test(dlopen_c_abi EXPECT "3 processes: blocking, started and persistent collectives are right"
    COMMAND $<TARGET_FILE:dlopen_c_abi> $<TARGET_FILE:peercoll> 3)
  example_test(dlopen_c_abi_says_what_is_missing FAILS EXPECT "cannot open shared object"
    COMMAND $<TARGET_FILE:dlopen_c_abi> libpeercoll-that-is-not-there.so 2)
  example_test(info EXPECT "MPI_COMM_WORLD.*statistics of rank 0.*allreduce.served +[1-9]"
    COMMAND ${mpirun} 3 $<TARGET_FILE:peercoll-info>)
  example_test(info_of_one_process EXPECT "statistics of rank 0.*allreduce.served +[1-9]"
    COMMAND $<TARGET_FILE:peercoll-info>)
  example_test(readme_documents_every_option
    COMMAND ${EXAMPLES_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/info/check_readme.py $<TARGET_FILE:peercoll-info>
            ${PROJECT_SOURCE_DIR}/README.md)
endif()

if(NOT TARGET mca_coll_peercoll)
  return()
endif()
set(component_dir ${PEERCOLL_OPENMPI_COMPONENT_DIR})
set(plugin --mca mca_base_component_path SYS_DEFAULT:${component_dir})
set(summary --mca coll_peercoll_statistics summary)

example_test(bench_allreduce SERVED_ALL EXPECT "all results checked and right"
  COMMAND ${mpirun} 2 ${plugin} ${bench} allreduce -f 8 --seconds 0.05)
example_test(bench_broadcast SERVED_ALL EXPECT "all results checked and right"
  COMMAND ${mpirun} 3 ${plugin} ${bench} broadcast -f 32 -e 1M --seconds 0.05 --root rotating)
example_test(hello_c EXPECT "peercoll served 1 allreduce, 1 broadcast"
  COMMAND ${mpirun} 2 ${plugin} $<TARGET_FILE:hello>)
if(TARGET hello_fortran)
  example_test(hello_fortran EXPECT "allreduce 1 served"
    COMMAND ${mpirun} 2 ${plugin} ${summary} $<TARGET_FILE:hello_fortran>)
endif()
if(NOT python_lacks)
  set(here ${CMAKE_CURRENT_SOURCE_DIR})
  example_test(hello_mpi4py EXPECT "allreduce [1-9][0-9]* served"
    COMMAND ${mpirun} 2 ${plugin} ${summary} ${EXAMPLES_PYTHON} ${here}/hello_mpi4py.py)
  example_test(logistic_regression EXPECT "accuracy.*allreduce [1-9][0-9]* served"
    COMMAND ${mpirun} 2 ${plugin} ${summary} ${EXAMPLES_PYTHON} ${here}/logistic_regression.py --epochs 20)
  example_test(compare SERVED_ALL EXPECT "geometric mean of the ratios [0-9.]+, worst [0-9.]+ at"
    COMMAND ${EXAMPLES_PYTHON} ${here}/compare -n 2 --sizes 8,64K,1M --rounds 1 --seconds 0.05 --bench ${bench}
            --component-dir ${component_dir} --out ${CMAKE_CURRENT_BINARY_DIR}/compare_test)
endif()
