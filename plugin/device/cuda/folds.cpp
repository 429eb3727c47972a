// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/cuda/folds.hpp"

#include <fmt/format.h>

namespace peercoll::cuda {

namespace {

// A kernel of several blocks finds its last one, which writes the flag, by a counter on the device. Each stream has its
// own, since kernels of one stream never run at the same time. They are cut from slabs that live as long as the
// attachment: giving back device memory waits for the whole device.
// The counter is followed by the relay of kernels that stay (standby.hpp), which begins with zeros, too.
constexpr std::size_t counter_bytes = 1024;
static_assert(relay_offset + relay_bytes <= counter_bytes && relay_offset >= 128, "not on one cache line");
constexpr std::size_t counters_in_slab = 64;

Status add_slab(const DriverFunctions& driver, Device& device) {
    CuAddress slab = 0;
    if (const CuResult error = driver.memory_allocate(&slab, counters_in_slab * counter_bytes); error != code::success)
        return driver_error(driver, error, fmt::format("allocating counters on CUDA device {}", device.ordinal));
    device.counter_slabs.push_back(slab);
    for (std::size_t i = 0; i < counters_in_slab; ++i) device.free_counters.push_back(slab + i * counter_bytes);
    return {};
}

// With the stream's mutex held.
Status take_counter(const DriverFunctions& driver, Stream& stream, CuAddress& counter) {
    if (stream.counter == 0) {
        Device& device = *stream.device;
        const std::lock_guard lock(device.mutex);
        if (device.free_counters.empty())
            if (Status status = add_slab(driver, device); !status.ok()) return status;
        const CuAddress taken = device.free_counters.back();
        // Zero before the stream's next kernel; from then on kernels leave it zero.
        if (const CuResult error = driver.memory_set_async(taken, 0, counter_bytes, stream.handle);
            error != code::success)
            return driver_error(driver, error, fmt::format("clearing a counter on CUDA device {}", device.ordinal));
        device.free_counters.pop_back();
        stream.counter = taken;
    }
    counter = stream.counter;
    return {};
}

Status bad_fold(const peercoll_fold_t& fold) {
    return {PEERCOLL_ERR_INVALID_ARGUMENT,
            fmt::format("a fold of {} inputs in {} blocks to {} outputs, datatype {}, operation {}: expected 1 to {} "
                        "inputs and outputs, blocks that cut the inputs in order, and a kernel for the two",
                        fold.n_inputs, fold.n_blocks, fold.n_outputs, fold.datatype, fold.op, PEERCOLL_FOLD_MOST)};
}

void remember(Stream& stream, const peercoll_fold_t& fold) {
    stream.last = {fold_kernel_name(fold.datatype, fold.op),
                   fold.count,
                   fold.n_inputs,
                   fold.n_outputs,
                   fold.inputs[0],
                   fold.outputs[0],
                   fold.flag};
}

// The fold by a kernel that stays on the device: one that is there, or a new one where that is worth it. False: it is
// to be launched as usual.
bool stays(Attachment& attachment, Stream& stream, const peercoll_fold_t& fold, CuFunction ordinary,
           FoldParameters parameters, Status& status) {
    Device& device = *stream.device;
    const std::uint32_t blocks = standby_blocks(parameters, device.multiprocessors);
    const std::lock_guard lock(stream.mutex);
    if (stream.standby.kernel != nullptr) {
        parameters.counter = stream.counter;
        const CuFunction standing = device.kernels.find_standing(attachment, fold.datatype, fold.op);
        if (post_to_standby(attachment, stream, standing, ordinary, blocks, parameters, status)) {
            remember(stream, fold);
            if (fold.stood_by != nullptr) *fold.stood_by = 1;
            return true;
        }
        if (!status.ok()) return false;
    }
    const std::chrono::nanoseconds patience(fold.standby_ns);
    if (blocks == 0 || !stream.standby.policy.stays(StandbyPolicy::Clock::now(), patience)) return false;
    const CuFunction standing = device.kernels.find_standing(attachment, fold.datatype, fold.op);
    if (standing == nullptr) return false;
    if (status = take_counter(attachment.driver, stream, parameters.counter); !status.ok()) return false;
    remember(stream, fold);
    if (launch_standby(attachment, stream, standing, blocks, parameters, patience).ok()) return true;
    // No pinned memory for its mailbox, or no room for its blocks: the usual way needs neither, and tells of what else
    // is wrong.
    stream.standby.policy.gone();
    return false;
}

Status launch(Attachment& attachment, Stream& stream, const peercoll_fold_t& fold) {
    FoldParameters parameters;
    if (fold.struct_size < sizeof fold || !fill_fold_parameters(fold, parameters)) return bad_fold(fold);
    Device& device = *stream.device;
    CuFunction kernel = nullptr;
    if (Status status = device.kernels.find(attachment, device, fold.datatype, fold.op, kernel); !status.ok())
        return status;
    Status status;
    if (fold.standby_ns != 0 && stays(attachment, stream, fold, kernel, parameters, status)) return status;
    if (!status.ok()) return status;
    const bool once = passes_once(parameters, fold.granularity_log2) && (parameters.flag == 0 || device.writes_flags);
    if (once) parameters.flag = 0;
    const FoldGeometry geometry = fold_geometry(parameters, device.multiprocessors, once);
    {
        const std::lock_guard lock(stream.mutex);
        if (status = dismiss_standby(attachment, stream); !status.ok()) return status;
        if (geometry.blocks > 1 && parameters.flag != 0)
            if (status = take_counter(attachment.driver, stream, parameters.counter); !status.ok()) return status;
        remember(stream, fold);
    }
    void* arguments[] = {&parameters};
    CuResult error = attachment.driver.launch_kernel(kernel, geometry.blocks, 1, 1, geometry.threads, 1, 1, 0,
                                                     stream.handle, arguments, nullptr);
    if (error == code::success && once && fold.flag != 0)
        error = attachment.driver.stream_write_value_64(stream.handle, fold.flag, fold.flag_value, 0);
    return error == code::success ? Status() : stream_error(attachment, stream, error, "launching a fold on a stream");
}

}  // namespace

int can_fold(int32_t ordinal, peercoll_datatype_t datatype, peercoll_op_t op) {
    const peercoll_status_t status = attached(nullptr, [&](Attachment& attachment) -> Status {
        if (fold_kernel_name(datatype, op) == nullptr) return {PEERCOLL_ERR_NOT_SUPPORTED, "no kernel"};
        return on_device(attachment, ordinal, [&](Device& device) {
            CuFunction kernel = nullptr;
            return device.kernels.find(attachment, device, datatype, op, kernel);
        });
    });
    return status == PEERCOLL_SUCCESS ? 1 : 0;
}

peercoll_status_t fold(peercoll_stream_t stream, const peercoll_fold_t* fold, peercoll_reason_t* reason) {
    Stream& on = stream_of(stream);
    return in_context_of(on, reason, [&](Attachment& attachment) { return launch(attachment, on, *fold); });
}

void give_back_counter(Stream& stream) {
    if (stream.counter == 0) return;
    const std::lock_guard lock(stream.device->mutex);
    stream.device->free_counters.push_back(stream.counter);
    stream.counter = 0;
}

}  // namespace peercoll::cuda
