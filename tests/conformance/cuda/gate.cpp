// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/cuda/gate.hpp"

namespace peercoll::conformance::cuda {

namespace {

void wait_at_gate(void* user) {
    static_cast<const Gate*>(user)->pass();
}

bool is_ready(CUresult code) {
    if (code != success && code != not_ready) need("a query", code);
    return code == success;
}

}  // namespace

StreamGate::~StreamGate() {
    open();
    driver().cuCtxSynchronize();
}

void StreamGate::hold(CUstream stream) {
    need("cuLaunchHostFunc", driver().cuLaunchHostFunc(stream, wait_at_gate, &gate_));
}

bool becomes_idle(CUstream stream, int limit_ms) {
    return becomes([stream] { return is_ready(driver().cuStreamQuery(stream)); }, limit_ms);
}

bool becomes_complete(CUevent event, int limit_ms) {
    return becomes([event] { return is_ready(driver().cuEventQuery(event)); }, limit_ms);
}

}  // namespace peercoll::conformance::cuda
