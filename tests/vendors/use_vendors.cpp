// SPDX-License-Identifier: BSD-3-Clause
// use_vendors VENDOR=served|left_out|unusable...: an application that uses the devices of each VENDOR it can, and
// peercoll through its C interface. Ends with 0 if peercoll knows the memory of those served, and copies through it;
// says nothing of those left out of the build; and says why an unusable one is off.
#include "tests/vendors/allocate.hpp"

#include <peercoll/peercoll.h>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace peercoll::test;

int failures = 0;

void expect(bool holds, const std::string& what) {
    std::printf("%s %s\n", holds ? "ok    " : "FAILED", what.c_str());
    failures += holds ? 0 : 1;
}

struct Vendor {
    std::string name;
    std::string expected;
    void* memory = nullptr;
};

constexpr std::size_t bytes = std::size_t{1} << 20;

void check_memory(peercoll_context_t context, const Vendor& vendor) {
    const peercoll_plugin_t& plugin = peercoll_plugin_v1;
    const bool known = plugin.memory_is_device(context, vendor.memory) != 0;
    if (vendor.expected == "left_out") {
        expect(!known, vendor.name + ": memory of a runtime that was left out is not known");
        return;
    }
    expect(known, vendor.name + ": its memory is known");
    std::vector<std::uint32_t> words(bytes / sizeof(std::uint32_t));
    std::iota(words.begin(), words.end(), 7U);
    std::vector<std::uint32_t> back(words.size());
    expect(plugin.memory_copy(context, vendor.memory, words.data(), bytes) == PEERCOLL_SUCCESS &&
               plugin.memory_copy(context, back.data(), vendor.memory, bytes) == PEERCOLL_SUCCESS,
           vendor.name + ": copies to it and back: " + plugin.last_error());
    expect(back == words, vendor.name + ": every byte came back");
}

void check_description(const std::vector<std::string>& lines, const Vendor& vendor) {
    std::string said;
    for (const std::string& line : lines)
        if (line.starts_with(vendor.name + ": ")) said = line;
    const bool off = said.starts_with(vendor.name + ": off");
    if (vendor.expected == "left_out")
        expect(said.empty(), vendor.name + ": nothing is said of it: " + said);
    else if (vendor.expected == "unusable")
        expect(off && said.size() > (vendor.name + ": off, ").size(), vendor.name + ": off, with a reason: " + said);
    else
        expect(!said.empty() && !off, vendor.name + ": in use: " + said);
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<Vendor> vendors;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos) {
            std::fprintf(stderr, "expected VENDOR=served|left_out|unusable, not \"%s\"\n", argv[i]);
            return 2;
        }
        Vendor vendor{word.substr(0, equals), word.substr(equals + 1)};
        std::string problem;
        vendor.memory = allocate_on_device(vendor.name, bytes, problem);
        expect((vendor.memory != nullptr) == (vendor.expected != "unusable"),
               vendor.name + ": the application allocates: " + problem);
        vendors.push_back(vendor);
    }
    peercoll_context_t context = nullptr;
    expect(peercoll_plugin_v1.context_create(nullptr, &context) == PEERCOLL_SUCCESS, "a context");
    std::vector<std::string> lines;
    expect(peercoll_plugin_v1.describe_devices(
               context,
               [](const char* line, void* user) { static_cast<std::vector<std::string>*>(user)->emplace_back(line); },
               &lines) == PEERCOLL_SUCCESS,
           "devices are described");
    for (const Vendor& vendor : vendors) {
        check_description(lines, vendor);
        if (vendor.memory != nullptr) check_memory(context, vendor);
    }
    expect(peercoll_plugin_v1.context_destroy(context) == PEERCOLL_SUCCESS, "the context goes");
    for (const Vendor& vendor : vendors)
        if (vendor.memory != nullptr) free_on_device(vendor.name, vendor.memory);
    return failures == 0 ? 0 : 1;
}
