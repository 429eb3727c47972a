// SPDX-License-Identifier: BSD-3-Clause
// What a caller may ask for, and the sentence for what he may not.
#include "plugin/runtime/call.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace peercoll {
namespace {

using testing::HasSubstr;

constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

struct CallTest : testing::Test {
    float send[16] = {};
    float receive[16] = {};
    Call call;

    Status allreduce(const void* from, void* to, std::size_t count, peercoll_datatype_t datatype = PEERCOLL_FLOAT32,
                     peercoll_op_t op = PEERCOLL_SUM) {
        return Call::allreduce(from, to, count, datatype, op, call);
    }
    static void expect_refusal(const Status& status, const char* what) {
        EXPECT_EQ(status.code(), PEERCOLL_ERR_INVALID_ARGUMENT);
        EXPECT_THAT(status.sentence(), HasSubstr(what));
    }
};

TEST_F(CallTest, AnAllreduceIsKeptAsItWasAskedFor) {
    ASSERT_TRUE(allreduce(send, receive, 16).ok());
    EXPECT_EQ(call.kind, PEERCOLL_ALLREDUCE);
    EXPECT_EQ(static_cast<const void*>(call.source), send);
    EXPECT_EQ(static_cast<void*>(call.destination), receive);
    EXPECT_EQ(call.count, 16U);
    EXPECT_EQ(call.element_bytes, 4U);
    EXPECT_EQ(call.bytes(), 64U);
    EXPECT_EQ(call.fold, find_fold(PEERCOLL_SUM, PEERCOLL_FLOAT32));
    EXPECT_TRUE(call.commutative);
}

TEST_F(CallTest, OperationsWhoseOrderMattersAreMarked) {
    for (const peercoll_op_t op : {PEERCOLL_REPLACE, PEERCOLL_NO_OP}) {
        ASSERT_TRUE(allreduce(send, receive, 1, PEERCOLL_FLOAT32, op).ok());
        EXPECT_FALSE(call.commutative);
    }
    ASSERT_TRUE(allreduce(send, receive, 1, PEERCOLL_FLOAT32, PEERCOLL_MAX).ok());
    EXPECT_TRUE(call.commutative) << "a call object can be used again";
}

TEST_F(CallTest, EveryDefinedPairIsTakenAndNoOther) {
    for (peercoll_op_t op = -2; op < PEERCOLL_OP_END + 2; ++op)
        for (peercoll_datatype_t datatype = -2; datatype < PEERCOLL_DATATYPE_END + 2; ++datatype) {
            const Status status = allreduce(send, receive, 1, datatype, op);
            EXPECT_EQ(status.ok(), op_supports(op, datatype)) << op << " " << datatype;
            EXPECT_EQ(status.code(), status.ok() ? PEERCOLL_SUCCESS : PEERCOLL_ERR_INVALID_ARGUMENT);
            EXPECT_TRUE(!status.ok() || call.element_bytes == datatype_size(datatype));
        }
}

TEST_F(CallTest, TheSentenceSaysWhetherTheDatatypeTheOperationOrThePairIsWrong) {
    expect_refusal(allreduce(send, receive, 1, 99), "datatype 99");
    expect_refusal(allreduce(send, receive, 1, PEERCOLL_DATATYPE_NONE), "datatype 0");
    expect_refusal(allreduce(send, receive, 1, PEERCOLL_FLOAT32, 77), "operation 77");
    expect_refusal(allreduce(send, receive, 1, PEERCOLL_FLOAT32, -1), "operation -1");
    const Status pair = allreduce(send, receive, 1, PEERCOLL_FLOAT32, PEERCOLL_BXOR);
    expect_refusal(pair, op_name(PEERCOLL_BXOR));
    expect_refusal(pair, "float32");
}

TEST_F(CallTest, BuffersMayBeTheSameOrApartButMustNotOverlap) {
    EXPECT_TRUE(allreduce(send, send, 16).ok()) << "in place";
    EXPECT_TRUE(allreduce(send, send + 8, 8).ok()) << "one right behind the other";
    EXPECT_TRUE(allreduce(send + 8, send, 8).ok());
    expect_refusal(allreduce(send, send + 8 - 1, 8), "overlap");
    expect_refusal(allreduce(send + 1, send, 2), "overlap");
    expect_refusal(allreduce(send, reinterpret_cast<char*>(send) + 3, 1), "overlap");
    EXPECT_TRUE(allreduce(send, send + 1, 0).ok()) << "nothing overlaps nothing";
}

TEST_F(CallTest, NullIsABufferOnlyForNothing) {
    EXPECT_TRUE(allreduce(nullptr, nullptr, 0).ok());
    EXPECT_TRUE(allreduce(nullptr, receive, 0).ok());
    expect_refusal(allreduce(nullptr, receive, 1), "NULL");
    expect_refusal(allreduce(send, nullptr, 1), "NULL");
    expect_refusal(allreduce(nullptr, nullptr, 1), "NULL");
}

TEST_F(CallTest, CountsBeyondAllMemoryAreRefusedBeforeTheyOverflow) {
    expect_refusal(allreduce(send, receive, most), "count");
    expect_refusal(allreduce(send, receive, most / 4), "count");
    expect_refusal(allreduce(send, receive, most / 16, PEERCOLL_COMPLEX_FLOAT64), "count");
    EXPECT_TRUE(allreduce(send, send, most / 8).ok()) << "as far as one can say";
}

TEST_F(CallTest, ABroadcastIsKeptAsItWasAskedFor) {
    ASSERT_TRUE(Call::broadcast_of(send, 40, 2, 3, call).ok());
    EXPECT_EQ(call.kind, PEERCOLL_BROADCAST);
    EXPECT_EQ(static_cast<void*>(call.broadcast.buffer), send);
    EXPECT_EQ(call.bytes(), 40U);
    EXPECT_EQ(call.broadcast.root, 2);
}

TEST_F(CallTest, TheRootMustBeARank) {
    EXPECT_TRUE(Call::broadcast_of(send, 1, 0, 3, call).ok());
    expect_refusal(Call::broadcast_of(send, 1, 3, 3, call), "root 3");
    expect_refusal(Call::broadcast_of(send, 1, -1, 3, call), "root -1");
    expect_refusal(Call::broadcast_of(send, 0, 3, 3, call), "root 3");
}

TEST_F(CallTest, ABroadcastOfSomethingNeedsABufferThatMemoryCanHold) {
    EXPECT_TRUE(Call::broadcast_of(nullptr, 0, 0, 2, call).ok());
    expect_refusal(Call::broadcast_of(nullptr, 1, 0, 2, call), "NULL");
    expect_refusal(Call::broadcast_of(send, most, 0, 2, call), "memory");
    expect_refusal(Call::broadcast_of(send, most / 2 + 1, 0, 2, call), "memory");
}

}  // namespace
}  // namespace peercoll
