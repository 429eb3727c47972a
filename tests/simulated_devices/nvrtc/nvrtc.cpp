// SPDX-License-Identifier: BSD-3-Clause
// libnvrtc.so.13 for the simulated node. It "compiles" any source that has kernels with C names into a text that looks
// like PTX; the simulated driver takes that for an image, and finds the kernels' code by name in the library of
// kernels. A source without such a kernel, and options that are none, are refused.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace peercoll::simulator::nvrtc {

namespace {

using nvrtcResult = int;
constexpr nvrtcResult NVRTC_SUCCESS = 0;
constexpr nvrtcResult NVRTC_ERROR_INVALID_INPUT = 3;
constexpr nvrtcResult NVRTC_ERROR_INVALID_PROGRAM = 4;
constexpr nvrtcResult NVRTC_ERROR_INVALID_OPTION = 5;
constexpr nvrtcResult NVRTC_ERROR_COMPILATION = 6;

struct Program {
    std::string source;
    std::string name;
    std::string log;
    std::string ptx;    // empty: not compiled
    std::string cubin;  // empty: not compiled for a real architecture
};

std::mutex mutex;

std::map<const Program*, std::unique_ptr<Program>>& programs() {
    static auto* const all = std::make_unique<std::map<const Program*, std::unique_ptr<Program>>>().release();
    return *all;
}

// Called with the mutex held; null: no such program.
Program* find(Program* handle) {
    return programs().contains(handle) ? handle : nullptr;
}

// "sm_90" or "compute_90" of --gpu-architecture or -arch; empty if none is given.
std::string architecture(const std::vector<std::string>& options) {
    for (const std::string& option : options) {
        for (const char* name : {"--gpu-architecture=", "-arch="}) {
            if (option.rfind(name, 0) == 0) {
                return option.substr(std::strlen(name));
            }
        }
    }
    return "";
}

bool has_c_kernel(const std::string& source) {
    return source.find("extern \"C\"") != std::string::npos && source.find("__global__") != std::string::npos;
}

nvrtcResult compile(Program& program, const std::vector<std::string>& options) {
    program.ptx.clear();
    program.cubin.clear();
    program.log.clear();
    for (const std::string& option : options) {
        if (option.empty() || option[0] != '-') {
            program.log = "'" + option + "' is no option";
            return NVRTC_ERROR_INVALID_OPTION;
        }
    }
    const std::string target = architecture(options);
    if (!target.empty() && target.rfind("sm_", 0) != 0 && target.rfind("compute_", 0) != 0) {
        program.log = "'" + target + "' is no architecture";
        return NVRTC_ERROR_INVALID_OPTION;
    }
    if (!has_c_kernel(program.source)) {
        program.log = program.name + ": error: no kernel that is extern \"C\"";
        return NVRTC_ERROR_COMPILATION;
    }
    // Names that macros make are not known here, so none is listed.
    program.ptx = "//\n// Simulated\n//\n\n.version 8.0\n.target sm_90\n.address_size 64\n";
    if (target.rfind("sm_", 0) == 0) {
        program.cubin = std::string("\177ELF\2\1\1", 7) + std::string(57, '\0') + program.ptx;
    }
    return NVRTC_SUCCESS;
}

template <typename Answer>
nvrtcResult with_program(Program* handle, Answer answer) {
    const std::lock_guard lock(mutex);
    Program* const program = find(handle);
    return program == nullptr ? NVRTC_ERROR_INVALID_PROGRAM : answer(*program);
}

nvrtcResult size_of(const std::string& text, std::size_t extra, std::size_t* size, nvrtcResult if_empty) {
    if (size == nullptr) {
        return NVRTC_ERROR_INVALID_INPUT;
    }
    if (text.empty() && if_empty != NVRTC_SUCCESS) {
        *size = 0;
        return if_empty;
    }
    *size = text.empty() && extra == 0 ? 0 : text.size() + extra;
    return NVRTC_SUCCESS;
}

nvrtcResult copy_of(const std::string& text, std::size_t extra, char* to) {
    if (to == nullptr) {
        return NVRTC_ERROR_INVALID_INPUT;
    }
    std::memcpy(to, text.c_str(), text.size() + extra);
    return NVRTC_SUCCESS;
}

}  // namespace

extern "C" {

nvrtcResult nvrtcVersion(int* major, int* minor) {
    if (major == nullptr || minor == nullptr) {
        return NVRTC_ERROR_INVALID_INPUT;
    }
    *major = 13;
    *minor = 0;
    return NVRTC_SUCCESS;
}

const char* nvrtcGetErrorString(nvrtcResult result) {
    switch (result) {
        case NVRTC_SUCCESS:
            return "NVRTC_SUCCESS";
        case NVRTC_ERROR_INVALID_INPUT:
            return "NVRTC_ERROR_INVALID_INPUT";
        case NVRTC_ERROR_INVALID_PROGRAM:
            return "NVRTC_ERROR_INVALID_PROGRAM";
        case NVRTC_ERROR_INVALID_OPTION:
            return "NVRTC_ERROR_INVALID_OPTION";
        case NVRTC_ERROR_COMPILATION:
            return "NVRTC_ERROR_COMPILATION";
        default:
            return "NVRTC_ERROR unknown";
    }
}

nvrtcResult nvrtcCreateProgram(Program** handle, const char* source, const char* name, int headers,
                               const char* const* /*header_texts*/, const char* const* /*header_names*/) {
    if (handle == nullptr || source == nullptr || headers < 0) {
        return NVRTC_ERROR_INVALID_INPUT;
    }
    auto program = std::make_unique<Program>();
    program->source = source;
    program->name = name == nullptr ? "default_program" : name;
    *handle = program.get();
    const std::lock_guard lock(mutex);
    programs()[*handle] = std::move(program);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(Program** handle) {
    if (handle == nullptr) {
        return NVRTC_ERROR_INVALID_PROGRAM;
    }
    const std::lock_guard lock(mutex);
    if (programs().erase(*handle) == 0) {
        return NVRTC_ERROR_INVALID_PROGRAM;
    }
    *handle = nullptr;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(Program* handle, int count, const char* const* options) {
    return with_program(handle, [&](Program& program) {
        if (count < 0 || (count > 0 && options == nullptr)) {
            return NVRTC_ERROR_INVALID_INPUT;
        }
        return compile(program, std::vector<std::string>(options, options + count));
    });
}

// Sizes and texts of what is text count its end.
nvrtcResult nvrtcGetPTXSize(Program* handle, std::size_t* size) {
    return with_program(handle,
                        [&](Program& program) { return size_of(program.ptx, 1, size, NVRTC_ERROR_INVALID_PROGRAM); });
}

nvrtcResult nvrtcGetPTX(Program* handle, char* to) {
    return with_program(handle, [&](Program& program) {
        return program.ptx.empty() ? NVRTC_ERROR_INVALID_PROGRAM : copy_of(program.ptx, 1, to);
    });
}

// 0 bytes where the program was compiled for a virtual architecture.
nvrtcResult nvrtcGetCUBINSize(Program* handle, std::size_t* size) {
    return with_program(handle, [&](Program& program) { return size_of(program.cubin, 0, size, NVRTC_SUCCESS); });
}

nvrtcResult nvrtcGetCUBIN(Program* handle, char* to) {
    return with_program(handle, [&](Program& program) {
        return program.cubin.empty() ? NVRTC_ERROR_INVALID_PROGRAM : copy_of(program.cubin, 0, to);
    });
}

nvrtcResult nvrtcGetProgramLogSize(Program* handle, std::size_t* size) {
    return with_program(handle, [&](Program& program) { return size_of(program.log, 1, size, NVRTC_SUCCESS); });
}

nvrtcResult nvrtcGetProgramLog(Program* handle, char* to) {
    return with_program(handle, [&](Program& program) { return copy_of(program.log, 1, to); });
}

}  // extern "C"

}  // namespace peercoll::simulator::nvrtc
