// SPDX-License-Identifier: BSD-3-Clause
#include "tests/device_collectives/device_allreduce_runner.hpp"

#include "tests/device_collectives/guarded_region.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace peercoll::test {

namespace {

constexpr std::size_t guard = GuardedRegion::guard_bytes;
constexpr std::array<const char*, 3> layout_names{"in place", "in one allocation", "in two allocations"};

std::vector<std::byte> element(const std::byte* elements, std::size_t index, std::size_t bytes) {
    return {elements + index * bytes, elements + (index + 1) * bytes};
}

}  // namespace

// Different from call to call and from rank to rank: any byte of device memory, where a processor works at a multiple
// of every type's alignment.
std::size_t DeviceAllreduceRunner::offset(const TestMemory& memory) const {
    const std::size_t step = calls_ * 7 + rank_ * 3;
    return on_device(memory.kind()) ? step % 64 : step % 4 * 16;
}

bool DeviceAllreduceRunner::run(const ReductionCase& wanted, std::size_t from, std::size_t count, Layout layout,
                                Compare compare) {
    const std::size_t bytes = count * wanted.element_bytes;
    const std::byte* values = wanted.inputs[rank_].data() + from * wanted.element_bytes;
    const std::byte* expected = wanted.expected.data() + from * wanted.element_bytes;
    const bool in_place = layout == Layout::InPlace;

    const std::size_t begin = guard + offset(*destination_);
    GuardedRegion output(*destination_, begin, bytes, in_place ? values : nullptr);
    // Aligned as the first one is, so that a processor may work there, too.
    const std::size_t behind = (output.end() + guard + 63) / 64 * 64 + (begin - guard);
    const bool apart = layout == Layout::TwoAllocations;
    const TestMemory& second = apart ? *source_ : *destination_;
    GuardedRegion input(second, apart ? guard + offset(*source_) : behind, in_place ? 0 : bytes, values);

    ++calls_;
    not_empty_ += bytes > 0 ? 1 : 0;
    const auto describe = [&] {
        return testing::Message() << wanted.name() << ", elements " << from << " to " << from + count << ", "
                                  << layout_names.at(static_cast<std::size_t>(layout)) << ", from " << second.kind()
                                  << " to " << destination_->kind() << " memory, call " << calls_;
    };
    const std::byte* read = in_place ? output.address() : input.address();
    const peercoll_status_t status = plugin.allreduce(read, output.address(), count, wanted.datatype, wanted.op, comm_);
    if (status != PEERCOLL_SUCCESS) {
        ADD_FAILURE() << describe() << ": " << succeeded(status).message();
        return false;
    }
    output.fetch();
    input.fetch();
    result_.assign(output.content(), output.content() + bytes);
    const auto wrong = compare == Compare::Values
                           ? first_different_value(wanted.datatype, result_.data(), expected, count)
                           : first_different_bits(wanted.datatype, result_.data(), expected, count);
    if (wrong) {
        ADD_FAILURE() << describe() << ": element " << *wrong << " of the result is wrong\nexpected bytes "
                      << testing::PrintToString(element(expected, *wrong, wanted.element_bytes)) << "\n     but are "
                      << testing::PrintToString(element(result_.data(), *wrong, wanted.element_bytes));
        return false;
    }
    if (!output.guards_are_whole() || !input.guards_are_whole()) {
        ADD_FAILURE() << describe() << ": bytes outside the buffers were written";
        return false;
    }
    if (!in_place && bytes > 0 && std::memcmp(input.content(), values, bytes) != 0) {
        ADD_FAILURE() << describe() << ": the input was changed";
        return false;
    }
    return true;
}

}  // namespace peercoll::test
