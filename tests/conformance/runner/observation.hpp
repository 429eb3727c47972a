// SPDX-License-Identifier: BSD-3-Clause
// What a behaviour saw: one row of the table each.
#pragma once

#include <string>
#include <vector>

namespace peercoll::conformance {

enum class Kind {
    Expected,  // has to be what we rely on
    Observed,  // we rely on nothing, but a simulator has to answer as the device does
    Noted,     // differs from machine to machine, or from run to run
    Skipped,   // could not be looked at here; `value` is the reason
    Broken,    // went wrong before it could be looked at; `value` says how
};

struct Observation {
    Kind kind = Kind::Broken;
    std::string what;
    std::string expected;  // Expected only
    std::string value;

    bool wrong() const { return kind == Kind::Broken || (kind == Kind::Expected && value != expected); }
};

struct Outcome {
    std::string room;
    std::string behaviour;
    std::vector<Observation> observations;

    bool wrong() const {
        for (const Observation& observation : observations)
            if (observation.wrong()) return true;
        return false;
    }
    bool skipped() const {
        for (const Observation& observation : observations)
            if (observation.kind == Kind::Skipped) return true;
        return false;
    }
};

}  // namespace peercoll::conformance
