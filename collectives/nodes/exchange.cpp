// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/nodes/exchange.hpp"

#include "collectives/nodes/node_tree.hpp"

#include <algorithm>

namespace peercoll {

std::byte* NodeExchange::written_at(const NodeMessage& message) const {
    if (message.where.place == Place::Scratch) return memory_.scratch + message.where.at * memory_.element_bytes;
    return memory_.result + message.range.begin * memory_.element_bytes;
}

const std::byte* NodeExchange::read_at(const PlacedAt& where, Slice range) const {
    const std::size_t offset = range.begin * memory_.element_bytes;
    switch (where.place) {
        case Place::Result:
            return (folded_ || memory_.own == nullptr ? memory_.result : memory_.own) + offset;
        case Place::Scratch:
            return memory_.scratch + where.at * memory_.element_bytes;
        case Place::Input:
            return memory_.inputs[where.at] + offset;
    }
    return nullptr;
}

bool NodeExchange::start_round() {
    round_ = schedule_.round(number_);
    started_ = true;
    const MessageName name{sequence_, static_cast<std::uint32_t>(number_)};
    for (const NodeMessage& message : round_.receives) {
        NodeLink::Ticket ticket = nullptr;
        if (!link_->receive(message.node, name, written_at(message), message.range.count() * memory_.element_bytes,
                            ticket))
            return false;
        if (ticket != nullptr) outstanding_.push_back({message.node, ticket});
    }
    for (const NodeMessage& message : round_.sends) {
        NodeLink::Ticket ticket = nullptr;
        if (!link_->send(message.node, name, read_at(message.where, message.range),
                         message.range.count() * memory_.element_bytes, ticket))
            return false;
        if (ticket != nullptr) outstanding_.push_back({message.node, ticket});
    }
    return true;
}

void NodeExchange::combine() {
    for (const Combine& combine : round_.combines) {
        std::vector<const void*> inputs;
        inputs.reserve(combine.inputs.size());
        std::byte* out = memory_.result + combine.range.begin * memory_.element_bytes;
        for (const PlacedAt& input : combine.inputs) inputs.push_back(read_at(input, combine.range));
        if (combine.flat)
            memory_.fold(out, inputs.data(), inputs.size(), combine.range.count());
        else
            NodeTree(static_cast<int>(inputs.size()))
                .evaluate(memory_.fold, memory_.element_bytes, out, inputs.data(), combine.range.count());
    }
}

Progress NodeExchange::progress() {
    if (number_ == schedule_.rounds()) return Progress::Done;
    if (!started_ && !start_round()) return Progress::Failed;
    bool failed = false;
    const auto ended = [&](Outstanding& one) {
        const Progress state = link_->test(one.ticket);
        failed |= state == Progress::Failed;
        return state != Progress::Pending;
    };
    const std::size_t before = outstanding_.size();
    outstanding_.erase(std::remove_if(outstanding_.begin(), outstanding_.end(), ended), outstanding_.end());
    if (failed) return Progress::Failed;
    if (!outstanding_.empty())
        return link_->progress() || outstanding_.size() < before ? Progress::Advanced : Progress::Pending;
    combine();
    folded_ = folded_ || !round_.combines.empty();
    started_ = false;
    return ++number_ == schedule_.rounds() ? Progress::Done : Progress::Advanced;
}

void NodeExchange::abandon() noexcept {
    for (Outstanding& one : outstanding_) link_->abandon(one.node, one.ticket);
    outstanding_.clear();
}

}  // namespace peercoll
