// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/ucx/ucp_library.hpp"

#include "plugin/ucx/load_environment.hpp"
#include "plugin/ucx/loaded_ucx.hpp"

#include <dlfcn.h>

#include <memory>
#include <mutex>

#include <fmt/format.h>

namespace peercoll::ucx {

namespace {

constexpr unsigned oldest_minor = 13;  // of 1.x: the oldest release that is tested

Status off(std::string sentence) {
    return {PEERCOLL_ERR_NOT_SUPPORTED, std::move(sentence)};
}

std::string loader_error() {
    const char* text = ::dlerror();
    return text != nullptr ? text : "no reason given";
}

// Looks functions up and remembers the first that is not there.
class Lookup {
public:
    explicit Lookup(void* library) : library_(library) {}
    template <typename Function>
    void operator()(Function& function, const char* name) {
        function = reinterpret_cast<Function>(::dlsym(library_, name));
        if (function == nullptr && missing_.empty()) missing_ = name;
    }
    const std::string& missing() const { return missing_; }

private:
    void* library_;
    std::string missing_;
};

std::string look_up(void* library, UcpFunctions& call) {
    Lookup find(library);
    find(call.get_version, "ucp_get_version");
    find(call.get_version_string, "ucp_get_version_string");
    find(call.config_read, "ucp_config_read");
    find(call.config_modify, "ucp_config_modify");
    find(call.config_release, "ucp_config_release");
    find(call.init_version, "ucp_init_version");
    find(call.cleanup, "ucp_cleanup");
    find(call.context_query, "ucp_context_query");
    find(call.worker_create, "ucp_worker_create");
    find(call.worker_destroy, "ucp_worker_destroy");
    find(call.worker_get_address, "ucp_worker_get_address");
    find(call.worker_release_address, "ucp_worker_release_address");
    find(call.worker_progress, "ucp_worker_progress");
    find(call.worker_flush_nbx, "ucp_worker_flush_nbx");
    find(call.ep_create, "ucp_ep_create");
    find(call.ep_flush_nbx, "ucp_ep_flush_nbx");
    find(call.ep_close_nbx, "ucp_ep_close_nbx");
    find(call.tag_send_nbx, "ucp_tag_send_nbx");
    find(call.tag_recv_nbx, "ucp_tag_recv_nbx");
    find(call.request_check_status, "ucp_request_check_status");
    find(call.request_cancel, "ucp_request_cancel");
    find(call.request_free, "ucp_request_free");
    return find.missing();
}

Status load(const std::string& wanted, UcpLibrary& library) {
    UcpChoice choice = choose_ucp(loaded_objects(), wanted);
    if (!choice.refusal.empty()) return off(std::move(choice.refusal));

    void* handle = nullptr;
    {
        const LoadEnvironment quiet({"UCX_MEM_EVENTS=n", "UCX_MEM_MMAP_HOOK_MODE=none", "UCX_ERROR_SIGNALS="});
        const int existing = choice.loaded ? RTLD_NOLOAD : 0;
        handle = ::dlopen(choice.file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | existing);
    }
    if (handle == nullptr) {
        return off(fmt::format("UCX cannot be loaded ({}); expected libucp.so.0 of UCX 1.13 or later", loader_error()));
    }
    // What came with it may have been found elsewhere.
    UcpChoice result = choose_ucp(loaded_objects(), wanted);
    if (!result.refusal.empty()) return off(std::move(result.refusal));

    const std::string missing = look_up(handle, library.call);
    if (!missing.empty()) {
        return off(fmt::format("{} has no function {}; expected UCX 1.13 or later", result.file, missing));
    }
    unsigned release = 0;
    library.call.get_version(&library.major, &library.minor, &release);
    library.version = fmt::format("{}.{}.{}", library.major, library.minor, release);
    if (library.major != 1 || library.minor < oldest_minor) {
        return off(fmt::format("{} is UCX {}; expected 1.13 or a later 1.x", result.file, library.version));
    }
    library.file = result.file;
    library.was_loaded = choice.loaded;
    return {};
}

}  // namespace

Status open_ucp(const std::string& wanted, const UcpLibrary*& library) {
    static std::mutex mutex;
    // Never destroyed: a wire may be closed while the process exits.
    static UcpLibrary& opened = *std::make_unique<UcpLibrary>().release();
    static bool is_open = false;
    const std::lock_guard lock(mutex);
    if (!is_open) {
        UcpLibrary fresh;
        if (Status status = load(wanted, fresh); !status.ok()) return status;
        opened = std::move(fresh);
        is_open = true;
    } else if (const UcpChoice now = choose_ucp(loaded_objects(), wanted); !now.refusal.empty()) {
        return off(now.refusal);  // somebody has brought a second one since
    }
    library = &opened;
    return {};
}

}  // namespace peercoll::ucx
