// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace peercoll {

// The sentence of this thread's last failure. Kept in plain thread-local memory: an object with a destructor would keep
// the library from being unloaded.
const char* last_error();
void set_last_error(std::string_view sentence) noexcept;

}  // namespace peercoll
