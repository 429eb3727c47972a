// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/call.hpp"

#include <array>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

namespace peercoll {

namespace {

Status bad(std::string sentence) {
    return {PEERCOLL_ERR_INVALID_ARGUMENT, std::move(sentence)};
}

Status why_no_fold(peercoll_datatype_t datatype, peercoll_op_t op) {
    if (datatype_size(datatype) == 0)
        return bad(fmt::format("datatype {} is none that this machine has; expected a PEERCOLL_ datatype", datatype));
    if (op_name(op) == nullptr) return bad(fmt::format("operation {} is none; expected a PEERCOLL_ operation", op));
    return bad(fmt::format("operation {} is not defined for datatype {}", op_name(op), datatype_name(datatype)));
}

// Looking a fold up takes longer than folding a few elements, so every answer is kept.
class FoldTable {
public:
    FoldTable() {
        for (peercoll_op_t op = 0; op < PEERCOLL_OP_END; ++op)
            for (peercoll_datatype_t datatype = 0; datatype < PEERCOLL_DATATYPE_END; ++datatype)
                folds_[op][datatype] = find_fold(op, datatype);
        for (peercoll_datatype_t datatype = 0; datatype < PEERCOLL_DATATYPE_END; ++datatype)
            bytes_[datatype] = datatype_size(datatype);
    }
    FoldFunction fold(peercoll_op_t op, peercoll_datatype_t datatype) const {
        const bool known = op >= 0 && op < PEERCOLL_OP_END && datatype >= 0 && datatype < PEERCOLL_DATATYPE_END;
        return known ? folds_[op][datatype] : nullptr;
    }
    std::size_t bytes(peercoll_datatype_t known) const { return bytes_[known]; }

private:
    std::array<std::array<FoldFunction, PEERCOLL_DATATYPE_END>, PEERCOLL_OP_END> folds_{};
    std::array<std::size_t, PEERCOLL_DATATYPE_END> bytes_{};
};

const FoldTable& fold_table() {
    static const FoldTable table;
    return table;
}

}  // namespace

Status Call::allreduce(const void* sendbuf, void* recvbuf, std::size_t count, peercoll_datatype_t datatype,
                       peercoll_op_t op, Call& call) {
    call.kind = PEERCOLL_ALLREDUCE;
    call.datatype = datatype;
    call.op = op;
    call.fold = fold_table().fold(op, datatype);
    if (call.fold == nullptr) return why_no_fold(datatype, op);
    call.element_bytes = fold_table().bytes(datatype);
    if (count > std::numeric_limits<std::size_t>::max() / 2 / call.element_bytes)
        return bad(fmt::format("count {} is more than memory can hold", count));
    if (count > 0 && (sendbuf == nullptr || recvbuf == nullptr)) return bad("a buffer is NULL although count is not 0");
    call.source = static_cast<const std::byte*>(sendbuf);
    call.destination = static_cast<std::byte*>(recvbuf);
    call.count = count;
    const std::size_t bytes = count * call.element_bytes;
    const auto from = reinterpret_cast<std::uintptr_t>(sendbuf);
    const auto to = reinterpret_cast<std::uintptr_t>(recvbuf);
    if (from != to && from < to + bytes && to < from + bytes)
        return bad("sendbuf and recvbuf overlap; expected the same address (in place) or separate memory");
    call.commutative = op_is_commutative(op);
    return {};
}

Status Call::broadcast_of(void* buffer, std::size_t bytes, int root, int ranks, Call& call) {
    call.kind = PEERCOLL_BROADCAST;
    if (root < 0 || root >= ranks) return bad(fmt::format("root {} is no rank of a communicator of {}", root, ranks));
    if (bytes > 0 && buffer == nullptr) return bad("the buffer is NULL although bytes is not 0");
    if (bytes > std::numeric_limits<std::size_t>::max() / 2)
        return bad(fmt::format("{} bytes are more than memory can hold", bytes));
    call.broadcast = {static_cast<std::byte*>(buffer), bytes, root};
    return {};
}

}  // namespace peercoll
