// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/node.hpp"

#include "plugin/device/host/host_device.hpp"

namespace peercoll {

Segment::~Segment() {
    if (share_.address == nullptr) return;
    if (counted_ != nullptr) {
        counted_->shared("segment.bytes").fetch_sub(bytes(), std::memory_order_relaxed);
        counted_->shared("segment.count").fetch_sub(1, std::memory_order_relaxed);
    }
    host_device().share_release(&share_);
}

void Segment::count_in(Statistics& statistics) {
    counted_ = &statistics;
    statistics.shared("segment.bytes").fetch_add(bytes(), std::memory_order_relaxed);
    statistics.shared("segment.count").fetch_add(1, std::memory_order_relaxed);
}

}  // namespace peercoll
