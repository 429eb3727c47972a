// SPDX-License-Identifier: BSD-3-Clause
// Making a wire, and unmaking it.
#include "plugin/ucx/load_environment.hpp"
#include "plugin/ucx/ucx_text.hpp"
#include "plugin/ucx/wire.hpp"

#include <sched.h>

#include <string_view>

#include <fmt/format.h>

namespace peercoll::ucx {

namespace {

// Variables are PEERCOLL_UCX_NAME; UCX reads its own UCX_NAME first, which those override.
constexpr const char* environment_prefix = "PEERCOLL";

// What ucp_abi.hpp is written from. The library compares it with its own.
constexpr unsigned api_major = 1;
constexpr unsigned api_minor = 13;

constexpr unsigned first_minor_with_checked_cma = 16;
constexpr std::uint64_t common_memory_kinds = 0x1f;  // that mean the same in every release

Status failed(const char* what, UcsStatus status) {
    return {PEERCOLL_ERR_NOT_SUPPORTED, fmt::format("UCX: {} failed: {}", what, status_text(status))};
}

class Config {
public:
    explicit Config(const UcpFunctions& call) : call_(call) {}
    ~Config() {
        if (config_ != nullptr) call_.config_release(config_);
    }
    Config(const Config&) = delete;
    Config& operator=(const Config&) = delete;

    UcsStatus read() { return call_.config_read(environment_prefix, nullptr, &config_); }
    UcpConfig* get() const { return config_; }

    // "NAME=value"; the user's environment wins. A name that UCX does not know it only warns about, later.
    Status set(std::string_view setting) {
        const std::size_t equals = setting.find('=');
        if (equals == std::string_view::npos || equals == 0) {
            return {PEERCOLL_ERR_INVALID_ARGUMENT,
                    fmt::format("UCX setting \"{}\": expected NAME=value, NAME without UCX_", setting)};
        }
        const std::string name(setting.substr(0, equals));
        if (is_set(fmt::format("{}_UCX_{}", environment_prefix, name)) || is_set("UCX_" + name)) return {};
        const UcsStatus status =
            call_.config_modify(config_, name.c_str(), std::string(setting.substr(equals + 1)).c_str());
        if (status == ucs_status::ok) return {};
        return {PEERCOLL_ERR_INVALID_ARGUMENT,
                fmt::format("UCX does not take the setting \"{}\": {}", setting, status_text(status))};
    }

private:
    const UcpFunctions& call_;
    UcpConfig* config_ = nullptr;
};

}  // namespace

Status Wire::open(const peercoll_wire_options_t& options, std::unique_ptr<Wire>& wire) {
    const UcpLibrary* library = nullptr;
    if (Status status = open_ucp(options.library != nullptr ? options.library : "", library); !status.ok())
        return status;
    std::unique_ptr<Wire> fresh(new Wire(*library));  // NOLINT: the constructor is private
    if (Status status = fresh->start(options); !status.ok()) return status;
    wire = std::move(fresh);
    return {};
}

Status Wire::start(const peercoll_wire_options_t& options) {
    Config config(call_);
    if (const UcsStatus status = config.read(); status != ucs_status::ok) {
        return failed("reading PEERCOLL_UCX_* and UCX_* variables", status);
    }
    // Older releases take CMA for usable between user namespaces, and then end the process.
    if (library_.minor < first_minor_with_checked_cma) {
        if (Status status = config.set("TLS=^cma"); !status.ok()) return status;
    }
    for (const char* const* setting = options.settings; setting != nullptr && *setting != nullptr; ++setting) {
        if (Status status = config.set(*setting); !status.ok()) return status;
    }

    UcpParameters parameters;
    parameters.field_mask =
        UcpParameters::field_features | UcpParameters::field_tag_sender_mask | UcpParameters::field_name;
    parameters.features = UcpParameters::feature_tag;
    parameters.tag_sender_mask = 0;  // a rank number says nothing across communicators
    parameters.name = "peercoll";
    if (options.processes > 0) {
        parameters.field_mask |= UcpParameters::field_estimated_endpoints;
        parameters.estimated_endpoints = options.processes;
    }
    if (options.processes_per_node > 0) {
        parameters.field_mask |= UcpParameters::field_estimated_per_node;
        parameters.estimated_per_node = options.processes_per_node;
    }
    if (const UcsStatus status = call_.init_version(api_major, api_minor, &parameters, config.get(), &context_);
        status != ucs_status::ok) {
        return failed("making a context", status);
    }
    UcpContextAttributes attributes;
    attributes.field_mask = UcpContextAttributes::field_memory_types;
    if (const UcsStatus status = call_.context_query(context_, &attributes); status != ucs_status::ok) {
        return failed("asking which memory it can send", status);
    }
    memory_kinds_ = static_cast<std::uint32_t>(attributes.memory_types & common_memory_kinds);

    UcpWorkerParameters worker;
    worker.field_mask = UcpWorkerParameters::field_thread_mode | UcpWorkerParameters::field_flags;
    worker.thread_mode = UcpWorkerParameters::thread_mode_serialized;
    worker.flags = UcpWorkerParameters::flag_ignore_request_leak;
    if (const UcsStatus status = call_.worker_create(context_, &worker, &worker_); status != ucs_status::ok) {
        return failed("making a worker", status);
    }
    UcpAddress* address = nullptr;
    std::size_t bytes = 0;
    if (const UcsStatus status = call_.worker_get_address(worker_, &address, &bytes); status != ucs_status::ok) {
        return failed("asking for the worker's address", status);
    }
    const auto* begin = reinterpret_cast<const std::uint8_t*>(address);
    address_.assign(begin, begin + bytes);
    call_.worker_release_address(worker_, address);
    return {};
}

void Wire::close_begin() {
    const Turn turn(*this);
    if (closing_) return;
    closing_ = true;
    for (Operation& operation : pool_.all()) {
        if (operation.state.load(std::memory_order_relaxed) == Operation::State::Active && operation.receive) {
            end_early(operation);
        }
    }
    unsettled_ = true;
    update_busy();
}

// Between nodes always with force, and only after a flush: UCX's own way to close waits for an answer, and the peer may
// be busy with something else for hours. It learns from the socket that this process is gone.
void Wire::close_endpoint(Peer& peer) {
    if (peer.endpoint == nullptr) return;
    UcpRequestParameters parameters;
    if (peer.same_node) {
        if (peer.lost) {  // UCX does not let go of such a peer, and waiting for it is in vain
            unfinishable_ = true;
            return;
        }
    } else {
        parameters.mask = UcpRequestParameters::field_flags;
        parameters.flags = UcpRequestParameters::flag_close_force;
    }
    void* request = call_.ep_close_nbx(peer.endpoint, &parameters);
    peer.endpoint = nullptr;
    --endpoints_;
    if (request != nullptr && !is_error(request)) closing_requests_.push_back(request);
}

void Wire::release_completed(std::vector<void*>& requests) {
    std::erase_if(requests, [this](void* request) {
        if (call_.request_check_status(request) == ucs_status::in_progress) return false;
        call_.request_free(request);
        return true;
    });
}

bool Wire::finish(std::chrono::duration<double> limit) {
    close_begin();
    const auto end = std::chrono::steady_clock::now() + limit;
    const auto get_quiet = [this, end] {
        while (busy() && std::chrono::steady_clock::now() < end) {
            if (!progress()) ::sched_yield();
        }
    };
    get_quiet();
    {
        const Turn turn(*this);
        for (auto& [key, peer] : peers_) close_endpoint(*peer);
        update_busy();
    }
    get_quiet();
    const Turn turn(*this);
    for (const Operation& operation : pool_.all()) {
        if (operation.request != nullptr) return false;
    }
    return given_out_ == 0 && closing_requests_.empty() && !unfinishable_ && flushes_.empty();
}

Wire::~Wire() {
    if (worker_ != nullptr) call_.worker_destroy(worker_);
    if (context_ != nullptr) call_.cleanup(context_);
}

}  // namespace peercoll::ucx
