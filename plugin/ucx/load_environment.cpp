// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/ucx/load_environment.hpp"

#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <string>

namespace peercoll::ucx {

namespace {

// Never freed before the process ends: another thread may still read one.
std::vector<char*>& new_environment() {
    static std::deque<std::vector<char*>> all;
    return all.emplace_back();
}

}  // namespace

bool is_set(std::string_view name_and_value) {
    return std::getenv(std::string(name_and_value.substr(0, name_and_value.find('='))).c_str()) != nullptr;
}

LoadEnvironment::LoadEnvironment(const std::vector<const char*>& additions)
    : before_(environ), during_(&new_environment()) {
    for (char** entry = before_; entry != nullptr && *entry != nullptr; ++entry) during_->push_back(*entry);
    for (const char* addition : additions) {
        if (!is_set(addition)) during_->push_back(const_cast<char*>(addition));
    }
    during_->push_back(nullptr);
    environ = during_->data();
}

LoadEnvironment::~LoadEnvironment() {
    // If somebody has set a variable meanwhile, theirs is a third array, and losing it would be worse.
    if (environ == during_->data()) environ = before_;
}

}  // namespace peercoll::ucx
