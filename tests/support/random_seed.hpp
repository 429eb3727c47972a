// SPDX-License-Identifier: BSD-3-Clause
// Seeds of random tests: another in every run, shown with every failure, and repeatable.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace peercoll::test {

// PEERCOLL_TEST_SEED if it is set. Ask in the parent, so that all ranks have the same. The variable would be an unknown
// option to nobody: the plugin asks the environment only for the names in its table.
inline std::uint64_t random_seed() {
    const char* wanted = std::getenv("PEERCOLL_TEST_SEED");
    return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : std::random_device{}();
}

inline std::string seed_text(std::uint64_t seed) {
    return "to repeat: PEERCOLL_TEST_SEED=" + std::to_string(seed);
}

}  // namespace peercoll::test
