// SPDX-License-Identifier: BSD-3-Clause
// Where a device sits on PCI, for locality: from ACL where it knows, else from the device management library DCMI, else
// from sysfs if there is but one device and so no doubt.
#pragma once

#include "plugin/device/ascend/acl_api.hpp"

#include <string>

namespace peercoll::ascend {

// "0000:c1:00.0", lower case; empty if it is not known. `count`: how many devices the process sees.
std::string find_pci_id(const AclFunctions& acl, std::int32_t ordinal, std::size_t count);

// The one place below `sysfs` ("/sys/bus/pci/devices") where an Ascend device is; empty if there are none or several.
std::string sole_pci_id(const std::string& sysfs);

}  // namespace peercoll::ascend
