// SPDX-License-Identifier: BSD-3-Clause
// The control segment of a communicator: made by its first rank, as large as the option says or as the system lets it
// be.
#pragma once

#include "plugin/runtime/options.hpp"

#include <peercoll/device.h>

#include <cstdint>
#include <string>

namespace peercoll {

// Travels between ranks as bytes.
struct SegmentOffer {
    peercoll_share_handle_t handle;
    std::uint64_t budget;  // gives the layout, with the number of ranks; 0: there is no segment
};

// Tries the wanted kind and size, then the other kind (if `wanted` is auto), then halves down to the least size.
// `budget` 0 of the result, with a sentence, if nothing could be had; a sentence also if it became smaller than wanted.
SegmentOffer offer_segment(std::size_t ranks, SegmentKind wanted, std::uint64_t wanted_size, bool namespaces_shared,
                           peercoll_share_t& share, std::string& reason);

// Maps an offer of another rank. False, with a sentence, if it cannot be mapped or is not what it says.
bool attach_segment(const SegmentOffer& offer, std::size_t ranks, peercoll_share_t& share, std::string& reason);

}  // namespace peercoll
