// SPDX-License-Identifier: BSD-3-Clause
// This process's end of UCX: a context and worker of our own, peers, messages. What each function is for is said in
// transport.h. One lock, held for as long as a call of UCX takes, never across a wait.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/ucx/operation.hpp"
#include "plugin/ucx/peer.hpp"
#include "plugin/ucx/transport.h"
#include "plugin/ucx/ucp_library.hpp"

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace peercoll::ucx {

class Wire {
public:
    static Status open(const peercoll_wire_options_t& options, std::unique_ptr<Wire>& wire);
    // Only of a wire that is_closed(); another's worker is left alone.
    ~Wire();
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    void info(peercoll_wire_info_t& info);
    const std::vector<std::uint8_t>& address() const { return address_; }

    Status find_peer(const peercoll_process_key_t& key, const void* address, std::size_t bytes, bool same_node,
                     Peer*& peer);
    void drop_peer(Peer& peer);

    struct Memory {
        peercoll_wire_memory_t kind;
        void* data;
        std::size_t bytes;
    };
    Status send(Peer& peer, const peercoll_message_t& message, const Memory& memory, Operation*& operation);
    Status receive(Peer& peer, const peercoll_message_t& message, const Memory& memory, Operation*& operation);
    // False if it is not completed; else `end` says how it ended, and `operation` is null.
    bool test(Operation*& operation, Status& end);
    // False if UCX still holds the memory.
    bool cancel(Operation*& operation);

    bool progress();
    bool busy() const { return busy_.load(std::memory_order_relaxed); }

    void close_begin();
    // Progresses until quiet or the limit. True if nothing is left with UCX or a caller, so that the wire can go.
    bool finish(std::chrono::duration<double> limit);

private:
    explicit Wire(const UcpLibrary& library) : library_(library), call_(library.call) {}

    Status start(const peercoll_wire_options_t& options);
    Status check_start(const peercoll_message_t& message, const Memory& memory, std::uint64_t& tag) const;
    Status connect(Peer& peer);
    UcpRequestParameters request_parameters(Operation& operation, peercoll_wire_memory_t memory) const;
    Operation& new_operation(Peer& peer, std::size_t bytes, bool receive);
    Status keep_started(Operation& operation, void* returned, Operation*& given);

    // The lock for those who have something to do. progress() gives way to them: it is called in loops, and who has
    // just given a mutex back gets it again before anyone who sleeps on it has woken up.
    class Turn {
    public:
        explicit Turn(Wire& wire) : wire_(wire) {
            wire_.wanted_.fetch_add(1, std::memory_order_relaxed);
            wire_.mutex_.lock();
            wire_.wanted_.fetch_sub(1, std::memory_order_relaxed);
        }
        ~Turn() { wire_.mutex_.unlock(); }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

    private:
        Wire& wire_;
    };

    static void sent(void* request, UcsStatus status, void* operation);
    static void received(void* request, UcsStatus status, const UcpTagInfo* info, void* operation);
    static void endpoint_failed(void* peer, UcpEndpoint endpoint, UcsStatus status);
    void complete(Operation& operation, UcsStatus status);
    void end_early(Operation& operation);
    Status end_of(Operation*& given);
    void end_operations_of_lost_peers();
    void close_endpoint(Peer& peer);
    void release_completed(std::vector<void*>& requests);
    void settle();
    void start_flush();
    void update_busy();

    const UcpLibrary& library_;
    const UcpFunctions& call_;
    UcpContext context_ = nullptr;
    UcpWorker worker_ = nullptr;
    std::uint32_t memory_kinds_ = 0;
    std::vector<std::uint8_t> address_;

    std::atomic<int> wanted_{0};  // threads that wait for their turn
    std::mutex mutex_;            // of everything below
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::unique_ptr<Peer>> peers_;
    OperationPool pool_;
    std::uint32_t active_ = 0;     // operations that a caller waits for
    std::uint32_t given_out_ = 0;  // transfers
    std::uint32_t endpoints_ = 0;
    std::uint64_t bytes_sent_ = 0;
    std::uint64_t messages_sent_ = 0;
    std::vector<void*> closing_requests_;
    bool closing_ = false;
    bool loss_is_new_ = false;            // of some peer
    bool unfinishable_ = false;           // a lost peer cannot be disconnected from
    bool unsettled_ = false;              // something was sent or received since the last flush
    std::vector<Peer*> unsettled_peers_;  // of this node
    std::vector<void*> flushes_;          // under way
    unsigned settling_rounds_ = 0;
    unsigned rounds_after_flush_ = 0;
    std::atomic<bool> busy_{false};
};

}  // namespace peercoll::ucx
