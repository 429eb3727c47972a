// SPDX-License-Identifier: BSD-3-Clause
// CTest fixture around all tests with processes. "before FILE" writes down what is in /dev/shm; "after FILE FOLDER"
// fails if there is more now that nobody uses, or if a program from FOLDER (the build) still runs.
#include "tests/support/leftovers.hpp"

#include <dirent.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

// Orphans only: tests that run beside this one have ctest, or their own test program, as a parent.
std::vector<std::string> orphans_of(const std::filesystem::path& folder) {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::error_code error;
        const std::string program = std::filesystem::read_symlink(entry.path() / "exe", error).string();
        if (error || program.rfind(folder.string() + "/", 0) != 0) {
            continue;
        }
        std::ifstream status(entry.path() / "status");
        for (std::string line; std::getline(status, line);) {
            if (line == "PPid:\t1") {
                found.push_back(entry.path().filename().string() + " (" + program + ")");
            }
        }
    }
    return found;
}

int check_after(const std::string& file, const std::filesystem::path& folder) {
    std::set<std::string> before;
    std::ifstream list(file);
    if (!list) {
        std::fprintf(stderr, "there is no list of what was there before: %s\n", file.c_str());
        return EXIT_FAILURE;
    }
    for (std::string name; std::getline(list, name);) {
        before.insert(name);
    }
    int result = EXIT_SUCCESS;
    for (const std::string& name : peercoll::test::abandoned_files(before)) {
        std::fprintf(stderr, "/dev/shm/%s was left behind\n", name.c_str());
        result = EXIT_FAILURE;
    }
    std::vector<std::string> orphans = orphans_of(folder);
    for (int attempt = 0; attempt < 20 && !orphans.empty(); ++attempt) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        orphans = orphans_of(folder);
    }
    for (const std::string& process : orphans) {
        std::fprintf(stderr, "process %s was left behind\n", process.c_str());
        result = EXIT_FAILURE;
    }
    return result;
}

int write_before(const std::string& file) {
    std::ofstream list(file, std::ios::trunc);
    for (const std::string& name : peercoll::test::files_in_dev_shm()) {
        list << name << '\n';
    }
    return list.good() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv, argv + argc);
    if (argc == 3 && words[1] == "before") {
        return write_before(words[2]);
    }
    if (argc == 4 && words[1] == "after") {
        return check_after(words[2], std::filesystem::weakly_canonical(words[3]));
    }
    std::fprintf(stderr, "usage: leftover_check before FILE | leftover_check after FILE BUILD_FOLDER\n");
    return EXIT_FAILURE;
}
