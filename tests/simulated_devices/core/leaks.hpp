// SPDX-License-Identifier: BSD-3-Clause
// What a process has not given back when it ends.
#pragma once

#include "tests/simulated_devices/core/address_space.hpp"

#include <cstddef>
#include <string>

namespace peercoll::simulator {

class LeakCount {
public:
    void add(const std::string& what, std::size_t count);
    void add_memory(const AddressSpace& addresses);
    // Nothing if there are none; else one line on standard error, and the same line at the end of the file that
    // PEERCOLL_SIMULATOR_LEAKS names, if it is set.
    void report() const;

private:
    std::string text_;
};

// One line about misuse, in the same places.
void report_line(const std::string& line);

}  // namespace peercoll::simulator
