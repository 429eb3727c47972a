// SPDX-License-Identifier: BSD-3-Clause
// Every kernel: operation x datatype x number of inputs x blocks x alignments x counts, byte for byte what the host's
// kernels give for the same plan.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/reduction/host_kernels.hpp"
#include "collectives/reduction/plan.hpp"
#include "tests/unit/device_kernels/simulated_kernels.hpp"
#include "tests/unit/reduction/reference.hpp"

namespace peercoll::test {
namespace {

constexpr std::size_t kGuard = 64;  // bytes on both sides of a buffer that must not change
constexpr unsigned char kUntouched = 0xa5;
constexpr std::size_t kMostInputs = 19;
constexpr std::size_t kSmallCounts[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 47, 65};
constexpr std::size_t kLargestSmallCount = 65;

// Bytes that begin `shift` behind a multiple of 64.
class Buffer {
public:
    Buffer(const unsigned char* from, std::size_t bytes, std::size_t shift)
        : storage_(bytes + 3 * kGuard + shift, kUntouched), bytes_(bytes) {
        const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(storage_.data()) % kGuard;
        begin_ = 2 * kGuard - misplaced + shift;
        if (from) {
            std::copy(from, from + bytes, data());
        }
    }
    unsigned char* data() { return storage_.data() + begin_; }
    bool holds(const unsigned char* expected) { return std::memcmp(data(), expected, bytes_) == 0; }
    bool guards_untouched() {
        const auto untouched = [](unsigned char byte) { return byte == kUntouched; };
        return std::all_of(data() - kGuard, data(), untouched) &&
               std::all_of(data() + bytes_, data() + bytes_ + kGuard, untouched);
    }

private:
    std::vector<unsigned char> storage_;
    std::size_t bytes_;
    std::size_t begin_ = 0;
};

// Where the buffers begin, in bytes behind a multiple of 64: `same` for all, and `step` more for each.
struct Alignment {
    const char* name;
    std::size_t same;
    std::size_t step;
};

std::vector<Alignment> alignments(std::size_t element_bytes) {
    return {
        {"all aligned", 0, 0},        {"all an element behind", element_bytes, 0},   {"all half a vector behind", 8, 0},
        {"all a byte behind", 1, 0},  {"each an element further", 0, element_bytes}, {"each four bytes further", 0, 4},
        {"each a byte further", 0, 1}};
}

std::vector<std::vector<std::uint32_t>> block_shapes(std::uint32_t inputs) {
    std::vector<std::vector<std::uint32_t>> shapes = {{inputs}};
    if (inputs >= 2) {
        shapes.push_back({1, inputs});
        std::vector<std::uint32_t> of_one(inputs);
        std::iota(of_one.begin(), of_one.end(), 1);
        shapes.push_back(of_one);
    }
    if (inputs >= 5) {
        shapes.push_back({2, 4, inputs});
    }
    return shapes;
}

ReductionPlan plan_of(const std::vector<std::uint32_t>& block_ends) {
    std::vector<std::vector<int>> blocks;
    int next = 0;
    for (const std::uint32_t end : block_ends) {
        blocks.emplace_back();
        for (; next < static_cast<int>(end); ++next) {
            blocks.back().push_back(next);
        }
    }
    return ReductionPlan(blocks);
}

class DeviceFold : public testing::TestWithParam<std::tuple<peercoll_op_t, peercoll_datatype_t>> {
protected:
    void SetUp() override {
        std::tie(op_, datatype_) = GetParam();
        element_bytes_ = datatype_size(datatype_);
    }

    void make_inputs(std::size_t inputs, std::size_t count) {
        inputs_.clear();
        for (std::size_t k = 0; k < inputs; ++k) {
            inputs_.push_back(make_input(datatype_, k, count));
        }
    }

    // The first `n` inputs into outputs apart from them, and into themselves.
    void check(std::size_t n, std::size_t count, const std::vector<std::uint32_t>& block_ends,
               const Alignment& alignment) {
        const std::size_t bytes = count * element_bytes_;
        std::vector<const void*> addresses;
        for (std::size_t k = 0; k < n; ++k) {
            addresses.push_back(inputs_[k].data());
        }
        Bytes expected(bytes + 1);
        plan_of(block_ends)
            .evaluate(find_fold(op_, datatype_), element_bytes_, expected.data(), addresses.data(), count);
        for (const bool in_place : {false, true}) {
            SCOPED_TRACE(std::to_string(n) + " inputs in " + std::to_string(block_ends.size()) + " blocks, count " +
                         std::to_string(count) + ", " + alignment.name + (in_place ? ", in place" : ""));
            std::vector<Buffer> inputs, outputs;
            FoldCase fold{op_, datatype_, count, {}, {}, block_ends};
            for (std::size_t k = 0; k < n; ++k) {
                inputs.emplace_back(inputs_[k].data(), bytes, alignment.same + k * alignment.step);
                fold.inputs.push_back(inputs.back().data());
            }
            if (in_place) {
                for (Buffer& input : inputs) {
                    fold.outputs.push_back(input.data());
                }
            }
            for (std::size_t j = 0; j < 2; ++j) {
                outputs.emplace_back(nullptr, bytes, alignment.same + (n + j) * alignment.step);
                fold.outputs.push_back(outputs.back().data());
            }
            run(fold, 1);
            for (Buffer& out : outputs) {
                ASSERT_TRUE(out.holds(expected.data())) << "output";
                ASSERT_TRUE(out.guards_untouched()) << "output";
            }
            for (std::size_t k = 0; k < n; ++k) {
                ASSERT_TRUE(inputs[k].holds(in_place ? expected.data() : inputs_[k].data())) << "input " << k;
                ASSERT_TRUE(inputs[k].guards_untouched()) << "input " << k;
            }
        }
    }

    peercoll_op_t op_ = PEERCOLL_OP_NONE;
    peercoll_datatype_t datatype_ = PEERCOLL_DATATYPE_NONE;
    std::size_t element_bytes_ = 0;
    std::vector<Bytes> inputs_;
};

TEST_P(DeviceFold, GivesTheHostsBytesForSmallCounts) {
    make_inputs(kMostInputs, kLargestSmallCount);
    for (const std::size_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 19}) {
        for (const auto& block_ends : block_shapes(static_cast<std::uint32_t>(n))) {
            for (const Alignment& alignment : alignments(element_bytes_)) {
                for (const std::size_t count : kSmallCounts) {
                    check(n, count, block_ends, alignment);
                    if (HasFatalFailure()) {
                        return;
                    }
                }
            }
        }
    }
}

// More than the threads of a grid move at once: on one multiprocessor these are 1024, with one vector each.
TEST_P(DeviceFold, GivesTheHostsBytesForMoreThanAGridMovesAtOnce) {
    const std::size_t count =
        (FoldParameters::most_threads * FoldParameters::blocks_per_multiprocessor * 16 * 9 + 48) / element_bytes_ + 1;
    make_inputs(8, count);
    for (const std::size_t n : {1, 2, 4, 8}) {
        const auto shapes = block_shapes(static_cast<std::uint32_t>(n));
        for (const auto& block_ends : {shapes.front(), shapes.back()}) {
            for (const Alignment& alignment : {alignments(element_bytes_)[1], alignments(element_bytes_)[4]}) {
                check(n, count, block_ends, alignment);
                if (HasFatalFailure()) {
                    return;
                }
            }
        }
    }
}

std::vector<std::tuple<peercoll_op_t, peercoll_datatype_t>> all_with_kernels() {
    std::vector<std::tuple<peercoll_op_t, peercoll_datatype_t>> all;
    for (peercoll_op_t op = PEERCOLL_OP_NONE + 1; op < PEERCOLL_OP_END; ++op) {
        for (peercoll_datatype_t datatype = PEERCOLL_DATATYPE_NONE + 1; datatype < PEERCOLL_DATATYPE_END; ++datatype) {
            if (fold_kernel_name(datatype, op)) {
                all.emplace_back(op, datatype);
            }
        }
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(All, DeviceFold, testing::ValuesIn(all_with_kernels()), [](const auto& param) {
    return std::string(op_name(std::get<0>(param.param))) + "_of_" + datatype_name(std::get<1>(param.param));
});

// Every bit pattern of a half type, multiplied by every one of some that need rounding in all places.
TEST(DeviceHalfTypes, AreWidenedAndRoundedAsOnTheHostForEveryBitPattern) {
    for (const peercoll_datatype_t datatype : {PEERCOLL_FLOAT16, PEERCOLL_BFLOAT16}) {
        std::vector<std::uint16_t> all(65536), other(all.size()), expected(all.size()), got(all.size());
        std::iota(all.begin(), all.end(), 0);
        for (unsigned factor = 1; factor < 65536; factor += 1021) {
            std::fill(other.begin(), other.end(), static_cast<std::uint16_t>(factor));
            for (const peercoll_op_t op : {PEERCOLL_SUM, PEERCOLL_PROD}) {
                const void* const inputs[] = {all.data(), other.data()};
                find_fold(op, datatype)(expected.data(), inputs, 2, all.size());
                run({op, datatype, all.size(), {all.data(), other.data()}, {got.data()}}, 1);
                ASSERT_EQ(got, expected) << op_name(op) << " of " << datatype_name(datatype) << " with " << factor;
            }
        }
    }
}

}  // namespace
}  // namespace peercoll::test
