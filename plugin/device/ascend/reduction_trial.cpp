// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/device/ascend/reduction_trial.hpp"

#include "collectives/reduction/host_kernels.hpp"

#include <array>
#include <cstring>
#include <memory>

namespace peercoll::ascend {

namespace {

// The patterns of 8, 16 and 32 bits that are at an edge in one of the types: limits, signs, zeros, the smallest and
// largest floats, infinities, NaNs, and numbers whose sums need rounding. The high bits of each are a pattern of the
// narrower types as well.
constexpr std::array<std::uint32_t, 30> patterns = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x7fffffff, 0xffffffff, 0x3f800000, 0xbf800000,
    0x33800000, 0x34000000, 0x33800001, 0x4b7fffff, 0x4b800001, 0x7f7fffff, 0xff7fffff, 0x7f800000,
    0xff800000, 0x7fc00000, 0xffc00000, 0x7f812345, 0x00800000, 0x007fffff, 0x807fffff, 0x12345678,
    0xfedcba98, 0x40490fdb, 0x7c007c00, 0xfc00fc00, 0x7e017e01, 0x3c003c01};

void append(std::vector<std::byte>& bytes, std::uint32_t pattern, std::size_t size) {
    const std::uint32_t value = pattern >> (32 - 8 * size);
    std::array<std::byte, 4> raw{};
    std::memcpy(raw.data(), &value, raw.size());
    bytes.insert(bytes.end(), raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(size));
}

class DeviceBytes {
public:
    DeviceBytes(const AclFunctions& acl, std::size_t bytes) : acl_(acl), bytes_(bytes) {
        if (acl.memory_allocate(&memory_, bytes, malloc_huge_first_p2p) != code::success) memory_ = nullptr;
    }
    ~DeviceBytes() {
        if (memory_ != nullptr) (void)acl_.memory_free(memory_);
    }
    DeviceBytes(const DeviceBytes&) = delete;
    DeviceBytes& operator=(const DeviceBytes&) = delete;
    void* get() const { return memory_; }
    bool write(const std::vector<std::byte>& from) const {
        return acl_.memory_copy(memory_, bytes_, from.data(), from.size(), copy_kind::host_to_device) == code::success;
    }
    bool read(std::vector<std::byte>& to) const {
        return acl_.memory_copy(to.data(), to.size(), memory_, to.size(), copy_kind::device_to_host) == code::success;
    }

private:
    const AclFunctions& acl_;
    std::size_t bytes_;
    void* memory_ = nullptr;
};

class TrialStream {
public:
    explicit TrialStream(const AclFunctions& acl) : acl_(acl) {
        if (acl.stream_create(&stream_) != code::success) stream_ = nullptr;
    }
    ~TrialStream() {
        if (stream_ != nullptr) (void)acl_.stream_destroy(stream_);
    }
    TrialStream(const TrialStream&) = delete;
    TrialStream& operator=(const TrialStream&) = delete;
    AclStream get() const { return stream_; }

private:
    const AclFunctions& acl_;
    AclStream stream_ = nullptr;
};

}  // namespace

TrialValues trial_values(peercoll_datatype_t datatype) {
    TrialValues values;
    const std::size_t size = datatype_size(datatype);
    for (const std::uint32_t left : patterns)
        for (const std::uint32_t right : patterns) {
            append(values.left, left, size);
            append(values.right, right, size);
            ++values.count;
        }
    return values;
}

bool try_reduction(const AclFunctions& acl, peercoll_datatype_t datatype, peercoll_op_t op,
                   const Reduction& reduction) {
    const FoldFunction fold = find_fold(op, datatype);
    const TrialValues values = trial_values(datatype);
    std::vector<std::byte> expected(values.left.size());
    std::vector<std::byte> seen(values.left.size());
    const void* inputs[] = {values.left.data(), values.right.data()};
    fold(expected.data(), inputs, 2, values.count);

    const DeviceBytes into(acl, seen.size());
    const DeviceBytes from(acl, seen.size());
    const TrialStream stream(acl);
    return into.get() != nullptr && from.get() != nullptr && stream.get() != nullptr && into.write(values.left) &&
           from.write(values.right) &&
           acl.reduce_async(into.get(), from.get(), seen.size(), reduction.kind, reduction.type, stream.get(),
                            nullptr) == code::success &&
           acl.stream_synchronize(stream.get()) == code::success && into.read(seen) && seen == expected;
}

}  // namespace peercoll::ascend
