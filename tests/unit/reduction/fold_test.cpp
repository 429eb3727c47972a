// SPDX-License-Identifier: BSD-3-Clause
// Every fold: operation x datatype x number of inputs x count x alignment x place of the output x instruction set, byte
// for byte against reference.hpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/reduction/instruction_sets.hpp"
#include "tests/unit/reduction/reference.hpp"

namespace peercoll::test {
namespace {

constexpr std::size_t kInputCounts[] = {1, 2, 3, 4, 5, 8, 17};
constexpr std::size_t kCounts[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100, 1000, 4099};
constexpr std::size_t kMaxInputs = 17;
constexpr std::size_t kMaxCount = 4099;
constexpr std::size_t kGuard = 64;  // bytes before and behind the output that must not change
constexpr unsigned char kUntouched = 0xa5;

// A buffer whose data begins `shift` bytes behind a multiple of 64.
class Buffer {
public:
    Buffer(std::size_t bytes, std::size_t shift) : storage_(bytes + 3 * kGuard + shift, kUntouched) {
        const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(storage_.data()) % kGuard;
        data_ = storage_.data() + (2 * kGuard - misplaced) + shift;
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    unsigned char* data() { return data_; }
    // The first `bytes` bytes and a guard on both sides are as never written; then `from` is copied in, if given.
    void reset(const unsigned char* from, std::size_t bytes) {
        std::fill(data_ - kGuard, data_ + bytes + kGuard, kUntouched);
        if (from) {
            std::copy(from, from + bytes, data_);
        }
    }
    bool guards_untouched(std::size_t bytes) const {
        const auto untouched = [](unsigned char byte) { return byte == kUntouched; };
        return std::all_of(data_ - kGuard, data_, untouched) &&
               std::all_of(data_ + bytes, data_ + bytes + kGuard, untouched);
    }

private:
    std::vector<unsigned char> storage_;
    unsigned char* data_;
};

class Fold : public testing::TestWithParam<std::tuple<peercoll_op_t, peercoll_datatype_t>> {
protected:
    void SetUp() override {
        std::tie(op_, datatype_) = GetParam();
        bytes_ = datatype_size(datatype_);
        for (std::size_t k = 0; k < kMaxInputs; ++k) {
            inputs_.push_back(make_input(datatype_, k, kMaxCount));
        }
    }

    // Folds the inputs at addresses shifted by shift, 2 * shift, ..., into an output apart and into each input.
    void check(FoldFunction fold, std::size_t n_inputs, std::size_t shift, const Bytes& expected) {
        std::vector<std::unique_ptr<Buffer>> copies;
        std::vector<const void*> addresses;
        for (std::size_t k = 0; k < n_inputs; ++k) {
            copies.push_back(std::make_unique<Buffer>(inputs_[k].size(), (k + 1) * shift % kGuard));
            copies[k]->reset(inputs_[k].data(), inputs_[k].size());
            addresses.push_back(copies[k]->data());
        }
        Buffer out(kMaxCount * bytes_, shift * 5 % kGuard);
        for (std::size_t count : kCounts) {
            const std::size_t bytes = count * bytes_;
            for (std::size_t alias = 0; alias <= n_inputs; ++alias) {
                const bool apart = alias == n_inputs;
                std::vector<const void*> given = addresses;
                if (apart) {
                    out.reset(nullptr, bytes);
                } else {
                    out.reset(inputs_[alias].data(), bytes);
                    given[alias] = out.data();
                }
                fold(out.data(), given.data(), n_inputs, count);
                ASSERT_EQ(first_difference(out.data(), expected.data(), bytes), bytes)
                    << "byte of the result; " << n_inputs << " inputs, count " << count << ", shift " << shift
                    << (apart ? std::string(", output apart") : ", output is input " + std::to_string(alias));
                ASSERT_TRUE(out.guards_untouched(bytes)) << "count " << count << " wrote outside its output";
            }
        }
        for (std::size_t k = 0; k < n_inputs; ++k) {
            ASSERT_EQ(std::memcmp(copies[k]->data(), inputs_[k].data(), inputs_[k].size()), 0)
                << "input " << k << " was changed";
        }
    }

    static std::size_t first_difference(const unsigned char* a, const unsigned char* b, std::size_t bytes) {
        if (std::memcmp(a, b, bytes) == 0) {
            return bytes;
        }
        std::size_t i = 0;
        while (a[i] == b[i]) {
            ++i;
        }
        return i;
    }

    peercoll_op_t op_ = PEERCOLL_OP_NONE;
    peercoll_datatype_t datatype_ = PEERCOLL_DATATYPE_NONE;
    std::size_t bytes_ = 0;
    std::vector<Bytes> inputs_;
};

TEST_P(Fold, GivesTheExactBytesForEveryShapeOnEveryInstructionSet) {
    for (std::size_t n_inputs : kInputCounts) {
        const Bytes expected = expected_fold(op_, datatype_, inputs_, n_inputs);
        for (InstructionSet set : all_instruction_sets) {
            if (!instruction_set_available(set)) {
                continue;
            }
            SCOPED_TRACE(instruction_set_name(set));
            const FoldFunction fold = find_fold_for(set, op_, datatype_);
            ASSERT_NE(fold, nullptr);
            for (std::size_t shift : {0, 1}) {
                check(fold, n_inputs, shift, expected);
                if (HasFatalFailure()) {
                    return;
                }
            }
        }
    }
}

std::vector<std::tuple<peercoll_op_t, peercoll_datatype_t>> all_valid() {
    std::vector<std::tuple<peercoll_op_t, peercoll_datatype_t>> valid;
    for (peercoll_op_t op = PEERCOLL_OP_NONE + 1; op < PEERCOLL_OP_END; ++op) {
        for (peercoll_datatype_t datatype = PEERCOLL_DATATYPE_NONE + 1; datatype < PEERCOLL_DATATYPE_END; ++datatype) {
            if (op_supports(op, datatype)) {
                valid.emplace_back(op, datatype);
            }
        }
    }
    return valid;
}

INSTANTIATE_TEST_SUITE_P(All, Fold, testing::ValuesIn(all_valid()), [](const auto& param) {
    return std::string(op_name(std::get<0>(param.param))) + "_of_" + datatype_name(std::get<1>(param.param));
});

}  // namespace
}  // namespace peercoll::test
