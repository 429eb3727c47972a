// SPDX-License-Identifier: BSD-3-Clause
// Streams and events: what waits for what, and what a stream that is gone answers.
#include "tests/conformance/hip/behaviours/rooms.hpp"
#include "tests/conformance/hip/gpu.hpp"
#include "tests/conformance/hip/release.hpp"

namespace peercoll::conformance::hip {

namespace {

void query_and_synchronise(Scene& scene) {
    need_devices(scene, 1);
    const Stream stream;
    scene.expect("an empty stream", code::success, lib().hipStreamQuery(stream.get()));
    StreamGate gate(stream.get());
    scene.expect("a held one", code::not_ready, lib().hipStreamQuery(stream.get()));
    gate.open();
    scene.expect("synchronise", code::success, stream.synchronize());
    scene.expect("afterwards", code::success, lib().hipStreamQuery(stream.get()));
}

void passes_the_null_stream(Scene& scene) {
    need_devices(scene, 1);
    const Memory memory(2 * MiB);
    const Stream stream;
    StreamGate gate(nullptr);
    need("hipMemsetAsync", lib().hipMemsetAsync(memory.at(), 1, memory.bytes(), stream.get()));
    scene.expect("finishes while the null stream is held", true, becomes_idle(stream.get()));
    scene.expect("the null stream is still held", code::not_ready, lib().hipStreamQuery(nullptr));
    gate.open();
    scene.expect("synchronise", code::success, lib().hipDeviceSynchronize());
}

// What the plugin waits with for the application's "synchronous" calls.
void event_of_the_null_stream(Scene& scene) {
    need_devices(scene, 1);
    const Memory source(32 * MiB);
    const Memory target(32 * MiB);
    store(source.at(), words_from(40, source.bytes() / 8));
    need("hipMemcpy", lib().hipMemcpy(target.at(), source.at(), source.bytes(), copy_device_to_device));
    const Event event;
    scene.expect("record", code::success, lib().hipEventRecord(event.get(), nullptr));
    scene.expect("wait", code::success, lib().hipEventSynchronize(event.get()));
    scene.expect("it is done", code::success, lib().hipEventQuery(event.get()));
    const Stream stream;
    std::uint64_t last = 0;
    need("hipMemcpyAsync", lib().hipMemcpyAsync(&last, target.at(target.bytes() - 8), 8, copy_default, stream.get()));
    need("hipStreamSynchronize", stream.synchronize());
    scene.expect("what a synchronous copy within the device left, to another stream", 40 + target.bytes() / 8 - 1,
                 last);
}

void streams_wait_for_events(Scene& scene) {
    need_devices(scene, 1);
    const Stream first;
    const Stream second;
    const Event event(event_disable_timing | event_release_to_system);
    StreamGate gate(first.get());
    scene.expect("record", code::success, lib().hipEventRecord(event.get(), first.get()));
    scene.expect("query", code::not_ready, lib().hipEventQuery(event.get()));
    scene.expect("another stream waits", code::success, lib().hipStreamWaitEvent(second.get(), event.get(), 0));
    scene.expect("that finishes early", false, becomes_idle(second.get(), 100));
    gate.open();
    scene.expect("and finishes", true, becomes_idle(second.get()));
    scene.expect("the event is complete", code::success, lib().hipEventQuery(event.get()));
}

void never_recorded(Scene& scene) {
    need_devices(scene, 1);
    const Event event;
    scene.expect("query", code::success, lib().hipEventQuery(event.get()));
    scene.expect("synchronise", code::success, lib().hipEventSynchronize(event.get()));
    const Stream stream;
    scene.expect("a stream waits", code::success, lib().hipStreamWaitEvent(stream.get(), event.get(), 0));
    scene.expect("and is done", code::success, stream.synchronize());
}

void destroyed(Scene& scene) {
    need_devices(scene, 1);
    if (release().major() >= 7) scene.skip("HIP 7 may crash");
    HipStream stream = nullptr;
    need("hipStreamCreateWithFlags", lib().hipStreamCreateWithFlags(&stream, stream_non_blocking));
    scene.expect("destroy", code::success, lib().hipStreamDestroy(stream));
    scene.expect("query", code::context_is_destroyed, lib().hipStreamQuery(stream));
    scene.expect("synchronise", code::context_is_destroyed, lib().hipStreamSynchronize(stream));
}

void values(Scene& scene) {
    need_devices(scene, 1);
    int can = 0;
    need("hipDeviceGetAttribute", lib().hipDeviceGetAttribute(&can, device_attribute::can_use_stream_wait_value, 0));
    if (can == 0) scene.skip("attribute 10013 says that the device cannot");
    const Memory memory(4096);
    store(memory.at(), words_from(1, 2));
    const Stream stream;
    StreamGate gate(stream.get());
    scene.expect("write", code::success, lib().hipStreamWriteValue64(stream.get(), memory.at(8), 77, 0));
    gate.open();
    scene.expect("synchronise", code::success, stream.synchronize());
    scene.expect("the word", 77u, load(memory.at(8), 1)[0]);
    scene.expect("the one before", 1u, load(memory.at(), 1)[0]);
}

void capture_mode(Scene& scene) {
    need_devices(scene, 1);
    int mode = capture_mode_relaxed;
    scene.expect("exchange", code::success, lib().hipThreadExchangeStreamCaptureMode(&mode));
    scene.expect("the former one is global", 0, mode);
    scene.expect("exchange back", code::success, lib().hipThreadExchangeStreamCaptureMode(&mode));
    scene.expect("the former one is relaxed", capture_mode_relaxed, mode);
}

}  // namespace

void add_streams(Suite& suite) {
    suite.enter("streams");
    suite.add("a query says not ready until the work is done", query_and_synchronise);
    suite.add("a non-blocking stream does not wait for the null stream", passes_the_null_stream);
    suite.add("an event of the null stream comes after synchronous calls", event_of_the_null_stream);
    suite.add("a stream waits for an event of another", streams_wait_for_events);
    suite.add("an event that was never recorded is complete", never_recorded);
    suite.add("a stream that was destroyed", destroyed);
    suite.add("a stream writes a word", values);
    suite.add("capture modes are exchanged", capture_mode);
}

}  // namespace peercoll::conformance::hip
