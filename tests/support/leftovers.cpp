// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/leftovers.hpp"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

namespace peercoll::test {
namespace {

std::vector<std::string> entries_of(const char* folder) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, int (*)(DIR*)> handle(opendir(folder), closedir);
    while (const dirent* entry = handle ? readdir(handle.get()) : nullptr) {
        if (entry->d_name[0] != '.') {
            names.emplace_back(entry->d_name);
        }
    }
    return names;
}

bool names_file(const std::string& text, const std::string& path) {
    // Ends there, or goes on with " (deleted)".
    return text == path || text.rfind(path + " ", 0) == 0;
}

bool is_used_by(const std::string& process, const std::string& path) {
    std::ifstream maps(process + "/maps");
    for (std::string line; std::getline(maps, line);) {
        const auto start = line.find('/');
        if (start != std::string::npos && names_file(line.substr(start), path)) {
            return true;
        }
    }
    const std::string folder = process + "/fd";
    for (const std::string& name : entries_of(folder.c_str())) {
        std::error_code error;
        if (names_file(std::filesystem::read_symlink(folder + "/" + name, error).string(), path)) {
            return true;
        }
    }
    return false;
}

bool is_used_by_anyone(const std::string& path) {
    for (const std::string& name : entries_of("/proc")) {
        if (std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
            is_used_by("/proc/" + name, path)) {
            return true;
        }
    }
    return false;
}

bool is_of_open_mpi(const std::string& name) {
    return name.rfind("sm_segment.", 0) == 0 || name.rfind("vader_segment.", 0) == 0;
}

}  // namespace

Footprint footprint_of_this_process() {
    Footprint footprint;
    std::ifstream statm("/proc/self/statm");
    std::size_t total = 0;
    std::size_t resident = 0;
    statm >> total >> resident;
    footprint.resident_bytes = resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    footprint.descriptors = descriptors_of_this_process().size();
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        ++footprint.mappings;
    }
    return footprint;
}

std::set<std::string> files_in_dev_shm() {
    const auto names = entries_of("/dev/shm");
    return {names.begin(), names.end()};
}

std::set<int> descriptors_of_this_process() {
    std::set<int> open;
    const std::unique_ptr<DIR, int (*)(DIR*)> handle(opendir("/proc/self/fd"), closedir);
    while (const dirent* entry = handle ? readdir(handle.get()) : nullptr) {
        if (entry->d_name[0] != '.' && std::stoi(entry->d_name) != dirfd(handle.get())) {
            open.insert(std::stoi(entry->d_name));
        }
    }
    return open;
}

std::vector<pid_t> children_of_this_process() {
    std::ifstream list("/proc/self/task/" + std::to_string(syscall(SYS_gettid)) + "/children");
    std::vector<pid_t> children;
    for (pid_t child = 0; list >> child;) {
        children.push_back(child);
    }
    return children;
}

std::vector<std::string> abandoned_files(const std::set<std::string>& before) {
    std::vector<std::string> abandoned;
    for (int attempt = 0; attempt < 20; ++attempt) {
        abandoned.clear();
        for (const std::string& name : files_in_dev_shm()) {
            if (before.count(name) == 0 && !is_of_open_mpi(name) && !is_used_by_anyone("/dev/shm/" + name)) {
                abandoned.push_back(name);
            }
        }
        if (abandoned.empty()) {
            break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return abandoned;
}

}  // namespace peercoll::test
