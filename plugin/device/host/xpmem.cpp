// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/host/xpmem.hpp"

#include "plugin/device/host/reason.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace peercoll::host {

namespace {

// The library's own interface (xpmem.h), declared by hand, because nothing here links it.
struct XpmemAddress {
    int64_t permit;
    off_t offset;
};
using MakeFunction = int64_t (*)(void* address, size_t size, int permit_type, void* permit_value);
using GetFunction = int64_t (*)(int64_t segment, int flags, int permit_type, void* permit_value);
using ReleaseFunction = int (*)(int64_t permit);
using AttachFunction = void* (*)(XpmemAddress address, size_t size, void* wanted);
using DetachFunction = int (*)(void* address);

constexpr int permit_mode = 1;  // XPMEM_PERMIT_MODE: by file mode, 0600
constexpr int read_write = 2;   // XPMEM_RDWR
constexpr uintptr_t mode_0600 = 0600;
constexpr uint64_t window_bytes = uint64_t{16} << 20;
constexpr size_t most_windows = 64;

struct Library {
    MakeFunction make = nullptr;
    GetFunction get = nullptr;
    ReleaseFunction release = nullptr;
    AttachFunction attach = nullptr;
    DetachFunction detach = nullptr;
    const char* absent = nullptr;  // why it cannot be used
};

Library find_library() {
    Library found;
    void* handle = ::dlopen("libxpmem.so.0", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        found.absent = "libxpmem.so.0 is not installed";
        return found;
    }
    found.make = reinterpret_cast<MakeFunction>(::dlsym(handle, "xpmem_make"));
    found.get = reinterpret_cast<GetFunction>(::dlsym(handle, "xpmem_get"));
    found.release = reinterpret_cast<ReleaseFunction>(::dlsym(handle, "xpmem_release"));
    found.attach = reinterpret_cast<AttachFunction>(::dlsym(handle, "xpmem_attach"));
    found.detach = reinterpret_cast<DetachFunction>(::dlsym(handle, "xpmem_detach"));
    if (!found.make || !found.get || !found.release || !found.attach || !found.detach) {
        found.absent = "libxpmem.so.0 lacks functions";
        return found;
    }
    return found;
}

const Library& library() {
    static const Library found = find_library();
    return found;
}

// This process's memory as a segment, from address 0 to the end of the address space, as its other users do; -1 if the
// module does not give one. A forked child makes its own: the one it inherits names its parent's memory.
int64_t own_segment() {
    static std::mutex mutex;
    static pid_t maker = 0;
    static int64_t segment = -1;
    const std::lock_guard lock(mutex);
    if (maker != ::getpid()) {
        maker = ::getpid();
        segment = library().make(nullptr, ~size_t{0}, permit_mode, reinterpret_cast<void*>(mode_0600));
    }
    return segment;
}

}  // namespace

bool xpmem_export(int64_t* segment, peercoll_reason_t* reason) {
    if (library().absent != nullptr) {
        say(reason, "{}", library().absent);
        return false;
    }
    *segment = own_segment();
    if (*segment == -1) say(reason, "the xpmem module is not loaded");
    return *segment != -1;
}

std::unique_ptr<XpmemPeer> XpmemPeer::open(int64_t segment, peercoll_reason_t* reason) {
    if (library().absent != nullptr) {
        say(reason, "{}", library().absent);
        return nullptr;
    }
    const int64_t permit = library().get(segment, read_write, permit_mode, reinterpret_cast<void*>(mode_0600));
    if (permit == -1) {
        say(reason, "xpmem_get: {}", error_text(errno));
        return nullptr;
    }
    return std::unique_ptr<XpmemPeer>(new XpmemPeer(permit));
}

XpmemPeer::~XpmemPeer() {
    for (const auto& [start, window] : windows_) library().detach(window);
    library().release(permit_);
}

char* XpmemPeer::window_at(uint64_t start) {
    if (const auto known = windows_.find(start); known != windows_.end()) return known->second;
    if (windows_.size() >= most_windows) {
        library().detach(windows_.begin()->second);
        windows_.erase(windows_.begin());
    }
    void* window = library().attach({permit_, static_cast<off_t>(start)}, window_bytes, nullptr);
    if (reinterpret_cast<intptr_t>(window) == -1) return nullptr;
    return windows_.emplace(start, static_cast<char*>(window)).first->second;
}

int XpmemPeer::copy(uint64_t address, void* local, size_t bytes, Direction direction) {
    const std::lock_guard lock(mutex_);
    auto* here = static_cast<char*>(local);
    while (bytes > 0) {
        const uint64_t start = address / window_bytes * window_bytes;
        const size_t now = std::min<uint64_t>(bytes, start + window_bytes - address);
        char* window = window_at(start);
        if (window == nullptr) return EFAULT;
        char* there = window + (address - start);
        std::memcpy(direction == Direction::FromPeer ? here : there, direction == Direction::FromPeer ? there : here,
                    now);
        here += now;
        address += now;
        bytes -= now;
    }
    return 0;
}

}  // namespace peercoll::host
