// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/device_kernels/simulated_kernels.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "tests/simulated_devices/core/simulated_launch.h"

namespace peercoll::test {
namespace {

using KernelFunction = void (*)(void*, const peercoll_simulated_launch*);

void* library() {
    static void* const opened = dlopen(PEERCOLL_SIMULATED_KERNELS, RTLD_NOW | RTLD_LOCAL);
    if (!opened) {
        throw std::runtime_error(dlerror());
    }
    return opened;
}

// Addresses are those of this process already.
void* translate(const peercoll_simulated_launch* /*launch*/, std::uint64_t address, std::uint64_t /*bytes*/,
                int /*write*/) {
    return reinterpret_cast<void*>(address);
}

std::uint64_t address_of(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

}  // namespace

bool has_kernel(const char* name) {
    const auto* bytes =
        static_cast<const std::size_t*>(dlsym(library(), (std::string(name) + "_parameter_bytes").c_str()));
    return dlsym(library(), name) != nullptr && bytes != nullptr && *bytes == sizeof(FoldParameters);
}

bool fill(const FoldCase& fold, FoldParameters& parameters) {
    std::vector<std::uint64_t> inputs, outputs;
    for (const void* in : fold.inputs) {
        inputs.push_back(address_of(in));
    }
    for (const void* out : fold.outputs) {
        outputs.push_back(address_of(out));
    }
    std::vector<std::uint32_t> block_ends = fold.block_ends;
    if (block_ends.empty()) {
        block_ends = {static_cast<std::uint32_t>(inputs.size())};
    }
    peercoll_fold_t given{};
    given.struct_size = sizeof(given);
    given.datatype = fold.datatype;
    given.op = fold.op;
    given.count = fold.count;
    given.n_inputs = static_cast<std::uint32_t>(inputs.size());
    given.n_outputs = static_cast<std::uint32_t>(outputs.size());
    given.n_blocks = static_cast<std::uint32_t>(block_ends.size());
    given.inputs = inputs.data();
    given.outputs = outputs.data();
    given.block_ends = block_ends.data();
    given.flag = address_of(fold.flag);
    given.flag_value = fold.flag_value;
    return fill_fold_parameters(given, parameters);
}

FoldGeometry run(const FoldCase& fold, int multiprocessors) {
    const char* const name = fold_kernel_name(fold.datatype, fold.op);
    FoldParameters parameters;
    if (!name || !has_kernel(name) || !fill(fold, parameters)) {
        throw std::runtime_error("no kernel, or not a fold");
    }
    const FoldGeometry geometry = fold_geometry(parameters, multiprocessors, false);
    std::uint32_t counter = 0;
    parameters.counter = address_of(&counter);
    peercoll_simulated_launch launch{};
    launch.struct_size = sizeof(launch);
    launch.grid[0] = geometry.blocks;
    launch.block[0] = geometry.threads;
    launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
    launch.translate = translate;
    reinterpret_cast<KernelFunction>(dlsym(library(), name))(&parameters, &launch);
    if (counter != 0) {
        throw std::runtime_error("the counter was not reset");
    }
    return geometry;
}

}  // namespace peercoll::test
