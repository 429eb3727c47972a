// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_examples/peer_copy/transfer.hpp"

#include "mpi_examples/peer_copy/owned.hpp"
#include "mpi_examples/peer_copy/pattern.hpp"

#include <chrono>

namespace peercoll::peer_copy {

namespace {

constexpr int timed_rounds = 5;

struct Ends {
    std::int32_t from;
    std::int32_t to;
    std::string text() const {
        return from == to ? fmt::format("within device {}", from)
                          : fmt::format("from device {} to device {}", from, to);
    }
};

void start_copy(const Runtime& runtime, const Stream& stream, std::uint64_t to, std::uint64_t from, std::size_t bytes,
                const std::string& what) {
    peercoll_reason_t reason{};
    require(runtime->copy(stream.get(), to, from, bytes, &reason), reason, what);
}

// A fold of one input is a copy by a kernel.
void start_kernel(const Runtime& runtime, const Stream& stream, std::uint64_t to, std::uint64_t from, std::size_t bytes,
                  const std::string& what) {
    const std::uint32_t one_block = 1;
    peercoll_fold_t fold{};
    fold.struct_size = sizeof fold;
    fold.datatype = PEERCOLL_BYTE;
    fold.op = PEERCOLL_NO_OP;
    fold.count = bytes;
    fold.n_inputs = 1;
    fold.n_outputs = 1;
    fold.n_blocks = 1;
    fold.inputs = &from;
    fold.outputs = &to;
    fold.block_ends = &one_block;
    peercoll_reason_t reason{};
    require(runtime->fold(stream.get(), &fold, &reason), reason, what);
}

using Start = decltype(&start_copy);

// The runtime must know what it has allocated: device, base and size of the allocation that holds the last byte.
void check_address_range(const Runtime& runtime, std::int32_t device, std::uint64_t address, std::size_t bytes) {
    peercoll_pointer_info_t info{};
    runtime->classify(reinterpret_cast<const void*>(address + bytes - 1), &info);
    if (info.kind != PEERCOLL_MEMORY_DEVICE || info.device != device)
        throw Failure(fmt::format("the last byte allocated on device {} is taken for memory of kind {} of device {}",
                                  device, info.kind, info.device));
    if (info.base > address || info.base + info.bytes < address + bytes)
        throw Failure(fmt::format("an allocation of {} bytes at {:#x} on device {} is taken for {} bytes at {:#x}",
                                  bytes, address, device, info.bytes, info.base));
}

class Pair {
public:
    Pair(const Runtime& runtime, Ends ends, std::size_t bytes)
        : runtime_(runtime),
          ends_(ends),
          bytes_(bytes),
          source_(runtime, ends.from, bytes),
          target_(runtime, ends.to, bytes),
          sent_(runtime, ends.from, bytes),
          received_(runtime, ends.to, bytes),
          sender_(runtime, ends.from),
          receiver_(runtime, ends.to) {
        check_address_range(runtime, ends.from, source_.address(), bytes);
        check_address_range(runtime, ends.to, target_.address(), bytes);
    }

    Result bring(Start start, const std::string& verb, std::uint64_t seed) {
        Result result;
        result.tried = true;
        const std::string what = fmt::format("{} {}", verb, ends_.text());
        try {
            prepare(seed);
            start(runtime_, sender_, target_.address(), source_.address(), bytes_, what);
            sender_.synchronize();
            result.problem = look(seed, what);
            if (result.problem.empty()) result.bytes_per_second = measure(start, what);
        } catch (const Failure& failure) {
            result.failed = true;
            result.problem = failure.what();
        }
        return result;
    }

private:
    void prepare(std::uint64_t seed) {
        fill(sent_.bytes(), seed);
        fill_wrong(received_.bytes(), seed);
        start_copy(runtime_, sender_, source_.address(), sent_.address(), bytes_, "copying to the sending device");
        start_copy(runtime_, receiver_, target_.address(), received_.address(), bytes_,
                   "copying to the receiving device");
        sender_.synchronize();
        receiver_.synchronize();
    }

    // By the receiving device's own way to the host.
    std::string look(std::uint64_t seed, const std::string& what) {
        start_copy(runtime_, receiver_, received_.address(), target_.address(), bytes_,
                   "copying from the receiving device");
        receiver_.synchronize();
        const Difference difference = compare(received_.bytes(), seed);
        if (difference.wrong == 0) return {};
        return fmt::format("{}: {} of {} bytes are wrong, the first at offset {}: expected {:#04x}, found {:#04x}",
                           what, difference.wrong, bytes_, difference.first, static_cast<unsigned>(difference.expected),
                           static_cast<unsigned>(difference.found));
    }

    double measure(Start start, const std::string& what) {
        const auto begin = std::chrono::steady_clock::now();
        for (int round = 0; round < timed_rounds; ++round)
            start(runtime_, sender_, target_.address(), source_.address(), bytes_, what);
        sender_.synchronize();
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        return timed_rounds * static_cast<double>(bytes_) / seconds.count();
    }

    const Runtime& runtime_;
    Ends ends_;
    std::size_t bytes_;
    DeviceBuffer source_;
    DeviceBuffer target_;
    HostBuffer sent_;
    HostBuffer received_;
    Stream sender_;  // before the memory it works on is freed, it is waited for and destroyed
    Stream receiver_;
};

void transfer_or_throw(const Runtime& runtime, Ends ends, std::size_t bytes, PairResult& result) {
    PeerAccess forth(runtime, ends.from, ends.to);
    PeerAccess back(runtime, ends.to, ends.from);
    {
        Pair pair(runtime, ends, bytes);
        const std::uint64_t seed =
            2 * (static_cast<std::uint64_t>(ends.from) * 64 + static_cast<std::uint64_t>(ends.to));
        result.by_copy = pair.bring(start_copy, "copies", seed);
        if (PEERCOLL_DEVICE_HAS(&*runtime, can_fold) &&
            runtime->can_fold(ends.from, PEERCOLL_BYTE, PEERCOLL_NO_OP) != 0)
            result.by_kernel = pair.bring(start_kernel, "stores of a kernel", seed + 1);
    }
    back.disable();
    forth.disable();
}

}  // namespace

bool reach_each_other(const Runtime& runtime, std::int32_t one, std::int32_t other) {
    return one == other || (runtime->can_access_peer(one, other) != 0 && runtime->can_access_peer(other, one) != 0);
}

PairResult transfer(const Runtime& runtime, std::int32_t from, std::int32_t to, std::size_t bytes) {
    PairResult result;
    try {
        transfer_or_throw(runtime, {from, to}, bytes, result);
    } catch (const Failure& failure) {
        result.by_copy.tried = true;
        result.by_copy.failed = true;
        result.by_copy.problem = failure.what();
    }
    return result;
}

}  // namespace peercoll::peer_copy
