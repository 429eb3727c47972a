// SPDX-License-Identifier: BSD-3-Clause
// Which devices there are.
#pragma once

#include "plugin/device/ascend/attachment.hpp"

#include <array>
#include <string_view>

namespace peercoll::ascend {

Status find_devices(Attachment& attachment);
// Null: this process does not see it.
const Device* with_uuid(const Attachment& attachment, const std::uint8_t (&uuid)[16]);
// Whether this process has a context there already. Makes none.
bool is_active(const Attachment& attachment, const Device& device);

int32_t device_count();
peercoll_status_t device_info(int32_t ordinal, peercoll_device_info_t* info, peercoll_reason_t* reason);
const char* version_text();

// The same in all processes, and another for each device of a host: made from the kind of device and its number on the
// host, where ACL has no UUID.
std::array<std::uint8_t, 16> make_uuid(std::string_view soc, std::int32_t physical);

}  // namespace peercoll::ascend
