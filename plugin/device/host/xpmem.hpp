// SPDX-License-Identifier: BSD-3-Clause
// XPMEM: another process's memory, mapped here. Found by dlopen of libxpmem.so.0; absent library or module: not
// offered.
#pragma once

#include <peercoll/device.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace peercoll::host {

// Makes this process's memory attachable, once per process. False, with a reason, where XPMEM is not to be had.
bool xpmem_export(int64_t* segment, peercoll_reason_t* reason);

class XpmemPeer {
public:
    enum class Direction : uint8_t { FromPeer, ToPeer };
    static std::unique_ptr<XpmemPeer> open(int64_t segment, peercoll_reason_t* reason);
    XpmemPeer(const XpmemPeer&) = delete;
    XpmemPeer& operator=(const XpmemPeer&) = delete;
    ~XpmemPeer();
    // 0, or an errno value. Attaches in windows of 16 MiB and keeps the last few.
    int copy(uint64_t address, void* local, size_t bytes, Direction direction);

private:
    explicit XpmemPeer(int64_t permit) : permit_(permit) {}
    char* window_at(uint64_t start);

    int64_t permit_;
    std::mutex mutex_;
    std::map<uint64_t, char*> windows_;
};

}  // namespace peercoll::host
