// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/kube/time.hpp>

namespace cli {

enum class log_format : std::uint8_t { text, json };
enum class log_level : std::uint8_t { info, warning, error };

/// Keys and values, in the order in which they are written.
using log_fields = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] constexpr std::string_view to_text(log_level level) noexcept {
    constexpr std::array<std::string_view, 3> names{"info", "warning", "error"};
    return names[static_cast<std::size_t>(level)];
}

namespace detail {

/// Replaces control characters, so that a message from a server cannot start a new log line.
[[nodiscard]] inline std::string without_controls(std::string_view text) {
    std::string made;
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '\n')
            made += "\\n";
        else if (code < 0x20 || code == 0x7f)
            made += ' ';
        else
            made += c;
    }
    return made;
}

[[nodiscard]] inline std::string field_text(const std::string& value) {
    const bool plain = !value.empty() && value.find_first_of(" \"=\\") == std::string::npos &&
                       without_controls(value) == value;
    return plain ? value : boost::json::serialize(boost::json::string(value));
}

} // namespace detail

/// One log line without its end. Text: `TIME LEVEL MESSAGE KEY=VALUE ...`, where a value with
/// spaces, quotes or `=` is a JSON string. JSON: an object with the keys time, level and message,
/// then the fields, all of them strings. `wall`: nanoseconds since 1970, written in UTC as RFC 3339
/// with microseconds.
[[nodiscard]] inline std::string log_line(log_format format, std::int64_t wall, log_level level,
                                          std::string_view message, const log_fields& fields) {
    const std::string time = muster::kube::micro_time_text(wall);
    if (format == log_format::json) {
        boost::json::object made{{"time", time}, {"level", to_text(level)}, {"message", message}};
        for (const auto& [key, value] : fields)
            made[key] = value;
        return boost::json::serialize(made);
    }
    std::string made = time;
    made.append(" ").append(to_text(level)).append(" ");
    made += detail::without_controls(message);
    for (const auto& [key, value] : fields)
        made.append(" ").append(key).append("=").append(detail::field_text(value));
    return made;
}

} // namespace cli
