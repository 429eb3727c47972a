// SPDX-License-Identifier: BSD-3-Clause
// Where NVRTC is looked for, and what it makes of the kernels' source.
#include "plugin/device/cuda/nvrtc_library.hpp"
#include "plugin/device/cuda/runtime_compiler.hpp"

#include "collectives/reduction/device/fold_parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace peercoll::cuda {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> folders(const std::string& maps, const std::map<std::string, std::string>& variables = {}) {
    return nvrtc_folders(maps, [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

TEST(Nvrtc, IsLookedForNextToTheCudaLibrariesOfTheProcess) {
    const std::string maps =
        "7f00-7f01 r--p 00000000 08:01 11 /venv/lib/nvidia/cuda_runtime/lib/libcudart.so.12\n"
        "7f01-7f02 r-xp 00001000 08:01 11 /venv/lib/nvidia/cuda_runtime/lib/libcudart.so.12\n"
        "7f02-7f03 r--p 00000000 08:01 12 /a folder/libnvJitLink.so.13\n"
        "7f03-7f04 r--p 00000000 08:01 13 /usr/lib/libc.so.6\n"
        "7f04-7f05 rw-p 00000000 00:00 0 [heap]\n";
    const std::vector<std::string> found = folders(maps);
    EXPECT_THAT(found, Contains("/venv/lib/nvidia/cuda_runtime/lib").Times(1));
    EXPECT_THAT(found, Contains("/venv/lib/nvidia/cuda_runtime/lib/../../cuda_nvrtc/lib"));
    EXPECT_THAT(found, Contains("/a folder"));
    EXPECT_THAT(found, Not(Contains("/usr/lib")));
}

TEST(Nvrtc, IsLookedForWhereToolkitsAreInstalledAndTheUserSays) {
    EXPECT_THAT(folders(""), ElementsAre("/usr/local/cuda/lib64", "/opt/cuda/lib64"));
    EXPECT_THAT(folders("", {{"CUDA_HOME", "/mine"}, {"CUDA_PATH", ""}}),
                ElementsAre("/mine/lib64", "/usr/local/cuda/lib64", "/opt/cuda/lib64"));
}

TEST(Nvrtc, CompilesAFamilyOfKernelsForTheDevice) {
    NvrtcFunctions nvrtc{};
    if (const Status loaded = load_nvrtc(13, nvrtc); !loaded.ok()) GTEST_SKIP() << loaded.sentence();
    CompiledKernels compiled;
    const Status status = compile_kernels(fold_kernel_family(PEERCOLL_BYTE, PEERCOLL_NO_OP), 9, 0, 13, compiled);
    ASSERT_TRUE(status.ok()) << status.sentence();
    EXPECT_THAT(compiled.compiler, HasSubstr("NVRTC "));
    EXPECT_THAT(compiled.architecture, HasSubstr("_90"));
    EXPECT_THAT(compiled.image, HasSubstr(fold_kernel_name(PEERCOLL_BYTE, PEERCOLL_NO_OP)));
}

TEST(Nvrtc, OfADeviceItDoesNotKnowGivesCodeThatTheDriverTranslates) {
    NvrtcFunctions nvrtc{};
    if (const Status loaded = load_nvrtc(13, nvrtc); !loaded.ok()) GTEST_SKIP() << loaded.sentence();
    CompiledKernels compiled;
    const Status status = compile_kernels(fold_kernel_family(PEERCOLL_BYTE, PEERCOLL_NO_OP), 99, 0, 13, compiled);
    ASSERT_TRUE(status.ok()) << status.sentence();
    EXPECT_THAT(compiled.image, HasSubstr(fold_kernel_name(PEERCOLL_BYTE, PEERCOLL_NO_OP)));
}

}  // namespace
}  // namespace peercoll::cuda
