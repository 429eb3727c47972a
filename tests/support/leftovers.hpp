// SPDX-License-Identifier: BSD-3-Clause
// What a test must not leave behind: files in /dev/shm, open descriptors, child processes. And the footprint of a
// process, for tests that look for growth.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace peercoll::test {

struct Footprint {
    std::size_t resident_bytes = 0;
    std::size_t descriptors = 0;
    std::size_t mappings = 0;  // lines of /proc/self/maps
};

Footprint footprint_of_this_process();

std::set<std::string> files_in_dev_shm();
std::set<int> descriptors_of_this_process();
std::vector<pid_t> children_of_this_process();

// Files of /dev/shm that were not in `before`, that no living process has mapped or open, and that are not Open MPI's
// own: jobs of other people on this machine come and go meanwhile, and a job that was killed leaves such files. A file
// is given a moment to vanish.
std::vector<std::string> abandoned_files(const std::set<std::string>& before);

}  // namespace peercoll::test
