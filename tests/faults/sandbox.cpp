// SPDX-License-Identifier: BSD-3-Clause
#include "tests/faults/sandbox.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace peercoll::test {
namespace {

Refusal system_refusal(const std::string& what) {
    return what + ": " + std::strerror(errno);
}

Refusal write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text << std::flush;
    return file.good() ? "" : "cannot write " + path;
}

}  // namespace

Refusal refuse_system_calls(const std::vector<long>& numbers, int error) {
    std::vector<sock_filter> program;
    program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
    for (const long number : numbers) {
        // The next statement if it is this number, else the one after.
        program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1));
        program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)));
    }
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        return system_refusal("no seccomp filter");
    }
    return "";
}

Refusal enter_private_dev_shm(const std::string& mount_options) {
    // A user namespace as well, for those who are not root.
    const int spaces = geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
    if (unshare(spaces) != 0) {
        return system_refusal("no mount namespace");
    }
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", "/dev/shm", "tmpfs", 0, mount_options.c_str()) != 0) {
        return system_refusal("cannot mount on /dev/shm");
    }
    return "";
}

Refusal fill_dev_shm() {
    const int file = open("/dev/shm/filler", O_CREAT | O_WRONLY, 0600);
    if (file < 0) {
        return system_refusal("no file in /dev/shm");
    }
    const std::array<char, 4096> page{};
    while (write(file, page.data(), page.size()) > 0) {
    }
    const bool full = errno == ENOSPC;
    close(file);
    return full ? "" : "/dev/shm does not get full";
}

Refusal enter_user_namespace() {
    const std::string user = std::to_string(geteuid());
    const std::string group = std::to_string(getegid());
    if (unshare(CLONE_NEWUSER) != 0) {
        return system_refusal("no user namespace");
    }
    if (Refusal refusal = write_file("/proc/self/setgroups", "deny"); !refusal.empty()) {
        return refusal;
    }
    if (Refusal refusal = write_file("/proc/self/uid_map", user + " " + user + " 1"); !refusal.empty()) {
        return refusal;
    }
    return write_file("/proc/self/gid_map", group + " " + group + " 1");
}

Refusal set_limit(__rlimit_resource resource, std::size_t value) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0) {
        return system_refusal("cannot read a limit");
    }
    limit.rlim_cur = std::min<rlim_t>(value, limit.rlim_max);
    return setrlimit(resource, &limit) == 0 ? "" : system_refusal("cannot set a limit");
}

Refusal allow_no_more_descriptors() {
    const int lowest_free = dup(0);
    if (lowest_free < 0) {
        return system_refusal("cannot find the lowest free descriptor");
    }
    close(lowest_free);
    return set_limit(RLIMIT_NOFILE, static_cast<std::size_t>(lowest_free));
}

Refusal allow_no_more_memory(std::size_t slack) {
    std::ifstream statm("/proc/self/statm");
    std::size_t pages = 0;
    if (!(statm >> pages)) {
        return "cannot read the size of this process";
    }
    return set_limit(RLIMIT_AS, pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + slack);
}

Refusal tried(const std::function<Refusal()>& action) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) {
        return system_refusal("no pipe");
    }
    const pid_t child = fork();
    if (child == 0) {
        const Refusal refusal = action();
        const bool told = write(ends[1], refusal.data(), refusal.size()) == static_cast<ssize_t>(refusal.size());
        _exit(told ? 0 : 1);
    }
    close(ends[1]);
    std::array<char, 256> text{};
    const ssize_t length = child > 0 ? read(ends[0], text.data(), text.size()) : 0;
    close(ends[0]);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        return "the attempt itself failed";
    }
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

}  // namespace peercoll::test
