// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/tests/on_node.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace peercoll::simulator::cuda {

void describe_node(const std::string& text) {
    std::string path;
    if (text.rfind('@', 0) == 0) {
        path = std::string(PEERCOLL_SIMULATED_NODES) + "/" + text.substr(1) + ".node";
    } else {
        // A file without a name, which goes with the process.
        const int file = ::memfd_create("node", 0);
        ASSERT_EQ(::write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
        path = "/proc/self/fd/" + std::to_string(file);
    }
    ::setenv("PEERCOLL_SIMULATOR_NODE", path.c_str(), 1);
}

void on_node(const std::string& text, int processes, const std::function<void(Rank&)>& function,
             const std::function<void(Rank&)>& prepare, const test::GroupRules& rules) {
    // Devices' memory is shared by the processes of this test alone.
    static int counter = 0;
    const std::string name = std::to_string(::getpid()) + "." + std::to_string(++counter);
    test::run_ranks(
        processes,
        [&](Rank& rank) {
            ::setenv("PEERCOLL_SIMULATOR_NAME", name.c_str(), 1);
            describe_node(text);
            if (prepare) {
                prepare(rank);
            }
            ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
            function(rank);
        },
        rules);
}

CurrentContext::CurrentContext(CUdevice device) : device_(device) {
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context_, device), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxPushCurrent_v2(context_), CUDA_SUCCESS);
}

CurrentContext::~CurrentContext() {
    CUcontext popped = nullptr;
    EXPECT_EQ(cuCtxPopCurrent_v2(&popped), CUDA_SUCCESS);
    EXPECT_EQ(popped, context_);
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(device_), CUDA_SUCCESS);
}

CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAlloc_v2(&address, bytes), CUDA_SUCCESS);
    return address;
}

CUstream make_stream(unsigned flags) {
    CUstream stream = nullptr;
    EXPECT_EQ(cuStreamCreate(&stream, flags), CUDA_SUCCESS);
    return stream;
}

std::vector<unsigned char> read_bytes(CUdeviceptr address, std::size_t bytes) {
    std::vector<unsigned char> result(bytes);
    const CUstream stream = make_stream();
    EXPECT_EQ(cuMemcpyDtoHAsync_v2(result.data(), address, bytes, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
    return result;
}

void write_bytes(CUdeviceptr address, unsigned char value, std::size_t bytes) {
    const CUstream stream = make_stream();
    EXPECT_EQ(cuMemsetD8Async(address, value, bytes, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
}

std::size_t bytes_in_use() {
    std::size_t unused = 0;
    std::size_t all = 0;
    EXPECT_EQ(cuMemGetInfo_v2(&unused, &all), CUDA_SUCCESS);
    return all - unused;
}

CUresult launch_store(CUstream stream, CUdeviceptr address, unsigned char value, std::uint64_t count) {
    ::setenv("PEERCOLL_SIMULATOR_KERNELS", PEERCOLL_SIMULATOR_TEST_KERNELS, 1);
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, ".version 8.0\n.visible .entry store(\n"), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleGetFunction(&function, module, "store"), CUDA_SUCCESS);
    struct {
        CUdeviceptr address;
        std::uint64_t count;
        unsigned char value;
    } parameters = {address, count, value};
    void* list[] = {&parameters};
    return cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, list, nullptr);
}

Gate::Gate(CUstream stream) {
    auto* const argument = std::make_unique<std::shared_ptr<std::atomic<bool>>>(open_).release();
    const CUhostFn wait = [](void* pointer) {
        const std::unique_ptr<std::shared_ptr<std::atomic<bool>>> open(
            static_cast<std::shared_ptr<std::atomic<bool>>*>(pointer));
        while (!(*open)->load()) {
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
    };
    EXPECT_EQ(cuLaunchHostFunc(stream, wait, argument), CUDA_SUCCESS);
}

}  // namespace peercoll::simulator::cuda
