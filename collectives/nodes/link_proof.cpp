// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/nodes/link_proof.hpp"

#include <algorithm>

namespace peercoll {

namespace {

// Another one for each sender and receiver, and no byte like its neighbours.
std::vector<std::byte> pattern(int from, int to) {
    std::vector<std::byte> bytes(link_proof_bytes);
    std::uint32_t state = static_cast<std::uint32_t>(from) * 65537U + static_cast<std::uint32_t>(to) + 1;
    for (std::byte& byte : bytes) {
        state = state * 1664525U + 1013904223U;
        byte = static_cast<std::byte>(state >> 24);
    }
    return bytes;
}

}  // namespace

LinkProof::LinkProof(NodeLink& link, int node, const std::vector<int>& partners, std::uint32_t sequence)
    : link_(&link), node_(node), sequence_(sequence) {
    for (const int other : partners) {
        Partner& partner = partners_.emplace_back();
        partner.node = other;
        partner.sent = pattern(node, other);
        partner.received.resize(link_proof_bytes);
    }
}

Progress LinkProof::fail(int node) {
    failed_ = node;
    return Progress::Failed;
}

Progress LinkProof::go_on(Stage next) {
    stage_ = next;
    return Progress::Advanced;
}

bool LinkProof::start_patterns() {
    const MessageName name{sequence_, 0};
    for (Partner& partner : partners_) {
        if (link_->receive(partner.node, name, partner.received.data(), link_proof_bytes, partner.receiving) &&
            link_->send(partner.node, name, partner.sent.data(), link_proof_bytes, partner.sending))
            continue;
        failed_ = partner.node;
        return false;
    }
    return true;
}

bool LinkProof::start_words() {
    const MessageName name{sequence_, 1};
    for (Partner& partner : partners_) {
        partner.is_sent = partner.is_received = false;
        if (link_->receive(partner.node, name, &partner.word, 1, partner.receiving) &&
            link_->send(partner.node, name, partner.sent.data(), 1, partner.sending))
            continue;
        failed_ = partner.node;
        return false;
    }
    return true;
}

Progress LinkProof::messages() {
    const auto ended = [this](NodeLink::Ticket& ticket, bool& end) {
        if (end) return true;
        const Progress state = ticket == nullptr ? Progress::Done : link_->test(ticket);
        end = state == Progress::Done;
        return state != Progress::Failed;
    };
    bool all = true;
    for (Partner& partner : partners_) {
        if (!ended(partner.receiving, partner.is_received) || !ended(partner.sending, partner.is_sent))
            return fail(partner.node);
        all = all && partner.is_received && partner.is_sent;
    }
    if (all) return Progress::Done;
    return link_->progress() ? Progress::Advanced : Progress::Pending;
}

Progress LinkProof::progress() {
    if (failed_ >= 0) return Progress::Failed;
    switch (stage_) {
        case Stage::Begin:
            return start_patterns() ? go_on(Stage::Patterns) : Progress::Failed;
        case Stage::Patterns: {
            if (const Progress state = messages(); state != Progress::Done) return state;
            for (const Partner& partner : partners_) {
                if (partner.received == pattern(partner.node, node_)) continue;
                wrong_ = true;
                return fail(partner.node);
            }
            return go_on(Stage::Settle);
        }
        case Stage::Settle:
            if (link_->settle()) return Progress::Pending;
            return start_words() ? go_on(Stage::Words) : Progress::Failed;
        case Stage::Words: {
            const Progress state = messages();
            return state == Progress::Done ? go_on(Stage::SettleWords) : state;
        }
        case Stage::SettleWords:
            if (link_->settle()) return Progress::Pending;
            return go_on(Stage::End);
        case Stage::End:
            break;
    }
    return Progress::Done;
}

int LinkProof::suspect() const {
    if (failed_ >= 0) return failed_;
    const auto found = std::find_if(partners_.begin(), partners_.end(),
                                    [](const Partner& partner) { return !partner.is_received || !partner.is_sent; });
    return found == partners_.end() ? -1 : found->node;
}

void LinkProof::abandon() noexcept {
    for (Partner& partner : partners_) {
        link_->abandon(partner.node, partner.receiving);
        link_->abandon(partner.node, partner.sending);
    }
}

}  // namespace peercoll
