// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/pci_places.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>

namespace peercoll::ascend {

namespace {

std::string by_acl(const AclFunctions& acl, std::int32_t ordinal) {
    char id[32] = "";
    if (acl.device_get_pci_id == nullptr || acl.device_get_pci_id(ordinal, id, sizeof id) != code::success) return {};
    id[sizeof id - 1] = '\0';
    std::string text = id;
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return text;
}

struct DcmiPlace {  // dcmi_pcie_info_all
    unsigned vendor;
    unsigned subvendor;
    unsigned device;
    unsigned subdevice;
    int domain;
    unsigned bus;
    unsigned slot;
    unsigned function;
    unsigned char reserved[32];
};
static_assert(sizeof(DcmiPlace) == 64);

struct CloseLibrary {
    void operator()(void* handle) const { ::dlclose(handle); }
};

// Its numbers are the host's, which are ACL's only where nothing renumbers them; the two may not be used together else.
std::string by_dcmi(std::int32_t ordinal) {
    if (std::getenv("ASCEND_RT_VISIBLE_DEVICES") != nullptr) return {};
    void* opened = ::dlopen("libdcmi.so", RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) opened = ::dlopen("/usr/local/dcmi/libdcmi.so", RTLD_NOW | RTLD_LOCAL);
    const std::unique_ptr<void, CloseLibrary> library(opened);
    if (library == nullptr) return {};
    const auto init = reinterpret_cast<int (*)()>(::dlsym(opened, "dcmi_init"));
    const auto find =
        reinterpret_cast<int (*)(int*, int*, unsigned)>(::dlsym(opened, "dcmi_get_card_id_device_id_from_logicid"));
    const auto place = reinterpret_cast<int (*)(int, int, DcmiPlace*)>(::dlsym(opened, "dcmi_get_device_pcie_info_v2"));
    int card = 0;
    int device = 0;
    DcmiPlace found{};
    if (init == nullptr || find == nullptr || place == nullptr || init() != 0 ||
        find(&card, &device, static_cast<unsigned>(ordinal)) != 0 || place(card, device, &found) != 0)
        return {};
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", found.domain, found.bus, found.slot, found.function);
}

std::string first_word(const std::filesystem::path& file) {
    std::string word;
    std::ifstream(file) >> word;
    return word;
}

}  // namespace

std::string sole_pci_id(const std::string& sysfs) {
    constexpr std::array devices = {"0xd801", "0xd802", "0xd803", "0xd804", "0xd805",
                                    "0xd806", "0xd807", "0xd808", "0xd500"};
    std::string sole;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(sysfs, error)) {
        if (first_word(entry.path() / "vendor") != "0x19e5") continue;
        if (std::find(devices.begin(), devices.end(), first_word(entry.path() / "device")) == devices.end()) continue;
        if (!sole.empty()) return {};
        sole = entry.path().filename().string();
    }
    return sole;
}

std::string find_pci_id(const AclFunctions& acl, std::int32_t ordinal, std::size_t count) {
    std::string id = by_acl(acl, ordinal);
    if (id.empty()) id = by_dcmi(ordinal);
    if (id.empty() && count == 1) id = sole_pci_id("/sys/bus/pci/devices");
    return id;
}

}  // namespace peercoll::ascend
