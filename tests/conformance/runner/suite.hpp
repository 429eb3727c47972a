// SPDX-License-Identifier: BSD-3-Clause
// The behaviours of one runtime, each of which runs in fresh processes of its own.
#pragma once

#include "tests/conformance/runner/scene.hpp"

#include <string>
#include <utility>
#include <vector>

namespace peercoll::conformance {

using Role = void (*)(Scene&);

struct Behaviour {
    std::string room;
    std::string name;
    std::vector<Role> roles;  // one process each, at most two
};

class Suite {
public:
    // Behaviours added from now on belong to `room`.
    void enter(std::string room) { room_ = std::move(room); }
    void add(std::string name, Role process) { behaviours_.push_back({room_, std::move(name), {process}}); }
    void add(std::string name, Role owner, Role reader) {
        behaviours_.push_back({room_, std::move(name), {owner, reader}});
    }

    const std::vector<Behaviour>& behaviours() const { return behaviours_; }

private:
    std::string room_;
    std::vector<Behaviour> behaviours_;
};

}  // namespace peercoll::conformance
