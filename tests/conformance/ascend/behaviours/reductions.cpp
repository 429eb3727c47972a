// SPDX-License-Identifier: BSD-3-Clause
// aclrtReduceAsync: which types a kind of device takes, by the documents' tables, and what comes out.
#include "tests/conformance/ascend/behaviours/rooms.hpp"
#include "tests/conformance/ascend/npu.hpp"

#include <algorithm>
#include <array>

namespace peercoll::conformance::ascend {

namespace {

constexpr std::size_t count = 1024;

AclError reduce_into(const Memory& to, const Memory& from, std::uint64_t bytes, const Stream& stream, int kind,
                     int type) {
    return lib().aclrtReduceAsync(to.at(), from.at(), bytes, kind, type, stream.get(), nullptr);
}

std::vector<std::uint64_t> as_words(const std::vector<float>& numbers) {
    std::vector<std::uint64_t> words(numbers.size() * sizeof(float) / 8);
    std::memcpy(words.data(), numbers.data(), words.size() * 8);
    return words;
}

// The one reduction that all have. The size is in bytes.
void sums_of_floats(Scene& scene) {
    const Npu npu(scene);
    const Memory to(npu, count * sizeof(float));
    const Memory from(npu, count * sizeof(float));
    std::vector<float> a(count);
    std::vector<float> b(count);
    std::vector<float> expected(count);
    for (std::size_t i = 0; i < count; ++i) {
        a[i] = static_cast<float>(i);
        b[i] = static_cast<float>(1000 + 3 * i);
        expected[i] = i < count / 2 ? a[i] + b[i] : a[i];
    }
    to.store(as_words(a));
    from.store(as_words(b));
    const Stream stream;
    scene.expect("half of them, in bytes", code::success,
                 reduce_into(to, from, count / 2 * sizeof(float), stream, reduce::sum, data_type::float32));
    scene.expect("synchronise", code::success, stream.synchronize());
    scene.expect("the sums, and the rest as it was", true, to.load(as_words(expected).size()) == as_words(expected));
    scene.expect("the source as it was", true, from.load(as_words(b).size()) == as_words(b));
}

bool documented(int kind, int type) {
    const auto among = [&](std::initializer_list<int> types) {
        return std::find(types.begin(), types.end(), type) != types.end();
    };
    using namespace data_type;
    // The source has sums alone for these two.
    if (is_soc("Ascend310P")) return kind == reduce::sum && among({float32, float16, int16});
    if (is_soc("Ascend310B")) return among({int8, int16, int32, float16, float32});
    if (is_soc("Ascend950")) return among({int8, int16, int32, uint32, float16, float32, bfloat16});
    if (is_soc("Ascend910B") || is_soc("Ascend910_93")) return among({int8, int16, int32, float16, float32, bfloat16});
    return kind == reduce::sum && type == float32;
}

void types(Scene& scene) {
    const Npu npu(scene);
    const Memory to(npu, 4096);
    const Memory from(npu, 4096);
    to.store(words_from(0, 512));
    from.store(words_from(0, 512));
    const Stream stream;
    for (const int kind : {reduce::sum, reduce::max, reduce::min})
        for (const int type : {data_type::float32, data_type::float16, data_type::int8, data_type::int32,
                               data_type::int16, data_type::uint32, data_type::bfloat16})
            scene.expect("kind " + std::to_string(kind) + " of type " + std::to_string(type),
                         documented(kind, type) ? code::success : code::rt_feature_not_support,
                         reduce_into(to, from, 64, stream, kind, type));
    scene.expect("synchronise", code::success, stream.synchronize());
}

void refused(Scene& scene) {
    const Npu npu(scene);
    const Memory memory(npu, 4096);
    const Stream stream;
    const auto sum = [&](void* to, const void* from, int kind, int type) {
        return lib().aclrtReduceAsync(to, from, 64, kind, type, stream.get(), nullptr);
    };
    scene.expect("to nothing", code::invalid_param, sum(nullptr, memory.at(), reduce::sum, data_type::float32));
    scene.expect("from nothing", code::invalid_param, sum(memory.at(), nullptr, reduce::sum, data_type::float32));
    scene.expect("a kind that is none", code::invalid_param, sum(memory.at(), memory.at(128), 99, data_type::float32));
    constexpr int float64 = 11;
    scene.expect("numbers of 64 bits are taken", false,
                 sum(memory.at(), memory.at(128), reduce::sum, float64) == code::success);
}

void of_two_devices(Scene& scene) {
    const Npu first(scene, 0);
    const Npu second(scene, 1);
    const Memory far(second, 4096);
    const Memory near(first, 4096);
    const Stream stream;  // of the first
    scene.expect("memory of another device is taken", false,
                 reduce_into(near, far, 64, stream, reduce::sum, data_type::float32) == code::success &&
                     stream.synchronize() == code::success);
}

}  // namespace

void add_reductions(Suite& suite) {
    suite.enter("reductions");
    suite.add("sums of floats, of so many bytes", sums_of_floats);
    suite.add("types that the kind of device takes", types);
    suite.add("what is refused", refused);
    suite.add("both memories are on the stream's device", of_two_devices);
}

}  // namespace peercoll::conformance::ascend
