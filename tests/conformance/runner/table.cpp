// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/runner/table.hpp"

#include <array>
#include <ctime>
#include <string>

namespace peercoll::conformance {

namespace {

std::string cell(std::string_view text) {
    if (text.find_first_of(",\"\n") == std::string_view::npos) return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + "\"";
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
    return text.data();
}

}  // namespace

std::string_view verdict(const Observation& observation) {
    switch (observation.kind) {
        case Kind::Expected:
            return observation.wrong() ? "differs" : "ok";
        case Kind::Observed:
            return "observed";
        case Kind::Noted:
            return "noted";
        case Kind::Skipped:
            return "skipped";
        case Kind::Broken:
            break;
    }
    return "broken";
}

void write_table(std::ostream& out, std::string_view program, const std::vector<Outcome>& outcomes) {
    out << "# " << program << ", " << today() << "\n";
    out << "room,behaviour,observation,verdict,expected,value\n";
    for (const Outcome& outcome : outcomes) {
        for (const Observation& row : outcome.observations) {
            out << cell(outcome.room) << ',' << cell(outcome.behaviour) << ',' << cell(row.what) << ',' << verdict(row)
                << ',' << cell(row.expected) << ',' << cell(row.value) << '\n';
        }
    }
}

}  // namespace peercoll::conformance
