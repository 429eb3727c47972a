// SPDX-License-Identifier: BSD-3-Clause
// ProcessWire: this process's end of the transport to other hosts, opened by the first communicator that needs it, and
// the numbers under which its communicators receive.
#pragma once

#include "plugin/common/status.hpp"
#include "plugin/ucx/transport.h"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

namespace peercoll {

class ProcessWire {
public:
    // `processes`: of the job, as far as known.
    static Status open(std::uint32_t processes, std::unique_ptr<ProcessWire>& wire);
    ~ProcessWire();
    ProcessWire(const ProcessWire&) = delete;
    ProcessWire& operator=(const ProcessWire&) = delete;

    const peercoll_transport_t& transport() const { return *transport_; }
    peercoll_wire_t wire() const { return wire_; }
    const peercoll_process_key_t& key() const { return key_; }
    // False in a forked child, which must leave its parent's wire alone.
    bool is_ours() const;

    // A number for a communicator that has none. Recently used ones come last: a message of a communicator that failed
    // may still be under way. Thread safe.
    Status take_number(std::uint32_t& number);
    void give_number_back(std::uint32_t number);

private:
    ProcessWire() = default;

    const peercoll_transport_t* transport_ = nullptr;
    peercoll_wire_t wire_ = nullptr;
    peercoll_process_key_t key_{};
    pid_t owner_ = 0;
    std::mutex mutex_;
    std::set<std::uint32_t> numbers_;  // in use
    std::uint32_t next_number_ = 0;
};

}  // namespace peercoll
