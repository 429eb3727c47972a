// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/folds.hpp"

#include "collectives/reduction/host_kernels.hpp"
#include "plugin/device/ascend/copies.hpp"
#include "plugin/device/ascend/pointers.hpp"
#include "plugin/device/ascend/reductions.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace peercoll::ascend {

namespace {

enum Scratch : std::size_t { Total, Block, Near };

bool is_well_formed(const peercoll_fold_t& fold) {
    if (fold.struct_size < sizeof fold || fold.n_inputs < 1 || fold.n_inputs > PEERCOLL_FOLD_MOST ||
        fold.n_outputs < 1 || fold.n_outputs > PEERCOLL_FOLD_MOST || fold.n_blocks < 1 ||
        fold.n_blocks > fold.n_inputs || datatype_size(fold.datatype) == 0 ||
        fold.block_ends[fold.n_blocks - 1] != fold.n_inputs)
        return false;
    for (std::uint32_t block = 0; block < fold.n_blocks; ++block)
        if (fold.block_ends[block] <= (block == 0 ? 0 : fold.block_ends[block - 1])) return false;
    return true;
}

Status bad_fold(const peercoll_fold_t& fold) {
    return {PEERCOLL_ERR_INVALID_ARGUMENT,
            fmt::format("a fold of {} inputs in {} blocks to {} outputs, datatype {}, operation {}, flag {:#x}: "
                        "expected 1 to {} inputs and outputs, blocks that cut the inputs in order, and no flag",
                        fold.n_inputs, fold.n_blocks, fold.n_outputs, fold.datatype, fold.op, fold.flag,
                        PEERCOLL_FOLD_MOST)};
}

// One fold on one stream, with the stream's mutex held and its device current.
class Work {
public:
    Work(Attachment& attachment, Stream& stream, const peercoll_fold_t& fold)
        : attachment_(attachment), stream_(stream), fold_(fold), element_(datatype_size(fold.datatype)) {}

    // The input of a fold that only chooses one.
    Status spread(std::uint32_t input) {
        for (std::uint32_t output = 0; output < fold_.n_outputs; ++output)
            if (Status status = copy(fold_.outputs[output], fold_.inputs[input], fold_.count * element_); !status.ok())
                return status;
        return {};
    }

    Status reduce() {
        if (!find_reduction(fold_.datatype, fold_.op, reduction_) ||
            !gives_host_bits(attachment_, *stream_.device, fold_.datatype, fold_.op))
            return {PEERCOLL_ERR_NOT_SUPPORTED,
                    fmt::format("{} of {} on {} is none of the reductions it does as the host does", op_name(fold_.op),
                                datatype_name(fold_.datatype), stream_.device->info.name)};
        for (const std::size_t which : {Total, Block, Near})
            if (Status status = take_scratch(attachment_, stream_, which, scratch_[which]); !status.ok()) return status;
        for (std::uint32_t input = 0; input < fold_.n_inputs; ++input) {
            const Place place = place_of(attachment_, fold_.inputs[input]);
            near_.push_back(!place.imported && place.device == stream_.device->ordinal &&
                            fold_.inputs[input] % element_ == 0);
        }
        const std::uint64_t bytes = fold_.count * element_;
        for (std::uint64_t first = 0; first < bytes; first += scratch_bytes)
            if (Status status = reduce_piece(first, std::min<std::uint64_t>(scratch_bytes, bytes - first));
                !status.ok())
                return status;
        return {};
    }

private:
    // Every block into one scratch memory, and the blocks into another.
    Status reduce_piece(std::uint64_t first, std::uint64_t bytes) {
        std::uint32_t input = 0;
        for (std::uint32_t block = 0; block < fold_.n_blocks; ++block) {
            const std::uint64_t into = address(block == 0 ? Total : Block);
            if (Status status = copy(into, fold_.inputs[input] + first, bytes); !status.ok()) return status;
            for (++input; input < fold_.block_ends[block]; ++input)
                if (Status status = add(into, input, first, bytes); !status.ok()) return status;
            if (block == 0) continue;
            if (Status status = start(address(Total), into, bytes); !status.ok()) return status;
        }
        for (std::uint32_t output = 0; output < fold_.n_outputs; ++output)
            if (Status status = copy(fold_.outputs[output] + first, address(Total), bytes); !status.ok()) return status;
        return {};
    }

    // Reductions take aligned memory of the stream's own device; what is not, is brought near first.
    Status add(std::uint64_t into, std::uint32_t input, std::uint64_t first, std::uint64_t bytes) {
        const std::uint64_t from = fold_.inputs[input] + first;
        if (near_[input]) return start(into, from, bytes);
        if (Status status = copy(address(Near), from, bytes); !status.ok()) return status;
        return start(into, address(Near), bytes);
    }

    Status start(std::uint64_t into, std::uint64_t from, std::uint64_t bytes) {
        const AclError error =
            attachment_.acl.reduce_async(reinterpret_cast<void*>(into), reinterpret_cast<const void*>(from), bytes,
                                         reduction_.kind, reduction_.type, stream_.handle, nullptr);
        return error == code::success ? Status()
                                      : stream_error(attachment_, stream_, error, "starting a reduction on a stream");
    }

    Status copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
        return to == from ? Status() : copy_on_device(attachment_, stream_, to, from, bytes);
    }

    std::uint64_t address(Scratch which) const { return reinterpret_cast<std::uint64_t>(scratch_[which]); }

    Attachment& attachment_;
    Stream& stream_;
    const peercoll_fold_t& fold_;
    std::uint64_t element_;
    Reduction reduction_;
    std::array<std::byte*, 3> scratch_{};
    std::vector<bool> near_;
};

}  // namespace

peercoll_status_t fold(peercoll_stream_t stream, const peercoll_fold_t* fold, peercoll_reason_t* reason) {
    Stream& on = stream_of(stream);
    return on_device_of(on, reason, [&](Attachment& attachment) -> Status {
        if (!is_well_formed(*fold) || fold->flag != 0) return bad_fold(*fold);
        if (fold->count == 0) return {};
        const std::lock_guard lock(on.mutex);
        Work work(attachment, on, *fold);
        if (fold->n_inputs == 1 || is_choice(fold->datatype, fold->op))
            return work.spread(fold->op == PEERCOLL_REPLACE ? fold->n_inputs - 1 : 0);
        return work.reduce();
    });
}

}  // namespace peercoll::ascend
