# SPDX-License-Identifier: BSD-3-Clause
# Runs a program on the simulated node, as a CTest entry.

# peercoll_add_simulated_test(<name> COMMAND <word>... [NODE <node>] [VARIANT <word>] [OLD_DRIVER] [KERNELS <target>]
#                             [FACE <word>] [ENVIRONMENT <NAME=value>...] [TIMEOUT <seconds>] [LABELS <word>...] [SERIAL] [LEAKS_ALLOWED])
#
#   COMMAND     as for add_test(): a target or a program, with arguments; peercoll_add_test()'s executables too
#   NODE        a file of nodes/ without ".node", or a path; one_device if not given
#   VARIANT     stub, no_device or driver_mismatch (PEERCOLL_SIMULATOR_VARIANT)
#   FACE        whose devices: cuda (if not given), hip_5, hip_6 or hip_7, by ROCm's major version; ascend (CANN 9),
#               old_ascend (CANN 5.1) or acl_rt (CANN 9 by the newer library)
#   OLD_DRIVER  the driver 11.4 without virtual memory management and pools
#   KERNELS     the library of kernels; peercoll_simulated_kernels if not given and if that target is there
#   LEAKS_ALLOWED  what the processes have not given back at their end is not held against the test
# The devices' memory is shared by the processes of this one test only, whatever else runs on the machine.
function(peercoll_add_simulated_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OLD_DRIVER;SERIAL;LEAKS_ALLOWED" "NODE;VARIANT;KERNELS;TIMEOUT;FACE" "COMMAND;ENVIRONMENT;LABELS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_COMMAND)
    message(FATAL_ERROR "peercoll_add_simulated_test(${name}): expected COMMAND, and not: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  peercoll_simulated_environment(settings ${name} NODE "${arg_NODE}" VARIANT "${arg_VARIANT}" KERNELS "${arg_KERNELS}")
  if(NOT arg_FACE)
    set(arg_FACE cuda)
  endif()
  if(arg_OLD_DRIVER)
    set(arg_FACE old_cuda)
  endif()
  peercoll_simulated_folder(folder ${arg_FACE})
  if(NOT arg_LEAKS_ALLOWED)
    # The line that a leaking process writes on standard error.
    set(leaks FAIL_REGULAR_EXPRESSION "peercoll simulator \\(pid [0-9]+\\)")
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} ${leaks}
    ENVIRONMENT "${settings};${arg_ENVIRONMENT}"
    ENVIRONMENT_MODIFICATION "LD_LIBRARY_PATH=path_list_prepend:${folder}")
  if(arg_SERIAL)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
  endif()
  if(arg_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
  endif()
endfunction()

# peercoll_simulated_environment(<variable> <scope> [NODE <node>] [VARIANT <word>] [KERNELS <target>])
# The NAME=value strings alone, but for LD_LIBRARY_PATH, for tests that start programs themselves; `scope` is a word of
# the test's own. PEERCOLL_SIMULATED_CUDA_FOLDER and PEERCOLL_SIMULATED_OLD_CUDA_FOLDER go into LD_LIBRARY_PATH.
function(peercoll_simulated_environment variable scope)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "NODE;VARIANT;KERNELS" "")
  if(NOT arg_NODE)
    set(arg_NODE one_device)
  endif()
  if(NOT IS_ABSOLUTE ${arg_NODE})
    set(arg_NODE ${PEERCOLL_SIMULATED_NODES_FOLDER}/${arg_NODE}.node)
  endif()
  if(NOT EXISTS ${arg_NODE})
    message(FATAL_ERROR "There is no node ${arg_NODE}; expected one of ${PEERCOLL_SIMULATED_NODES_FOLDER}, or a path")
  endif()
  string(MD5 name "${CMAKE_BINARY_DIR}/${scope}")
  set(settings PEERCOLL_SIMULATOR_NODE=${arg_NODE} PEERCOLL_SIMULATOR_NAME=${name})
  if(arg_VARIANT)
    list(APPEND settings PEERCOLL_SIMULATOR_VARIANT=${arg_VARIANT})
  endif()
  if(NOT arg_KERNELS AND TARGET peercoll_simulated_kernels)
    set(arg_KERNELS peercoll_simulated_kernels)
  endif()
  if(arg_KERNELS)
    list(APPEND settings PEERCOLL_SIMULATOR_KERNELS=$<TARGET_FILE:${arg_KERNELS}>)
  endif()
  set(${variable} "${settings}" PARENT_SCOPE)
endfunction()

# peercoll_simulated_folder(<variable> <face>): what goes into LD_LIBRARY_PATH for it.
function(peercoll_simulated_folder variable face)
  string(TOUPPER ${face} name)
  if(NOT DEFINED PEERCOLL_SIMULATED_${name}_FOLDER)
    message(FATAL_ERROR "There is no simulated face ${face}; expected cuda, old_cuda, hip_5, hip_6, hip_7, ascend, old_ascend or acl_rt")
  endif()
  set(${variable} ${PEERCOLL_SIMULATED_${name}_FOLDER} PARENT_SCOPE)
endfunction()

set(PEERCOLL_SIMULATED_NODES_FOLDER ${CMAKE_CURRENT_LIST_DIR}/nodes CACHE INTERNAL "")
set(PEERCOLL_SIMULATED_CUDA_FOLDER ${CMAKE_BINARY_DIR}/lib/simulated_cuda CACHE INTERNAL "")
set(PEERCOLL_SIMULATED_OLD_CUDA_FOLDER ${CMAKE_BINARY_DIR}/lib/simulated_old_cuda CACHE INTERNAL "")
foreach(major 5 6 7)
  set(PEERCOLL_SIMULATED_HIP_${major}_FOLDER ${CMAKE_BINARY_DIR}/lib/simulated_hip_${major} CACHE INTERNAL "")
endforeach()
foreach(face ascend old_ascend acl_rt)
  string(TOUPPER ${face} face_name)
  set(PEERCOLL_SIMULATED_${face_name}_FOLDER ${CMAKE_BINARY_DIR}/lib/simulated_${face} CACHE INTERNAL "")
endforeach()
