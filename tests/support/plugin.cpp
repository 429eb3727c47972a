// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/plugin.hpp"

#include <utility>

namespace peercoll::test {

testing::AssertionResult succeeded(peercoll_status_t status) {
    if (status == PEERCOLL_SUCCESS) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << plugin.status_name(status) << ": " << plugin.last_error();
}

testing::AssertionResult refused(peercoll_status_t status, peercoll_status_t expected, const std::string& word) {
    if (status != expected) {
        return testing::AssertionFailure() << "the status is " << plugin.status_name(status) << " and not "
                                           << plugin.status_name(expected) << "; last error: " << plugin.last_error();
    }
    const std::string sentence = plugin.last_error();
    if (sentence.empty()) {
        return testing::AssertionFailure() << "there is no sentence for " << plugin.status_name(status);
    }
    if (sentence.find(word) == std::string::npos) {
        return testing::AssertionFailure() << "the sentence does not name '" << word << "': " << sentence;
    }
    return testing::AssertionSuccess();
}

Context::Context(const OptionList& options) {
    std::vector<const char*> texts;
    for (const std::string& option : options) {
        texts.push_back(option.c_str());
    }
    texts.push_back(nullptr);
    peercoll_context_params_t params{};
    params.struct_size = sizeof(params);
    params.options = texts.data();
    params.options_origin = "test";
    EXPECT_TRUE(succeeded(plugin.context_create(&params, &context_)));
}

Context::~Context() {
    EXPECT_TRUE(succeeded(plugin.context_destroy(context_)));
}

std::map<std::string, std::uint64_t> Context::counters() const {
    std::map<std::string, std::uint64_t> all;
    const char* name = nullptr;
    std::uint64_t value = 0;
    for (std::size_t index = 0; plugin.statistic(context_, index, &name, &value) == PEERCOLL_SUCCESS; ++index) {
        all[name] = value;
    }
    return all;
}

std::uint64_t Context::counter(const std::string& name) const {
    const auto all = counters();
    const auto found = all.find(name);
    return found == all.end() ? 0 : found->second;
}

peercoll_comm_params_t comm_params(Exchange& exchange) {
    peercoll_comm_params_t params{};
    params.struct_size = sizeof(params);
    params.rank = exchange.member();
    params.size = exchange.members();
    params.allgather = &Exchange::allgather_callback;
    params.user = &exchange;
    params.label = "test";
    return params;
}

Comm::Comm(const Context& context, const Exchange& exchange) : exchange_(exchange) {
    const peercoll_comm_params_t params = comm_params(exchange_);
    EXPECT_TRUE(succeeded(plugin.comm_create(context.get(), &params, &comm_)));
}

Comm::~Comm() {
    EXPECT_TRUE(succeeded(plugin.comm_destroy(comm_)));
}

peercoll_comm_t Comm::release() {
    return std::exchange(comm_, nullptr);
}

std::map<std::string, std::uint64_t> algorithms_used(const Context& context, const std::string& collective) {
    const std::string prefix = collective + ".algorithm.";
    std::map<std::string, std::uint64_t> used;
    for (const auto& [name, value] : context.counters()) {
        if (name.rfind(prefix, 0) == 0 && value > 0) {
            used[name.substr(prefix.size())] = value;
        }
    }
    return used;
}

}  // namespace peercoll::test
