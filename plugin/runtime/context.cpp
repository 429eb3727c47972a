// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/context.hpp"

#include "plugin/runtime/communicator.hpp"
#include "plugin/runtime/hosts/process_wire.hpp"
#include "plugin/runtime/node_pool.hpp"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

namespace peercoll {

Context::Context(Options options, std::vector<OptionSetting> settings, std::string label,
                 std::vector<std::string>& warnings)
    : options_(std::move(options)),
      settings_(std::move(settings)),
      log_(options_.log, std::move(label)),
      devices_(std::make_unique<ProcessDevices>(options_, warnings)),
      pool_(std::make_unique<NodePool>()) {
    // So that a summary names them also where they stay at zero.
    statistics_.shared("allreduce.served");
    statistics_.shared("broadcast.served");
}

Status Context::create(const std::vector<std::string>& options, const std::string& origin, const std::string& label,
                       std::unique_ptr<Context>& context) {
    Options parsed;
    std::vector<OptionSetting> settings;
    std::vector<std::string> warnings;
    Status status = read_options(environ, options, origin.empty() ? "caller" : origin, parsed, settings, warnings);
    if (!status.ok()) return status;
    context.reset(new Context(std::move(parsed), std::move(settings),
                              label.empty() ? fmt::format("pid {}", ::getpid()) : label, warnings));
    for (const std::string& warning : warnings) context->log_.warn(warning);
    return {};
}

Context::~Context() {
    pool_.reset();
    if (options_.statistics == StatisticsOutput::Summary) log_.always(statistics_summary(statistics_.all()));
    if (options_.statistics == StatisticsOutput::All)
        for (const std::string& line : statistics_lines(statistics_.all())) log_.always(line);
}

const Topology* Context::topology() {
    const std::lock_guard lock(mutex_);
    if (!topology_tried_) {
        topology_tried_ = true;
        if (const Status status = Topology::load(options_.topology_file, false, topology_); !status.ok()) {
            topology_.reset();
            log_.warn(
                fmt::format("the node's topology is unknown, all ranks count as one group: {}", status.sentence()));
        }
    }
    return topology_.get();
}

const ProcessIdentity& Context::identity() {
    const std::lock_guard lock(mutex_);
    // A forked child is another process with the parent's context.
    if (!identity_ || identity_->pid != ::getpid())
        identity_ = std::make_unique<ProcessIdentity>(ProcessIdentity::of_this_process());
    return *identity_;
}

Status Context::host_wire(std::uint32_t processes, ProcessWire*& wire) {
    const std::lock_guard lock(wire_mutex_);
    // A forked child has its parent's; it is closed there.
    if (wire_ != nullptr && !wire_->is_ours()) wire_.reset();
    if (wire_ == nullptr && wire_refused_.ok()) wire_refused_ = ProcessWire::open(processes, wire_);
    wire = wire_.get();
    return wire_refused_;
}

void Context::add_active(Communicator& communicator) {
    const std::lock_guard lock(active_mutex_);
    active_.push_back(&communicator);
    active_count_.store(static_cast<int>(active_.size()), std::memory_order_relaxed);
}

void Context::remove_active(Communicator& communicator) {
    const std::lock_guard lock(active_mutex_);
    active_.erase(std::remove(active_.begin(), active_.end(), &communicator), active_.end());
    active_count_.store(static_cast<int>(active_.size()), std::memory_order_relaxed);
}

void Context::progress_others(const Communicator* self) {
    // The list stays locked meanwhile, so that no communicator of it is destroyed; whoever finds it locked lets it be.
    const std::unique_lock lock(active_mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    for (Communicator* communicator : active_)
        if (communicator != self) communicator->try_progress();
}

}  // namespace peercoll
