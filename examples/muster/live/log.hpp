// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include <muster/kube/clock.hpp>

#include "log_line.hpp"

namespace cli {

/// Log settings of the process: the format, and the command, which is a field of every line.
struct log_settings {
    log_format format = log_format::text;
    std::string command;
};

[[nodiscard]] inline log_settings& process_log() {
    static log_settings settings;
    return settings;
}

/// Writes one line to stderr.
inline void write_log(log_level level, const std::string& message, log_fields fields = {}) {
    const log_settings& how = process_log();
    if (!how.command.empty())
        fields.emplace_back("command", how.command);
    const std::string line =
        log_line(how.format, muster::kube::read_clock().wall, level, message, fields) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
}

inline void log_info(const std::string& message, log_fields fields = {}) {
    write_log(log_level::info, message, std::move(fields));
}
inline void log_warning(const std::string& message, log_fields fields = {}) {
    write_log(log_level::warning, message, std::move(fields));
}
inline void log_error(const std::string& message, log_fields fields = {}) {
    write_log(log_level::error, message, std::move(fields));
}

} // namespace cli
