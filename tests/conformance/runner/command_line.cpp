// SPDX-License-Identifier: BSD-3-Clause
#include "tests/conformance/runner/command_line.hpp"

#include "tests/conformance/runner/run.hpp"
#include "tests/conformance/runner/table.hpp"

#include <charconv>
#include <cstdio>
#include <exception>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peercoll::conformance {

namespace {

constexpr char usage[] =
    "usage: %s [--list] [--only TEXT] [--no-skips] [--limit SECONDS] [--table FILE]\n"
    "  --list            names the behaviours and ends\n"
    "  --only TEXT       those whose 'room: name' contains TEXT\n"
    "  --no-skips        a behaviour that cannot be looked at here counts as a failure\n"
    "  --limit SECONDS   for one behaviour (90)\n"
    "  --table FILE      writes all observations there, comma-separated\n";

struct Settings {
    bool list = false;
    bool no_skips = false;
    std::string only;
    std::string table;
    std::chrono::seconds limit{90};
};

std::optional<Settings> parse(const std::vector<std::string_view>& words) {
    Settings settings;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool has_value = i + 1 < words.size();
        if (words[i] == "--list") {
            settings.list = true;
        } else if (words[i] == "--no-skips") {
            settings.no_skips = true;
        } else if (words[i] == "--only" && has_value) {
            settings.only = words[++i];
        } else if (words[i] == "--table" && has_value) {
            settings.table = words[++i];
        } else if (words[i] == "--limit" && has_value) {
            int seconds = 0;
            const std::string_view text = words[++i];
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
            if (error != std::errc{} || end != text.data() + text.size() || seconds < 1 || seconds > 3600) return {};
            settings.limit = std::chrono::seconds(seconds);
        } else {
            return {};
        }
    }
    return settings;
}

void print(const Outcome& outcome) {
    const char* const word = outcome.wrong() ? "FAILED " : outcome.skipped() ? "skipped" : "ok     ";
    std::printf("%s %s: %s\n", word, outcome.room.c_str(), outcome.behaviour.c_str());
    for (const Observation& row : outcome.observations) {
        const bool plain = row.kind == Kind::Expected && !row.wrong();
        if (plain) continue;
        std::printf("          %s%s%s", row.what.c_str(), row.what.empty() ? "" : ": ", row.value.c_str());
        if (row.kind == Kind::Expected) std::printf(", expected %s", row.expected.c_str());
        std::printf("\n");
    }
    std::fflush(stdout);
}

}  // namespace

int run_suite(const Suite& suite, int argc, char** argv) try {
    const auto settings = parse({argv + 1, argv + argc});
    if (!settings) {
        std::fprintf(stderr, usage, argv[0]);
        return 2;
    }
    std::vector<Outcome> outcomes;
    int failed = 0;
    int skipped = 0;
    for (const Behaviour& behaviour : suite.behaviours()) {
        const std::string name = behaviour.room + ": " + behaviour.name;
        if (name.find(settings->only) == std::string::npos) continue;
        if (settings->list) {
            std::printf("%s\n", name.c_str());
            continue;
        }
        outcomes.push_back(run(behaviour, settings->limit));
        print(outcomes.back());
        failed += outcomes.back().wrong() ? 1 : 0;
        skipped += outcomes.back().skipped() ? 1 : 0;
    }
    if (settings->list) return 0;
    std::printf("%zu behaviours: %d failed, %d skipped\n", outcomes.size(), failed, skipped);
    if (!settings->table.empty()) {
        std::ofstream file(settings->table);
        const std::string_view path(argv[0]);
        write_table(file, path.substr(path.rfind('/') + 1), outcomes);
        if (!file.flush()) {
            std::fprintf(stderr, "the table could not be written to %s\n", settings->table.c_str());
            return 1;
        }
    }
    // Where there is no device nothing was shown: the first behaviour of a suite needs one, and all that were asked for
    // may have been skipped.
    const bool empty = outcomes.size() == static_cast<std::size_t>(skipped) || outcomes.front().skipped();
    return failed > 0 || empty || (settings->no_skips && skipped > 0) ? 1 : 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}

}  // namespace peercoll::conformance
