// SPDX-License-Identifier: BSD-3-Clause
// The table of transport.h over Wire. Nothing is thrown out of here.
#include "plugin/ucx/transport.h"
#include "plugin/ucx/wire.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace peercoll::ucx {

namespace {

Wire& wire_of(peercoll_wire_t wire) {
    return *reinterpret_cast<Wire*>(wire);
}
Peer& peer_of(peercoll_wire_peer_t peer) {
    return *reinterpret_cast<Peer*>(peer);
}

peercoll_status_t answer(const Status& status, peercoll_reason_t* reason) {
    if (reason != nullptr && !status.ok()) {
        const std::size_t bytes = std::min(status.sentence().size(), sizeof reason->text - 1);
        std::memcpy(reason->text, status.sentence().data(), bytes);
        reason->text[bytes] = '\0';
    }
    return status.code();
}

template <typename Function>
peercoll_status_t guarded(peercoll_reason_t* reason, Function&& function) {
    try {
        return answer(function(), reason);
    } catch (const std::bad_alloc&) {
        return answer({PEERCOLL_ERR_OUT_OF_MEMORY, "no memory for the transport"}, reason);
    } catch (...) {
        return answer({PEERCOLL_ERR_INTERNAL, "the transport has a fault: an exception it does not know"}, reason);
    }
}

peercoll_status_t open(const peercoll_wire_options_t* options, peercoll_wire_t* wire, peercoll_reason_t* reason) {
    return guarded(reason, [&]() -> Status {
        if (options == nullptr || wire == nullptr || options->struct_size < sizeof *options) {
            return {PEERCOLL_ERR_INVALID_ARGUMENT,
                    "open: expected options with their struct_size, and a place for the wire"};
        }
        std::unique_ptr<Wire> fresh;
        if (Status status = Wire::open(*options, fresh); !status.ok()) return status;
        *wire = reinterpret_cast<peercoll_wire_t>(fresh.release());
        return {};
    });
}

void info(peercoll_wire_t wire, peercoll_wire_info_t* info) {
    peercoll_wire_info_t all = {};
    (void)guarded(nullptr, [&]() -> Status {
        wire_of(wire).info(all);
        return {};
    });
    // A caller of an older release has a shorter struct.
    all.struct_size = std::min(info->struct_size, sizeof all);
    std::memcpy(info, &all, all.struct_size);
}

const void* address(peercoll_wire_t wire, size_t* bytes) {
    *bytes = wire_of(wire).address().size();
    return wire_of(wire).address().data();
}

peercoll_status_t peer(peercoll_wire_t wire, const peercoll_process_key_t* key, const void* address, size_t bytes,
                       int same_node, peercoll_wire_peer_t* peer, peercoll_reason_t* reason) {
    return guarded(reason, [&]() -> Status {
        Peer* found = nullptr;
        if (Status status = wire_of(wire).find_peer(*key, address, bytes, same_node != 0, found); !status.ok()) {
            return status;
        }
        *peer = reinterpret_cast<peercoll_wire_peer_t>(found);
        return {};
    });
}

void drop_peer(peercoll_wire_t wire, peercoll_wire_peer_t peer) {
    (void)guarded(nullptr, [&]() -> Status {
        wire_of(wire).drop_peer(peer_of(peer));
        return {};
    });
}

peercoll_status_t send(peercoll_wire_t wire, peercoll_wire_peer_t peer, const peercoll_message_t* message,
                       peercoll_wire_memory_t memory, const void* data, size_t bytes, peercoll_transfer_t* transfer,
                       peercoll_reason_t* reason) {
    *transfer = nullptr;
    return guarded(reason, [&]() -> Status {
        Operation* operation = nullptr;
        // The same description of memory serves both directions; sending only reads it.
        Status status =
            wire_of(wire).send(peer_of(peer), *message, {memory, const_cast<void*>(data), bytes}, operation);
        *transfer = reinterpret_cast<peercoll_transfer_t>(operation);
        return status;
    });
}

peercoll_status_t receive(peercoll_wire_t wire, peercoll_wire_peer_t peer, const peercoll_message_t* message,
                          peercoll_wire_memory_t memory, void* data, size_t bytes, peercoll_transfer_t* transfer,
                          peercoll_reason_t* reason) {
    *transfer = nullptr;
    return guarded(reason, [&]() -> Status {
        Operation* operation = nullptr;
        Status status = wire_of(wire).receive(peer_of(peer), *message, {memory, data, bytes}, operation);
        *transfer = reinterpret_cast<peercoll_transfer_t>(operation);
        return status;
    });
}

peercoll_status_t test(peercoll_wire_t wire, peercoll_transfer_t* transfer, peercoll_reason_t* reason) {
    if (*transfer == nullptr) return PEERCOLL_SUCCESS;
    bool done = false;
    const peercoll_status_t code = guarded(reason, [&]() -> Status {
        auto* operation = reinterpret_cast<Operation*>(*transfer);
        Status end;
        done = wire_of(wire).test(operation, end);
        if (done) *transfer = nullptr;
        return end;
    });
    return code != PEERCOLL_SUCCESS || done ? code : PEERCOLL_ERR_BUSY;
}

peercoll_status_t cancel(peercoll_wire_t wire, peercoll_transfer_t* transfer) {
    if (*transfer == nullptr) return PEERCOLL_SUCCESS;
    bool memory_is_free = false;
    const peercoll_status_t code = guarded(nullptr, [&]() -> Status {
        auto* operation = reinterpret_cast<Operation*>(*transfer);
        *transfer = nullptr;
        memory_is_free = wire_of(wire).cancel(operation);
        return {};
    });
    return code != PEERCOLL_SUCCESS || memory_is_free ? code : PEERCOLL_ERR_BUSY;
}

int progress(peercoll_wire_t wire) {
    bool moved = false;
    (void)guarded(nullptr, [&]() -> Status {
        moved = wire_of(wire).progress();
        return {};
    });
    return moved ? 1 : 0;
}

int busy(peercoll_wire_t wire) {
    return wire_of(wire).busy() ? 1 : 0;
}

void close_begin(peercoll_wire_t wire) {
    (void)guarded(nullptr, [&]() -> Status {
        wire_of(wire).close_begin();
        return {};
    });
}

peercoll_status_t close(peercoll_wire_t wire, double seconds, peercoll_reason_t* reason) {
    if (wire == nullptr) return PEERCOLL_SUCCESS;
    return guarded(reason, [&]() -> Status {
        if (!wire_of(wire).finish(std::chrono::duration<double>(seconds))) {
            // UCX would touch freed memory, or end the process, if it were taken down now.
            return {
                PEERCOLL_ERR_BUSY,
                "UCX still waits for a process that is lost, or a transfer was not ended: what it holds is left alone "
                "until this process ends"};
        }
        const std::unique_ptr<Wire> owner(&wire_of(wire));
        return {};
    });
}

}  // namespace

}  // namespace peercoll::ucx

extern "C" __attribute__((visibility("default"))) const peercoll_transport_t peercoll_transport_v1;
const peercoll_transport_t peercoll_transport_v1 = {
    .abi_version = PEERCOLL_TRANSPORT_ABI_VERSION,
    .struct_size = sizeof(peercoll_transport_t),
    .name = "ucx",
    .open = peercoll::ucx::open,
    .info = peercoll::ucx::info,
    .address = peercoll::ucx::address,
    .peer = peercoll::ucx::peer,
    .drop_peer = peercoll::ucx::drop_peer,
    .send = peercoll::ucx::send,
    .receive = peercoll::ucx::receive,
    .test = peercoll::ucx::test,
    .cancel = peercoll::ucx::cancel,
    .progress = peercoll::ucx::progress,
    .busy = peercoll::ucx::busy,
    .close_begin = peercoll::ucx::close_begin,
    .close = peercoll::ucx::close,
};
