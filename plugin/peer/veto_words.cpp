// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/peer/veto_words.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace peercoll {

namespace {

bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

// "0000:1b:00.0"; a shorter or longer domain is written with four digits or more, as the runtimes do.
std::string pci_id(const std::string& word) {
    const std::size_t colon = word.find(':');
    if (colon == std::string::npos || colon == 0 || word.size() != colon + 8) return {};
    constexpr std::string_view shape = ":xx:xx.x";
    for (std::size_t i = 0; i < word.size(); ++i) {
        const char expected = i < colon ? 'x' : shape[i - colon];
        if (expected == 'x' ? !is_hex(word[i]) : word[i] != expected) return {};
    }
    std::size_t zeros = 0;
    while (colon - zeros > 4 && word[zeros] == '0') ++zeros;
    return word.substr(zeros);
}

// 32 digits.
std::string uuid(std::string word) {
    for (const std::string_view prefix : {"gpu-", "mig-"})
        if (word.starts_with(prefix)) word.erase(0, prefix.size());
    std::erase(word, '-');
    return word.size() == 32 && std::all_of(word.begin(), word.end(), is_hex) ? word : std::string();
}

std::string device(std::string_view given) {
    const std::string word = lower(given);
    std::string id = pci_id(word);
    return id.empty() ? uuid(word) : id;
}

std::string digits(const DeviceUuid& bytes) {
    std::string text;
    for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
    return text;
}

}  // namespace

Status VetoWords::parse(const std::string& text, VetoWords& words) {
    VetoWords parsed;
    constexpr std::string_view spaces = " \t\n;";
    for (std::size_t at = text.find_first_not_of(spaces); at != std::string::npos;) {
        const std::size_t end = std::min(text.find_first_of(spaces, at), text.size());
        const std::string_view word = std::string_view(text).substr(at, end - at);
        const std::size_t comma = word.find(',');
        std::pair<std::string, std::string> pair;
        if (comma != std::string_view::npos) pair = {device(word.substr(0, comma)), device(word.substr(comma + 1))};
        if (pair.first.empty() || pair.second.empty())
            return {PEERCOLL_ERR_INVALID_ARGUMENT,
                    fmt::format("\"{}\" names no pair of devices; expected two PCI ids (0000:1b:00.0) or UUIDs with a "
                                "comma between them, and spaces between pairs",
                                word)};
        parsed.pairs_.push_back(std::move(pair));
        at = text.find_first_not_of(spaces, end);
    }
    words = std::move(parsed);
    return {};
}

bool VetoWords::names(const DeviceUuid& a, const std::string& pci_a, const DeviceUuid& b,
                      const std::string& pci_b) const {
    if (pairs_.empty()) return false;
    const std::string uuid_a = digits(a);
    const std::string uuid_b = digits(b);
    const std::string id_a = pci_id(lower(pci_a));
    const std::string id_b = pci_id(lower(pci_b));
    const auto is_a = [&](const std::string& word) { return word == uuid_a || word == id_a; };
    const auto is_b = [&](const std::string& word) { return word == uuid_b || word == id_b; };
    return std::any_of(pairs_.begin(), pairs_.end(), [&](const auto& pair) {
        return (is_a(pair.first) && is_b(pair.second)) || (is_b(pair.first) && is_a(pair.second));
    });
}

}  // namespace peercoll
