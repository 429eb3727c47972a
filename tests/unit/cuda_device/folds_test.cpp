// SPDX-License-Identifier: BSD-3-Clause
// Folds: which there are, what they write, how they say that they are done, and where their kernels come from.
#include "plugin/device/cuda/streams.hpp"
#include "tests/unit/cuda_device/application.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstring>

namespace peercoll::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string reductions_of(int device) {
    peercoll_device_info_t info{};
    EXPECT_EQ(cuda_device().device_info(device, &info, nullptr), PEERCOLL_SUCCESS);
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
        EXPECT_EQ(cuda_device().stream_create(0, &stream_, nullptr), PEERCOLL_SUCCESS);
    }
    ~Ranks() {
        cuda_device().stream_destroy(stream_);
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
        ASSERT_EQ(cuda_device().fold(stream_, &fold, &reason), PEERCOLL_SUCCESS) << reason.text;
        ASSERT_EQ(cuda_device().stream_synchronize(stream_, &reason), PEERCOLL_SUCCESS) << reason.text;
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

TEST(Folds, SumEveryInputIntoEveryOutputAndThenWriteTheFlag) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        expect_folds(application);
    });
}

TEST(Folds, OfNoElementsWriteTheFlag) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        const Ranks ranks(application, 2, 10);
        peercoll_fold_t nothing = ranks.sum(5);
        nothing.count = 0;
        ranks.run(nothing);
        EXPECT_EQ(ranks.flag_value(), 5U);
    });
}

TEST(Folds, OfOneInputAreABroadcast) {
    on_machine({}, [](Application& application) {
        application.use(0);
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
        ASSERT_EQ(cuda_device().stream_create(0, &stream, nullptr), PEERCOLL_SUCCESS);
        peercoll_reason_t reason{};
        ASSERT_EQ(cuda_device().fold(stream, &fold, &reason), PEERCOLL_SUCCESS) << reason.text;
        ASSERT_EQ(cuda_device().stream_synchronize(stream, nullptr), PEERCOLL_SUCCESS);
        for (const std::uint64_t address : to) EXPECT_EQ(application.read(address, bytes), pattern(bytes, 5));
        cuda_device().stream_destroy(stream);
        for (const std::uint64_t address : to) application.free(address);
        application.free(from);
    });
}

TEST(Folds, AreThereForEveryTypeOfDevicesAndForNoOther) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        for (const peercoll_datatype_t datatype : {PEERCOLL_INT8, PEERCOLL_BFLOAT16, PEERCOLL_FLOAT64})
            EXPECT_EQ(cuda_device().can_fold(0, datatype, PEERCOLL_SUM), 1) << datatype;
        EXPECT_EQ(cuda_device().can_fold(0, PEERCOLL_PAIR_FLOAT32_INT32, PEERCOLL_MAXLOC), 1);
        EXPECT_EQ(cuda_device().can_fold(0, PEERCOLL_BYTE, PEERCOLL_NO_OP), 1);
        EXPECT_EQ(cuda_device().can_fold(0, PEERCOLL_FLOAT80, PEERCOLL_SUM), 0);
        EXPECT_EQ(cuda_device().can_fold(0, PEERCOLL_FLOAT128, PEERCOLL_SUM), 0);
        EXPECT_EQ(cuda_device().can_fold(0, PEERCOLL_FLOAT32, PEERCOLL_BAND), 0);
        EXPECT_EQ(cuda_device().can_fold(0, PEERCOLL_DATATYPE_NONE, PEERCOLL_SUM), 0);
        EXPECT_EQ(cuda_device().can_fold(0, PEERCOLL_FLOAT32, PEERCOLL_OP_END), 0);
        EXPECT_EQ(cuda_device().can_fold(1, PEERCOLL_FLOAT32, PEERCOLL_SUM), 0) << "no such device";
    });
}

TEST(Folds, ThatAreNoneAreRefused) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        const Ranks ranks(application, 2, 10);
        const auto expect_refused = [&](const std::function<void(peercoll_fold_t&)>& change) {
            peercoll_fold_t fold = ranks.sum(1);
            change(fold);
            peercoll_reason_t reason{};
            EXPECT_EQ(cuda_device().fold(ranks.stream(), &fold, &reason), PEERCOLL_ERR_INVALID_ARGUMENT);
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

// The fault comes to light later, and is the context's for good: the sentence tells what was running.
TEST(Folds, OfMemoryThatIsNotThereAreNamedByTheErrorOfTheirStream) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        const cuda::CuAddress memory = application.allocate(400);
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
        ASSERT_EQ(cuda_device().stream_create(0, &stream, nullptr), PEERCOLL_SUCCESS);
        ASSERT_EQ(cuda_device().fold(stream, &fold, nullptr), PEERCOLL_SUCCESS);
        peercoll_reason_t reason{};
        EXPECT_EQ(cuda_device().stream_synchronize(stream, &reason), PEERCOLL_ERR_SYSTEM);
        EXPECT_THAT(reason.text, HasSubstr("(700)"));
        EXPECT_THAT(reason.text, HasSubstr("peercoll_fold_float32_sum of 100 elements, 2 inputs from"));
        EXPECT_THAT(reason.text, HasSubstr("the context is lost"));
        EXPECT_EQ(cuda_device().stream_query(stream, nullptr), PEERCOLL_ERR_SYSTEM) << "sticky";
        cuda_device().stream_destroy(stream);
        cuda_device().close();
    });
}

bool is_nvcc_image(const void* image) {
    std::uint32_t magic = 0;
    std::memcpy(&magic, image, sizeof magic);
    return magic == 0xba55ed50;  // of a fat binary
}

TEST(Kernels, AreCompiledAtRunTimeWhereTheDriverRefusesThoseOfNvcc) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        static const auto load = cuda::attachment()->driver.module_load_data;
        static int loaded = 0;
        cuda::attachment()->driver.module_load_data = [](cuda::CuModule* module, const void* image) {
            if (is_nvcc_image(image)) return 209;
            ++loaded;
            return load(module, image);
        };
        EXPECT_EQ(cuda_device().can_fold(0, PEERCOLL_FLOAT32, PEERCOLL_SUM), 1);
        EXPECT_EQ(loaded, 1);
        EXPECT_EQ(cuda_device().can_fold(0, PEERCOLL_FLOAT32, PEERCOLL_MAX), 1);
        EXPECT_EQ(loaded, 1) << "of the same family: compiled once";
        expect_folds(application);
        EXPECT_THAT(reductions_of(0), StartsWith("device, "));
        EXPECT_THAT(reductions_of(0), HasSubstr("NVRTC"));
    });
}

TEST(Kernels, AreNoneWhereTheDriverRefusesAllAndTheReasonIsTold) {
    on_machine({}, [](Application& application) {
        application.use(0);
        EXPECT_OPENS();
        cuda::attachment()->driver.module_load_data = [](cuda::CuModule*, const void*) { return 222; };
        EXPECT_EQ(cuda_device().can_fold(0, PEERCOLL_FLOAT32, PEERCOLL_SUM), 0);
        EXPECT_THAT(reductions_of(0), StartsWith("host: "));
        const Ranks ranks(application, 2, 10);
        const peercoll_fold_t fold = ranks.sum(1);
        peercoll_reason_t reason{};
        EXPECT_EQ(cuda_device().fold(ranks.stream(), &fold, &reason), PEERCOLL_ERR_NOT_SUPPORTED);
        EXPECT_THAT(reason.text, HasSubstr("(222)"));
    });
}

TEST(Kernels, AreLoadedByTheFirstFoldThatNeedsThemAndForEachDevice) {
    on_machine({.node = "devices 2\n"}, [](Application& application) {
        application.use(1);
        application.use(0);
        EXPECT_OPENS();
        static const auto load = cuda::attachment()->driver.module_load_data;
        static int loaded = 0;
        cuda::attachment()->driver.module_load_data = [](cuda::CuModule* module, const void* image) {
            ++loaded;
            return load(module, image);
        };
        EXPECT_EQ(loaded, 0);
        EXPECT_EQ(cuda_device().can_fold(0, PEERCOLL_FLOAT32, PEERCOLL_SUM), 1);
        EXPECT_EQ(loaded, 1);
        EXPECT_EQ(cuda_device().can_fold(1, PEERCOLL_FLOAT32, PEERCOLL_SUM), 1);
        EXPECT_EQ(loaded, 2);
    });
}

}  // namespace
}  // namespace peercoll::test
