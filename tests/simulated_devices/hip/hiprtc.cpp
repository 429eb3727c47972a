// SPDX-License-Identifier: BSD-3-Clause
// hiprtc: in libamdhip64 up to ROCm 6, a library of its own since. It "compiles" any source with kernels that have C
// names into something that looks like a code object for one architecture; the simulated runtime takes that for an
// image, and finds the kernels' code by name in the library of kernels.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace peercoll::simulator::hip {

namespace {

using hiprtcResult = int;
constexpr hiprtcResult HIPRTC_SUCCESS = 0;
constexpr hiprtcResult HIPRTC_ERROR_INVALID_INPUT = 3;
constexpr hiprtcResult HIPRTC_ERROR_INVALID_PROGRAM = 4;
constexpr hiprtcResult HIPRTC_ERROR_INVALID_OPTION = 5;
constexpr hiprtcResult HIPRTC_ERROR_COMPILATION = 6;

struct Program {
    std::string source;
    std::string name;
    std::string log;
    std::string code;  // empty: not compiled
};

std::mutex mutex;

std::map<const Program*, std::unique_ptr<Program>>& programs() {
    static auto* const all = std::make_unique<std::map<const Program*, std::unique_ptr<Program>>>().release();
    return *all;
}

// "gfx90a" of --gpu-architecture=gfx90a:sramecc+:xnack-; empty if none is given.
std::string architecture(const std::vector<std::string>& options) {
    for (const std::string& option : options) {
        for (const std::string name : {"--gpu-architecture=", "--offload-arch="}) {
            if (option.rfind(name, 0) == 0) {
                return option.substr(name.size(), option.find(':') - name.size());
            }
        }
    }
    return "";
}

hiprtcResult compile(Program& program, const std::vector<std::string>& options) {
    program.code.clear();
    program.log.clear();
    for (const std::string& option : options) {
        if (option.empty() || option[0] != '-') {
            program.log = "'" + option + "' is no option";
            return HIPRTC_ERROR_INVALID_OPTION;
        }
    }
    const std::string target = architecture(options);
    if (target.rfind("gfx", 0) != 0) {
        program.log = "'" + target + "' is no architecture";
        return HIPRTC_ERROR_INVALID_OPTION;
    }
    if (program.source.find("extern \"C\"") == std::string::npos) {
        program.log = program.name + ": error: no kernel that is extern \"C\"";
        return HIPRTC_ERROR_COMPILATION;
    }
    program.code = std::string("\177ELF\2\1\1", 7) + std::string(57, '\0') + "simulated " + target;
    const std::uint16_t machine = 224;
    std::memcpy(program.code.data() + 18, &machine, sizeof(machine));
    program.code += '\0';
    return HIPRTC_SUCCESS;
}

template <typename Answer>
hiprtcResult with_program(Program* handle, Answer answer) {
    const std::lock_guard lock(mutex);
    return programs().contains(handle) ? answer(*handle) : HIPRTC_ERROR_INVALID_PROGRAM;
}

}  // namespace

extern "C" {

hiprtcResult hiprtcVersion(int* major, int* minor) {
    if (major == nullptr || minor == nullptr) {
        return HIPRTC_ERROR_INVALID_INPUT;
    }
    *major = 9;
    *minor = 0;
    return HIPRTC_SUCCESS;
}

const char* hiprtcGetErrorString(hiprtcResult result) {
    switch (result) {
        case HIPRTC_SUCCESS:
            return "HIPRTC_SUCCESS";
        case HIPRTC_ERROR_INVALID_INPUT:
            return "HIPRTC_ERROR_INVALID_INPUT";
        case HIPRTC_ERROR_INVALID_PROGRAM:
            return "HIPRTC_ERROR_INVALID_PROGRAM";
        case HIPRTC_ERROR_INVALID_OPTION:
            return "HIPRTC_ERROR_INVALID_OPTION";
        case HIPRTC_ERROR_COMPILATION:
            return "HIPRTC_ERROR_COMPILATION";
        default:
            return "Invalid HIPRTC error code";
    }
}

hiprtcResult hiprtcCreateProgram(Program** handle, const char* source, const char* name, int headers,
                                 const char** /*header_texts*/, const char** /*header_names*/) {
    if (handle == nullptr || source == nullptr || headers < 0) {
        return HIPRTC_ERROR_INVALID_INPUT;
    }
    auto program = std::make_unique<Program>();
    program->source = source;
    program->name = name == nullptr ? "CompileSource" : name;
    *handle = program.get();
    const std::lock_guard lock(mutex);
    programs()[*handle] = std::move(program);
    return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcDestroyProgram(Program** handle) {
    if (handle == nullptr) {
        return HIPRTC_ERROR_INVALID_INPUT;
    }
    const std::lock_guard lock(mutex);
    if (programs().erase(*handle) == 0) {
        return HIPRTC_ERROR_INVALID_PROGRAM;
    }
    *handle = nullptr;
    return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcCompileProgram(Program* handle, int count, const char** options) {
    return with_program(handle, [&](Program& program) {
        if (count < 0 || (count > 0 && options == nullptr)) {
            return HIPRTC_ERROR_INVALID_INPUT;
        }
        return compile(program, std::vector<std::string>(options, options + count));
    });
}

hiprtcResult hiprtcGetCodeSize(Program* handle, std::size_t* size) {
    return with_program(handle, [&](Program& program) {
        if (size == nullptr) {
            return HIPRTC_ERROR_INVALID_INPUT;
        }
        *size = program.code.size();
        return HIPRTC_SUCCESS;
    });
}

hiprtcResult hiprtcGetCode(Program* handle, char* to) {
    return with_program(handle, [&](Program& program) {
        if (to == nullptr) {
            return HIPRTC_ERROR_INVALID_INPUT;
        }
        std::memcpy(to, program.code.data(), program.code.size());
        return HIPRTC_SUCCESS;
    });
}

hiprtcResult hiprtcGetProgramLogSize(Program* handle, std::size_t* size) {
    return with_program(handle, [&](Program& program) {
        if (size == nullptr) {
            return HIPRTC_ERROR_INVALID_INPUT;
        }
        *size = program.log.size() + 1;
        return HIPRTC_SUCCESS;
    });
}

hiprtcResult hiprtcGetProgramLog(Program* handle, char* to) {
    return with_program(handle, [&](Program& program) {
        if (to == nullptr) {
            return HIPRTC_ERROR_INVALID_INPUT;
        }
        std::memcpy(to, program.log.c_str(), program.log.size() + 1);
        return HIPRTC_SUCCESS;
    });
}

}  // extern "C"

}  // namespace peercoll::simulator::hip
