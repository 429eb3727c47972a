// SPDX-License-Identifier: BSD-3-Clause
// The plugin's objects as RAII, and answers as gtest assertions. Everything goes through the C interface.
#pragma once

#include "tests/support/process_group.hpp"

#include <gtest/gtest.h>
#include <peercoll/peercoll.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace peercoll::test {

inline const peercoll_plugin_t& plugin = peercoll_plugin_v1;

using OptionList = std::vector<std::string>;  // "name=value" each

// EXPECT_TRUE(succeeded(plugin.broadcast(...))) shows the status and the sentence when it is not so.
testing::AssertionResult succeeded(peercoll_status_t status);
// The call was refused with this status and a sentence in which `word` occurs.
testing::AssertionResult refused(peercoll_status_t status, peercoll_status_t expected, const std::string& word = "");

class Context {
public:
    explicit Context(const OptionList& options = {});
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    peercoll_context_t get() const { return context_; }
    // The value of a counter; 0 if it has not been counted yet.
    std::uint64_t counter(const std::string& name) const;
    std::map<std::string, std::uint64_t> counters() const;

private:
    peercoll_context_t context_ = nullptr;
};

class Comm {
public:
    // `member` and `members` are the exchange's.
    Comm(const Context& context, const Exchange& exchange);
    ~Comm();
    Comm(const Comm&) = delete;
    Comm& operator=(const Comm&) = delete;

    peercoll_comm_t get() const { return comm_; }
    // For tests that destroy it themselves: forgets it.
    peercoll_comm_t release();

private:
    Exchange exchange_;
    peercoll_comm_t comm_ = nullptr;
};

// The parameters the two classes use, for tests that call the functions themselves.
peercoll_comm_params_t comm_params(Exchange& exchange);

// Names of the allreduce counters for the algorithms that were used: "packets" -> calls.
std::map<std::string, std::uint64_t> algorithms_used(const Context& context, const std::string& collective);

}  // namespace peercoll::test
