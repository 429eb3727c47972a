// SPDX-License-Identifier: BSD-3-Clause
// An application that uses one vendor's devices: loads the library, starts it, and allocates.
#pragma once

#include <cstddef>
#include <string>

namespace peercoll::test {

// `vendor` is cuda, hip or ascend. Device memory; null with `problem` filled in if that vendor's library is not usable.
// The library stays.
void* allocate_on_device(const std::string& vendor, std::size_t bytes, std::string& problem);
void free_on_device(const std::string& vendor, void* memory);

}  // namespace peercoll::test
