// SPDX-License-Identifier: BSD-3-Clause
// NVRTC's functions, declared by hand, and the search for a library that has them.
#pragma once

#include "plugin/common/status.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace peercoll::cuda {

using NvrtcResult = int;
using NvrtcProgram = struct NvrtcProgramObject*;
constexpr NvrtcResult nvrtc_success = 0;

struct NvrtcFunctions {
    NvrtcResult (*version)(int* major, int* minor);
    const char* (*get_error_string)(NvrtcResult error);
    NvrtcResult (*create_program)(NvrtcProgram* program, const char* source, const char* name, int headers,
                                  const char* const* header_sources, const char* const* header_names);
    NvrtcResult (*compile_program)(NvrtcProgram program, int options, const char* const* option_texts);
    NvrtcResult (*get_log_size)(NvrtcProgram program, std::size_t* bytes);
    NvrtcResult (*get_log)(NvrtcProgram program, char* log);
    NvrtcResult (*get_ptx_size)(NvrtcProgram program, std::size_t* bytes);
    NvrtcResult (*get_ptx)(NvrtcProgram program, char* ptx);
    NvrtcResult (*get_cubin_size)(NvrtcProgram program, std::size_t* bytes);  // NULL before 11.1
    NvrtcResult (*get_cubin)(NvrtcProgram program, char* cubin);              // the same
    NvrtcResult (*destroy_program)(NvrtcProgram* program);
};

// Loads NVRTC; it stays loaded, because it is not made to be unloaded. NOT_SUPPORTED if there is none.
Status load_nvrtc(int driver_major, NvrtcFunctions& functions);

// The folders to look in, from the lines of /proc/self/maps and the variables CUDA_HOME and CUDA_PATH; apart, so that
// they can be tested.
std::vector<std::string> nvrtc_folders(const std::string& maps,
                                       const std::function<const char*(const char*)>& variable);

}  // namespace peercoll::cuda
