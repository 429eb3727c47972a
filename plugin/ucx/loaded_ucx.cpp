// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/ucx/loaded_ucx.hpp"

#include <link.h>

#include <array>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

namespace peercoll::ucx {

namespace {

constexpr std::size_t ucp = 0;  // index of the library that is opened; it brings the others
constexpr std::array<std::string_view, 4> parts = {"libucp", "libuct", "libucs", "libucm"};

// libucp.so.0.0.0, or libucp-4e2c.so.0 as Python packages name it; not libucs_signal.so.
bool is_part(std::string_view file_name, std::string_view part) {
    return file_name.size() > part.size() && file_name.substr(0, part.size()) == part &&
           (file_name[part.size()] == '.' || file_name[part.size()] == '-');
}

UcpChoice refuse(const std::string& first, const std::string& second) {
    return {{},
            false,
            fmt::format("the process has loaded parts of two UCX libraries, {} and {}, which crash together; expected "
                        "all from one folder",
                        first, second)};
}

int add_object(dl_phdr_info* info, std::size_t, void* to) {
    if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/') {
        std::error_code error;
        const std::filesystem::path path = std::filesystem::canonical(info->dlpi_name, error);
        static_cast<std::vector<std::string>*>(to)->push_back(error ? std::string(info->dlpi_name) : path.string());
    }
    return 0;
}

}  // namespace

UcpChoice choose_ucp(const std::vector<std::string>& loaded, const std::string& wanted) {
    std::array<std::string, parts.size()> found;
    std::string any;
    for (const std::string& path : loaded) {
        const std::filesystem::path file(path);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (!is_part(file.filename().native(), parts[i])) continue;
            if (!found[i].empty() && found[i] != path) return refuse(found[i], path);
            if (!any.empty() && std::filesystem::path(any).parent_path() != file.parent_path())
                return refuse(any, path);
            found[i] = path;
            any = path;
        }
    }
    if (!found[ucp].empty()) return {found[ucp], true, {}};
    // Another part is there: only the UCP of the same folder fits.
    if (!any.empty()) return {std::filesystem::path(any).parent_path() / "libucp.so.0", false, {}};
    return {wanted.empty() ? "libucp.so.0" : wanted, false, {}};
}

std::vector<std::string> loaded_objects() {
    std::vector<std::string> objects;
    ::dl_iterate_phdr(add_object, &objects);
    return objects;
}

}  // namespace peercoll::ucx
