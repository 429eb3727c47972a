// SPDX-License-Identifier: BSD-3-Clause
// A collective whose device buffers are staged: copied to host memory, given to a host algorithm, copied back.
//
//   stream 0   [in 0]          [out 0][in 2]           [out 2]
//   host               [op 0]         [op 1]    [op 2]
//   stream 1           [in 1]                [out 1]
//
// Where all ranks know of the staging (`agreed`) the message goes in pieces, so that copies and host work overlap and
// the staging stays small. A rank that stages alone, unknown to the others, does it in one piece.
#pragma once

#include "collectives/task.hpp"
#include "plugin/runtime/call.hpp"
#include "plugin/runtime/node.hpp"
#include "plugin/runtime/operation.hpp"
#include "plugin/runtime/process_devices.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace peercoll {

class StagedCall {
public:
    static constexpr std::size_t piece_bytes = std::size_t{4} << 20;

    // All must outlive the object.
    StagedCall(Node& node, ProcessDevices& devices, const Call& call, bool agreed);

    Progress progress();
    // Of the host operation, once begun.
    std::size_t algorithm() const { return algorithm_; }
    // Why it has failed, if it was for a device.
    const Status& status() const { return status_; }

private:
    enum class Stage : std::uint8_t { Begin, Prepare, CopyIn, Operate, Drain };
    // Two pieces are under way in turn.
    struct Piece {
        StagedBytes memory;
        LentStream stream;
        LentStream source_stream;  // only where the source is another maker's: one runtime cannot copy for both
        Call call;                 // with host addresses
    };

    std::size_t pieces() const;
    std::size_t first_of(std::size_t piece) const { return piece * unit_; }
    std::size_t units_of(std::size_t piece) const;
    bool is_staged(const ClassifiedMemory& memory) const;
    Status prepare(Piece& slot);
    static Status copy(LentStream& stream, void* to, const void* from, std::size_t bytes);
    // Starts the copies to the host for a piece. PEERCOLL_ERR_BUSY: another stream still copies out of its memory.
    Status copy_in(std::size_t piece);
    Status copy_out(std::size_t piece);
    Progress fail(Status status);

    Node* node_;
    ProcessDevices* devices_;
    const Call* call_;
    ClassifiedMemory source_;       // of an allreduce
    ClassifiedMemory destination_;  // of an allreduce, or the buffer of a broadcast
    bool agreed_ = false;
    std::size_t total_;  // elements; bytes of a broadcast
    std::size_t unit_;   // of a piece
    std::size_t element_bytes_;
    Stage stage_ = Stage::Begin;
    std::size_t piece_ = 0;
    std::size_t copied_in_ = 0;  // pieces whose copies have been started
    std::array<Piece, 2> slots_;
    std::optional<Operation> operation_;
    std::size_t algorithm_ = 0;
    Status status_;
};

}  // namespace peercoll
