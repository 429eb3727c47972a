// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/nodes/exchange.hpp"

#include "collectives/nodes/node_tree.hpp"

#include <algorithm>

namespace peercoll {

std::byte* NodeExchange::address_of(const NodeMessage& message) const {
    if (message.where.place == Place::Scratch) return memory_.scratch + message.where.at * memory_.element_bytes;
    return memory_.result + message.range.begin * memory_.element_bytes;
}

bool NodeExchange::start_round() {
    round_ = schedule_.round(number_);
    started_ = true;
    const MessageName name{sequence_, static_cast<std::uint32_t>(number_)};
    for (const NodeMessage& message : round_.receives) {
        NodeLink::Ticket ticket = nullptr;
        if (!link_->receive(message.node, name, address_of(message), message.range.count() * memory_.element_bytes,
                            ticket))
            return false;
        if (ticket != nullptr) outstanding_.push_back({message.node, ticket});
    }
    for (const NodeMessage& message : round_.sends) {
        const std::byte* from = message.where.place == Place::Input
                                    ? memory_.inputs[message.where.at] + message.range.begin * memory_.element_bytes
                                    : address_of(message);
        NodeLink::Ticket ticket = nullptr;
        if (!link_->send(message.node, name, from, message.range.count() * memory_.element_bytes, ticket)) return false;
        if (ticket != nullptr) outstanding_.push_back({message.node, ticket});
    }
    return true;
}

void NodeExchange::combine() {
    for (const Combine& combine : round_.combines) {
        std::vector<const void*> inputs;
        inputs.reserve(combine.inputs.size());
        const std::size_t offset = combine.range.begin * memory_.element_bytes;
        for (const PlacedAt& input : combine.inputs) {
            switch (input.place) {
                case Place::Result:
                    inputs.push_back(memory_.result + offset);
                    break;
                case Place::Scratch:
                    inputs.push_back(memory_.scratch + input.at * memory_.element_bytes);
                    break;
                case Place::Input:
                    inputs.push_back(memory_.inputs[input.at] + offset);
                    break;
            }
        }
        if (combine.flat)
            memory_.fold(memory_.result + offset, inputs.data(), inputs.size(), combine.range.count());
        else
            NodeTree(static_cast<int>(inputs.size()))
                .evaluate(memory_.fold, memory_.element_bytes, memory_.result + offset, inputs.data(),
                          combine.range.count());
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
    started_ = false;
    return ++number_ == schedule_.rounds() ? Progress::Done : Progress::Advanced;
}

void NodeExchange::abandon() noexcept {
    for (Outstanding& one : outstanding_) link_->abandon(one.node, one.ticket);
    outstanding_.clear();
}

}  // namespace peercoll
