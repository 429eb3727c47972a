// SPDX-License-Identifier: BSD-3-Clause
// Events within one process.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/event.hpp"
#include "tests/conformance/cuda/gate.hpp"

namespace peercoll::conformance::cuda {

namespace {

void query(Scene& scene) {
    const Gpu gpu(scene);
    const Stream stream;
    const Event event;
    scene.expect("never recorded", success, driver().cuEventQuery(event.get()));
    StreamGate gate;
    gate.hold(stream.get());
    need("cuEventRecord", driver().cuEventRecord(event.get(), stream.get()));
    scene.expect("behind work that is held", not_ready, driver().cuEventQuery(event.get()));
    gate.open();
    scene.expect("synchronise", success, driver().cuEventSynchronize(event.get()));
    scene.expect("after that", success, driver().cuEventQuery(event.get()));
}

void orders_streams(Scene& scene) {
    const Gpu gpu(scene);
    const Memory source(2 * MiB);
    const Memory target(2 * MiB);
    const Memory seen(2 * MiB);  // before the gate: an allocation may wait for the device
    const Stream writing;
    const Stream reading;
    const Event written;
    const std::vector<std::uint64_t> words = words_from(77, source.bytes() / 8);
    store(source.address(), words);
    store(target.address(), words_from(0, source.bytes() / 8));
    StreamGate gate;
    gate.hold(writing.get());
    need("cuMemcpyAsync", driver().cuMemcpyAsync(target.address(), source.address(), source.bytes(), writing.get()));
    need("cuEventRecord", driver().cuEventRecord(written.get(), writing.get()));
    need("cuStreamWaitEvent", driver().cuStreamWaitEvent(reading.get(), written.get(), 0));
    need("cuMemcpyAsync", driver().cuMemcpyAsync(seen.address(), target.address(), seen.bytes(), reading.get()));
    scene.expect("the stream that waits finishes early", false, becomes_idle(reading.get(), 200));
    gate.open();
    need("cuStreamSynchronize", reading.synchronize());
    scene.expect("it read what was written before the event", true, load(seen.address(), words.size()) == words);
}

void unrecorded_does_not_hold(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(2 * MiB);
    const Stream stream;
    const Event event;
    scene.expect("wait for it", success, driver().cuStreamWaitEvent(stream.get(), event.get(), 0));
    need("cuMemsetD8Async", driver().cuMemsetD8Async(memory.address(), 1, memory.bytes(), stream.get()));
    scene.expect("the stream finishes", true, becomes_idle(stream.get()));
}

void recorded_again(Scene& scene) {
    const Gpu gpu(scene);
    const Stream first;
    const Stream second;
    const Stream waiting;
    const Event event;
    StreamGate early;
    early.hold(first.get());
    need("cuEventRecord", driver().cuEventRecord(event.get(), first.get()));
    need("cuStreamWaitEvent", driver().cuStreamWaitEvent(waiting.get(), event.get(), 0));
    need("cuEventRecord", driver().cuEventRecord(event.get(), second.get()));
    scene.expect("the event is complete once its last record is", true, becomes_complete(event.get()));
    scene.expect("whoever waited before still waits for the earlier record", false, becomes_idle(waiting.get(), 200));
    early.open();
    scene.expect("and gets it", true, becomes_idle(waiting.get()));
}

void destroyed_while_needed(Scene& scene) {
    const Gpu gpu(scene);
    const Stream stream;
    const Stream waiting;
    StreamGate gate;
    gate.hold(stream.get());
    {
        const Event event;
        need("cuEventRecord", driver().cuEventRecord(event.get(), stream.get()));
        need("cuStreamWaitEvent", driver().cuStreamWaitEvent(waiting.get(), event.get(), 0));
    }
    scene.expect("the stream that waits finishes early", false, becomes_idle(waiting.get(), 200));
    gate.open();
    scene.expect("and finishes", true, becomes_idle(waiting.get()));
}

}  // namespace

void add_events(Suite& suite) {
    suite.enter("events");
    suite.add("a query says not ready until the work before it is done", query);
    suite.add("a stream waits for the work before an event", orders_streams);
    suite.add("an event that was never recorded holds nobody", unrecorded_does_not_hold);
    suite.add("an event recorded again", recorded_again);
    suite.add("a destroyed event still orders", destroyed_while_needed);
}

}  // namespace peercoll::conformance::cuda
