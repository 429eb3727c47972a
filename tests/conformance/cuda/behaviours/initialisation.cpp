// SPDX-License-Identifier: BSD-3-Clause
// The library before and after cuInit: what is there, and what a process has to do first.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/gpu.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstring>
#include <fstream>
#include <string>

namespace peercoll::conformance::cuda {

namespace {

// Those that the plugin cannot do without, and those it uses where they are there.
constexpr const char* symbols[] = {
    "cuInit",
    "cuDriverGetVersion",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
    "cuDeviceGetUuid_v2",
    "cuDeviceGetPCIBusId",
    "cuDeviceGetByPCIBusId",
    "cuDeviceTotalMem_v2",
    "cuDeviceCanAccessPeer",
    "cuDeviceGetP2PAttribute",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxGetState",
    "cuCtxGetCurrent",
    "cuCtxPushCurrent_v2",
    "cuCtxPopCurrent_v2",
    "cuCtxGetDevice",
    "cuCtxSynchronize",
    "cuCtxEnablePeerAccess",
    "cuCtxDisablePeerAccess",
    "cuPointerGetAttribute",
    "cuPointerGetAttributes",
    "cuPointerSetAttribute",
    "cuMemGetAddressRange_v2",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemFreeHost",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuMemHostGetDevicePointer_v2",
    "cuMemcpyAsync",
    "cuMemcpyPeerAsync",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
    "cuStreamQuery",
    "cuStreamWaitEvent",
    "cuStreamGetCtx",
    "cuStreamIsCapturing",
    "cuEventCreate",
    "cuEventRecord",
    "cuEventQuery",
    "cuEventSynchronize",
    "cuEventDestroy_v2",
    "cuIpcGetMemHandle",
    "cuIpcOpenMemHandle_v2",
    "cuIpcCloseMemHandle",
    "cuIpcGetEventHandle",
    "cuIpcOpenEventHandle",
    "cuMemCreate",
    "cuMemRelease",
    "cuMemAddressReserve",
    "cuMemAddressFree",
    "cuMemMap",
    "cuMemUnmap",
    "cuMemSetAccess",
    "cuMemGetAllocationGranularity",
    "cuMemRetainAllocationHandle",
    "cuMemGetAllocationPropertiesFromHandle",
    "cuMemExportToShareableHandle",
    "cuMemImportFromShareableHandle",
    "cuMemPoolCreate",
    "cuMemPoolDestroy",
    "cuMemPoolSetAccess",
    "cuMemAllocFromPoolAsync",
    "cuMemFreeAsync",
    "cuMemPoolExportToShareableHandle",
    "cuMemPoolImportFromShareableHandle",
    "cuMemPoolExportPointer",
    "cuMemPoolImportPointer",
    "cuStreamWriteValue32_v2",
    "cuStreamWaitValue32_v2",
    "cuStreamWriteValue64_v2",
    "cuStreamWaitValue64_v2",
    "cuModuleLoadData",
    "cuModuleGetFunction",
    "cuLaunchKernel",
    "cuLaunchHostFunc",
    "cuThreadExchangeStreamCaptureMode",
    "cuGetProcAddress_v2",
};

void machine(Scene& scene) {
    need_devices(scene, 1);
    int version = 0;
    int devices = 0;
    need("cuDriverGetVersion", driver().cuDriverGetVersion(&version));
    need("cuDeviceGetCount", driver().cuDeviceGetCount(&devices));
    scene.note("CUDA version of the driver", version);
    scene.note("devices", devices);
    std::array<char, 128> name{};
    need("cuDeviceGetName", driver().cuDeviceGetName(name.data(), name.size(), 0));
    scene.note("first device", name.data());
    // The first word that begins as a version does. The rest of the line is who built it, and where.
    std::ifstream file("/proc/driver/nvidia/version");
    std::string word;
    while (file >> word &&
           (std::isdigit(static_cast<unsigned char>(word[0])) == 0 || word.find('.') == std::string::npos)) {
    }
    if (file) scene.note("kernel driver", word);
}

void calls_before_init(Scene& scene) {
    int count = -1;
    CUcontext context = nullptr;
    scene.expect("device count", not_initialized, driver().cuDeviceGetCount(&count));
    scene.expect("retain a primary context", not_initialized, driver().cuDevicePrimaryCtxRetain(&context, 0));
    int version = 0;
    scene.expect("driver version", success, driver().cuDriverGetVersion(&version));
    need_devices(scene, 1);
    scene.expect("cuInit again", success, driver().cuInit(0));
    scene.expect("cuInit with flags", invalid_value, driver().cuInit(1));
}

void child_of_an_initialised_process(Scene& scene) {
    need_devices(scene, 1);
    const pid_t child = fork();
    if (child == 0) {
        CUcontext context = nullptr;
        _exit(driver().cuDevicePrimaryCtxRetain(&context, 0) == success ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    scene.expect("the child can use the driver", false, WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void names_of_results(Scene& scene) {
    const char* text = nullptr;
    scene.expect("name", success, driver().cuGetErrorName(illegal_address, &text));
    scene.expect("name of 700", "CUDA_ERROR_ILLEGAL_ADDRESS", text == nullptr ? "none" : text);
    text = nullptr;
    scene.expect("sentence", success, driver().cuGetErrorString(illegal_address, &text));
    scene.expect("there is a sentence for 700", true, text != nullptr && std::strlen(text) > 0);
    scene.expect("unknown result", invalid_value, driver().cuGetErrorName(123456, &text));
}

void versioned_lookup(Scene& scene) {
    need_devices(scene, 1);
    void* function = nullptr;
    int found = -1;
    scene.expect("cuMemAlloc of CUDA 11.2", success,
                 driver().cuGetProcAddress("cuMemAlloc", &function, 11020, 0, &found));
    scene.expect("found", 0, found);
    scene.expect("an address", true, function != nullptr);
    function = nullptr;
    const CUresult code = driver().cuGetProcAddress("cuNoSuchFunction", &function, 11020, 0, &found);
    scene.observe("an unknown name", code);
    scene.expect("an address for an unknown name", false, function != nullptr);
}

}  // namespace

void add_machine(Suite& suite) {
    suite.enter("machine");
    suite.add("where the table comes from", machine);
}

void add_initialisation(Suite& suite) {
    suite.enter("initialisation");
    suite.add("symbols", [](Scene& scene) {
        for (const char* symbol : symbols) scene.observe(symbol, find_in_driver(symbol) != nullptr);
    });
    suite.add("nothing works before cuInit", calls_before_init);
    suite.add("a child forked after cuInit cannot use the driver", child_of_an_initialised_process);
    suite.add("results have names and sentences", names_of_results);
    suite.add("functions are found by name and version", versioned_lookup);
}

}  // namespace peercoll::conformance::cuda
