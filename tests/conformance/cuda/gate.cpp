// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/cuda/gate.hpp"

#include <chrono>
#include <thread>

namespace peercoll::conformance::cuda {

namespace {

// A gate that nobody opens must not hang the process.
constexpr auto longest_hold = std::chrono::seconds(30);

void wait_at_gate(void* user) {
    const auto& is_open = *static_cast<const std::atomic<bool>*>(user);
    const auto until = std::chrono::steady_clock::now() + longest_hold;
    while (!is_open.load() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
}

template <typename Query>
bool becomes_ready(const Query& query, int limit_ms) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_ms);
    for (;;) {
        const CUresult code = query();
        if (code == success) return true;
        if (code != not_ready) need("a query", code);
        if (std::chrono::steady_clock::now() >= until) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

}  // namespace

Gate::~Gate() {
    open();
    driver().cuCtxSynchronize();
}

void Gate::hold(CUstream stream) {
    need("cuLaunchHostFunc", driver().cuLaunchHostFunc(stream, wait_at_gate, is_open_.get()));
}

bool becomes_idle(CUstream stream, int limit_ms) {
    return becomes_ready([stream] { return driver().cuStreamQuery(stream); }, limit_ms);
}

bool becomes_complete(CUevent event, int limit_ms) {
    return becomes_ready([event] { return driver().cuEventQuery(event); }, limit_ms);
}

}  // namespace peercoll::conformance::cuda
