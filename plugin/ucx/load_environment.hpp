// SPDX-License-Identifier: BSD-3-Clause
// Environment variables that are there while a library is being loaded, and not afterwards.
#pragma once

#include <string_view>
#include <vector>

namespace peercoll::ucx {

// UCX patches the C library's mmap family and takes signal handlers as soon as it is loaded, unless its variables say
// no. setenv() could move the environment under another thread that reads it; here the process sees a new array, whose
// old one stays valid, and gets the old one back.
class LoadEnvironment {
public:
    // "NAME=value" strings, which must outlive this object; one whose name is set already is left out: the user's word.
    explicit LoadEnvironment(const std::vector<const char*>& additions);
    ~LoadEnvironment();
    LoadEnvironment(const LoadEnvironment&) = delete;
    LoadEnvironment& operator=(const LoadEnvironment&) = delete;

private:
    char** before_;
    std::vector<char*>* during_;
};

// The value of NAME in "NAME=value" is set in the environment.
bool is_set(std::string_view name_and_value);

}  // namespace peercoll::ucx
