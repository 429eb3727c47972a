// SPDX-License-Identifier: BSD-3-Clause
// Log lines for the person running the job: "peercoll [rank 3] warning: ...". One message, one line, one write(2), so
// that the lines of many ranks do not tear each other apart.
#pragma once

#include "plugin/runtime/options.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace peercoll {

// Receives a whole line with its newline. May be called by several threads at once.
using LogSink = std::function<void(std::string_view line)>;

// Leaves errno alone; a line that cannot be written is lost.
void write_line_to_stderr(std::string_view line);

class Log {
public:
    // `label` says who speaks. LogLevel::Off as `limit` says nothing, but for always().
    Log(LogLevel limit, std::string label, LogSink sink = write_line_to_stderr);

    // Ask before composing a costly message.
    bool wants(LogLevel at) const { return at != LogLevel::Off && at <= limit_; }

    void error(std::string_view text) const { say(LogLevel::Error, text); }
    void warn(std::string_view text) const { say(LogLevel::Warn, text); }
    void info(std::string_view text) const { say(LogLevel::Info, text); }
    void debug(std::string_view text) const { say(LogLevel::Debug, text); }
    void say(LogLevel at, std::string_view text) const;

    // Output that was asked for by another option than `log`, for example the statistics.
    void always(std::string_view text) const;

private:
    void write(std::string_view kind, std::string_view text) const;

    LogLevel limit_;
    std::string label_;
    LogSink sink_;
};

}  // namespace peercoll
