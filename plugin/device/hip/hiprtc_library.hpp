// SPDX-License-Identifier: BSD-3-Clause
// hiprtc's functions, declared by hand, and the search for a library that has them: libamdhip64 itself up to ROCm 6,
// and libhiprtc.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/device/hip/hip_api.hpp"
#include "plugin/device/hip/versions.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace peercoll::hip {

using HiprtcResult = int;
using HiprtcProgram = struct HiprtcProgramObject*;
constexpr HiprtcResult hiprtc_success = 0;

struct HiprtcFunctions {
    HiprtcResult (*version)(int* major, int* minor);
    const char* (*get_error_string)(HiprtcResult error);
    HiprtcResult (*create_program)(HiprtcProgram* program, const char* source, const char* name, int headers,
                                   const char** header_sources, const char** header_names);
    HiprtcResult (*compile_program)(HiprtcProgram program, int options, const char** option_texts);
    HiprtcResult (*get_log_size)(HiprtcProgram program, std::size_t* bytes);
    HiprtcResult (*get_log)(HiprtcProgram program, char* log);
    HiprtcResult (*get_code_size)(HiprtcProgram program, std::size_t* bytes);
    HiprtcResult (*get_code)(HiprtcProgram program, char* code);
    HiprtcResult (*destroy_program)(HiprtcProgram* program);
};

template <typename Functions, typename Visit>
void for_each_hiprtc_function(Functions& all, Visit visit) {
    visit(all.version, "hiprtcVersion");
    visit(all.get_error_string, "hiprtcGetErrorString");
    visit(all.create_program, "hiprtcCreateProgram");
    visit(all.compile_program, "hiprtcCompileProgram");
    visit(all.get_log_size, "hiprtcGetProgramLogSize");
    visit(all.get_log, "hiprtcGetProgramLog");
    visit(all.get_code_size, "hiprtcGetCodeSize");
    visit(all.get_code, "hiprtcGetCode");
    visit(all.destroy_program, "hiprtcDestroyProgram");
}

// NOT_SUPPORTED if there is none. A library that is loaded for it stays loaded.
Status load_hiprtc(const HipLibrary& hip, Version version, HiprtcFunctions& functions);

// What to look for besides: by name, and beside libamdhip64, whose folder this is.
std::vector<std::string> hiprtc_libraries(Version version, const std::string& folder);

}  // namespace peercoll::hip
