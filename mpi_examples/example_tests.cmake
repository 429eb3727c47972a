# SPDX-License-Identifier: BSD-3-Clause
# The examples as tests, example.<name>. An example checks its own results and fails if they are wrong; run_example.cmake
# also looks at what it says.
# Debian's own Python: the one that has Debian's mpi4py.
find_program(EXAMPLES_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
execute_process(COMMAND ${EXAMPLES_PYTHON} -c "import mpi4py, numpy, sklearn" RESULT_VARIABLE python_lacks ERROR_QUIET)

include(${PROJECT_SOURCE_DIR}/tests/simulated_devices/simulated_tests.cmake)

# example_test(NAME [FAILS] [SERVED_ALL] [EXPECT regex] [NODE simulated node] [FACE face] COMMAND ...)
# With NODE, on simulated devices: a file of tests/simulated_devices/nodes without its ending. FACE: whose, as for
# peercoll_add_simulated_test(); cuda if not given.
function(example_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "FAILS;SERVED_ALL" "EXPECT;NODE;FACE" "COMMAND")
  add_test(NAME example.${name}
    COMMAND ${CMAKE_COMMAND} -DEXPECT=${test_EXPECT} -DFAILS=${test_FAILS} -DSERVED_ALL=${test_SERVED_ALL}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/run_example.cmake -- ${test_COMMAND})
  set_tests_properties(example.${name} PROPERTIES RUN_SERIAL ON TIMEOUT 120 LABELS example
    ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1")
  if(test_NODE)
    peercoll_simulated_environment(settings example.${name} NODE ${test_NODE} KERNELS peercoll_simulated_kernels)
    set_property(TEST example.${name} APPEND PROPERTY ENVIRONMENT ${settings})
    if(NOT test_FACE)
      set(test_FACE cuda)
    endif()
    peercoll_simulated_folder(folder ${test_FACE})
    # The second: what a process has not given back of the devices at its end.
    set_tests_properties(example.${name} PROPERTIES
      ENVIRONMENT_MODIFICATION "LD_LIBRARY_PATH=path_list_prepend:${folder}"
      FAIL_REGULAR_EXPRESSION "WRONG;peercoll simulator \\(pid [0-9]+\\)")
  endif()
endfunction()

set(mpirun ${MPIEXEC_EXECUTABLE} -n)
set(bench $<TARGET_FILE:peercoll-bench>)

example_test(bench_without_plugin EXPECT "all results checked and right.*plugin: not loaded"
  COMMAND ${mpirun} 2 ${bench} allreduce -e 1M -f 16 --seconds 0.05 --percentiles)
example_test(bench_refuses_what_mpi_does_not_define FAILS EXPECT "MPI does not define 'band' for double"
  COMMAND ${mpirun} 1 ${bench} allreduce -t double -o band)
example_test(bench_measures_the_last_size_first_if_asked EXPECT "1024 +256 .*   64 +16 .*all results checked and right"
  COMMAND ${mpirun} 2 ${bench} allreduce --sizes 64,1K --seconds 0.01 --reverse)
example_test(bench_measures_cache_lines EXPECT "0     1 +[0-9.]+" COMMAND ${mpirun} 2 ${bench} pingpong-lines)
example_test(bench_measures_copies EXPECT "1048576 +[0-9.]+ +[0-9.]+"
  COMMAND ${mpirun} 2 ${bench} copy-bandwidth --sizes 1M --seconds 0.05)

include(peer_copy/peer_copy_tests.cmake)

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

example_test(bench_refuses_device_memory_without_plugin FAILS NODE one_device EXPECT "load the plugin"
  COMMAND ${mpirun} 2 ${bench} allreduce -d cuda --sizes 8)
example_test(bench_refuses_more_ranks_than_fit_on_devices FAILS NODE two_devices EXPECT "3 ranks need 3 devices"
  COMMAND ${mpirun} 3 ${plugin} ${bench} allreduce -d cuda --sizes 8 --ranks-per-device 1)
example_test(bench_refuses_nccl_with_two_ranks_on_a_device FAILS NODE one_device EXPECT "NCCL takes one rank for each"
  COMMAND ${mpirun} 2 ${plugin} ${bench} allreduce -d cuda --sizes 8 --device-copy 64K --rival nccl)
set(on_devices -d cuda -f 32 -e 256K --seconds 0.02 --device-copy 64K)
example_test(bench_allreduce_on_one_device SERVED_ALL NODE one_device EXPECT "3 ranks on it.*all results checked and right"
  COMMAND ${mpirun} 3 ${plugin} ${bench} allreduce ${on_devices})
example_test(bench_broadcast_on_two_devices SERVED_ALL NODE two_devices
  EXPECT "2 x Simulated device.*link [0-9.]+ GB/s.*all results checked and right"
  COMMAND ${mpirun} 3 ${plugin} ${bench} broadcast ${on_devices} --root rotating)
example_test(bench_of_pool_memory SERVED_ALL NODE one_device EXPECT "all results checked and right"
  COMMAND ${mpirun} 2 ${plugin} ${bench} allreduce ${on_devices} --device-memory pool)
example_test(info_shows_devices NODE two_devices
  EXPECT "2 devices.*PCI 0000.*reductions: device.*device path: rank 0 .*proven by.*allreduce.algorithm.fused +[1-9]"
  COMMAND ${mpirun} 2 ${plugin} $<TARGET_FILE:peercoll-info>)
example_test(info_shows_why_a_path_is_not_used NODE lost_stores
  EXPECT "device path: rank 0 .*: staged through host memory: a kernel's stores did not arrive"
  COMMAND ${mpirun} 2 ${plugin} $<TARGET_FILE:peercoll-info> --communicator)
set(script_flags --build ${CMAKE_BINARY_DIR} --quick --largest 4096 --copy 64K --skip conformance|mps)
example_test(one_gpu_script NODE one_device EXPECT "allreduce_8_ranks: allreduce, 8 ranks on Simulated device.*results are in"
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/one_gpu.sh ${script_flags} --out ${CMAKE_CURRENT_BINARY_DIR}/one_gpu_test)
example_test(several_gpus_script NODE two_devices
  EXPECT "checked exactly:.*check_broadcast_2_per_gpu.* 0 wrong.*results are in"
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/several_gpus.sh ${script_flags} --gpus 2 --nccl none
          --out ${CMAKE_CURRENT_BINARY_DIR}/several_gpus_test)

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
