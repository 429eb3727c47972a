// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/cuda/standby.hpp"

#include "plugin/device/cuda/attachment.hpp"
#include "plugin/device/cuda/streams.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace peercoll::cuda {

namespace {

using Words = std::array<std::uint32_t, StandbyMailbox::words>;
static_assert(sizeof(Words) == sizeof(StandbyTask));

std::uint32_t said_at(const Standby& standby, unsigned place) {
    return static_cast<std::uint32_t>(standby.mailbox[place].load(std::memory_order_acquire));
}

bool has_left(const Standby& standby) {
    return said_at(standby, StandbyMailbox::left_at) == standby.launched;
}

void post(Standby& standby, const StandbyTask& task) {
    Words words;
    std::memcpy(words.data(), &task, sizeof task);
    ++standby.number;
    for (unsigned i = 0; i < StandbyMailbox::words; ++i)
        standby.mailbox[i].store(std::uint64_t{standby.number} << 32 | words[i], std::memory_order_release);
}

StandbyTask task_of(const FoldParameters& parameters, std::uint32_t blocks) {
    StandbyTask task{};
    task.blocks = blocks;
    task.n_inputs = parameters.n_inputs;
    task.n_outputs = parameters.n_outputs;
    task.width = parameters.width;
    task.head = parameters.head;
    task.count = parameters.count;
    task.steps = parameters.steps;
    task.tile = parameters.tile;
    task.block_starts = parameters.block_starts;
    task.flag = parameters.flag;
    task.flag_value = parameters.flag_value;
    task.counter = parameters.counter;
    std::copy_n(parameters.inputs, parameters.n_inputs, task.addresses);
    std::copy_n(parameters.outputs, parameters.n_outputs, task.addresses + parameters.n_inputs);
    return task;
}

Status launch(const Attachment& attachment, const Stream& stream, CuFunction kernel, FoldGeometry geometry,
              void* parameters) {
    void* arguments[] = {parameters};
    const CuResult error = attachment.driver.launch_kernel(kernel, geometry.blocks, 1, 1, geometry.threads, 1, 1, 0,
                                                           stream.handle, arguments, nullptr);
    if (error == code::success) return {};
    return driver_error(attachment.driver, error, "launching a fold on a stream");
}

// Until the kernel has taken the last task, which it does within two microseconds unless it had left. A task that
// nobody takes any more is launched, and then there is no kernel.
Status see_it_taken(Attachment& attachment, Stream& stream) {
    Standby& standby = stream.standby;
    if (standby.posted_kernel == nullptr) return {};
    constexpr unsigned looks_between_queries = 1024;
    for (unsigned looks = 1;; ++looks) {
        const bool over = has_left(standby) || (looks % looks_between_queries == 0 &&
                                                attachment.driver.stream_query(stream.handle) != code::not_ready);
        // After it has left: what it took, it took before.
        if (said_at(standby, StandbyMailbox::taken_at) == standby.number) {
            standby.posted_kernel = nullptr;
            return {};
        }
        if (!over) continue;
        standby.kernel = nullptr;
        return launch(attachment, stream, std::exchange(standby.posted_kernel, nullptr),
                      {standby.posted_blocks, FoldParameters::most_threads}, &standby.posted);
    }
}

Status have_mailbox(Attachment& attachment, Standby& standby) {
    if (standby.mailbox != nullptr) return {};
    const DriverFunctions& driver = attachment.driver;
    void* memory = nullptr;
    if (const CuResult error = driver.host_allocate(&memory, StandbyMailbox::bytes, host_portable | host_mapped);
        error != code::success)
        return driver_error(driver, error, "allocating a mailbox for kernels");
    if (const CuResult error = driver.host_get_device_address(&standby.mailbox_address, memory, 0);
        error != code::success) {
        driver.host_free(memory);
        return driver_error(driver, error, "mapping a mailbox for kernels");
    }
    std::memset(memory, 0, StandbyMailbox::bytes);
    static_assert(sizeof(std::atomic<std::uint64_t>) == sizeof(std::uint64_t));
    standby.mailbox = static_cast<std::atomic<std::uint64_t>*>(memory);
    return {};
}

}  // namespace

std::uint32_t standby_blocks(FoldParameters& parameters, int multiprocessors) {
    constexpr std::uint64_t threads = StandbyParameters::threads;
    // More than 16 blocks move with one access of each thread: there, a launch does not matter much.
    constexpr std::uint64_t most_steps = 16 * threads;
    if (parameters.flag == 0 || parameters.n_inputs + parameters.n_outputs > StandbyTask::most_addresses ||
        parameters.steps > most_steps)
        return 0;
    if (parameters.steps <= 2 * threads) {
        parameters.tile = 2 * threads;
        return 1;
    }
    parameters.tile = threads;
    // Half of the device is left to others.
    const auto most_blocks = static_cast<std::uint64_t>(std::max(multiprocessors / 2, 1));
    return static_cast<std::uint32_t>(std::min<std::uint64_t>((parameters.steps + threads - 1) / threads, most_blocks));
}

bool post_to_standby(Attachment& attachment, Stream& stream, CuFunction standing, CuFunction ordinary,
                     std::uint32_t blocks, const FoldParameters& parameters, Status& status) {
    Standby& standby = stream.standby;
    if (standby.kernel == nullptr) return false;
    status = see_it_taken(attachment, stream);
    if (!status.ok()) return false;
    if (standby.kernel == nullptr || has_left(standby)) {
        standby.kernel = nullptr;
        standby.policy.gone();
        return false;
    }
    if (standing != standby.kernel || blocks == 0 || blocks > standby.blocks) {
        status = dismiss_standby(attachment, stream);
        return false;
    }
    standby.posted = parameters;
    standby.posted_blocks = blocks;
    standby.posted_kernel = ordinary;
    post(standby, task_of(parameters, blocks));
    standby.policy.taken(StandbyPolicy::Clock::now());
    return true;
}

Status launch_standby(Attachment& attachment, Stream& stream, CuFunction standing, std::uint32_t blocks,
                      const FoldParameters& parameters, std::chrono::nanoseconds patience) {
    Standby& standby = stream.standby;
    if (Status status = have_mailbox(attachment, standby); !status.ok()) return status;
    StandbyParameters given;
    given.first = parameters;
    given.mailbox = standby.mailbox_address;
    given.relay = stream.counter + relay_offset;
    given.patience = static_cast<std::uint64_t>(patience.count());
    given.number = standby.number + 2;  // one more is what a kernel that left by itself told its other blocks
    given.unused = 0;
    if (Status status = launch(attachment, stream, standing, {blocks, StandbyParameters::threads}, &given);
        !status.ok())
        return status;
    standby.number = standby.launched = given.number;
    standby.kernel = standing;
    standby.blocks = blocks;
    return {};
}

Status look_after_standby(Attachment& attachment, Stream& stream) {
    const Standby& standby = stream.standby;
    if (standby.kernel == nullptr || standby.posted_kernel == nullptr || !has_left(standby)) return {};
    return see_it_taken(attachment, stream);
}

Status dismiss_standby(Attachment& attachment, Stream& stream) {
    Standby& standby = stream.standby;
    if (standby.kernel == nullptr) return {};
    if (Status status = see_it_taken(attachment, stream); !status.ok()) return status;
    if (standby.kernel == nullptr) return {};
    StandbyTask order{};
    order.blocks = StandbyTask::leave;
    post(standby, order);
    standby.kernel = nullptr;
    standby.policy.gone();
    return {};
}

void free_standby(Attachment& attachment, Standby& standby) {
    if (standby.mailbox != nullptr) attachment.driver.host_free(standby.mailbox);
    standby = {};
}

}  // namespace peercoll::cuda
