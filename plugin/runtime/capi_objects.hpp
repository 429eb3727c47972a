// SPDX-License-Identifier: BSD-3-Clause
// What the C ABI's opaque pointers point to.
#pragma once

#include "plugin/runtime/communicator.hpp"
#include "plugin/runtime/context.hpp"

#include <memory>

struct peercoll_context {
    std::unique_ptr<peercoll::Context> implementation;
};

struct peercoll_comm {
    peercoll_comm(peercoll::Context& context, const peercoll_comm_params_t& params) : implementation(context, params) {}
    peercoll::Communicator implementation;
};

struct peercoll_request {
    peercoll_request(peercoll::Communicator& communicator, const peercoll::Call& call, bool persistent)
        : implementation(communicator, call, persistent) {}
    peercoll::Request implementation;
    bool in_use = false;  // a persistent request between start and the wait or test that ends it
};
