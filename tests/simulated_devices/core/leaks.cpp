// SPDX-License-Identifier: BSD-3-Clause
#include "tests/simulated_devices/core/leaks.hpp"

#include "tests/simulated_devices/core/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace peercoll::simulator {

void LeakCount::add(const std::string& what, std::size_t count) {
    if (count != 0) {
        text_ += (text_.empty() ? "" : ", ") + std::to_string(count) + " " + what + (count == 1 ? "" : "s");
    }
}

void LeakCount::add_memory(const AddressSpace& addresses) {
    constexpr std::array<const char*, 8> names = {
        "device allocation",     "open imported mapping", "mapped virtual range",   "pool allocation",
        "imported pool pointer", "managed allocation",    "pinned host allocation", "registered host range"};
    std::array<std::size_t, names.size()> counts = {};
    for (const auto& mapping : addresses.all()) {
        ++counts[static_cast<std::size_t>(mapping->kind)];
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        add(names[i], counts[i]);
    }
}

void LeakCount::report() const {
    if (!text_.empty()) {
        report_line("left at the end of the process: " + text_);
    }
}

void report_line(const std::string& line) {
    const std::string text = "peercoll simulator (pid " + std::to_string(::getpid()) + "): " + line + "\n";
    std::fputs(text.c_str(), stderr);
    const char* path = std::getenv("PEERCOLL_SIMULATOR_LEAKS");
    if (path != nullptr && *path != '\0') {
        const Descriptor file(::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
        if (!file || ::write(file.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
            std::fprintf(stderr, "peercoll simulator: cannot write to PEERCOLL_SIMULATOR_LEAKS, '%s'\n", path);
        }
    }
}

}  // namespace peercoll::simulator
