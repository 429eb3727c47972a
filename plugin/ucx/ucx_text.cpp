// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/ucx/ucx_text.hpp"

#include <fmt/format.h>

namespace peercoll::ucx {

namespace {

const char* words_of(UcsStatus status) {
    switch (status) {
        case -2:
            return "no resource left";
        case -3:
            return "input or output error";
        case -4:
            return "out of memory";
        case -5:
            return "a parameter that it does not take";
        case -6:
            return "no way to reach the peer";
        case -7:
            return "an address that it does not understand";
        case -8:
            return "not implemented";
        case -9:
            return "the message is longer than the memory for it";
        case -12:
            return "no such name";
        case -14:
            return "no such device";
        case -16:
            return "cancelled";
        case -17:
            return "shared memory error";
        case -20:
            return "timed out";
        case -22:
            return "not supported";
        case -23:
            return "refused by the peer";
        case -24:
            return "not connected";
        case -25:
            return "connection reset";
        case -80:
            return "the peer does not answer";
        default:
            return "failed";
    }
}

}  // namespace

std::string status_text(UcsStatus status) {
    return fmt::format("{} (UCX status {})", words_of(status), static_cast<int>(status));
}

}  // namespace peercoll::ucx
