// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

template <typename Function>
Function* find(const char* name) {
    static void* const library = ::dlopen(PEERCOLL_SIMULATED_NVRTC, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << ::dlerror();
    auto* const function = library == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(library, name));
    EXPECT_NE(function, nullptr) << name;
    return function;
}

class Program {
public:
    explicit Program(const char* source) {
        EXPECT_EQ((*find<int(void**, const char*, const char*, int, const char**, const char**)>("nvrtcCreateProgram"))(
                      &program_, source, "a.cu", 0, nullptr, nullptr),
                  0);
    }
    ~Program() { EXPECT_EQ((*find<int(void**)>("nvrtcDestroyProgram"))(&program_), 0); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    int compile(std::vector<const char*> options) {
        return (*find<int(void*, int, const char**)>("nvrtcCompileProgram"))(program_, static_cast<int>(options.size()),
                                                                             options.data());
    }
    std::string text(const char* size_name, const char* name) {
        std::size_t size = 0;
        EXPECT_EQ((*find<int(void*, std::size_t*)>(size_name))(program_, &size), 0);
        std::string result(size, '\0');
        if (size != 0) {
            EXPECT_EQ((*find<int(void*, char*)>(name))(program_, result.data()), 0);
        }
        return result;
    }

private:
    void* program_ = nullptr;
};

TEST(Nvrtc, CompilesASourceWithKernelsOfCNames) {
    Program program("extern \"C\" __global__ void f() {}");
    EXPECT_EQ(program.compile({"--gpu-architecture=compute_90"}), 0);
    EXPECT_NE(program.text("nvrtcGetPTXSize", "nvrtcGetPTX").find(".version"), std::string::npos);
    EXPECT_EQ(program.text("nvrtcGetCUBINSize", "nvrtcGetCUBIN"), "") << "a virtual architecture has no native code";
    EXPECT_EQ(program.compile({"-arch=sm_90"}), 0);
    EXPECT_EQ(program.text("nvrtcGetCUBINSize", "nvrtcGetCUBIN").substr(0, 4), "\177ELF");
}

TEST(Nvrtc, RefusesOtherSourcesAndOptionsAndSaysWhy) {
    Program program("int f() { return 1; }");
    EXPECT_EQ(program.compile({}), 6);
    EXPECT_NE(program.text("nvrtcGetProgramLogSize", "nvrtcGetProgramLog").find("no kernel"), std::string::npos);
    EXPECT_EQ(program.compile({"-arch=banana"}), 5);
    EXPECT_EQ(program.compile({"banana"}), 5);
}

}  // namespace
