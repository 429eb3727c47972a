// SPDX-License-Identifier: BSD-3-Clause
// What a pointer points to, whether that is still there, and when others may read it.
#pragma once

#include "plugin/device/ascend/attachment.hpp"

namespace peercoll::ascend {

void classify(const void* address, peercoll_pointer_info_t* info);
int is_live(uint64_t base, uint64_t allocation_id);
peercoll_status_t settle(const peercoll_pointer_info_t* info, int* lasting, peercoll_reason_t* reason);

// What copies and folds must know of an address.
struct Place {
    bool on_device = false;
    bool imported = false;     // another process's, which copies from and to host memory do not take
    std::int32_t device = -1;  // an imported one: which it was opened for
};
Place place_of(Attachment& attachment, std::uint64_t address);

}  // namespace peercoll::ascend
