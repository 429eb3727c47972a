// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/ucx/load_transport.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

#include <fmt/format.h>

namespace peercoll {

namespace {

// The folder of the shared object (or program) that this function is in.
std::filesystem::path own_folder() {
    Dl_info info = {};
    if (::dladdr(reinterpret_cast<const void*>(&load_transport), &info) == 0 || info.dli_fname == nullptr) return {};
    std::error_code error;
    const std::filesystem::path file = std::filesystem::canonical(info.dli_fname, error);
    return error ? std::filesystem::path() : file.parent_path();
}

std::vector<std::filesystem::path> places_of(const std::string& file) {
    if (file.find('/') != std::string::npos) return {file};
    const std::filesystem::path folder = own_folder();
    if (folder.empty()) return {};
    // <libdir>/libpeercoll.so and <libdir>/peercoll/openmpi4/mca_coll_peercoll.so are where this code may be.
    return {folder / "peercoll" / file, folder.parent_path() / file};
}

Status off(std::string sentence) {
    return {PEERCOLL_ERR_NOT_SUPPORTED, std::move(sentence)};
}

}  // namespace

Status load_transport(const std::string& file, const peercoll_transport_t*& transport) {
    std::string looked_at;
    for (const std::filesystem::path& place : places_of(file)) {
        std::error_code error;
        if (!std::filesystem::exists(place, error)) {
            looked_at += (looked_at.empty() ? "" : ", ") + place.string();
            continue;
        }
        void* library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library == nullptr) {
            const char* text = ::dlerror();
            return off(
                fmt::format("the transport {} cannot be loaded: {}", place.string(), text != nullptr ? text : "?"));
        }
        const auto* found = static_cast<const peercoll_transport_t*>(::dlsym(library, PEERCOLL_TRANSPORT_SYMBOL));
        if (found == nullptr) {
            return off(
                fmt::format("{} has no symbol {}: expected a transport", place.string(), PEERCOLL_TRANSPORT_SYMBOL));
        }
        if (found->abi_version != PEERCOLL_TRANSPORT_ABI_VERSION || !PEERCOLL_TRANSPORT_HAS(found, close)) {
            return off(
                fmt::format("{} has version {} and {} bytes of the transport interface: expected version {} and at "
                            "least {}",
                            place.string(), found->abi_version, found->struct_size, PEERCOLL_TRANSPORT_ABI_VERSION,
                            sizeof(peercoll_transport_t)));
        }
        transport = found;
        return {};
    }
    return off(fmt::format("the transport {} is not installed; looked for {}", file,
                           looked_at.empty() ? "it beside this library" : looked_at));
}

}  // namespace peercoll
