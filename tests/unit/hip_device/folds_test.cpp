// SPDX-License-Identifier: BSD-3-Clause
// Folds: which there are, what they write, how they say that they are done, and where their kernels come from.
#include "plugin/device/hip/streams.hpp"
#include "tests/unit/hip_device/application.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstring>

namespace peercoll::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class HipFolds : public OnHip {};
PEERCOLL_ON_EACH_RELEASE(HipFolds);
class HipKernels : public OnHip {};
PEERCOLL_ON_EACH_RELEASE(HipKernels);

std::string reductions_of(int device) {
    peercoll_device_info_t info{};
    EXPECT_EQ(hip_device().device_info(device, &info, nullptr), PEERCOLL_SUCCESS);
    return info.reductions;
}

// Buffers of `n` ranks on device 0, with whole numbers that floats add exactly, and a flag.
class Ranks {
public:
    Ranks(const Application& application, std::uint32_t n, std::uint64_t count)
        : application_(application), count_(count), flag_(application.allocate(8)) {
        application.write(flag_, std::vector<std::uint8_t>(8, 0));
        for (std::uint32_t rank = 0; rank < n; ++rank) {
            inputs_.push_back(application.allocate(count * sizeof(float)));
            outputs_.push_back(application.allocate(count * sizeof(float)));
            write_input(rank);
        }
        ends_.push_back(n);
        EXPECT_EQ(hip_device().stream_create(0, &stream_, nullptr), PEERCOLL_SUCCESS);
    }
    ~Ranks() {
        hip_device().stream_destroy(stream_);
        for (const std::uint64_t address : inputs_) application_.free(address);
        for (const std::uint64_t address : outputs_) application_.free(address);
        application_.free(flag_);
    }
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    peercoll_fold_t sum(std::uint64_t flag_value) const {
        peercoll_fold_t fold{};
        fold.struct_size = sizeof fold;
        fold.datatype = PEERCOLL_FLOAT32;
        fold.op = PEERCOLL_SUM;
        fold.count = count_;
        fold.n_inputs = fold.n_outputs = static_cast<std::uint32_t>(inputs_.size());
        fold.n_blocks = 1;
        fold.inputs = inputs_.data();
        fold.outputs = outputs_.data();
        fold.block_ends = ends_.data();
        fold.flag = flag_;
        fold.flag_value = flag_value;
        return fold;
    }
    static float value(std::uint32_t rank, std::uint64_t i) { return static_cast<float>(rank * 1000 + i % 1000); }
    void expect_sums() const {
        const auto n = static_cast<std::uint32_t>(inputs_.size());
        for (const std::uint64_t address : outputs_) {
            const std::vector<std::uint8_t> bytes = application_.read(address, count_ * sizeof(float));
            for (std::uint64_t i = 0; i < count_; ++i) {
                float seen = 0;
                std::memcpy(&seen, bytes.data() + i * sizeof seen, sizeof seen);
                float expected = 0;
                for (std::uint32_t rank = 0; rank < n; ++rank) expected += value(rank, i);
                ASSERT_EQ(seen, expected) << "element " << i;
            }
        }
    }
    std::uint64_t flag_value() const {
        std::uint64_t value = 0;
        std::memcpy(&value, application_.read(flag_, sizeof value).data(), sizeof value);
        return value;
    }
    peercoll_stream_t stream() const { return stream_; }
    void run(const peercoll_fold_t& fold) const {
        peercoll_reason_t reason{};
        ASSERT_EQ(hip_device().fold(stream_, &fold, &reason), PEERCOLL_SUCCESS) << reason.text;
        ASSERT_EQ(hip_device().stream_synchronize(stream_, &reason), PEERCOLL_SUCCESS) << reason.text;
    }

private:
    void write_input(std::uint32_t rank) const {
        std::vector<std::uint8_t> bytes(count_ * sizeof(float));
        for (std::uint64_t i = 0; i < count_; ++i) {
            const float element = value(rank, i);
            std::memcpy(bytes.data() + i * sizeof element, &element, sizeof element);
        }
        application_.write(inputs_[rank], bytes);
    }
    const Application& application_;
    std::uint64_t count_;
    std::uint64_t flag_;
    std::vector<std::uint64_t> inputs_;
    std::vector<std::uint64_t> outputs_;
    std::vector<std::uint32_t> ends_;
    peercoll_stream_t stream_ = nullptr;
};

void expect_folds(const Application& application) {
    for (const std::uint64_t count : {1, 1000, 200'000}) {  // one block; several, which count who is last
        const Ranks ranks(application, 3, count);
        for (const std::uint64_t flag_value : {7, 8, 9}) {  // the counter is zero again each time
            ranks.run(ranks.sum(flag_value));
            EXPECT_EQ(ranks.flag_value(), flag_value) << count;
        }
        ranks.expect_sums();
    }
}

TEST_P(HipFolds, SumEveryInputIntoEveryOutputAndThenWriteTheFlag) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        expect_folds(application);
    });
}

TEST_P(HipFolds, OfNoElementsWriteTheFlag) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        const Ranks ranks(application, 2, 10);
        peercoll_fold_t nothing = ranks.sum(5);
        nothing.count = 0;
        ranks.run(nothing);
        EXPECT_EQ(ranks.flag_value(), 5U);
    });
}

TEST_P(HipFolds, OfOneInputAreABroadcast) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        constexpr std::uint64_t bytes = 12'345;
        const std::uint64_t from = application.allocate(bytes);
        const std::array<std::uint64_t, 2> to = {application.allocate(bytes), application.allocate(bytes)};
        application.write(from, pattern(bytes, 5));
        const std::uint32_t end = 1;
        peercoll_fold_t fold{};
        fold.struct_size = sizeof fold;
        fold.datatype = PEERCOLL_BYTE;
        fold.op = PEERCOLL_NO_OP;
        fold.count = bytes;
        fold.n_inputs = fold.n_blocks = 1;
        fold.n_outputs = 2;
        fold.inputs = &from;
        fold.outputs = to.data();
        fold.block_ends = &end;
        peercoll_stream_t stream = nullptr;
        ASSERT_EQ(hip_device().stream_create(0, &stream, nullptr), PEERCOLL_SUCCESS);
        peercoll_reason_t reason{};
        ASSERT_EQ(hip_device().fold(stream, &fold, &reason), PEERCOLL_SUCCESS) << reason.text;
        ASSERT_EQ(hip_device().stream_synchronize(stream, nullptr), PEERCOLL_SUCCESS);
        for (const std::uint64_t address : to) EXPECT_EQ(application.read(address, bytes), pattern(bytes, 5));
        hip_device().stream_destroy(stream);
        for (const std::uint64_t address : to) application.free(address);
        application.free(from);
    });
}

TEST_P(HipFolds, AreThereForEveryTypeOfDevicesAndForNoOther) {
    on_machine({}, [](Application&) {
        EXPECT_OPENS();
        for (const peercoll_datatype_t datatype : {PEERCOLL_INT8, PEERCOLL_BFLOAT16, PEERCOLL_FLOAT64})
            EXPECT_EQ(hip_device().can_fold(0, datatype, PEERCOLL_SUM), 1) << datatype;
        EXPECT_EQ(hip_device().can_fold(0, PEERCOLL_PAIR_FLOAT32_INT32, PEERCOLL_MAXLOC), 1);
        EXPECT_EQ(hip_device().can_fold(0, PEERCOLL_BYTE, PEERCOLL_NO_OP), 1);
        EXPECT_EQ(hip_device().can_fold(0, PEERCOLL_FLOAT80, PEERCOLL_SUM), 0);
        EXPECT_EQ(hip_device().can_fold(0, PEERCOLL_FLOAT128, PEERCOLL_SUM), 0);
        EXPECT_EQ(hip_device().can_fold(0, PEERCOLL_FLOAT32, PEERCOLL_BAND), 0);
        EXPECT_EQ(hip_device().can_fold(0, PEERCOLL_DATATYPE_NONE, PEERCOLL_SUM), 0);
        EXPECT_EQ(hip_device().can_fold(0, PEERCOLL_FLOAT32, PEERCOLL_OP_END), 0);
        EXPECT_EQ(hip_device().can_fold(1, PEERCOLL_FLOAT32, PEERCOLL_SUM), 0) << "no such device";
    });
}

TEST_P(HipFolds, ThatAreNoneAreRefused) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        const Ranks ranks(application, 2, 10);
        const auto expect_refused = [&](const std::function<void(peercoll_fold_t&)>& change) {
            peercoll_fold_t fold = ranks.sum(1);
            change(fold);
            peercoll_reason_t reason{};
            EXPECT_EQ(hip_device().fold(ranks.stream(), &fold, &reason), PEERCOLL_ERR_INVALID_ARGUMENT);
            EXPECT_THAT(reason.text, HasSubstr("expected 1 to 64 inputs"));
        };
        expect_refused([](peercoll_fold_t& fold) { fold.struct_size = 8; });
        expect_refused([](peercoll_fold_t& fold) { fold.n_inputs = 0; });
        expect_refused([](peercoll_fold_t& fold) { fold.n_outputs = 65; });
        expect_refused([](peercoll_fold_t& fold) { fold.n_blocks = 0; });
        expect_refused([](peercoll_fold_t& fold) { fold.datatype = PEERCOLL_FLOAT80; });
        expect_refused([](peercoll_fold_t& fold) { fold.op = 99; });
        EXPECT_EQ(ranks.flag_value(), 0U);
    });
}

// The fault comes to light later, and is the device's for good: the sentence tells what was running.
TEST_P(HipFolds, OfMemoryThatIsNotThereAreNamedByTheErrorOfTheirStream) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        const std::uint64_t memory = application.allocate(400);
        const std::array<std::uint64_t, 2> inputs = {memory, 0x500};
        const std::uint64_t output = memory;
        const std::uint32_t end = 2;
        peercoll_fold_t fold{};
        fold.struct_size = sizeof fold;
        fold.datatype = PEERCOLL_FLOAT32;
        fold.op = PEERCOLL_SUM;
        fold.count = 100;
        fold.n_inputs = 2;
        fold.n_outputs = fold.n_blocks = 1;
        fold.inputs = inputs.data();
        fold.outputs = &output;
        fold.block_ends = &end;
        peercoll_stream_t stream = nullptr;
        ASSERT_EQ(hip_device().stream_create(0, &stream, nullptr), PEERCOLL_SUCCESS);
        ASSERT_EQ(hip_device().fold(stream, &fold, nullptr), PEERCOLL_SUCCESS);
        peercoll_reason_t reason{};
        EXPECT_EQ(hip_device().stream_synchronize(stream, &reason), PEERCOLL_ERR_SYSTEM);
        EXPECT_THAT(reason.text, HasSubstr("(700)"));
        EXPECT_THAT(reason.text, HasSubstr("peercoll_fold_float32_sum of 100 elements, 2 inputs from"));
        EXPECT_THAT(reason.text, HasSubstr("the device is lost"));
        EXPECT_EQ(hip_device().stream_query(stream, nullptr), PEERCOLL_ERR_SYSTEM) << "sticky";
        hip_device().stream_destroy(stream);
        hip_device().close();
    });
}

// hipcc's is a bundle of code objects; a single one is hiprtc's.
bool is_bundle(const void* image) {
    return std::memcmp(image, "__CLANG_OFFLOAD_BUNDLE__", 24) == 0;
}

TEST_P(HipKernels, AreCompiledAtRunTimeWhereHipccsHaveNoCodeForTheDevice) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        static const auto load = hip::attachment()->hip.module_load_data;
        static int loaded = 0;
        hip::attachment()->hip.module_load_data = [](hip::HipModule* module, const void* image) {
            if (is_bundle(image)) return hip::code::no_binary_for_gpu + 0;
            ++loaded;
            return load(module, image);
        };
        EXPECT_EQ(hip_device().can_fold(0, PEERCOLL_FLOAT32, PEERCOLL_SUM), 1);
        EXPECT_EQ(loaded, 1);
        EXPECT_EQ(hip_device().can_fold(0, PEERCOLL_FLOAT32, PEERCOLL_MAX), 1);
        EXPECT_EQ(loaded, 1) << "of the same family: compiled once";
        expect_folds(application);
        EXPECT_THAT(reductions_of(0), StartsWith("device, gfx90a code of hiprtc"));
    });
}

// Wave 32 as well as 64, and an architecture that no hipcc of today compiles for.
TEST_P(HipKernels, AreCompiledForTheArchitectureThatTheRuntimeTells) {
    for (const char* capability : {"9 66", "10 48", "11 0", "13 18"})
        on_machine({.node = std::string("devices 1\ncapability 0 ") + capability + "\n"}, [](Application& application) {
            EXPECT_OPENS();
            expect_folds(application);
            EXPECT_THAT(reductions_of(0), StartsWith("device, "));
        });
}

TEST_P(HipKernels, AreNoneWhereTheArchitectureIsUnknown) {
    on_machine({}, [](Application&) {
        EXPECT_OPENS();
        hip::attachment()->devices[0]->target.clear();
        hip::attachment()->hip.module_load_data = [](hip::HipModule*, const void*) {
            return hip::code::no_binary_for_gpu + 0;
        };
        EXPECT_EQ(hip_device().can_fold(0, PEERCOLL_FLOAT32, PEERCOLL_SUM), 0);
        EXPECT_THAT(reductions_of(0), StartsWith("host: "));
        EXPECT_THAT(reductions_of(0), HasSubstr("architecture"));
    });
}

// Where a kernel cannot make its results visible to all by itself, the flag comes from a kernel behind it.
TEST_P(HipFolds, WriteTheFlagBehindTheKernelWhereItsEndMustComeFirst) {
    for (const auto& [capability, launches_expected] : {std::pair{"9 0", 1}, {"9 66", 1}, {"9 8", 2}, {"10 48", 2}}) {
        const int expected = launches_expected;
        on_machine({.node = std::string("devices 1\ncapability 0 ") + capability + "\n"},
                   [&](Application& application) {
                       EXPECT_OPENS();
                       static const auto launch = hip::attachment()->hip.launch_kernel;
                       static int launches = 0;
                       static int releases = 0;
                       hip::attachment()->hip.launch_kernel = [](auto... arguments) {
                           ++launches;
                           return launch(arguments...);
                       };
                       static const auto create = hip::attachment()->hip.event_create;
                       hip::attachment()->hip.event_create = [](hip::HipEvent* event, unsigned flags) {
                           releases += (flags & hip::event_release_to_system) != 0 ? 1 : 0;
                           return create(event, flags);
                       };
                       for (const std::uint64_t count : {1, 200'000}) {
                           const Ranks ranks(application, 3, count);
                           launches = releases = 0;
                           ranks.run(ranks.sum(count));
                           EXPECT_EQ(launches, expected);
                           EXPECT_EQ(releases, expected - 1);
                           EXPECT_EQ(ranks.flag_value(), count);
                           ranks.expect_sums();
                       }
                   });
    }
}

TEST_P(HipKernels, AreNoneWhereTheDriverRefusesAllAndTheReasonIsTold) {
    on_machine({}, [](Application& application) {
        EXPECT_OPENS();
        hip::attachment()->hip.module_load_data = [](hip::HipModule*, const void*) {
            return hip::code::no_binary_for_gpu + 0;
        };
        EXPECT_EQ(hip_device().can_fold(0, PEERCOLL_FLOAT32, PEERCOLL_SUM), 0);
        EXPECT_THAT(reductions_of(0), StartsWith("host: "));
        const Ranks ranks(application, 2, 10);
        const peercoll_fold_t fold = ranks.sum(1);
        peercoll_reason_t reason{};
        EXPECT_EQ(hip_device().fold(ranks.stream(), &fold, &reason), PEERCOLL_ERR_NOT_SUPPORTED);
        EXPECT_THAT(reason.text, HasSubstr("(209)"));
    });
}

TEST_P(HipKernels, AreLoadedByTheFirstFoldThatNeedsThemAndForEachDevice) {
    on_machine({.node = "devices 2\n"}, [](Application&) {
        EXPECT_OPENS();
        static const auto load = hip::attachment()->hip.module_load_data;
        static int loaded = 0;
        hip::attachment()->hip.module_load_data = [](hip::HipModule* module, const void* image) {
            ++loaded;
            return load(module, image);
        };
        EXPECT_EQ(loaded, 0);
        EXPECT_EQ(hip_device().can_fold(0, PEERCOLL_FLOAT32, PEERCOLL_SUM), 1);
        EXPECT_EQ(loaded, 1);
        EXPECT_EQ(hip_device().can_fold(1, PEERCOLL_FLOAT32, PEERCOLL_SUM), 1);
        EXPECT_EQ(loaded, 2);
    });
}

}  // namespace
}  // namespace peercoll::test
