// SPDX-License-Identifier: BSD-3-Clause
// What a behaviour's function is given: where it reports, and the other process if there is one.
#pragma once

#include "tests/conformance/runner/channel.hpp"
#include "tests/conformance/runner/observation.hpp"

#include <concepts>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace peercoll::conformance {

// Thrown by Scene::skip.
struct SkipReason : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Templates, so that a result code, an enumerator, is no bool.
template <std::same_as<bool> T>
std::string to_text(T value) {
    return value ? "yes" : "no";
}
template <typename T>
requires(std::integral<T> && !std::same_as<T, bool>) || std::is_enum_v<T> std::string to_text(T value) {
    return std::to_string(+value);
}
inline std::string to_text(std::string_view value) {
    return std::string(value);
}
inline std::string to_text(const char* value) {
    return value;
}

class Scene {
public:
    // Observations are written to `report` at once: what was seen before a crash is not lost.
    Scene(Descriptor report, Channel other) : report_(std::move(report)), other_(std::move(other)) {}

    Channel& other() { return other_; }

    // `what` names the observation in the table: unique within the behaviour, and the same in every run.
    template <typename E, typename V>
    void expect(std::string_view what, const E& expected, const V& value) {
        record({Kind::Expected, std::string(what), to_text(expected), to_text(value)});
    }
    template <typename V>
    void observe(std::string_view what, const V& value) {
        record({Kind::Observed, std::string(what), "", to_text(value)});
    }
    template <typename V>
    void note(std::string_view what, const V& value) {
        record({Kind::Noted, std::string(what), "", to_text(value)});
    }
    [[noreturn]] void skip(const std::string& reason) { throw SkipReason(reason); }
    // For a process that ends itself in the middle, on purpose.
    [[noreturn]] void die_at_once();

    void record(const Observation& observation);
    void record_lost(std::string_view sentence);
    void record_complete();  // the function came to its end

private:
    void write_record(char kind, const Observation& observation);

    Descriptor report_;
    Channel other_;
};

// Records as they travel from a process of a behaviour to the runner.
struct Report {
    std::vector<Observation> observations;
    std::string lost;  // not empty: gave up because of the other process
    bool complete = false;
    bool died_on_purpose = false;
};
Report parse_report(std::string_view text);

}  // namespace peercoll::conformance
