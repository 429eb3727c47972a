// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/reductions.hpp"

#include "collectives/reduction/host_kernels.hpp"
#include "plugin/device/ascend/current_context.hpp"
#include "plugin/device/ascend/reduction_trial.hpp"

#include <array>
#include <cstring>

namespace peercoll::ascend {

namespace {

struct Candidate {
    peercoll_datatype_t datatype;
    peercoll_op_t op;
    Reduction reduction;
};

// Sums of unsigned integers are those of signed ones, if both wrap.
constexpr std::array candidates = {
    Candidate{PEERCOLL_INT8, PEERCOLL_SUM, {reduce::sum, data_type::int8}},
    Candidate{PEERCOLL_UINT8, PEERCOLL_SUM, {reduce::sum, data_type::int8}},
    Candidate{PEERCOLL_INT16, PEERCOLL_SUM, {reduce::sum, data_type::int16}},
    Candidate{PEERCOLL_UINT16, PEERCOLL_SUM, {reduce::sum, data_type::int16}},
    Candidate{PEERCOLL_INT32, PEERCOLL_SUM, {reduce::sum, data_type::int32}},
    Candidate{PEERCOLL_UINT32, PEERCOLL_SUM, {reduce::sum, data_type::int32}},
    Candidate{PEERCOLL_FLOAT32, PEERCOLL_SUM, {reduce::sum, data_type::float32}},
    Candidate{PEERCOLL_INT8, PEERCOLL_MIN, {reduce::min, data_type::int8}},
    Candidate{PEERCOLL_INT16, PEERCOLL_MIN, {reduce::min, data_type::int16}},
    Candidate{PEERCOLL_INT32, PEERCOLL_MIN, {reduce::min, data_type::int32}},
    Candidate{PEERCOLL_UINT32, PEERCOLL_MIN, {reduce::min, data_type::uint32}},
    Candidate{PEERCOLL_FLOAT32, PEERCOLL_MIN, {reduce::min, data_type::float32}},
    Candidate{PEERCOLL_FLOAT16, PEERCOLL_MIN, {reduce::min, data_type::float16}},
    Candidate{PEERCOLL_BFLOAT16, PEERCOLL_MIN, {reduce::min, data_type::bfloat16}},
    Candidate{PEERCOLL_INT8, PEERCOLL_MAX, {reduce::max, data_type::int8}},
    Candidate{PEERCOLL_INT16, PEERCOLL_MAX, {reduce::max, data_type::int16}},
    Candidate{PEERCOLL_INT32, PEERCOLL_MAX, {reduce::max, data_type::int32}},
    Candidate{PEERCOLL_UINT32, PEERCOLL_MAX, {reduce::max, data_type::uint32}},
    Candidate{PEERCOLL_FLOAT32, PEERCOLL_MAX, {reduce::max, data_type::float32}},
    Candidate{PEERCOLL_FLOAT16, PEERCOLL_MAX, {reduce::max, data_type::float16}},
    Candidate{PEERCOLL_BFLOAT16, PEERCOLL_MAX, {reduce::max, data_type::bfloat16}},
};

}  // namespace

bool find_reduction(peercoll_datatype_t datatype, peercoll_op_t op, Reduction& reduction) {
    for (const Candidate& one : candidates)
        if (one.datatype == datatype && one.op == op) {
            reduction = one.reduction;
            return true;
        }
    return false;
}

// Elements without padding, and without values that are written otherwise than they are read.
bool is_choice(peercoll_datatype_t datatype, peercoll_op_t op) {
    return (op == PEERCOLL_NO_OP || op == PEERCOLL_REPLACE) && datatype >= PEERCOLL_INT8 &&
           datatype <= PEERCOLL_FLOAT64;
}

bool gives_host_bits(Attachment& attachment, Device& device, peercoll_datatype_t datatype, peercoll_op_t op) {
    Reduction reduction;
    if (attachment.acl.reduce_async == nullptr || !find_reduction(datatype, op, reduction)) return false;
    const std::lock_guard lock(device.mutex);
    std::int8_t& known = device.reduces[static_cast<std::size_t>(datatype)][static_cast<std::size_t>(op)];
    if (known == 0) known = try_reduction(attachment.acl, datatype, op, reduction) ? 1 : -1;
    return known > 0;
}

int can_fold(int32_t ordinal, peercoll_datatype_t datatype, peercoll_op_t op) {
    bool can = false;
    attached(nullptr, [&](Attachment& attachment) -> Status {
        if (attachment.device(ordinal) == nullptr) return no_device(attachment, ordinal);
        can = is_choice(datatype, op);
        Reduction unused;
        if (can || !find_reduction(datatype, op, unused)) return {};
        return on_device(attachment, ordinal, [&](Device& device) {
            can = gives_host_bits(attachment, device, datatype, op);
            return Status();
        });
    });
    return can ? 1 : 0;
}

}  // namespace peercoll::ascend
