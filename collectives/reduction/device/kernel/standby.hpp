// SPDX-License-Identifier: BSD-3-Clause
// A fold that stays on the device for the next one. Launching a kernel takes most of the time of a small collective, so
// where such collectives follow each other closely the kernel of one does not end: its first block looks into a mailbox
// in host memory, and the host posts the next task there.
//
//     host      post task n+1 ----------.                          sees the flag
//     block 0   ... looks ... looks ...  takes it - relays - folds - flag ... looks ... patience over: leaves
//     block 1   ............ looks ................ takes - folds ............ looks ........... told to leave
//
// Each word of 64 bits in the mailbox has half a word of the task and the task's number, so that a task is whole as
// soon as all words have its number, however the host's stores and the device's loads are cut. Only the first block
// decides, by its clock: after `patience` without a task it says in the mailbox that it has left, tells the others, and
// ends; it takes no task after having said so. Others look into device memory, where the first block relays what
// concerns them.
//
// What a task reads was written while the kernel was already running, so its loads come after the acquires that saw the
// task, and none may be of a kind that believes its data to be constant.
#pragma once

#include "collectives/reduction/device/kernel/completion.hpp"
#include "collectives/reduction/device/kernel/platform.hpp"

namespace peercoll::device {

union StandbyWords {
    StandbyTask task;
    unsigned word[StandbyMailbox::words];
};
static_assert(sizeof(StandbyTask) == sizeof(unsigned) * StandbyMailbox::words, "the words of the mailbox are the task");

PEERCOLL_DEVICE unsigned number_of(unsigned long long word) {
    return static_cast<unsigned>(word >> 32);
}
PEERCOLL_DEVICE unsigned half_of(unsigned long long word) {
    return static_cast<unsigned>(word);
}
PEERCOLL_DEVICE unsigned long long with_number(unsigned half, unsigned number) {
    return static_cast<unsigned long long>(number) << 32 | half;
}
// Numbers go on past the largest.
PEERCOLL_DEVICE bool is_later(unsigned number, unsigned than) {
    return static_cast<int>(number - than) > 0;
}

// One address of the task: thread i of the block does it for i < most_addresses.
PEERCOLL_DEVICE void unpack_address(const StandbyTask& task, unsigned i, FoldParameters& p) {
    if (i < task.n_inputs) {
        p.inputs[i] = task.addresses[i];
    } else if (i < task.n_inputs + task.n_outputs) {
        p.outputs[i - task.n_inputs] = task.addresses[i];
    }
}
PEERCOLL_DEVICE void unpack_scalars(const StandbyTask& task, FoldParameters& p) {
    p.count = task.count;
    p.steps = task.steps;
    p.tile = task.tile;
    p.block_starts = task.block_starts;
    p.flag = task.flag;
    p.flag_value = task.flag_value;
    p.counter = task.counter;
    p.n_inputs = task.n_inputs;
    p.n_outputs = task.n_outputs;
    p.width = task.width;
    p.head = task.head;
}

#ifdef PEERCOLL_HAS_STANDBY

// The next task, or the order to leave, into `words`; by the first warp of a block, all of its lanes. `number` becomes
// the task's.
PEERCOLL_DEVICE void next_task(const StandbyParameters& s, Position at, unsigned& number, StandbyWords& words) {
    const bool leads = at.block == 0;
    const unsigned low = at.lane;
    const unsigned high = at.lane + warp_lanes;
    const unsigned long long since = nanoseconds();
    unsigned long long a;
    unsigned long long b;
    bool leaves = false;
    for (;;) {
        if (leads) {
            a = read_system_word(s.mailbox + low * sizeof(a));
            b = read_system_word(s.mailbox + high * sizeof(b));
            if (on_all_lanes(number_of(a) == number + 1 && number_of(b) == number + 1)) {
                break;
            }
            leaves = !on_all_lanes(nanoseconds() - since < s.patience);
            if (leaves) {
                break;
            }
        } else {
            a = read_device_word(s.relay + low * sizeof(a));
            b = read_device_word(s.relay + high * sizeof(b));
            const unsigned first = from_first_lane(number_of(a));
            if (on_all_lanes(number_of(a) == first && number_of(b) == first && is_later(first, number))) {
                break;
            }
        }
    }
    if (leaves) {
        a = with_number(at.lane == 0 ? StandbyTask::leave : 0, number + 1);
        b = with_number(0, number + 1);
    }
    number = from_first_lane(number_of(a));
    words.word[low] = half_of(a);
    words.word[high] = half_of(b);
    const unsigned command = from_first_lane(half_of(a));
    const bool concerns_others = command == StandbyTask::leave || command > 1;
    if (leads && at.blocks > 1 && concerns_others) {
        fence_device();
        write_device_word(s.relay + low * sizeof(a), a);
        write_device_word(s.relay + high * sizeof(b), b);
    }
    if (leads && at.lane == 0 && command == StandbyTask::leave) {
        write_system_word(s.mailbox + StandbyMailbox::left_at * sizeof(a), s.number);
    }
}

// `body(parameters, position)` is the fold of a thread.
template <class Body>
PEERCOLL_DEVICE void stand_by(const StandbyParameters& s, Position at, StandbyWords& words, FoldParameters& task,
                              Body body) {
    unsigned number = s.number;
    body(s.first, at);
    complete(s.first, at);
    for (;;) {
        if (at.lane < warp_lanes) {
            next_task(s, at, number, words);
        }
        block_barrier();
        const unsigned blocks = words.task.blocks;
        if (blocks == StandbyTask::leave) {
            return;
        }
        unpack_address(words.task, at.lane, task);
        if (at.lane == warp_lanes) {
            unpack_scalars(words.task, task);
        }
        block_barrier();
        if (at.block < blocks) {
            const Position now = {at.thread, 1ull * blocks * at.lanes, blocks, at.block, at.lane, at.lanes};
            body(task, now);
            complete(task, now);
        }
        // Not before the flag, whose release would wait for it.
        if (at.block == 0 && at.lane == 0) {
            write_system_word(s.mailbox + StandbyMailbox::taken_at * sizeof(unsigned long long), number);
        }
        block_barrier();
    }
}

#endif

}  // namespace peercoll::device
