// SPDX-License-Identifier: BSD-3-Clause
// Memory of another process by the legacy handles.
#pragma once

#include "tests/conformance/cuda/gpu.hpp"

#include <cstring>

namespace peercoll::conformance::cuda {

inline CUipcMemHandle ipc_handle(CUdeviceptr address) {
    CUipcMemHandle handle{};
    need("cuIpcGetMemHandle", driver().cuIpcGetMemHandle(&handle, address));
    return handle;
}

inline bool same_bytes(const CUipcMemHandle& a, const CUipcMemHandle& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

class IpcMapping {
public:
    explicit IpcMapping(const CUipcMemHandle& handle) {
        need("cuIpcOpenMemHandle", driver().cuIpcOpenMemHandle(&address_, handle, ipc_lazy_enable_peer_access));
    }
    ~IpcMapping() { close(); }
    IpcMapping(const IpcMapping&) = delete;
    IpcMapping& operator=(const IpcMapping&) = delete;

    CUdeviceptr address() const { return address_; }
    CUresult close() {
        if (address_ == 0) return success;
        const CUresult code = driver().cuIpcCloseMemHandle(address_);
        address_ = 0;
        return code;
    }

private:
    CUdeviceptr address_ = 0;
};

}  // namespace peercoll::conformance::cuda
