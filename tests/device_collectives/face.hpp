// SPDX-License-Identifier: BSD-3-Clause
// A vendor's runtime as these tests know it: one of the simulated libraries, what an application can do with it, and
// what peercoll can do with such an application's memory. A program's tests are about one of them, which the variable
// TEST_FACE names (cuda if it is not set), so that one program runs on all.
#pragma once

#include "tests/device_collectives/memory_kinds.hpp"

#include <gtest/gtest.h>
#include <peercoll/peercoll.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace peercoll::test {

enum class Vendor : std::uint8_t { Cuda, Hip, Ascend };

struct Face {
    std::string_view name;  // "hip_6"
    Vendor vendor;
    std::string_view library;  // as an application opens it
    // Whether other processes may map the application's device memory at all.
    bool shares;
    // What its user sets for it: (variable, value).
    std::vector<std::pair<const char*, const char*>> settings;
    bool simulated = true;  // else the machine's own driver and devices; run by hand, see CMakeLists.txt

    std::string_view runtime() const;      // "hip", as describe_devices() names it
    std::string_view device_word() const;  // "HIP device", as sentences do
    const char* visible_devices() const;   // the variable that leaves a process some of the devices
    bool runs_kernels() const { return vendor != Vendor::Ascend; }

    // Whether its user has promised to free no device memory that collectives use: the condition of sharing it.
    bool keeps_memory() const { return shares && vendor == Vendor::Ascend; }

    // Whether an application has such memory.
    bool has(Memory kind) const;
    // Whether other processes can map it.
    bool shareable(Memory kind) const;
    // Whether a device does this reduction on memory that it can reach. Kernels do all but arithmetic wider than 64
    // bits; without kernels, as on Ascend, the copy engine's reductions are what there is.
    bool folds(peercoll_datatype_t datatype, peercoll_op_t op) const;
    // The same for an allreduce in the application's own memory.
    bool fuses(peercoll_datatype_t datatype, peercoll_op_t op) const { return shares && folds(datatype, op); }
};

// Of the table; throws std::invalid_argument for a name that is not there.
const Face& face_named(std::string_view name);
// The one that these tests are about.
const Face& face();
// Whether they go through the whole matrix: cases that differ in sizes and numbers of ranks alone are run on one face.
// The variable TEST_MATRIX says `short` for the others.
bool whole_matrix();
// For INSTANTIATE_TEST_SUITE_P().
template <typename Scene>
auto of_the_matrix(const std::vector<Scene>& whole, const std::vector<Scene>& fewer) {
    return testing::ValuesIn(whole_matrix() ? whole : fewer);
}

}  // namespace peercoll::test
