# SPDX-License-Identifier: BSD-3-Clause
# peer_copy on the simulated face of each vendor, and on nodes that are not as they say.
set(peer_copy $<TARGET_FILE:peer_copy>)
set(size --bytes 300007)  # no whole number of words, so that tails are copied as well

# peer_copy_tests(FACE RUNTIME): the nodes that every vendor's face can have.
function(peer_copy_tests face runtime)
  set(run COMMAND ${peer_copy} --runtime ${runtime} ${size})
  example_test(peer_copy_${face}_one_device FACE ${face} NODE one_device
    EXPECT "1 device.*itself.*one device: it has no peer, so the copies stayed within it.*every byte arrived" ${run})
  example_test(peer_copy_${face}_two_devices FACE ${face} NODE two_devices
    EXPECT "2 devices.*2 of 2 pairs reach each other in both directions.*every byte arrived" ${run})
  example_test(peer_copy_${face}_two_islands FACE ${face} NODE two_islands
    EXPECT "8 devices.*24 of 56 pairs reach each other in both directions.*every byte arrived" ${run})
  example_test(peer_copy_${face}_sees_lost_copies FAILS FACE ${face} NODE lost_stores_and_copies
    EXPECT "copies from device 0 to device 1: 300007 of 300007 bytes are wrong, the first at offset 0: expected" ${run})
  # One direction only: what the other device sends arrives.
  example_test(peer_copy_${face}_sees_copies_lost_one_way FAILS FACE ${face} NODE one_way_lost
    EXPECT " 0 +[0-9.]+ +wrong\n +1 +[0-9.]+ +[0-9.]+\n.*copies from device 0 to device 1: 300007 of 300007" ${run})
endfunction()

# The same where there are kernels: copies arrive, and what a kernel stores does not.
function(peer_copy_kernel_tests face runtime)
  set(run COMMAND ${peer_copy} --runtime ${runtime} ${size})
  example_test(peer_copy_${face}_stores_by_kernels FACE ${face} NODE two_devices
    EXPECT "folds of one input[^\n]*\n[^\n]*\n +0 +[0-9.]+ +[0-9.]+\n +1 +[0-9.]+ +[0-9.]+\n.*kernels of device 1: device"
    ${run})
  example_test(peer_copy_${face}_sees_lost_stores FAILS FACE ${face} NODE lost_stores
    EXPECT " 1 +[0-9.]+ +[0-9.]+\nfolds.*stores of a kernel from device 0 to device 1: 300007 of 300007 bytes are wrong"
    ${run})
endfunction()

peer_copy_tests(cuda cuda)
peer_copy_kernel_tests(cuda cuda)
foreach(major 5 6 7)
  peer_copy_tests(hip_${major} hip)
  peer_copy_kernel_tests(hip_${major} hip)
endforeach()
foreach(face ascend old_ascend acl_rt)
  string(TOUPPER ${face} name)
  if(DEFINED PEERCOLL_SIMULATED_${name}_FOLDER)
    peer_copy_tests(${face} ascend)
  endif()
endforeach()

example_test(peer_copy_says_why_a_runtime_is_off FAILS NODE no_device EXPECT "cuda is off: cuInit: CUDA_ERROR_NO_DEVICE"
  COMMAND ${peer_copy})
example_test(peer_copy_says_which_library_is_missing FAILS EXPECT "cannot be loaded: [^\n]*libmissing.so: cannot open"
  COMMAND ${peer_copy} --library ${CMAKE_CURRENT_BINARY_DIR}/libmissing.so)
example_test(peer_copy_says_which_runtimes_there_are FAILS EXPECT "none not in [^\n]*cuda,hip"
  COMMAND ${peer_copy} --runtime none)
