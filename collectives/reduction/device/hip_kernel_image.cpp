// SPDX-License-Identifier: BSD-3-Clause
// The files that hipcc wrote, as they are, in the read-only data of this library.
#include "collectives/reduction/device/hip_kernel_image.hpp"

#include "collectives/reduction/device/fold_parameters.hpp"

#if defined(PEERCOLL_HIP_IMAGES)

// Defines the bytes of a file between two symbols. Code objects want their page.
#define PEERCOLL_IMAGE(family)                                            \
    asm(".pushsection .rodata,\"a\",@progbits\n"                          \
        ".balign 4096\n"                                                  \
        ".hidden peercoll_hip_image_" #family                             \
        "_begin\n"                                                        \
        ".globl peercoll_hip_image_" #family                              \
        "_begin\n"                                                        \
        "peercoll_hip_image_" #family                                     \
        "_begin:\n"                                                       \
        ".incbin \"" PEERCOLL_HIP_IMAGES "/fold_kernels_" #family         \
        ".hsaco\"\n"                                                      \
        ".hidden peercoll_hip_image_" #family                             \
        "_end\n"                                                          \
        ".globl peercoll_hip_image_" #family                              \
        "_end\n"                                                          \
        "peercoll_hip_image_" #family                                     \
        "_end:\n"                                                         \
        ".byte 0\n"                                                       \
        ".popsection\n");                                                 \
    extern "C" const unsigned char peercoll_hip_image_##family##_begin[]; \
    extern "C" const unsigned char peercoll_hip_image_##family##_end[];

PEERCOLL_IMAGE(0)
PEERCOLL_IMAGE(1)
PEERCOLL_IMAGE(2)
PEERCOLL_IMAGE(3)
PEERCOLL_IMAGE(4)
PEERCOLL_IMAGE(5)
PEERCOLL_IMAGE(6)
PEERCOLL_IMAGE(7)

#undef PEERCOLL_IMAGE

namespace peercoll {

const KernelImage* hip_kernel_image(int family) {
    const auto image = [](const unsigned char* begin, const unsigned char* end) {
        return KernelImage{begin, static_cast<std::size_t>(end - begin), PEERCOLL_HIP_IMAGES_TEXT};
    };
#define PEERCOLL_IMAGE(family) image(peercoll_hip_image_##family##_begin, peercoll_hip_image_##family##_end)
    static const KernelImage images[] = {PEERCOLL_IMAGE(0), PEERCOLL_IMAGE(1), PEERCOLL_IMAGE(2), PEERCOLL_IMAGE(3),
                                         PEERCOLL_IMAGE(4), PEERCOLL_IMAGE(5), PEERCOLL_IMAGE(6), PEERCOLL_IMAGE(7)};
#undef PEERCOLL_IMAGE
    static_assert(sizeof(images) / sizeof(images[0]) == fold_kernel_families, "one image for each family");
    return family >= 0 && family < fold_kernel_families ? &images[family] : nullptr;
}

}  // namespace peercoll

#else

namespace peercoll {

const KernelImage* hip_kernel_image(int /*family*/) {
    return nullptr;
}

}  // namespace peercoll

#endif
