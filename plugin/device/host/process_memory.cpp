// SPDX-License-Identifier: BSD-3-Clause
// Other processes' memory: by cross-memory attach (two system calls of Linux), or by XPMEM where its module and library
// are.
#include "plugin/device/host/process_memory.hpp"

#include "plugin/device/host/reason.hpp"
#include "plugin/device/host/xpmem.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <memory>
#include <new>

struct peercoll_access {
    int32_t pid = 0;
    std::unique_ptr<peercoll::host::XpmemPeer> xpmem;  // null: cross-memory attach
};

namespace peercoll::host {

namespace {

// Both calls may stop early, at the end of a page range or of what the system takes at once; then they go on from
// there.
template <typename Call>
int transfer(Call call, pid_t pid, uint64_t address, char* local, size_t bytes) {
    while (bytes > 0) {
        const iovec here{local, bytes};
        const iovec there{reinterpret_cast<void*>(static_cast<uintptr_t>(address)), bytes};
        const ssize_t moved = call(pid, &here, 1, &there, 1, 0);
        if (moved < 0 && errno == EINTR) continue;
        if (moved < 0) return errno;
        if (moved == 0) return EFAULT;
        local += moved;
        address += static_cast<uint64_t>(moved);
        bytes -= static_cast<size_t>(moved);
    }
    return 0;
}

}  // namespace

peercoll_status_t access_export(peercoll_access_token_t* token, peercoll_reason_t* reason) {
    *token = {};
    token->pid = ::getpid();
    token->kinds = 1u << PEERCOLL_ACCESS_CMA;
    if (xpmem_export(&token->xpmem_segment, reason)) token->kinds |= 1u << PEERCOLL_ACCESS_XPMEM;
    return PEERCOLL_SUCCESS;
}

peercoll_status_t access_open(const peercoll_access_token_t* token, peercoll_access_kind_t kind,
                              peercoll_access_t* access, peercoll_reason_t* reason) {
    *access = nullptr;
    if (kind > 31 || (token->kinds & (1u << kind)) == 0) {
        say(reason, "process {} does not offer its memory that way", token->pid);
        return PEERCOLL_ERR_NOT_SUPPORTED;
    }
    std::unique_ptr<peercoll_access> opened(new (std::nothrow) peercoll_access);
    if (!opened) return PEERCOLL_ERR_OUT_OF_MEMORY;
    opened->pid = token->pid;
    if (kind == PEERCOLL_ACCESS_XPMEM) {
        opened->xpmem = XpmemPeer::open(token->xpmem_segment, reason);
        if (!opened->xpmem) return PEERCOLL_ERR_SYSTEM;
    }
    *access = opened.release();
    return PEERCOLL_SUCCESS;
}

int access_read(peercoll_access_t access, uint64_t address, void* local, size_t bytes) {
    if (access->xpmem) return access->xpmem->copy(address, local, bytes, XpmemPeer::Direction::FromPeer);
    return transfer(::process_vm_readv, access->pid, address, static_cast<char*>(local), bytes);
}

int access_write(peercoll_access_t access, uint64_t address, const void* local, size_t bytes) {
    // The system call takes a pointer to non-const for both directions; writing only reads from it.
    char* source = const_cast<char*>(static_cast<const char*>(local));
    if (access->xpmem) return access->xpmem->copy(address, source, bytes, XpmemPeer::Direction::ToPeer);
    return transfer(::process_vm_writev, access->pid, address, source, bytes);
}

void access_close(peercoll_access_t access) {
    delete access;
}

}  // namespace peercoll::host
