// SPDX-License-Identifier: BSD-3-Clause
// Streams that write and wait for 64-bit values.
#include "tests/conformance/cuda/behaviours/rooms.hpp"
#include "tests/conformance/cuda/gate.hpp"
#include "tests/conformance/cuda/registered_memory.hpp"

namespace peercoll::conformance::cuda {

namespace {

constexpr std::uint64_t large = 0x1234567890abcdef;

void write_to_device_memory(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(MiB);
    const Stream stream;
    store(memory.address(), words_from(1, 3));
    scene.expect("code", success, driver().cuStreamWriteValue64(stream.get(), memory.address() + 8, large, 0));
    need("cuStreamSynchronize", stream.synchronize());
    scene.expect("the word and no other is written", true,
                 load(memory.address(), 3) == std::vector<std::uint64_t>{1, large, 3});
}

void write_to_host_memory(Scene& scene) {
    const Gpu gpu(scene);
    const SharedHostMemory host(64 * KiB);
    const RegisteredMemory registered(host);
    const Stream stream;
    scene.expect("code", success, driver().cuStreamWriteValue64(stream.get(), registered.device_address(3), large, 0));
    scene.expect("a processor sees it without any further call", true, host.wait_for(large, 3));
    scene.expect("its neighbours are as they were", 0u, host.word(2).load() + host.word(4).load());
    need("cuStreamSynchronize", stream.synchronize());
}

void write_comes_behind_earlier_work(Scene& scene) {
    const Gpu gpu(scene);
    const SharedHostMemory host(64 * KiB);
    const RegisteredMemory registered(host);
    const Stream stream;
    StreamGate gate;
    gate.hold(stream.get());
    need("cuStreamWriteValue64", driver().cuStreamWriteValue64(stream.get(), registered.device_address(), 5, 0));
    scene.expect("the stream finishes early", false, becomes_idle(stream.get(), 200));
    scene.expect("the word before that", 0u, host.word().load());
    gate.open();
    scene.expect("the word is written at last", true, host.wait_for(5));
    need("cuStreamSynchronize", stream.synchronize());
}

// Looks at whether a wait for `value` lets go where the word is `word`. One that should is given as long as it takes;
// one that should not, a moment, and has to let go when the word is `value`.
void look_at_wait(Scene& scene, std::string_view what, bool expected, const SharedHostMemory& host,
                  const RegisteredMemory& registered, std::uint64_t word, std::uint64_t value) {
    const Stream stream;
    host.word().store(word);
    need("cuStreamWaitValue64",
         driver().cuStreamWaitValue64(stream.get(), registered.device_address(), value, wait_value_geq));
    scene.expect(what, expected, expected ? becomes_idle(stream.get()) : becomes_idle(stream.get(), 200));
    host.word().store(value);
    if (!becomes_idle(stream.get())) throw std::runtime_error("a wait did not end when its word had the value");
}

void wait_greater_or_equal(Scene& scene) {
    const Gpu gpu(scene);
    const SharedHostMemory host(64 * KiB);
    const RegisteredMemory registered(host);
    constexpr std::uint64_t high = std::uint64_t{1} << 40;
    look_at_wait(scene, "equal", true, host, registered, high + 7, high + 7);
    look_at_wait(scene, "greater", true, host, registered, high + 8, high + 7);
    look_at_wait(scene, "less", false, host, registered, high + 6, high + 7);
    look_at_wait(scene, "the upper half counts", false, host, registered, 7, high + 7);
    // Whether word - value is negative as a signed number.
    look_at_wait(scene, "behind a wrap-around", true, host, registered, 5, ~std::uint64_t{0} - 10);
    look_at_wait(scene, "before a wrap-around", false, host, registered, ~std::uint64_t{0} - 10, 5);
}

void handshake(Scene& scene) {
    const Gpu gpu(scene);
    const Memory flag(MiB);
    const Stream waiting;
    const Stream writing;
    store(flag.address(), words_from(0, 1));
    need("cuStreamWaitValue64", driver().cuStreamWaitValue64(waiting.get(), flag.address(), large, wait_value_geq));
    scene.expect("the wait ends before the write", false, becomes_idle(waiting.get(), 200));
    need("cuStreamWriteValue64", driver().cuStreamWriteValue64(writing.get(), flag.address(), large, 0));
    scene.expect("the wait ends after it", true, becomes_idle(waiting.get()));
}

void misuse(Scene& scene) {
    const Gpu gpu(scene);
    const Memory memory(MiB);
    const std::vector<std::uint64_t> plain(512);
    const Stream stream;
    scene.expect("an address between words", invalid_value,
                 driver().cuStreamWriteValue64(stream.get(), memory.address() + 4, 1, 0));
    // Where devices reach all host memory (HMM), this works.
    scene.note("host memory that is not registered",
               driver().cuStreamWriteValue64(stream.get(), reinterpret_cast<CUdeviceptr>(plain.data()), 1, 0));
    need("cuStreamSynchronize", stream.synchronize());
}

}  // namespace

void add_stream_values(Suite& suite) {
    suite.enter("stream values");
    suite.add("a stream writes a word of device memory", write_to_device_memory);
    suite.add("a stream writes a word of registered host memory", write_to_host_memory);
    suite.add("a written word comes behind earlier work", write_comes_behind_earlier_work);
    suite.add("a stream waits for greater or equal, modulo 2^64", wait_greater_or_equal);
    suite.add("one stream writes what another waits for", handshake);
    suite.add("words at wrong places are refused", misuse);
}

}  // namespace peercoll::conformance::cuda
