// SPDX-License-Identifier: BSD-3-Clause
// The source for run-time compilers, and the images that nvcc made of it.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "collectives/reduction/device/cuda_kernel_image.hpp"
#include "collectives/reduction/device/fold_kernel_source.hpp"
#include "collectives/reduction/device/fold_parameters.hpp"

namespace peercoll::test {
namespace {

TEST(TheSource, IncludesNothing) {
    const std::string source = fold_kernel_source();
    EXPECT_EQ(source.find("#include"), std::string::npos);
    EXPECT_EQ(source.find("#pragma once"), std::string::npos);
}

// Every other test here is about that file.
TEST(TheSource, IsTheOneThatTheCompilersWereGiven) {
    std::ifstream file(PEERCOLL_FOLD_KERNELS_SOURCE);
    const std::string compiled((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    ASSERT_FALSE(compiled.empty()) << PEERCOLL_FOLD_KERNELS_SOURCE;
    EXPECT_TRUE(fold_kernel_source() == compiled) << "this test and " << PEERCOLL_FOLD_KERNELS_SOURCE << " differ";
}

TEST(TheImages, AreFatBinariesForEveryFamilyOrForNone) {
    const bool built = cuda_kernel_image(0) != nullptr;
    for (int family = 0; family < fold_kernel_families; ++family) {
        const KernelImage* const image = cuda_kernel_image(family);
        ASSERT_EQ(image != nullptr, built) << "family " << family;
        if (!built) {
            continue;
        }
        std::uint32_t magic = 0;
        ASSERT_GT(image->bytes, sizeof(magic));
        std::memcpy(&magic, image->data, sizeof(magic));
        EXPECT_EQ(magic, 0xba55ed50u) << "family " << family;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(image->data) % 8, 0u);
        EXPECT_NE(std::string(image->text), "");
    }
    EXPECT_EQ(cuda_kernel_image(-1), nullptr);
    EXPECT_EQ(cuda_kernel_image(fold_kernel_families), nullptr);
}

}  // namespace
}  // namespace peercoll::test
