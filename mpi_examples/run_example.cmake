# SPDX-License-Identifier: BSD-3-Clause
# Runs one example as a test: cmake [-D...] -P run_example.cmake -- COMMAND ARGUMENTS...
#
#   EXPECT      a regular expression that the output must hold
#   FAILS       if true, the example must fail instead of succeed
#   SERVED_ALL  if true, the output must say "plugin: served N of N calls", N above 0
set(command)
set(seen NO)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(index RANGE ${last})
  if(seen)
    list(APPEND command ${CMAKE_ARGV${index}})
  elseif(CMAKE_ARGV${index} STREQUAL "--")
    set(seen YES)
  endif()
endforeach()

execute_process(COMMAND ${command} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 110)
message("${output}")
if(FAILS AND result EQUAL 0)
  message(FATAL_ERROR "the example succeeded, and was expected to fail")
elseif(NOT FAILS AND NOT result EQUAL 0)
  message(FATAL_ERROR "the example failed: ${result}")
endif()
if(EXPECT AND NOT output MATCHES "${EXPECT}")
  message(FATAL_ERROR "the output does not hold: ${EXPECT}")
endif()
if(SERVED_ALL)
  if(NOT output MATCHES "plugin: served ([0-9]+) of ([1-9][0-9]*) calls" OR NOT CMAKE_MATCH_1 EQUAL CMAKE_MATCH_2)
    message(FATAL_ERROR "the plugin did not serve all calls")
  endif()
endif()
