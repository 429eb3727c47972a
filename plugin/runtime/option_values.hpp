// SPDX-License-Identifier: BSD-3-Clause
// The kinds of text that an option takes. Each function answers nullopt for text that is not of its kind.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace peercoll {

// ASCII only, and whatever the locale: option text must mean the same on every rank.
std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);

// Without spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);

// The index of `text` in `words`, which are in lower case.
std::optional<std::size_t> parse_word(std::string_view text, std::span<const std::string_view> words);

// Bytes: "4096", or with a factor of 1024, 1024^2 or 1024^3: "64K" = "64KiB", "1M" = "1MiB", "1G" = "1GiB". Decimal
// units ("64KB") are refused, because readers do not agree on what they mean.
std::optional<std::size_t> parse_size(std::string_view text);

// "500ms", "2s", "5min", "1h". A number without a unit is refused.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

// "30us", "2ms", "1s".
std::optional<std::chrono::microseconds> parse_short_duration(std::string_view text);

// The name of `known` that `word` is most probably a misspelling of; empty if none is near.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> known);

}  // namespace peercoll
