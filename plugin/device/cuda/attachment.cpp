// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/cuda/attachment.hpp"

#include "plugin/device/cuda/contexts.hpp"
#include "plugin/device/cuda/devices.hpp"
#include "plugin/device/cuda/peers.hpp"
#include "plugin/device/cuda/pointers.hpp"
#include "plugin/device/cuda/started.hpp"

#include <fmt/format.h>

namespace peercoll::cuda {

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

Status cannot_start(const DriverFunctions& driver, CuResult error) {
    std::string_view advice;
    if (error == code::stub_library) advice = "this libcuda is for linking only: the NVIDIA driver is not installed";
    if (error == code::no_device) advice = "this process sees no CUDA device";
    if (error == code::system_not_ready) advice = "the system is not ready: is the fabric manager running?";
    if (error == code::system_driver_mismatch) advice = "libcuda and the kernel's driver are of different versions";
    if (error == code::not_initialized || error == code::unknown)
        advice = "the driver does not start: was the process forked after it had used CUDA?";
    return {PEERCOLL_ERR_NOT_SUPPORTED, driver_error(driver, error, "cuInit", advice).sentence()};
}

Status attach(Attachment& made) {
    made.library = DriverLibrary::find_loaded();
    if (made.library == nullptr)
        return {PEERCOLL_ERR_NOT_SUPPORTED, "this process has not loaded libcuda.so.1, so it does not use CUDA"};
    if (Status bound = made.library->bind(made.driver); !bound.ok()) return bound;
    if (const CuResult error = made.driver.init(0); error != code::success) return cannot_start(made.driver, error);
    if (const CuResult error = made.driver.driver_get_version(&made.version); error != code::success)
        return cannot_start(made.driver, error);
    made.version_text = fmt::format("CUDA {}.{} driver", made.version / 1000, made.version % 1000 / 10);
    made.pointer_attributes = known_pointer_attributes(made.driver);
    if (made.pointer_attributes == 0)
        return {PEERCOLL_ERR_NOT_SUPPORTED, "the driver does not answer queries of pointers as CUDA 11.4 and newer do"};
    made.generation = next_generation.fetch_add(1);
    return find_devices(made);
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
    return {PEERCOLL_ERR_NOT_SUPPORTED, "the CUDA runtime is not open"};
}

Status no_device(const Attachment& attachment, int32_t ordinal) {
    return {PEERCOLL_ERR_INVALID_ARGUMENT,
            fmt::format("there is no CUDA device {}: expected 0 to {}", ordinal, attachment.devices.size() - 1)};
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
    quietly([&] {
        disable_our_peers(*last);
        for (const auto& device : last->devices) {
            const CuContext context = device->context.load();
            if (context == nullptr) continue;
            const ContextScope scope(last->driver, context);
            if (scope.result() != code::success) continue;  // gone before us, and all that was in it
            device->kernels.unload(last->driver);
            for (const CuAddress slab : device->counter_slabs) last->driver.memory_free(slab);
        }
        release_contexts(*last);
    });
}

}  // namespace peercoll::cuda
