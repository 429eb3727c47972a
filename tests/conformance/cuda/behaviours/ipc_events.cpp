// SPDX-License-Identifier: BSD-3-Clause
// Events that two processes share.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/event.hpp"
#include "tests/conformance/cuda/gate.hpp"
#include "tests/conformance/cuda/ipc.hpp"

namespace peercoll::conformance::cuda {

namespace {

constexpr std::size_t bytes = 4 * MiB;
constexpr std::size_t count = bytes / 8;

void flags_of_events(Scene& scene) {
    const Gpu gpu(scene);
    CUevent event = nullptr;
    scene.expect("interprocess with timing", invalid_value, driver().cuEventCreate(&event, event_interprocess));
    const Event local;
    CUipcEventHandle handle{};
    scene.observe("name a local event", driver().cuIpcGetEventHandle(&handle, local.get()));
    const Event shared(event_interprocess | event_disable_timing);
    scene.expect("name an interprocess event", success, driver().cuIpcGetEventHandle(&handle, shared.get()));
    scene.observe("open the own event's handle", driver().cuIpcOpenEventHandle(&event, handle));
}

void owner(Scene& scene) {
    const Gpu gpu(scene);
    const Memory source(bytes);
    const Memory target(bytes);
    const Stream stream;
    const Event event(event_interprocess | event_disable_timing);
    store(source.address(), words_from(100, count));
    store(target.address(), words_from(0, count));
    CUipcEventHandle handle{};
    scene.expect("name the event", success, driver().cuIpcGetEventHandle(&handle, event.get()));
    scene.other().send(handle);
    scene.other().send(ipc_handle(target.address()));
    scene.other().hear("opened");
    StreamGate gate;
    gate.hold(stream.get());
    need("cuMemcpyAsync", driver().cuMemcpyAsync(target.address(), source.address(), bytes, stream.get()));
    need("cuEventRecord", driver().cuEventRecord(event.get(), stream.get()));
    scene.other().say("recorded");
    scene.other().hear("waiting");
    gate.open();
    scene.other().hear("done");
}

void reader(Scene& scene) {
    const Gpu gpu(scene);
    const Event event(scene.other().receive<CUipcEventHandle>());
    const IpcMapping mapping(scene.other().receive<CUipcMemHandle>());
    const Memory seen(bytes);
    const Stream stream;
    scene.expect("before it was ever recorded", success, driver().cuEventQuery(event.get()));
    scene.other().say("opened");
    scene.other().hear("recorded");
    scene.expect("behind work that is held", not_ready, driver().cuEventQuery(event.get()));
    scene.expect("a stream waits for it", success, driver().cuStreamWaitEvent(stream.get(), event.get(), 0));
    need("cuMemcpyAsync", driver().cuMemcpyAsync(seen.address(), mapping.address(), bytes, stream.get()));
    scene.expect("that stream finishes early", false, becomes_idle(stream.get(), 200));
    scene.other().say("waiting");
    scene.expect("and finishes", true, becomes_idle(stream.get()));
    scene.expect("what was written before the event was read", true,
                 load(seen.address(), count) == words_from(100, count));
    scene.expect("the event is complete", true, becomes_complete(event.get()));
    scene.other().say("done");
}

}  // namespace

void add_ipc_events(Suite& suite) {
    suite.enter("IPC events");
    suite.add("only interprocess events have a handle", flags_of_events);
    suite.add("a stream waits for another process's work", owner, reader);
}

}  // namespace peercoll::conformance::cuda
