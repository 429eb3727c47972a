// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/host_device/fake_xpmem.hpp"

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <map>

namespace {

using peercoll::test::FakeXpmemCounts;

struct State {
    std::uintptr_t begin = 0;  // of the shared memory, in its owner
    std::uintptr_t end = 0;
    int fd = -1;
    bool module_loaded = true;
    FakeXpmemCounts counts;
    std::map<std::int64_t, int> permits;        // with the number of attachments
    std::map<void*, std::int64_t> attachments;  // to their permits
    std::map<void*, std::size_t> sizes;
    std::int64_t next_permit = 1000;
};

State& state() {
    static State only;
    return only;
}

int wrong(int error) {
    ++state().counts.wrong_calls;
    errno = error;
    return -1;
}

}  // namespace

namespace peercoll::test {

void fake_xpmem_share(void* address, std::size_t bytes, int fd) {
    state().begin = reinterpret_cast<std::uintptr_t>(address);
    state().end = state().begin + bytes;
    state().fd = fd;
}

void fake_xpmem_unload_module() {
    state().module_loaded = false;
}

FakeXpmemCounts fake_xpmem_counts() {
    FakeXpmemCounts counts = state().counts;
    counts.permits = static_cast<int>(state().permits.size());
    counts.attached = static_cast<int>(state().attachments.size());
    return counts;
}

}  // namespace peercoll::test

// The library's own interface, with its own types and constants.
extern "C" {

struct xpmem_addr {
    std::int64_t apid;
    off_t offset;
};

// Everything, by file mode: other uses are wrong here.
FAKE_XPMEM_EXPORT std::int64_t xpmem_make(void* address, std::size_t size, int permit_type, void* permit_value) {
    constexpr int permit_mode = 1;
    if (!state().module_loaded) {
        errno = ENOENT;
        return -1;
    }
    if (address != nullptr || size != ~std::size_t{0} || permit_type != permit_mode ||
        reinterpret_cast<std::uintptr_t>(permit_value) != 0600)
        return wrong(EINVAL);
    ++state().counts.made;
    return std::int64_t{getpid()} << 16 | 1;
}

FAKE_XPMEM_EXPORT std::int64_t xpmem_get(std::int64_t segment, int flags, int permit_type, void*) {
    constexpr int read_write = 2;
    constexpr int permit_mode = 1;
    if (flags != read_write || permit_type != permit_mode) return wrong(EINVAL);
    if ((segment & 0xFFFF) != 1 || segment >> 16 <= 0) {  // a segment that nobody made: not the caller's fault
        errno = ENOENT;
        return -1;
    }
    const std::int64_t permit = state().next_permit++;
    state().permits[permit] = 0;
    return permit;
}

FAKE_XPMEM_EXPORT int xpmem_release(std::int64_t permit) {
    const auto known = state().permits.find(permit);
    if (known == state().permits.end()) return wrong(EINVAL);
    if (known->second > 0) ++state().counts.attached_permits;
    state().permits.erase(known);
    return 0;
}

FAKE_XPMEM_EXPORT void* xpmem_attach(xpmem_addr from, std::size_t size, void* wanted) {
    void* const failed = reinterpret_cast<void*>(std::intptr_t{-1});
    const auto permit = state().permits.find(from.apid);
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto offset = static_cast<std::uintptr_t>(from.offset);
    if (permit == state().permits.end() || wanted != nullptr || size == 0 || offset % page != 0 || size % page != 0) {
        wrong(EINVAL);
        return failed;
    }
    const std::uintptr_t begin = std::max(offset, state().begin);
    const std::uintptr_t end = std::min(offset + size, state().end);
    if (begin >= end) {
        errno = ENOMEM;
        return failed;
    }
    void* const window = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (window == MAP_FAILED) return failed;
    void* const part = static_cast<char*>(window) + (begin - offset);
    if (mmap(part, end - begin, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, state().fd,
             static_cast<off_t>(begin - state().begin)) == MAP_FAILED) {
        munmap(window, size);
        return failed;
    }
    ++permit->second;
    ++state().counts.attach_calls;
    state().attachments[window] = from.apid;
    state().sizes[window] = size;
    state().counts.most_attached = std::max(state().counts.most_attached, static_cast<int>(state().attachments.size()));
    return window;
}

FAKE_XPMEM_EXPORT int xpmem_detach(void* window) {
    const auto known = state().attachments.find(window);
    if (known == state().attachments.end()) return wrong(EINVAL);
    if (const auto permit = state().permits.find(known->second); permit != state().permits.end()) --permit->second;
    munmap(window, state().sizes[window]);
    state().sizes.erase(window);
    state().attachments.erase(known);
    return 0;
}

}  // extern "C"
