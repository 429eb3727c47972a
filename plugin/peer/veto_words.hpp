// SPDX-License-Identifier: BSD-3-Clause
// Words of the user that name pairs of devices which must not reach each other directly: "A,B C,D". A device is named
// by its PCI id ("0000:1b:00.0") or its UUID (32 hexadecimal digits, with or without "GPU-", "MIG-" and dashes). "A,A"
// is for ranks that share A.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/peer/pair_matrix.hpp"

#include <string>
#include <utility>
#include <vector>

namespace peercoll {

class VetoWords {
public:
    // PEERCOLL_ERR_INVALID_ARGUMENT names the word that is none.
    static Status parse(const std::string& text, VetoWords& words);
    bool names(const DeviceUuid& a, const std::string& pci_a, const DeviceUuid& b, const std::string& pci_b) const;

private:
    std::vector<std::pair<std::string, std::string>> pairs_;  // PCI ids in lower case, or 32 digits
};

}  // namespace peercoll
