// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/peer/identity.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

namespace peercoll {

namespace {

std::string read_small_file(const char* path) {
    std::string text(1024, '\0');
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return {};
    const ssize_t got = ::read(fd, text.data(), text.size());
    ::close(fd);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
}

// FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/
std::uint64_t hash(std::string_view text) {
    std::uint64_t value = 14695981039346656037ull;
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    return value;
}

std::uint64_t inode_of(const char* path) {
    struct stat status {};
    return ::stat(path, &status) == 0 ? status.st_ino : 0;
}

struct ProcessState {
    char state = '?';
    std::uint64_t start_time = 0;
};

// proc(5): the name in brackets may hold anything, so fields are counted from the last bracket; state is field 3, start
// time 22.
bool read_state(const char* path, ProcessState& state) {
    const std::string text = read_small_file(path);
    const std::size_t bracket = text.rfind(')');
    if (bracket == std::string::npos || bracket + 2 >= text.size()) return false;
    state.state = text[bracket + 2];
    std::size_t at = bracket + 2;
    for (int field = 3; field < 22; ++field) {
        at = text.find(' ', at);
        if (at == std::string::npos) return false;
        ++at;
    }
    state.start_time = std::strtoull(text.c_str() + at, nullptr, 10);
    return true;
}

}  // namespace

ProcessIdentity ProcessIdentity::of_this_process() {
    ProcessIdentity self;
    self.boot_id = hash(read_small_file("/proc/sys/kernel/random/boot_id"));
    struct stat shm {};
    self.shm_device = ::stat("/dev/shm", &shm) == 0 ? shm.st_dev : 0;
    self.pid_namespace = inode_of("/proc/self/ns/pid");
    self.user_namespace = inode_of("/proc/self/ns/user");
    ProcessState state;
    if (read_state("/proc/self/stat", state)) self.start_time = state.start_time;
    self.pid = ::getpid();
    self.uid = ::geteuid();
    return self;
}

std::vector<int> nodes_of(const std::vector<ProcessIdentity>& ranks) {
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>, int> numbers;
    std::vector<int> nodes;
    nodes.reserve(ranks.size());
    for (const ProcessIdentity& rank : ranks)
        nodes.push_back(
            numbers.emplace(std::tuple(rank.boot_id, rank.shm_device, rank.uid), static_cast<int>(numbers.size()))
                .first->second);
    return nodes;
}

bool share_namespaces(const ProcessIdentity& a, const ProcessIdentity& b) {
    return a.pid_namespace == b.pid_namespace && a.user_namespace == b.user_namespace;
}

bool is_alive(const ProcessIdentity& process, const ProcessIdentity& self) {
    if (process.pid_namespace != self.pid_namespace) return true;
    ProcessState state;
    if (!read_state(fmt::format("/proc/{}/stat", process.pid).c_str(), state))
        return ::access("/proc/self/stat", R_OK) != 0;
    return state.state != 'Z' && state.state != 'X' && state.start_time == process.start_time;
}

}  // namespace peercoll
