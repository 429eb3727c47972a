// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/hosts/process_wire.hpp"

#include "plugin/ucx/load_transport.hpp"

#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <random>

#include <fmt/format.h>

namespace peercoll {

namespace {

constexpr std::uint32_t numbers_there_are = 1u << 16;
// What the others of a job that ends well need is over in far less.
constexpr std::chrono::seconds close_limit{2};

// Chunks are awaited when they come, so that they need no rendezvous, whose extra round costs more than a copy: over
// TCP between namespaces a broadcast of 32 KiB took 26 us instead of 72, an allreduce of 256 KiB 420 instead of 680.
constexpr const char* wire_settings[] = {"RNDV_THRESH=256k", nullptr};

std::uint64_t random_word() {
    std::random_device source;
    return std::uint64_t{source()} << 32 | source();
}

}  // namespace

Status ProcessWire::open(std::uint32_t processes, std::unique_ptr<ProcessWire>& wire) {
    const peercoll_transport_t* transport = nullptr;
    if (Status status = load_transport(ucx_transport_file, transport); !status.ok()) return status;
    std::unique_ptr<ProcessWire> fresh(new ProcessWire);  // NOLINT: the constructor is private
    peercoll_wire_options_t options{};
    options.struct_size = sizeof options;
    options.processes = processes;
    options.settings = wire_settings;
    peercoll_reason_t reason{};
    if (const peercoll_status_t code = transport->open(&options, &fresh->wire_, &reason); code != PEERCOLL_SUCCESS)
        return {code, reason.text};
    fresh->transport_ = transport;
    fresh->owner_ = ::getpid();
    // Random, since processes on different hosts may have the same numbers in everything else.
    fresh->key_ = {{random_word(), random_word()}};
    wire = std::move(fresh);
    return {};
}

ProcessWire::~ProcessWire() {
    if (wire_ == nullptr || !is_ours()) return;
    transport_->close_begin(wire_);
    const auto end = std::chrono::steady_clock::now() + close_limit;
    while (transport_->busy(wire_) != 0 && std::chrono::steady_clock::now() < end)
        if (transport_->progress(wire_) == 0) ::sched_yield();
    // Refused only where a lost peer may still touch memory; then the wire is left alone until the process ends.
    transport_->close(wire_, std::chrono::duration<double>(close_limit).count(), nullptr);
}

bool ProcessWire::is_ours() const {
    return owner_ == ::getpid();
}

Status ProcessWire::take_number(std::uint32_t& number) {
    const std::lock_guard lock(mutex_);
    for (std::uint32_t i = 0; i < numbers_there_are; ++i) {
        const std::uint32_t candidate = next_number_++ % numbers_there_are;
        if (!numbers_.insert(candidate).second) continue;
        number = candidate;
        return {};
    }
    return {PEERCOLL_ERR_NOT_SUPPORTED,
            fmt::format("this process has {} communicators over several hosts; more cannot be told apart on the wire",
                        numbers_there_are)};
}

void ProcessWire::give_number_back(std::uint32_t number) {
    const std::lock_guard lock(mutex_);
    numbers_.erase(number);
}

}  // namespace peercoll
