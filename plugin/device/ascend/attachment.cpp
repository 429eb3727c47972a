// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/attachment.hpp"

#include "plugin/device/ascend/current_context.hpp"
#include "plugin/device/ascend/devices.hpp"
#include "plugin/device/ascend/exports.hpp"
#include "plugin/device/ascend/peers.hpp"
#include "plugin/device/ascend/started.hpp"

#include <fmt/format.h>

namespace peercoll::ascend {

namespace {

// Plain pointers and numbers, so that no destructor runs when the process ends or the library is unloaded.
std::atomic<Attachment*> present{nullptr};
std::atomic<std::uint64_t> next_generation{1};

// What open() has answered, until close().
struct FirstAnswer {
    bool given = false;
    peercoll_status_t status = PEERCOLL_SUCCESS;
    peercoll_reason_t reason{};
};
constinit std::mutex opening;
constinit FirstAnswer first_answer;

std::string version_sentence(const Attachment& made) {
    std::string text = "Ascend ACL";
    std::int32_t major = 0;
    std::int32_t minor = 0;
    std::int32_t patch = 0;
    if (made.acl.get_version != nullptr && made.acl.get_version(&major, &minor, &patch) == code::success)
        text += fmt::format(" {}.{}.{}", major, minor, patch);
    if (made.acl.pointer_get_attributes == nullptr)
        text += made.settings.unreadable_is_device
                    ? ", which cannot tell pointers: what processors cannot read is device memory"
                    : ", which cannot tell pointers: all are taken for host memory (PEERCOLL_ASCEND_POINTERS=device)";
    return text;
}

Status attach(Attachment& made) {
    made.library = AclLibrary::find_loaded();
    if (made.library == nullptr)
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                "this process has loaded neither libascendcl.so nor libacl_rt.so, so it does not use Ascend devices"};
    if (Status read = read_settings(made.settings); !read.ok()) return read;
    if (Status bound = made.library->bind(made.acl); !bound.ok()) return bound;
    made.generation = next_generation.fetch_add(1);
    return quietly(made.acl, [&] {
        Status found = find_devices(made);
        if (found.ok()) made.version_text = version_sentence(made);
        return found;
    });
}

// aclFinalize() would end the application's ACL as well, whatever the count; so it is never called, and where there is
// no other way to give a reference back it is kept until the process ends.
void give_back_reference(Attachment& last) {
    if (!last.holds_reference || last.acl.finalize_reference == nullptr) return;
    std::uint64_t left = 0;
    (void)last.acl.finalize_reference(&left);
}

}  // namespace

Device* Attachment::device(int32_t ordinal) const {
    if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= devices.size()) return nullptr;
    return devices[static_cast<std::size_t>(ordinal)].get();
}

Attachment* attachment() {
    return present.load(std::memory_order_acquire);
}

Status no_attachment() {
    return {PEERCOLL_ERR_NOT_SUPPORTED, "Ascend's runtime is not open"};
}

Status no_device(const Attachment& attachment, int32_t ordinal) {
    return {PEERCOLL_ERR_INVALID_ARGUMENT,
            fmt::format("there is no Ascend device {}: expected 0 to {}", ordinal, attachment.devices.size() - 1)};
}

peercoll_status_t open(peercoll_reason_t* reason) {
    const std::lock_guard lock(opening);
    if (!first_answer.given) {
        first_answer.status = answer(&first_answer.reason, [] {
            auto made = std::make_unique<Attachment>();
            Status status = attach(*made);
            if (status.ok())
                present.store(made.release(), std::memory_order_release);
            else
                give_back_reference(*made);
            return status;
        });
        first_answer.given = true;
    }
    if (reason != nullptr && first_answer.status != PEERCOLL_SUCCESS) *reason = first_answer.reason;
    return first_answer.status;
}

void close() {
    forget_question();
    const std::lock_guard lock(opening);
    first_answer = {};
    const std::unique_ptr<Attachment> last(present.exchange(nullptr, std::memory_order_acq_rel));
    if (last == nullptr) return;
    answer(nullptr, [&] {
        close_exports(*last);
        disable_our_peers(*last);
        for (const auto& device : last->devices) {
            if (device->context.load() == nullptr) continue;
            // One of the device's users less; the last one ends its context.
            (void)on_device(*last, device->ordinal, [&](Device& current) {
                (void)last->acl.reset_device(current.ordinal);
                return Status();
            });
        }
        return quietly(last->acl, [&] {
            give_back_reference(*last);
            return Status();
        });
    });
}

}  // namespace peercoll::ascend
