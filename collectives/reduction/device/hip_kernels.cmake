# SPDX-License-Identifier: BSD-3-Clause
# The HIP kernels: a bundle of code objects for each family, if there is a hipcc. Included by CMakeLists.txt, whose
# variables `source` and `families` it uses.
option(PEERCOLL_BUILD_HIP_KERNELS "Compile the HIP kernels with hipcc, if it is there (otherwise hiprtc does at run time)" ON)
find_program(PEERCOLL_HIPCC hipcc HINTS ENV ROCM_PATH ENV HIP_PATH PATH_SUFFIXES bin PATHS /opt/rocm)
mark_as_advanced(PEERCOLL_HIPCC)
if(NOT PEERCOLL_WITH_HIP OR NOT PEERCOLL_BUILD_HIP_KERNELS OR NOT PEERCOLL_HIPCC)
  message(STATUS "HIP kernels: compiled at run time (no hipcc, or PEERCOLL_BUILD_HIP_KERNELS is off)")
  return()
endif()

# What hipcc can compile for is known only by trying: old ones lack the newer architectures, and distributions leave out
# libraries of some. Asked once for each hipcc.
set(candidates gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201)
set(hip_options --genco -x hip -std=c++17 -O3 -ffp-contract=off)
if(NOT "${PEERCOLL_HIPCC_ASKED}" STREQUAL "${PEERCOLL_HIPCC}")
  set(trial ${CMAKE_CURRENT_BINARY_DIR}/hipcc_trial.hip)
  file(WRITE ${trial} "extern \"C\" __attribute__((global)) void trial(int *to) { *to = 1; }\n")
  set(supported)
  foreach(architecture IN LISTS candidates)
    execute_process(
      COMMAND ${PEERCOLL_HIPCC} ${hip_options} --offload-arch=${architecture} -o ${CMAKE_CURRENT_BINARY_DIR}/hipcc_trial.hsaco ${trial}
      RESULT_VARIABLE failure
      OUTPUT_QUIET ERROR_QUIET
      TIMEOUT 60)
    if(NOT failure)
      list(APPEND supported ${architecture})
    endif()
  endforeach()
  set(PEERCOLL_HIPCC_ASKED "${PEERCOLL_HIPCC}" CACHE INTERNAL "")
  set(PEERCOLL_HIPCC_ARCHITECTURES "${supported}" CACHE INTERNAL "")
endif()
set(PEERCOLL_HIP_ARCHITECTURES "${PEERCOLL_HIPCC_ARCHITECTURES}" CACHE STRING "HIP kernels are compiled for these: gfx90a")
if(NOT PEERCOLL_HIP_ARCHITECTURES)
  message(WARNING "HIP kernels: compiled at run time, since ${PEERCOLL_HIPCC} compiles for none of ${candidates}")
  return()
endif()

set(hip_targets)
foreach(architecture IN LISTS PEERCOLL_HIP_ARCHITECTURES)
  if(NOT architecture MATCHES "^gfx[0-9a-f]+(:[a-z+-]+)*$")
    message(FATAL_ERROR "PEERCOLL_HIP_ARCHITECTURES has \"${architecture}\"; expected for example gfx90a")
  endif()
  list(APPEND hip_targets --offload-arch=${architecture})
endforeach()
list(JOIN PEERCOLL_HIP_ARCHITECTURES " " hip_text)

set(hip_images)
math(EXPR last "${families} - 1")
foreach(family RANGE ${last})
  set(image ${CMAKE_CURRENT_BINARY_DIR}/fold_kernels_${family}.hsaco)
  add_custom_command(
    OUTPUT ${image}
    COMMAND ${PEERCOLL_HIPCC} ${hip_options} ${hip_targets} -DPEERCOLL_KERNEL_FAMILY=${family} -o ${image} ${source}
    DEPENDS ${source}
    COMMENT "Compiling HIP kernels, family ${family} of ${last}"
    VERBATIM)
  list(APPEND hip_images ${image})
endforeach()
add_custom_target(peercoll_hip_kernels DEPENDS ${hip_images})
set_source_files_properties(
  hip_kernel_image.cpp
  PROPERTIES COMPILE_DEFINITIONS "PEERCOLL_HIP_IMAGES=\"${CMAKE_CURRENT_BINARY_DIR}\";PEERCOLL_HIP_IMAGES_TEXT=\"${hip_text}\""
             OBJECT_DEPENDS "${hip_images}")
message(STATUS "HIP kernels: ${hip_text}")
