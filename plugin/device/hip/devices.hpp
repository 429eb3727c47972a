// SPDX-License-Identifier: BSD-3-Clause
// Which devices there are.
#pragma once

#include "plugin/device/hip/attachment.hpp"

#include <array>
#include <string_view>

namespace peercoll::hip {

Status find_devices(Attachment& attachment);
// Null: this process does not see it.
const Device* with_uuid(const Attachment& attachment, const std::uint8_t (&uuid)[16]);

int32_t device_count();
peercoll_status_t device_info(int32_t ordinal, peercoll_device_info_t* info, peercoll_reason_t* reason);
const char* version_text();

// The same in all processes, and another for each device: HIP's UUID, which is text, in the first half, and the PCI
// place in the second. Either alone may be missing ("XX..."), or the same for all partitions of one device.
std::array<std::uint8_t, 16> make_uuid(std::string_view hip_uuid, std::string_view pci_id);

}  // namespace peercoll::hip
