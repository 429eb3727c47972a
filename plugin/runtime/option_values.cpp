// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/option_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace peercoll {

namespace {

using Unit = std::pair<std::string_view, std::uint64_t>;

// A whole number directly followed by one of `units`, in the last unit's measure.
std::optional<std::uint64_t> parse_number_with_unit(std::string_view text, std::span<const Unit> units) {
    const std::string lower = lower_case(trimmed(text));
    std::uint64_t number = 0;
    const char* const end = lower.data() + lower.size();
    const auto [rest, error] = std::from_chars(lower.data(), end, number);
    if (error != std::errc()) return std::nullopt;

    const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
    const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.first == suffix; });
    if (unit == units.end() || number > std::numeric_limits<std::int64_t>::max() / unit->second) return std::nullopt;
    return number * unit->second;
}

// Levenshtein's distance: the number of letters to insert, delete or replace.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
        }
    }
    return row[b.size()];
}

}  // namespace

std::string lower_case(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

std::string upper_case(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return result;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<std::size_t> parse_word(std::string_view text, std::span<const std::string_view> words) {
    const auto found = std::find(words.begin(), words.end(), lower_case(trimmed(text)));
    if (found == words.end()) return std::nullopt;
    return static_cast<std::size_t>(found - words.begin());
}

std::optional<std::size_t> parse_size(std::string_view text) {
    constexpr std::uint64_t kib = 1024;
    constexpr std::array<Unit, 8> units{{{"", 1},
                                         {"b", 1},
                                         {"k", kib},
                                         {"kib", kib},
                                         {"m", kib * kib},
                                         {"mib", kib * kib},
                                         {"g", kib * kib * kib},
                                         {"gib", kib * kib * kib}}};
    const auto bytes = parse_number_with_unit(text, units);
    if (!bytes || *bytes > std::numeric_limits<std::size_t>::max()) return std::nullopt;
    return static_cast<std::size_t>(*bytes);
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
    constexpr std::array<Unit, 4> units{{{"ms", 1}, {"s", 1000}, {"min", 60'000}, {"h", 3'600'000}}};
    const auto milliseconds = parse_number_with_unit(text, units);
    if (!milliseconds) return std::nullopt;
    return std::chrono::milliseconds(static_cast<std::int64_t>(*milliseconds));
}

std::optional<std::chrono::microseconds> parse_short_duration(std::string_view text) {
    constexpr std::array<Unit, 3> units{{{"us", 1}, {"ms", 1000}, {"s", 1'000'000}}};
    const auto microseconds = parse_number_with_unit(text, units);
    if (!microseconds) return std::nullopt;
    return std::chrono::microseconds(static_cast<std::int64_t>(*microseconds));
}

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> known) {
    const std::string lower = lower_case(word);
    std::string_view best;
    // Beyond a third of the letters, a suggestion is a guess that misleads.
    std::size_t best_distance = std::max<std::size_t>(2, lower.size() / 3) + 1;
    for (const std::string_view name : known) {
        const std::size_t distance = edit_distance(lower, name);
        if (distance < best_distance && distance < name.size()) {
            best = name;
            best_distance = distance;
        }
    }
    return best;
}

}  // namespace peercoll
