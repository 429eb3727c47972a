// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/runtime/log.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace peercoll {

namespace {

// Only what calls for the reader's attention carries a word.
std::string_view kind_of(LogLevel level) {
    if (level == LogLevel::Error) return "error: ";
    if (level == LogLevel::Warn) return "warning: ";
    return "";
}

}  // namespace

void write_line_to_stderr(std::string_view line) {
    const int saved_errno = errno;
    while (!line.empty()) {
        const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) break;
        line.remove_prefix(static_cast<std::size_t>(written));  // a full pipe took a part
    }
    errno = saved_errno;
}

Log::Log(LogLevel limit, std::string label, LogSink sink)
    : limit_(limit), label_(std::move(label)), sink_(std::move(sink)) {}

void Log::say(LogLevel at, std::string_view text) const {
    if (wants(at)) write(kind_of(at), text);
}

void Log::always(std::string_view text) const {
    write("", text);
}

void Log::write(std::string_view kind, std::string_view text) const {
    std::string line = fmt::format("peercoll [{}] {}{}", label_, kind, text);
    std::replace(line.begin(), line.end(), '\n', ' ');
    line.push_back('\n');
    sink_(line);
}

}  // namespace peercoll
