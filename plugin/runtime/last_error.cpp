// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/last_error.hpp"

#include <algorithm>
#include <cstddef>

namespace peercoll {

namespace {
constexpr std::size_t capacity = 512;
thread_local char text[capacity];
}  // namespace

const char* last_error() {
    return text;
}

void set_last_error(std::string_view sentence) noexcept {
    const std::size_t length = std::min(sentence.size(), capacity - 1);
    std::copy_n(sentence.data(), length, text);
    text[length] = '\0';
}

}  // namespace peercoll
