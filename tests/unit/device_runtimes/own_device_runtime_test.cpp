// SPDX-License-Identifier: BSD-3-Clause
// The example of a device runtime outside of peercoll. The test is the application: it uses the pretend device by its
// vendor's functions, and hands device addresses to collectives.
#include "tests/support/plugin.hpp"

#include "pretend_device.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace peercoll::test {
namespace {

std::string in_folder(const std::string& name) {
    const char* const folder = std::getenv("OWN_RUNTIME_FOLDER");
    EXPECT_NE(folder, nullptr) << "expected the folder of libpretend_device.so.1 and pretend_device_runtime.so";
    return std::string(folder == nullptr ? "" : folder) + "/" + name;
}

OptionList with_runtime() {
    return {"device_runtimes=" + in_folder("pretend_device_runtime.so")};
}

// The vendor's library, which stays loaded.
struct Vendor {
    Vendor() : library(::dlopen(in_folder("libpretend_device.so.1").c_str(), RTLD_NOW)) {
        EXPECT_NE(library, nullptr) << ::dlerror();
        find(allocate, "pretend_malloc");
        find(release, "pretend_free");
        find(copy, "pretend_copy");
        find(bytes_in_use, "pretend_bytes_in_use");
    }
    template <typename Function>
    void find(Function*& function, const char* name) const {
        function = reinterpret_cast<Function*>(::dlsym(library, name));
        EXPECT_NE(function, nullptr) << name;
    }
    void* library;
    decltype(&pretend_malloc) allocate = nullptr;
    decltype(&pretend_free) release = nullptr;
    decltype(&pretend_copy) copy = nullptr;
    decltype(&pretend_bytes_in_use) bytes_in_use = nullptr;
};

// An array in the device's memory.
template <typename Element>
class DeviceArray {
public:
    DeviceArray(const Vendor& vendor, const std::vector<Element>& values) : vendor_(vendor), count_(values.size()) {
        EXPECT_EQ(vendor.allocate(&memory_, count_ * sizeof(Element)), 0);
        EXPECT_EQ(vendor.copy(memory_, values.data(), count_ * sizeof(Element)), 0);
    }
    ~DeviceArray() { EXPECT_EQ(vendor_.release(memory_), 0); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    void* get() const { return memory_; }
    std::vector<Element> values() const {
        std::vector<Element> read(count_);
        EXPECT_EQ(vendor_.copy(read.data(), memory_, count_ * sizeof(Element)), 0);
        return read;
    }

private:
    const Vendor& vendor_;
    std::size_t count_;
    void* memory_ = nullptr;
};

// Small integers: their sums over the ranks are exact in double, in any order.
std::vector<double> input(int rank, std::size_t count) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = (rank + 1) * static_cast<double>(i % 1000 + 1);
    return values;
}

std::vector<double> sum_of_inputs(int ranks, std::size_t count) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = ranks * (ranks + 1) / 2 * static_cast<double>(i % 1000 + 1);
    return values;
}

// One element, an odd number, and more than what is staged in one piece.
const std::vector<std::size_t> counts = {1, 4099, 700'001};

TEST(OwnDeviceRuntime, HasMemoryThatProcessorsCannotTouch) {
    run_ranks(1, [](Rank&) {
        const Vendor vendor;
        const DeviceArray<char> array(vendor, {'a', 'b'});
        int ends[2];
        ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        EXPECT_EQ(::write(ends[1], array.get(), 2), -1) << "the system reads it as the program would";
        EXPECT_EQ(errno, EFAULT);
        ::close(ends[0]);
        ::close(ends[1]);
    });
}

TEST(OwnDeviceRuntime, IsOffUntilTheProcessHasLoadedTheVendorsLibrary) {
    run_ranks(1, [](Rank&) {
        const Context context(with_runtime());
        EXPECT_EQ(plugin.devices_in_use(context.get()), 0);
        std::string lines;
        const auto collect = [](const char* line, void* user) { *static_cast<std::string*>(user) += line; };
        EXPECT_TRUE(succeeded(plugin.describe_devices(context.get(), collect, &lines)));
        EXPECT_NE(lines.find("pretend: off, this process has not loaded it"), std::string::npos) << lines;
        const Vendor vendor;
        EXPECT_EQ(plugin.devices_in_use(context.get()), 1);
        lines.clear();
        EXPECT_TRUE(succeeded(plugin.describe_devices(context.get(), collect, &lines)));
        EXPECT_NE(lines.find("pretend: pretend device, version 1, 1 device"), std::string::npos) << lines;
        EXPECT_NE(lines.find("host: the device does not compute"), std::string::npos) << lines;
    });
}

TEST(OwnDeviceRuntime, ReducesItsMemory) {
    run_ranks(3, [](Rank& rank) {
        const Vendor vendor;
        const Context context(with_runtime());
        const Comm comm(context, rank.exchange());
        for (const std::size_t count : counts) {
            const DeviceArray<double> mine(vendor, input(rank.rank(), count));
            const DeviceArray<double> sums(vendor, std::vector<double>(count, -1));
            ASSERT_EQ(plugin.memory_is_device(context.get(), mine.get()), 1);
            ASSERT_TRUE(
                succeeded(plugin.allreduce(mine.get(), sums.get(), count, PEERCOLL_FLOAT64, PEERCOLL_SUM, comm.get())));
            EXPECT_TRUE(sums.values() == sum_of_inputs(rank.size(), count)) << count;
            EXPECT_TRUE(mine.values() == input(rank.rank(), count)) << "the input is as it was";
            ASSERT_TRUE(
                succeeded(plugin.allreduce(mine.get(), mine.get(), count, PEERCOLL_FLOAT64, PEERCOLL_SUM, comm.get())));
            EXPECT_TRUE(mine.values() == sum_of_inputs(rank.size(), count)) << count << ", in place";
        }
        EXPECT_EQ(context.counter("allreduce.device_staged"), 2 * counts.size());
        EXPECT_EQ(vendor.bytes_in_use(), 0U) << "peercoll has taken none of the device's memory";
    });
}

TEST(OwnDeviceRuntime, BroadcastsItsMemoryFromAndToHostMemory) {
    run_ranks(3, [](Rank& rank) {
        const Vendor vendor;
        const Context context(with_runtime());
        const Comm comm(context, rank.exchange());
        for (const std::size_t count : counts)
            for (int root = 0; root < rank.size(); ++root) {
                // Rank 1 has host memory, the others the device's.
                const DeviceArray<double> device(vendor, input(rank.rank(), count));
                std::vector<double> host = input(rank.rank(), count);
                void* const buffer = rank.rank() == 1 ? host.data() : device.get();
                ASSERT_TRUE(succeeded(plugin.broadcast(buffer, count * sizeof(double), root, comm.get())));
                EXPECT_TRUE((rank.rank() == 1 ? host : device.values()) == input(root, count))
                    << count << " from rank " << root;
            }
    });
}

TEST(OwnDeviceRuntime, IsUsedByStartedCollectivesAndByCopies) {
    run_ranks(2, [](Rank& rank) {
        const Vendor vendor;
        const Context context(with_runtime());
        const Comm comm(context, rank.exchange());
        constexpr std::size_t count = 5000;
        const DeviceArray<double> mine(vendor, input(rank.rank(), count));
        const DeviceArray<double> sums(vendor, std::vector<double>(count, -1));
        peercoll_request_t request = nullptr;
        ASSERT_TRUE(succeeded(plugin.allreduce_start(mine.get(), sums.get(), count, PEERCOLL_FLOAT64, PEERCOLL_SUM,
                                                     comm.get(), &request)));
        ASSERT_TRUE(succeeded(plugin.request_wait(&request)));
        std::vector<double> read(count);
        ASSERT_TRUE(succeeded(plugin.memory_copy(context.get(), read.data(), sums.get(), count * sizeof(double))));
        EXPECT_TRUE(read == sum_of_inputs(rank.size(), count));
        EXPECT_TRUE(refused(plugin.memory_copy(context.get(), read.data(), mine.get(), (count + 1) * sizeof(double)),
                            PEERCOLL_ERR_INVALID_ARGUMENT, "beyond the end"));
    });
}

}  // namespace
}  // namespace peercoll::test
