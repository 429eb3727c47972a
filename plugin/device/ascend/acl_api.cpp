// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/acl_api.hpp"

#include <dlfcn.h>

#include <string>
#include <type_traits>

#include <fmt/format.h>

namespace peercoll::ascend {

void AclLibrary::Close::operator()(void* handle) const {
    ::dlclose(handle);
}

// Neither has a version in its name. Since CANN 8.5 the newer one has all that we need, and the older one leads to it.
std::unique_ptr<AclLibrary> AclLibrary::find_loaded() {
    for (const char* name : {"libascendcl.so", "libacl_rt.so"})
        if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD); handle != nullptr)
            return std::make_unique<AclLibrary>(AclLibrary(handle));
    return nullptr;
}

Status AclLibrary::bind(AclFunctions& functions) const {
    std::string absent;
    for_each_acl_function(functions, [&](auto& member, const char* name, bool required) {
        member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(::dlsym(handle_.get(), name));
        if (member == nullptr && required) absent += absent.empty() ? name : std::string(", ") + name;
    });
    if (functions.stream_query == nullptr && functions.event_query == nullptr)
        absent += absent.empty() ? "aclrtStreamQuery" : ", aclrtStreamQuery";
    if (absent.empty()) return {};
    return {PEERCOLL_ERR_NOT_SUPPORTED,
            fmt::format("this ACL library lacks {}; that of CANN 5.1 or newer is expected", absent)};
}

}  // namespace peercoll::ascend
