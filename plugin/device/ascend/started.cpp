// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/started.hpp"

#include "plugin/device/ascend/acl_api.hpp"
#include "plugin/device/ascend/current_context.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>

namespace peercoll::ascend {

namespace {

struct Asked {
    std::unique_ptr<AclLibrary> library;
    AclFunctions acl{};
};

// A plain pointer, so that no destructor runs when the process ends or the library is unloaded.
constinit std::mutex asking;
constinit Asked* asked = nullptr;

bool answers_uninitialized(const AclFunctions& acl) {
    AclError error = code::success;
    (void)quietly(acl, [&] {
        std::uint32_t count = 0;
        error = acl.get_device_count(&count);
        // Nobody else is to be told of the refusal.
        if (error != code::success && acl.get_recent_message != nullptr) (void)acl.get_recent_message();
        return Status();
    });
    return error == code::uninitialized;
}

int ask() {
    if (asked == nullptr) {
        auto made = std::make_unique<Asked>();
        made->library = AclLibrary::find_loaded();
        if (made->library == nullptr) return 0;
        if (!made->library->bind(made->acl).ok()) return 1;  // open() says what is wrong with it
        asked = made.release();
    }
    return answers_uninitialized(asked->acl) ? 0 : 1;
}

}  // namespace

int is_started() {
    const std::lock_guard lock(asking);
    try {
        return ask();
    } catch (const std::exception&) {
        return 0;  // no memory, no thread: asked again at the next call
    }
}

void forget_question() {
    const std::lock_guard lock(asking);
    const std::unique_ptr<Asked> last(asked);
    asked = nullptr;
}

}  // namespace peercoll::ascend
