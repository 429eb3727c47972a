// SPDX-License-Identifier: BSD-3-Clause
// One value of every forked rank, on every rank.
#pragma once

#include "tests/support/exchange.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

namespace peercoll::test {

template <typename Value>
std::vector<Value> gather(Exchange exchange, const Value& mine) {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::vector<Value> all(static_cast<std::size_t>(exchange.members()));
    EXPECT_TRUE(exchange.allgather(&mine, all.data(), sizeof mine));
    return all;
}

}  // namespace peercoll::test
