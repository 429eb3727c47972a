// SPDX-License-Identifier: BSD-3-Clause
// How the counters are shown to people.
#include "plugin/runtime/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peercoll {

namespace {

struct Part {
    std::string_view name;
    std::uint64_t value;
};

struct Collective {
    std::string_view name;
    std::uint64_t served = 0;
    std::vector<Part> algorithms;
    std::vector<Part> reasons;
};

// " (packets 1000, staged 200)", largest first; nothing if there are no parts.
std::string in_parentheses(std::vector<Part> parts) {
    if (parts.empty()) return {};
    std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.value > b.value; });
    std::string text;
    for (const Part& part : parts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", part.name, part.value);
    return " (" + text + ")";
}

std::string sentence(const Collective& collective) {
    std::string text =
        fmt::format("{} {} served{}", collective.name, collective.served, in_parentheses(collective.algorithms));
    std::uint64_t passed_on = 0;
    for (const Part& reason : collective.reasons) passed_on += reason.value;
    if (passed_on > 0) text += fmt::format(", {} passed on{}", passed_on, in_parentheses(collective.reasons));
    return text;
}

// Adds what "<collective>.<what>" counted; other counters are not about a collective.
void sort_in(const Statistics::Value& counter, std::vector<Collective>& collectives) {
    constexpr std::string_view algorithm = "algorithm.";
    constexpr std::string_view passed_on = "passed_on.";
    const std::string_view name(counter.name);
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return;
    const std::string_view what = name.substr(dot + 1);
    const bool served = what == "served";
    if (!served && !what.starts_with(algorithm) && !what.starts_with(passed_on)) return;

    auto collective = std::find_if(collectives.begin(), collectives.end(),
                                   [&](const Collective& c) { return c.name == name.substr(0, dot); });
    if (collective == collectives.end()) {
        collective = collectives.insert(collectives.end(), Collective{name.substr(0, dot), 0, {}, {}});
    }
    if (served) {
        collective->served = counter.value;
    } else if (counter.value > 0) {
        auto& parts = what.starts_with(algorithm) ? collective->algorithms : collective->reasons;
        parts.push_back({what.substr(algorithm.size()), counter.value});
        static_assert(algorithm.size() == passed_on.size());
    }
}

}  // namespace

std::string statistics_summary(const std::vector<Statistics::Value>& values) {
    std::vector<Collective> collectives;
    for (const Statistics::Value& counter : values) sort_in(counter, collectives);
    if (collectives.empty()) return "no collective was called";
    std::stable_sort(collectives.begin(), collectives.end(),
                     [](const Collective& a, const Collective& b) { return a.name < b.name; });
    std::string text;
    for (const Collective& collective : collectives) text += (text.empty() ? "" : "; ") + sentence(collective);
    return text;
}

std::vector<std::string> statistics_lines(const std::vector<Statistics::Value>& values) {
    std::vector<std::string> lines;
    lines.reserve(values.size());
    for (const Statistics::Value& counter : values) lines.push_back(fmt::format("{} {}", counter.name, counter.value));
    std::sort(lines.begin(), lines.end());
    return lines;
}

}  // namespace peercoll
