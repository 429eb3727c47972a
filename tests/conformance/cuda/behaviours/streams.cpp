// SPDX-License-Identifier: BSD-3-Clause
// What waits for what between streams. Nothing is timed: a host function holds a stream until its gate is opened, and
// what can be seen meanwhile did not wait for it.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/gate.hpp"

namespace peercoll::conformance::cuda {

namespace {

void query_and_synchronise(Scene& scene) {
    const Gpu gpu(scene);
    const Stream stream;
    scene.expect("a new stream", success, driver().cuStreamQuery(stream.get()));
    StreamGate gate;
    gate.hold(stream.get());
    scene.expect("a held stream", not_ready, driver().cuStreamQuery(stream.get()));
    gate.open();
    scene.expect("synchronise", success, stream.synchronize());
    scene.expect("after that", success, driver().cuStreamQuery(stream.get()));
}

void stream_knows_its_context(Scene& scene) {
    const Gpu gpu(scene);
    const Stream stream;
    CUcontext context = nullptr;
    scene.expect("code", success, driver().cuStreamGetCtx(stream.get(), &context));
    scene.expect("it is the primary context", true, context == gpu.context());
}

void non_blocking_stream_passes_the_legacy_stream(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(2 * MiB);
    const Stream stream;
    StreamGate gate;
    gate.hold(nullptr);
    need("cuMemsetD8Async", driver().cuMemsetD8Async(memory.address(), 1, memory.bytes(), stream.get()));
    scene.expect("finishes while the legacy stream is held", true, becomes_idle(stream.get()));
    scene.expect("the legacy stream is still held", not_ready, driver().cuStreamQuery(nullptr));
    gate.open();
    scene.expect("synchronise", success, driver().cuCtxSynchronize());
}

void blocking_stream_waits_for_the_legacy_stream(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(2 * MiB);
    const Stream blocking(0);
    StreamGate gate;
    gate.hold(nullptr);
    need("cuMemsetD8Async", driver().cuMemsetD8Async(memory.address(), 1, memory.bytes(), blocking.get()));
    scene.expect("finishes while the legacy stream is held", false, becomes_idle(blocking.get(), 200));
    gate.open();
    scene.expect("finishes afterwards", true, becomes_idle(blocking.get()));
}

void streams_pass_each_other(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(2 * MiB);
    const Stream held;
    const Stream free;
    StreamGate gate;
    gate.hold(held.get());
    need("cuMemsetD8Async", driver().cuMemsetD8Async(memory.address(), 1, memory.bytes(), free.get()));
    scene.expect("finishes while another stream is held", true, becomes_idle(free.get()));
    gate.open();
    scene.expect("synchronise", success, held.synchronize());
}

void work_of_a_stream_runs_in_order(Scene& scene) {
    const Gpu gpu(scene);
    const Memory a(2 * MiB);
    const Memory b(2 * MiB);
    const Stream stream;
    const std::vector<std::uint64_t> words = words_from(1000, a.bytes() / 8);
    std::vector<std::uint64_t> back(words.size());
    store(a.address(), words);
    for (int i = 0; i < 8; ++i) {
        need("cuMemsetD8Async", driver().cuMemsetD8Async(b.address(), 7, b.bytes(), stream.get()));
        need("cuMemcpyAsync", driver().cuMemcpyAsync(b.address(), a.address(), a.bytes(), stream.get()));
    }
    need("cuMemcpyAsync",
         driver().cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(back.data()), b.address(), b.bytes(), stream.get()));
    need("cuStreamSynchronize", stream.synchronize());
    scene.expect("the last copy is the one that stays", true, back == words);
}

void destroyed_stream_finishes(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(2 * MiB);
    CUstream stream = nullptr;
    need("cuStreamCreate", driver().cuStreamCreate(&stream, stream_non_blocking));
    StreamGate gate;
    gate.hold(stream);
    need("cuMemsetD8Async", driver().cuMemsetD8Async(memory.address(), 0x11, memory.bytes(), stream));
    scene.expect("destroying a busy stream", success, driver().cuStreamDestroy(stream));
    gate.open();
    need("cuCtxSynchronize", driver().cuCtxSynchronize());
    scene.expect("its work was done", true, load(memory.address(), 1)[0] == 0x1111111111111111);
}

}  // namespace

void add_streams(Suite& suite) {
    suite.enter("streams");
    suite.add("a query says not ready until the work is done", query_and_synchronise);
    suite.add("a stream knows its context", stream_knows_its_context);
    suite.add("a non-blocking stream does not wait for the legacy stream",
              non_blocking_stream_passes_the_legacy_stream);
    suite.add("a blocking stream waits for the legacy stream", blocking_stream_waits_for_the_legacy_stream);
    suite.add("streams do not wait for each other", streams_pass_each_other);
    suite.add("the work of a stream runs in order", work_of_a_stream_runs_in_order);
    suite.add("a destroyed stream finishes its work", destroyed_stream_finishes);
}

}  // namespace peercoll::conformance::cuda
