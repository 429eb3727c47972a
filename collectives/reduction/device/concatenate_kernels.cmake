# SPDX-License-Identifier: BSD-3-Clause
# cmake -DOUTPUT=<file> "-DHEADERS=<file> ..." -P: the headers, in that order, as one source that includes nothing. With
# -DAS_STRING=1 instead a C++ file that defines fold_kernel_source().
separate_arguments(headers UNIX_COMMAND "${HEADERS}")
set(text "// Generated from collectives/reduction/device/kernel/.\n")
foreach(header IN LISTS headers)
  file(READ ${header} part)
  string(REGEX REPLACE "#pragma once\n+" "" part "${part}")
  string(REGEX REPLACE "#include \"[^\"]*\"\n+" "" part "${part}")
  string(REGEX REPLACE "^// SPDX[^\n]*\n" "" part "${part}")
  string(APPEND text "${part}")
endforeach()
if(AS_STRING)
  set(text "#include \"collectives/reduction/device/fold_kernel_source.hpp\"\n\nnamespace peercoll {\n\nconst char* fold_kernel_source() {\n    return R\"source(${text})source\";\n}\n\n}  // namespace peercoll\n")
endif()
file(WRITE ${OUTPUT} "${text}")
