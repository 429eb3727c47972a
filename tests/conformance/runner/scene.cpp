// SPDX-License-Identifier: BSD-3-Clause
// A report is a sequence of records: a letter, three texts each ended by a unit separator, a new line.
#include "tests/conformance/runner/scene.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

namespace peercoll::conformance {

namespace {

constexpr char separator = '\x1f';
constexpr char kind_letters[] = {'e', 'o', 'n', 's', 'b'};
constexpr char lost_letter = 'l';
constexpr char purpose_letter = 'd';
constexpr char complete_letter = 'c';

std::string clean(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return text;
}

std::string take_until(std::string_view& text, char end) {
    const std::size_t at = text.find(end);
    if (at == std::string_view::npos) return std::string(std::exchange(text, {}));
    std::string part(text.substr(0, at));
    text.remove_prefix(at + 1);
    return part;
}

}  // namespace

void Scene::write_record(char kind, const Observation& observation) {
    std::string line(1, kind);
    for (const std::string* text : {&observation.what, &observation.expected, &observation.value})
        line += clean(*text) + separator;
    line += '\n';
    // Shorter than a pipe's atomic size; a runner that no longer reads has already given up on this process.
    if (write(report_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(3);
}

void Scene::record(const Observation& observation) {
    write_record(kind_letters[static_cast<int>(observation.kind)], observation);
}

void Scene::record_lost(std::string_view sentence) {
    write_record(lost_letter, {Kind::Broken, "", "", std::string(sentence)});
}

void Scene::record_complete() {
    write_record(complete_letter, {});
}

void Scene::die_at_once() {
    write_record(purpose_letter, {});
    kill(getpid(), SIGKILL);
    _exit(3);  // not reached; tells the compiler that this does not return
}

Report parse_report(std::string_view text) {
    Report report;
    while (!text.empty()) {
        std::string line = take_until(text, '\n');
        if (line.empty()) continue;
        std::string_view rest(line);
        rest.remove_prefix(1);
        Observation observation;
        observation.what = take_until(rest, separator);
        observation.expected = take_until(rest, separator);
        observation.value = take_until(rest, separator);
        const char* const letter = std::find(std::begin(kind_letters), std::end(kind_letters), line[0]);
        if (line[0] == lost_letter) {
            report.lost = observation.value;
        } else if (line[0] == complete_letter) {
            report.complete = true;
        } else if (line[0] == purpose_letter) {
            report.died_on_purpose = true;
        } else if (letter != std::end(kind_letters)) {
            observation.kind = static_cast<Kind>(letter - std::begin(kind_letters));
            report.observations.push_back(std::move(observation));
        }
    }
    return report;
}

}  // namespace peercoll::conformance
