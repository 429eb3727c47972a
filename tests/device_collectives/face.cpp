// SPDX-License-Identifier: BSD-3-Clause
#include "tests/device_collectives/face.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ostream>
#include <stdexcept>

namespace peercoll::test {

namespace {

const std::vector<Face>& table() {
    // CANN 9 knows where an allocation begins but not when it was freed: only a user's word lets others map it.
    // CANN 5.1 does not even tell what a pointer is.
    static const std::vector<Face> faces{
        {"cuda", Vendor::Cuda, "libcuda.so.1", true, {}},
        {"cuda_device", Vendor::Cuda, "libcuda.so.1", true, {}, false},
        {"old_cuda", Vendor::Cuda, "libcuda.so.1", true, {}},
        {"hip_5", Vendor::Hip, "libamdhip64.so.5", true, {}},
        {"hip_6", Vendor::Hip, "libamdhip64.so.6", true, {}},
        {"hip_7", Vendor::Hip, "libamdhip64.so.7", true, {}},
        {"ascend", Vendor::Ascend, "libascendcl.so", true, {{"PEERCOLL_ASCEND_APPLICATION_MEMORY", "shared"}}},
        {"acl_rt", Vendor::Ascend, "libacl_rt.so", true, {{"PEERCOLL_ASCEND_APPLICATION_MEMORY", "shared"}}},
        {"ascend_staged", Vendor::Ascend, "libascendcl.so", false, {}},
        {"old_ascend", Vendor::Ascend, "libascendcl.so", false, {{"PEERCOLL_ASCEND_POINTERS", "device"}}},
    };
    return faces;
}

constexpr std::size_t index_of(Vendor vendor) {
    return static_cast<std::size_t>(vendor);
}

// What a kernel has no arithmetic for.
bool is_wider_than_64_bits(peercoll_datatype_t datatype) {
    switch (datatype) {
        case PEERCOLL_FLOAT80:
        case PEERCOLL_FLOAT128:
        case PEERCOLL_COMPLEX_FLOAT80:
        case PEERCOLL_COMPLEX_FLOAT128:
        case PEERCOLL_PAIR_FLOAT80_INT32:
            return true;
        default:
            return false;
    }
}

// aclrtReduceAsync() of an Ascend 910B, which is what the simulated device is: sums, least and greatest of signed
// integers up to 32 bits and of floats. Wrapping sums are those of unsigned integers, too; sums of half types are not
// used, since a plan rounds once for several inputs. What only chooses an input is a copy.
bool copy_engine_does(peercoll_datatype_t datatype, peercoll_op_t op) {
    if (op == PEERCOLL_REPLACE || op == PEERCOLL_NO_OP) {
        return datatype >= PEERCOLL_INT8 && datatype <= PEERCOLL_FLOAT64;
    }
    switch (datatype) {
        case PEERCOLL_INT8:
        case PEERCOLL_INT16:
        case PEERCOLL_INT32:
        case PEERCOLL_FLOAT32:
            return op == PEERCOLL_SUM || op == PEERCOLL_MIN || op == PEERCOLL_MAX;
        case PEERCOLL_UINT8:
        case PEERCOLL_UINT16:
        case PEERCOLL_UINT32:
            return op == PEERCOLL_SUM;
        case PEERCOLL_FLOAT16:
        case PEERCOLL_BFLOAT16:
            return op == PEERCOLL_MIN || op == PEERCOLL_MAX;
        default:
            return false;
    }
}

std::string_view variable(const char* name, std::string_view otherwise) {
    const char* const value = std::getenv(name);
    return value == nullptr ? otherwise : value;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, Memory kind) {
    constexpr std::array<const char*, 8> names{"host",         "pinned",      "device",   "managed",
                                               "default_pool", "shared_pool", "physical", "shared_physical"};
    return out << names.at(static_cast<std::size_t>(kind));
}

std::string_view Face::runtime() const {
    constexpr std::array<std::string_view, 3> words{"cuda", "hip", "ascend"};
    return words.at(index_of(vendor));
}

std::string_view Face::device_word() const {
    constexpr std::array<std::string_view, 3> words{"CUDA device", "HIP device", "Ascend device"};
    return words.at(index_of(vendor));
}

const char* Face::visible_devices() const {
    constexpr std::array<const char*, 3> variables{"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                                   "ASCEND_RT_VISIBLE_DEVICES"};
    return variables.at(index_of(vendor));
}

bool Face::has(Memory kind) const {
    switch (kind) {
        case Memory::Managed:
        case Memory::DefaultPool:
            return name != "old_cuda" && vendor != Vendor::Ascend;
        case Memory::SharedPool:
        case Memory::Physical:
        case Memory::SharedPhysical:
            return name == "cuda" || name == "cuda_device";
        default:
            return true;
    }
}

bool Face::shareable(Memory kind) const {
    return shares && (kind == Memory::Device || kind == Memory::SharedPool || kind == Memory::SharedPhysical);
}

bool Face::folds(peercoll_datatype_t datatype, peercoll_op_t op) const {
    return runs_kernels() ? !is_wider_than_64_bits(datatype) : copy_engine_does(datatype, op);
}

const Face& face_named(std::string_view name) {
    const auto found = std::find_if(table().begin(), table().end(), [&](const Face& one) { return one.name == name; });
    if (found == table().end()) {
        throw std::invalid_argument("there is no face " + std::string(name) + ": expected one of face.cpp's table");
    }
    return *found;
}

const Face& face() {
    static const Face& chosen = face_named(variable("TEST_FACE", "cuda"));
    return chosen;
}

bool whole_matrix() {
    return variable("TEST_MATRIX", "whole") == "whole";
}

}  // namespace peercoll::test
