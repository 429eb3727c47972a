// SPDX-License-Identifier: BSD-3-Clause
// Streams and events: whose context they are of, and the two polarities of "complete".
#include "tests/conformance/ascend/behaviours/rooms.hpp"
#include "tests/conformance/ascend/npu.hpp"

namespace peercoll::conformance::ascend {

namespace {

constexpr std::size_t bytes = 16 * MiB;

void query(Scene& scene) {
    const Npu npu(scene);
    const Stream stream;
    int status = -1;
    scene.expect("code", code::success, lib().aclrtStreamQuery(stream.get(), &status));
    scene.expect("an empty stream", stream_complete, status);
}

void of_another_context(Scene& scene) {
    const Npu first(scene, 0);
    const Npu second(scene, 1);
    const Memory memory(second, 4096);
    const HostMemory host(4096);
    first.use();
    const Stream stream;
    second.use();
    scene.expect("a copy", code::rt_stream_context,
                 lib().aclrtMemcpyAsync(memory.at(), 8, host.words(), 8, copy_kind::host_to_device, stream.get()));
    scene.expect("synchronise", code::rt_stream_context, stream.synchronize());
    first.use();
    scene.expect("with its context again", code::success, stream.synchronize());
}

class Event {
public:
    Event(const Function<AclError(AclEvent*, std::uint32_t)>& create, std::uint32_t flag) {
        need("aclrtCreateEventExWithFlag", create(&handle_, flag));
    }
    Event() { need("aclrtCreateEvent", lib().aclrtCreateEvent(&handle_)); }
    ~Event() { lib().aclrtDestroyEvent(handle_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    AclEvent get() const { return handle_; }

private:
    AclEvent handle_ = nullptr;
};

void plain_event(Scene& scene) {
    const Npu npu(scene);
    const Stream stream;
    const Event event;
    scene.expect("record", code::success, lib().aclrtRecordEvent(event.get(), stream.get()));
    need("aclrtSynchronizeStream", stream.synchronize());
    int status = -1;
    scene.expect("query: code", code::success, lib().aclrtQueryEvent(event.get(), &status));
    scene.expect("complete is 0", event_complete, status);
}

void recorded_event(Scene& scene) {
    const Npu npu(scene);
    const Stream stream;
    const Event event(lib().aclrtCreateEventExWithFlag, event_sync);
    int status = -1;
    for (int round = 1; round <= 2; ++round) {
        const std::string which = "round " + std::to_string(round);
        scene.expect(which + ": record", code::success, lib().aclrtRecordEvent(event.get(), stream.get()));
        need("aclrtSynchronizeStream", stream.synchronize());
        scene.expect(which + ": query", code::success, lib().aclrtQueryEventStatus(event.get(), &status));
        scene.expect(which + ": complete is 1", event_recorded_complete, status);
    }
}

void waits_for_an_event(Scene& scene) {
    const Npu npu(scene);
    const Memory source(npu, bytes);
    const Memory between(npu, bytes);
    const Memory target(npu, bytes);
    const std::size_t count = bytes / 8;
    source.store(words_from(7, count));
    const Stream first;
    const Stream second;
    const Event event;
    need("aclrtMemcpyAsync",
         lib().aclrtMemcpyAsync(between.at(), bytes, source.at(), bytes, copy_kind::device_to_device, first.get()));
    scene.expect("record", code::success, lib().aclrtRecordEvent(event.get(), first.get()));
    scene.expect("another stream waits", code::success, lib().aclrtStreamWaitEvent(second.get(), event.get()));
    need("aclrtMemcpyAsync",
         lib().aclrtMemcpyAsync(target.at(), bytes, between.at(), bytes, copy_kind::device_to_device, second.get()));
    scene.expect("synchronise that one", code::success, second.synchronize());
    scene.expect("it read what the first had written", true, target.load(count) == words_from(7, count));
    need("aclrtSynchronizeStream", first.synchronize());
}

void of_another_device(Scene& scene) {
    const Npu first(scene, 0);
    const Event event;
    const Npu second(scene, 1);
    const Stream stream;
    scene.expect("record an event of device 0 on a stream of device 1 succeeds", false,
                 lib().aclrtRecordEvent(event.get(), stream.get()) == code::success);
}

void destroying_waits(Scene& scene) {
    const Npu npu(scene);
    const Memory source(npu, bytes);
    const Memory target(npu, bytes);
    source.store(words_from(3, bytes / 8));
    AclStream stream = nullptr;
    need("aclrtCreateStream", lib().aclrtCreateStream(&stream));
    need("aclrtMemcpyAsync",
         lib().aclrtMemcpyAsync(target.at(), bytes, source.at(), bytes, copy_kind::device_to_device, stream));
    scene.expect("destroying a busy stream", code::success, lib().aclrtDestroyStream(stream));
    scene.expect("its work was done", true, target.load(bytes / 8) == words_from(3, bytes / 8));
}

}  // namespace

void add_streams(Suite& suite) {
    suite.enter("streams");
    suite.add("an empty stream is complete", query);
    suite.add("a stream is used with its own context", of_another_context);
    suite.add("a plain event, queried", plain_event);
    suite.add("an event that may be recorded again", recorded_event);
    suite.add("a stream waits for an event of another", waits_for_an_event);
    suite.add("events and streams of different devices", of_another_device);
    suite.add("a stream that is destroyed finishes its work", destroying_waits);
}

}  // namespace peercoll::conformance::ascend
