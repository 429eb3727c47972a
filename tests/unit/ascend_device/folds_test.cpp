// SPDX-License-Identifier: BSD-3-Clause
// Reductions: which there are on each kind of device, that they give the host's bits in the plan's order, and copies.
#include "collectives/reduction/host_kernels.hpp"
#include "tests/unit/ascend_device/application.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cstring>

namespace peercoll::test {
namespace {

using testing::HasSubstr;

class AscendFolds : public OnAscend {};
PEERCOLL_ON_EACH_LIBRARY(AscendFolds);

int can(peercoll_datatype_t datatype, peercoll_op_t op) {
    return ascend_device().can_fold(0, datatype, op);
}

// What the simulated devices give otherwise than the host does: NaNs, zeros and rounding of floats that are compared,
// and halves that are summed; and the 310P's integers, which stop at their limits.
TEST_P(AscendFolds, AreThoseThatGiveTheHostsBits) {
    on_machine({.node = "devices 1\nname all Ascend910B3\n"}, [](Application&) {
        EXPECT_OPENS();
        EXPECT_EQ(can(PEERCOLL_BYTE, PEERCOLL_NO_OP), 1) << "copies";
        EXPECT_EQ(can(PEERCOLL_FLOAT64, PEERCOLL_REPLACE), 1);
        const int reduces = is_old() ? 0 : 1;
        for (const peercoll_datatype_t datatype : {PEERCOLL_INT8, PEERCOLL_INT16, PEERCOLL_INT32})
            for (const peercoll_op_t op : {PEERCOLL_SUM, PEERCOLL_MIN, PEERCOLL_MAX})
                EXPECT_EQ(can(datatype, op), reduces) << datatype_name(datatype) << op_name(op);
        for (const peercoll_datatype_t datatype : {PEERCOLL_UINT8, PEERCOLL_UINT16, PEERCOLL_UINT32})
            EXPECT_EQ(can(datatype, PEERCOLL_SUM), reduces);
        EXPECT_EQ(can(PEERCOLL_FLOAT32, PEERCOLL_SUM), reduces);
        for (const peercoll_datatype_t datatype :
             {PEERCOLL_FLOAT16, PEERCOLL_BFLOAT16, PEERCOLL_INT64, PEERCOLL_FLOAT64})
            EXPECT_EQ(can(datatype, PEERCOLL_SUM), 0) << datatype_name(datatype);
        EXPECT_EQ(can(PEERCOLL_FLOAT32, PEERCOLL_MIN), 0) << "another NaN";
        EXPECT_EQ(can(PEERCOLL_UINT8, PEERCOLL_MAX), 0);
        EXPECT_EQ(can(PEERCOLL_INT32, PEERCOLL_PROD), 0);
        EXPECT_EQ(can(PEERCOLL_INT32, PEERCOLL_BAND), 0);
    });
}

TEST_P(AscendFolds, DifferBetweenDevices) {
    on_machine({.node = "devices 1\nname all Ascend310P3\n"}, [](Application&) {
        EXPECT_OPENS();
        EXPECT_EQ(can(PEERCOLL_INT16, PEERCOLL_SUM), 0) << "it does not wrap";
        EXPECT_EQ(can(PEERCOLL_FLOAT32, PEERCOLL_SUM), is_old() ? 0 : 1);
        EXPECT_EQ(can(PEERCOLL_INT32, PEERCOLL_MAX), 0);
    });
    on_machine({.node = "devices 1\nname all Ascend950PR\n"}, [](Application&) {
        EXPECT_OPENS();
        EXPECT_EQ(can(PEERCOLL_UINT32, PEERCOLL_MAX), is_old() ? 0 : 1);
    });
}

struct Fold {
    peercoll_fold_t description{};
    std::vector<std::uint64_t> inputs;
    std::vector<std::uint64_t> outputs;
    std::vector<std::uint32_t> ends;

    const peercoll_fold_t* get() {
        description.struct_size = sizeof description;
        description.n_inputs = static_cast<std::uint32_t>(inputs.size());
        description.n_outputs = static_cast<std::uint32_t>(outputs.size());
        description.n_blocks = static_cast<std::uint32_t>(ends.size());
        description.inputs = inputs.data();
        description.outputs = outputs.data();
        description.block_ends = ends.data();
        return &description;
    }
    peercoll_status_t run(peercoll_reason_t* reason) {
        peercoll_stream_t stream = nullptr;
        EXPECT_EQ(ascend_device().stream_create(0, &stream, reason), PEERCOLL_SUCCESS) << reason->text;
        peercoll_status_t status = ascend_device().fold(stream, get(), reason);
        if (status == PEERCOLL_SUCCESS) status = ascend_device().stream_synchronize(stream, reason);
        ascend_device().stream_destroy(stream);
        return status;
    }
};

// Floats whose sum depends on the order of additions: 1, 2^24, 3, ... with signs.
float element(std::size_t rank, std::size_t i) {
    const float large = (rank + i) % 3 == 0 ? 16'777'216.0F : 1.0F;
    return (rank % 2 == 0 ? large : -large) * static_cast<float>(1 + (rank * 7 + i) % 5);
}

// ((0 + 1) + 2) + (3 + 4), in an order that matters; inputs of any alignment, and outputs that are inputs.
TEST_P(AscendFolds, SumInThePlansOrder) {
    on_machine({}, [](Application& application) {
        if (is_old()) return;  // has no reductions
        EXPECT_OPENS();
        for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, (std::size_t{5} << 18) + 3}) {
            for (const std::size_t shift : {0, 4, 2}) {
                Fold fold;
                fold.description.datatype = PEERCOLL_FLOAT32;
                fold.description.op = PEERCOLL_SUM;
                fold.description.count = count;
                fold.ends = {3, 5};
                std::vector<std::vector<float>> values(5, std::vector<float>(count));
                std::vector<std::uint64_t> memories;
                for (std::size_t rank = 0; rank < 5; ++rank) {
                    for (std::size_t i = 0; i < count; ++i) values[rank][i] = element(rank, i);
                    std::vector<std::uint8_t> raw(count * sizeof(float));
                    std::memcpy(raw.data(), values[rank].data(), raw.size());
                    memories.push_back(application.allocate(raw.size() + 8));
                    application.write(memories.back() + shift, raw);
                    fold.inputs.push_back(memories.back() + shift);
                }
                fold.outputs = {fold.inputs[0], fold.inputs[4]};
                peercoll_reason_t reason{};
                ASSERT_EQ(fold.run(&reason), PEERCOLL_SUCCESS) << reason.text;
                for (const std::uint64_t output : fold.outputs) {
                    const std::vector<std::uint8_t> raw = application.read(output, count * sizeof(float));
                    for (std::size_t i = 0; i < count; ++i) {
                        float seen = 0;
                        std::memcpy(&seen, raw.data() + i * sizeof seen, sizeof seen);
                        const float first = (values[0][i] + values[1][i]) + values[2][i];
                        const float second = values[3][i] + values[4][i];
                        ASSERT_EQ(std::bit_cast<std::uint32_t>(seen), std::bit_cast<std::uint32_t>(first + second))
                            << "element " << i << " of " << count;
                    }
                }
                for (const std::uint64_t memory : memories) application.free(memory);
            }
        }
    });
}

TEST_P(AscendFolds, OfOneInputOrThatChooseOneAreCopies) {
    on_machine({.pointers = "device"}, [](Application& application) {
        EXPECT_OPENS();
        constexpr std::size_t bytes = 12'345;
        std::vector<std::uint64_t> memories;
        for (unsigned i = 0; i < 4; ++i) {
            memories.push_back(application.allocate(bytes));
            application.write(memories.back(), pattern(bytes, i));
        }
        Fold fold;
        fold.description.datatype = PEERCOLL_BYTE;
        fold.description.count = bytes;
        for (const auto& [op, from] : {std::pair{PEERCOLL_NO_OP, 0U}, std::pair{PEERCOLL_REPLACE, 1U}}) {
            fold.description.op = op;
            fold.inputs = {memories[0], memories[1]};
            fold.outputs = {memories[2], memories[3]};
            fold.ends = {2};
            peercoll_reason_t reason{};
            ASSERT_EQ(fold.run(&reason), PEERCOLL_SUCCESS) << reason.text;
            for (const std::uint64_t output : fold.outputs)
                EXPECT_EQ(application.read(output, bytes), pattern(bytes, from));
        }
        for (const std::uint64_t memory : memories) application.free(memory);
    });
}

TEST_P(AscendFolds, ThatAreNoneAreRefused) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        const std::uint64_t memory = application.allocate(64);
        Fold fold;
        fold.description.datatype = PEERCOLL_FLOAT64;
        fold.description.op = PEERCOLL_SUM;
        fold.description.count = 8;
        fold.inputs = {memory, memory};
        fold.outputs = {memory};
        fold.ends = {2};
        peercoll_reason_t reason{};
        EXPECT_EQ(fold.run(&reason), PEERCOLL_ERR_NOT_SUPPORTED);
        EXPECT_THAT(reason.text, HasSubstr("sum of float64"));
        fold.ends = {1};
        EXPECT_EQ(fold.run(&reason), PEERCOLL_ERR_INVALID_ARGUMENT);
        fold.ends = {2};
        fold.description.flag = memory;
        EXPECT_EQ(fold.run(&reason), PEERCOLL_ERR_INVALID_ARGUMENT);
        EXPECT_THAT(reason.text, HasSubstr("no flag"));
        application.free(memory);
    });
}

}  // namespace
}  // namespace peercoll::test
