// SPDX-License-Identifier: BSD-3-Clause
// Memory of another process by HIP's handles.
#pragma once

#include "tests/conformance/hip/gpu.hpp"
#include "tests/conformance/hip/release.hpp"

namespace peercoll::conformance::hip {

inline HipIpcHandle ipc_handle(void* address) {
    HipIpcHandle handle{};
    need("hipIpcGetMemHandle", lib().hipIpcGetMemHandle(&handle, address));
    return handle;
}

class IpcMapping {
public:
    explicit IpcMapping(const HipIpcHandle& handle) {
        need("hipIpcOpenMemHandle", lib().hipIpcOpenMemHandle(&address_, handle, release().ipc_flag()));
    }
    ~IpcMapping() { close(); }
    IpcMapping(const IpcMapping&) = delete;
    IpcMapping& operator=(const IpcMapping&) = delete;

    std::byte* at(std::size_t offset = 0) const { return static_cast<std::byte*>(address_) + offset; }
    HipError close() {
        if (address_ == nullptr) return code::success;
        const HipError error = lib().hipIpcCloseMemHandle(address_);
        address_ = nullptr;
        return error;
    }

private:
    void* address_ = nullptr;
};

}  // namespace peercoll::conformance::hip
