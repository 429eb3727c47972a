// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/hip/attachment.hpp"

#include "plugin/device/hip/current_device.hpp"
#include "plugin/device/hip/devices.hpp"
#include "plugin/device/hip/peers.hpp"
#include "plugin/device/hip/started.hpp"

#include <fmt/format.h>

namespace peercoll::hip {

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

// Without a device some releases say "no device" and others "invalid device", whatever is asked.
Status cannot_start(const HipFunctions& hip, HipError error, std::string_view what) {
    std::string_view advice;
    if (error == code::no_device || error == code::invalid_device)
        advice =
            "this process sees no HIP device (no AMD device, no access to its device files, or HIP_VISIBLE_DEVICES)";
    if (error == code::not_initialized || error == code::deinitialized)
        advice = "the runtime does not start: was the process forked after it had used HIP?";
    return {PEERCOLL_ERR_NOT_SUPPORTED, hip_error(hip, error, what, advice).sentence()};
}

Status start(Attachment& made) {
    const HipFunctions& hip = made.hip;
    if (const HipError error = hip.init(0); error != code::success) return cannot_start(hip, error, "hipInit");
    if (const HipError error = hip.runtime_get_version(&made.version.number); error != code::success)
        return cannot_start(hip, error, "hipRuntimeGetVersion");
    if (made.version.major() < oldest_major)
        return {PEERCOLL_ERR_NOT_SUPPORTED,
                fmt::format("the HIP runtime calls itself {}: ROCm 5 or newer is expected", made.version.number)};
    made.version_text = version_sentence(made.version);
    made.generation = next_generation.fetch_add(1);
    return find_devices(made);
}

Status attach(Attachment& made) {
    made.library = HipLibrary::find_loaded();
    if (made.library == nullptr)
        return {PEERCOLL_ERR_NOT_SUPPORTED, "this process has not loaded libamdhip64.so, so it does not use HIP"};
    if (Status bound = made.library->bind(made.hip); !bound.ok()) return bound;
    return keeping_last_error(made.hip, [&] { return start(made); });
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
    return {PEERCOLL_ERR_NOT_SUPPORTED, "the HIP runtime is not open"};
}

Status no_device(const Attachment& attachment, int32_t ordinal) {
    return {PEERCOLL_ERR_INVALID_ARGUMENT,
            fmt::format("there is no HIP device {}: expected 0 to {}", ordinal, attachment.devices.size() - 1)};
}

peercoll_status_t open(peercoll_reason_t* reason) {
    const std::lock_guard lock(opening);
    if (!first_answer.given) {
        first_answer.status = answer(&first_answer.reason, [] {
            auto made = std::make_unique<Attachment>();
            Status status = attach(*made);
            if (status.ok()) present.store(made.release(), std::memory_order_release);
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
        return keeping_last_error(last->hip, [&] {
            disable_our_peers(*last);
            for (const auto& device : last->devices) {
                const DeviceScope scope(last->hip, device->ordinal);
                if (scope.result() != code::success) continue;  // gone before us, and all that was on it
                device->kernels.unload(last->hip);
                for (void* slab : device->counter_slabs) last->hip.memory_free(slab);
            }
            return Status();
        });
    });
}

}  // namespace peercoll::hip
