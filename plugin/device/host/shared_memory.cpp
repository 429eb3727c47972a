// SPDX-License-Identifier: BSD-3-Clause
// Shared segments. A memfd has no name, no place in /dev/shm and nothing to leave behind, so it comes first; /dev/shm
// serves processes that cannot open each other's descriptors (other pid namespaces). Both are reserved before use,
// because touching a page of a full file system is a SIGBUS.
#include "plugin/device/host/shared_memory.hpp"

#include "plugin/device/host/reason.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace peercoll::host {

namespace {

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    int get() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }

private:
    int fd_;
};

bool make_name(char (&name)[40]) {
    unsigned char random[16];
    if (::getrandom(random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) return false;
    char* end = fmt::format_to(name, "/peercoll.");
    for (const unsigned char byte : random)
        if (end - name < 38) end = fmt::format_to(end, "{:02x}", byte);
    *end = '\0';
    return true;
}

void* map(int fd, size_t bytes) {
    return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

int open_new(peercoll_share_kind_t kind, char (&name)[40], peercoll_reason_t* reason) {
    name[0] = '\0';
    if (kind == PEERCOLL_SHARE_MEMFD) {
        const int fd = ::memfd_create("peercoll", MFD_CLOEXEC);
        if (fd < 0) say(reason, "memfd_create: {}", error_text(errno));
        return fd;
    }
    if (!make_name(name)) {
        say(reason, "no random bytes for a name: {}", error_text(errno));
        return -1;
    }
    const int fd = ::shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        say(reason, "cannot make a file in /dev/shm: {}", error_text(errno));
        name[0] = '\0';
    }
    return fd;
}

}  // namespace

peercoll_status_t share_allocate(peercoll_share_kind_t kind, size_t bytes, peercoll_share_t* share,
                                 peercoll_share_handle_t* handle, peercoll_reason_t* reason) {
    *share = {};
    *handle = {};
    share->fd = -1;
    if (kind != PEERCOLL_SHARE_MEMFD && kind != PEERCOLL_SHARE_SHM) {
        say(reason, "{} is no kind of shared memory", kind);
        return PEERCOLL_ERR_INVALID_ARGUMENT;
    }
    Descriptor file(open_new(kind, share->name, reason));
    if (file.get() < 0) return PEERCOLL_ERR_SYSTEM;
    const auto fail = [&](const char* what, int error) {
        say(reason, "{} {} of {} shared memory: {}", what, bytes,
            kind == PEERCOLL_SHARE_MEMFD ? "anonymous" : "/dev/shm", error_text(error));
        if (share->name[0] != '\0') ::shm_unlink(share->name);
        *share = {};
        share->fd = -1;
        return error == ENOMEM || error == ENOSPC ? PEERCOLL_ERR_OUT_OF_MEMORY : PEERCOLL_ERR_SYSTEM;
    };
    struct stat status {};
    if (::fchmod(file.get(), 0600) != 0 || ::fstat(file.get(), &status) != 0) return fail("cannot look at", errno);
    // Beyond the limit of file sizes, the call would send a signal that ends the process.
    rlimit limit{};
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur) return fail("cannot reserve", EFBIG);
    if (const int error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)); error != 0)
        return fail("cannot reserve", error);
    void* address = map(file.get(), bytes);
    if (address == MAP_FAILED) return fail("cannot map", errno);
    share->address = address;
    share->bytes = bytes;
    handle->kind = kind;
    handle->owner_pid = ::getpid();
    handle->owner_fd = file.get();
    handle->owner_uid = ::geteuid();
    handle->bytes = bytes;
    handle->device = status.st_dev;
    handle->inode = status.st_ino;
    std::memcpy(handle->name, share->name, sizeof handle->name);
    share->fd = file.release();
    return PEERCOLL_SUCCESS;
}

peercoll_status_t share_attach(const peercoll_share_handle_t* handle, peercoll_share_t* share,
                               peercoll_reason_t* reason) {
    *share = {};
    share->fd = -1;
    int fd = -1;
    if (handle->kind == PEERCOLL_SHARE_MEMFD) {
        const std::string path = fmt::format("/proc/{}/fd/{}", handle->owner_pid, handle->owner_fd);
        fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    } else if (handle->kind == PEERCOLL_SHARE_SHM && std::memchr(handle->name, '\0', sizeof handle->name) != nullptr) {
        fd = ::shm_open(handle->name, O_RDWR | O_CLOEXEC, 0);
    } else {
        say(reason, "the handle of shared memory is damaged");
        return PEERCOLL_ERR_INVALID_ARGUMENT;
    }
    const Descriptor file(fd);
    if (fd < 0) {
        say(reason, "cannot open the shared memory of process {}: {}", handle->owner_pid, error_text(errno));
        return PEERCOLL_ERR_SYSTEM;
    }
    struct stat status {};
    if (::fstat(fd, &status) != 0 || status.st_dev != handle->device || status.st_ino != handle->inode ||
        status.st_uid != ::geteuid() || status.st_uid != handle->owner_uid ||
        static_cast<uint64_t>(status.st_size) != handle->bytes) {
        say(reason, "the shared memory of process {} is not the file it named", handle->owner_pid);
        return PEERCOLL_ERR_SYSTEM;
    }
    void* address = map(fd, handle->bytes);
    if (address == MAP_FAILED) {
        say(reason, "cannot map {} bytes of shared memory: {}", handle->bytes, error_text(errno));
        return PEERCOLL_ERR_SYSTEM;
    }
    share->address = address;
    share->bytes = handle->bytes;
    return PEERCOLL_SUCCESS;
}

void share_seal(peercoll_share_t* share) {
    if (share->name[0] != '\0') ::shm_unlink(share->name);
    share->name[0] = '\0';
    if (share->fd >= 0) ::close(share->fd);
    share->fd = -1;
}

void share_release(peercoll_share_t* share) {
    share_seal(share);
    if (share->address != nullptr) ::munmap(share->address, share->bytes);
    *share = {};
    share->fd = -1;
}

}  // namespace peercoll::host
