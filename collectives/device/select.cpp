// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/device/select.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace peercoll {

namespace {

// By number of devices, the first row that fits. From measurements on two H200s (mpi_examples/figures/h200_2_gpus); the
// rows of more devices follow from the bytes on their links.
struct Row {
    std::size_t devices;
    // Up to so many bytes one executor serves all devices: a second launch and its flag cost more than the bytes.
    std::uint64_t one_executor_bytes;
    // From there up to so many bytes an allreduce that is not in place is one-shot.
    std::uint64_t one_shot_bytes;
};
constexpr std::uint64_t KiB = 1024;
constexpr Row rows[] = {
    {2, 256 * KiB, 64 * 1024 * KiB},
    {4, 64 * KiB, 128 * KiB},
    {SIZE_MAX, 64 * KiB, 64 * KiB},
};

const Row& row_of(std::size_t devices) {
    return *std::find_if(std::begin(rows), std::end(rows), [&](const Row& row) { return devices <= row.devices; });
}

// Parts begin at multiples of so many bytes, which is what kernels and memories like.
constexpr std::uint64_t part_alignment = 512;

using Path = DeviceChoice::Path;
using ExecutorList = decltype(DeviceChoice::executors);

DeviceChoice staged(const char* reason, bool single_copy) {
    DeviceChoice choice;
    choice.single_copy = single_copy;
    choice.path = Path::Staged;
    choice.reason = reason;
    return choice;
}

// By islands, if there are any worth it.
DeviceChoice apart(const DeviceSituation& situation, const char* reason, bool single_copy) {
    DeviceChoice choice = staged(reason, single_copy);
    if (std::optional<IslandSchedule> islands = schedule_islands(situation)) {
        choice.path = Path::Islands;
        choice.islands = std::move(*islands);
    }
    return choice;
}

const BufferFact& buffer_read(const DeviceSituation& situation, int rank) {
    return situation.arrivals[static_cast<std::size_t>(rank)]->source;
}

const BufferFact& buffer_written(const DeviceSituation& situation, int rank) {
    return situation.arrivals[static_cast<std::size_t>(rank)]->destination;
}

bool reaches_all(const DeviceSituation& situation, int executor, std::uint32_t device) {
    for (int rank = 0; rank < static_cast<int>(situation.arrivals.size()); ++rank) {
        const std::uint32_t read = buffer_read(situation, rank).device;
        const std::uint32_t written = buffer_written(situation, rank).device;
        if (!situation.may_reach(executor, device, rank, read)) return false;
        if (written != read && !situation.may_reach(executor, device, rank, written)) return false;
    }
    return true;
}

// One executor for each device that holds results, by device in the order of their first ranks: that rank.
ExecutorList candidates(const DeviceSituation& situation) {
    ExecutorList list;
    for (int rank = 0; rank < static_cast<int>(situation.arrivals.size()); ++rank) {
        const std::uint32_t device = buffer_written(situation, rank).device;
        const bool known = std::any_of(list.begin(), list.end(),
                                       [device](const Executor& executor) { return executor.device == device; });
        if (!known || situation.executors == Executors::PerRank) list.push_back({rank, device, 0, 0, false});
    }
    return list;
}

std::uint64_t bytes_of(const DeviceSituation& situation) {
    return situation.count * situation.element_bytes;
}

bool wants_one(const DeviceSituation& situation, std::size_t devices) {
    if (situation.executors == Executors::One) return true;
    return situation.executors == Executors::Auto && bytes_of(situation) <= row_of(devices).one_executor_bytes;
}

// In a large broadcast between more than two devices the root's own would send its part to all others, besides what
// the others read from it; without it every link carries the message once.
void leave_root_out(const DeviceSituation& situation, ExecutorList& list) {
    if (situation.collective != PEERCOLL_BROADCAST || situation.executors != Executors::Auto || list.size() <= 2)
        return;
    const std::uint32_t root_device = buffer_read(situation, situation.root).device;
    list.erase_if([&](const Executor& executor) { return executor.device == root_device; });
}

bool overlap(const BufferFact& a, const BufferFact& b, std::uint64_t bytes) {
    return a.device == b.device && a.allocation_id == b.allocation_id && a.offset < b.offset + bytes &&
           b.offset < a.offset + bytes;
}

// Whether devices may write outputs while others still read inputs.
bool is_apart(const DeviceSituation& situation) {
    const std::uint64_t bytes = bytes_of(situation);
    return std::none_of(situation.arrivals.begin(), situation.arrivals.end(), [bytes](const DeviceArrival* arrival) {
        return overlap(arrival->source, arrival->destination, bytes);
    });
}

// A one-shot allreduce only reads over the links, and moves as much as a two-shot one between two devices, more between
// more, which does not matter while the message is small.
bool takes_one_shot(const DeviceSituation& situation, std::size_t devices) {
    if (situation.collective != PEERCOLL_ALLREDUCE || situation.executors != Executors::Auto || devices < 2)
        return false;
    if (situation.algorithm == DeviceAlgorithm::TwoShot || !is_apart(situation)) return false;
    const Row& row = row_of(devices);
    const std::uint64_t bytes = bytes_of(situation);
    return situation.algorithm == DeviceAlgorithm::OneShot ||
           (bytes > row.one_executor_bytes && bytes <= row.one_shot_bytes);
}

void cut(const DeviceSituation& situation, ExecutorList& list) {
    const std::uint64_t unit = std::max<std::uint64_t>(1, part_alignment / situation.element_bytes);
    const std::uint64_t units = (situation.count + unit - 1) / unit;
    std::uint64_t first = 0;
    for (std::size_t part = 0; part < list.size(); ++part) {
        const std::uint64_t last = std::min(situation.count, units * (part + 1) / list.size() * unit);
        list[part].first = first;
        list[part].last = last;
        first = last;
    }
    list.erase_if([](const Executor& executor) { return executor.first == executor.last; });
}

}  // namespace

DeviceChoice select_device(const DeviceSituation& situation) {
    bool any_device = false;
    bool all_shareable = true;
    bool single_copy = true;
    for (const DeviceArrival* arrival : situation.arrivals) {
        for (const BufferFact* fact : {&arrival->source, &arrival->destination}) {
            any_device = any_device || fact->kind == BufferFact::Shareable || fact->kind == BufferFact::Unshareable;
            single_copy = single_copy && fact->kind != BufferFact::Pinned;
            all_shareable = all_shareable && fact->kind == BufferFact::Shareable;
        }
    }
    if (!any_device) {
        DeviceChoice choice;
        choice.single_copy = single_copy;
        return choice;
    }
    if (situation.algorithm == DeviceAlgorithm::Staged) return staged("option device_algorithm", single_copy);
    if (situation.arrivals.size() > DeviceChoice::most_executors)
        return staged("more ranks than one fold takes", single_copy);
    if (!all_shareable)
        return apart(situation, "a buffer is in host memory, or in memory that cannot be shared", single_copy);

    ExecutorList list = candidates(situation);
    const std::size_t devices = list.size();
    list.erase_if([&](const Executor& executor) { return !reaches_all(situation, executor.rank, executor.device); });
    const bool all_reach = list.size() == devices;
    if (list.empty()) return apart(situation, "no device reaches the memory of all others", single_copy);
    if (all_reach && takes_one_shot(situation, devices)) {
        for (Executor& executor : list) {
            executor.last = situation.count;
            executor.own_outputs = true;
        }
    } else {
        if (!all_reach || wants_one(situation, devices))
            list.shorten(1);
        else
            leave_root_out(situation, list);
        cut(situation, list);
    }

    DeviceChoice choice;
    choice.path = Path::Fused;
    choice.executors = list;
    return choice;
}

}  // namespace peercoll
