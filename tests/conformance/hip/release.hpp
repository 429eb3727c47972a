// SPDX-License-Identifier: BSD-3-Clause
// What is expected of a release where releases differ, and where that is known from. None of it was seen on a device:
// it is what the runtime's sources and headers (5.2.3 to 7.12), and the pages of its documentation, say.
#pragma once

#include "tests/conformance/hip/library.hpp"
#include "tests/conformance/runner/preparation.hpp"

namespace peercoll::conformance::hip {

struct Release {
    int number = 0;  // as hipRuntimeGetVersion says it: 50221153 is 5.2.21153
    int major() const { return number / 10'000'000; }
    bool since(int wanted_major, int wanted_minor) const {
        return number >= wanted_major * 10'000'000 + wanted_minor * 100'000;
    }

    // hipMemoryType of the headers: host 0 and device 1 before 6; unregistered 0, host 1, device 2, managed 3 since.
    int host_type() const { return major() < 6 ? 0 : 1; }
    int device_type() const { return major() < 6 ? 1 : 2; }

    // hipIpcMemLazyEnablePeerAccess of the headers, the only flag that hipIpcOpenMemHandle takes: 0 before 6.
    unsigned ipc_flag() const { return major() < 6 ? 0 : 1; }
    // hipPointerGetAttributes, source: an error before 6; since then "unregistered", of device -2.
    HipError unknown_pointer() const { return major() < 6 ? code::invalid_value : code::success; }
    // hipMemGetAddressRange, source: what the documentation says before 6, "not found" since.
    HipError unknown_range() const { return major() < 6 ? code::invalid_device_pointer : code::not_found; }
    // hipIpcOpenMemHandle, source: a handle of the process's own is taken before 5.6.
    HipError own_handle() const { return since(5, 6) ? code::invalid_context : code::success; }
    // hipGetLastError, release notes of 7: before, any call leaves its result, and a success hides an error.
    bool errors_stay() const { return major() >= 7; }
    // The layout of hipGetDeviceProperties' struct, headers: R0600 is there since 6.
    bool has_new_properties() const { return major() >= 6; }
    // Release notes of 7: hiprtc is in libhiprtc alone.
    bool has_hiprtc() const { return major() < 7; }
    // Exports: declared in the headers of 5.2, and in the library since 5.4.
    bool has_host_functions() const { return since(5, 4); }
};

inline Release release() {
    Release found;
    need("hipRuntimeGetVersion", lib().hipRuntimeGetVersion(&found.number));
    return found;
}

}  // namespace peercoll::conformance::hip
