// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/document/diagnostic.hpp>
#include <muster/document/json_text.hpp>
#include <muster/sim/run_script.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {

/// What a template declares of the attempts of its pods; the last entry of a list holds for all
/// attempts to come.
struct declared_attempts {
    std::vector<std::int64_t> seconds;    ///< empty: until told otherwise
    std::vector<std::int64_t> exit_codes; ///< empty: 0

    [[nodiscard]] static std::optional<std::int64_t> of(const std::vector<std::int64_t>& list,
                                                        std::int64_t attempt) {
        if (list.empty())
            return std::nullopt;
        const auto last = static_cast<std::int64_t>(list.size()) - 1;
        return list[static_cast<std::size_t>(std::min(attempt, last))];
    }

    /// In nanoseconds.
    [[nodiscard]] std::optional<std::int64_t> run_time(std::int64_t attempt) const {
        auto runs = of(seconds, attempt);
        if (runs)
            *runs *= 1'000'000'000;
        return runs;
    }
    [[nodiscard]] std::int64_t exit_code(std::int64_t attempt) const {
        return of(exit_codes, attempt).value_or(0);
    }
};

/// Reads them from a template's annotations, which may be null; of what is wrong there it calls
/// `report(key, message)`.
template<class Report>
[[nodiscard]] declared_attempts read_attempts(const boost::json::object* annotations,
                                              const Report& report) {
    constexpr std::int64_t most_seconds = 1'000'000'000;
    declared_attempts read;
    const auto take = [&](std::string_view key, std::int64_t least, std::int64_t most,
                          std::vector<std::int64_t>& into) {
        const auto text = translate::find_text(annotations, key);
        if (!text)
            return;
        if (auto list = parse_attempts(*text, least, most))
            into = std::move(*list);
        else
            report(key, codec::in_quotes(*text) + " is no list of numbers (expected one for each " +
                            "attempt from " + std::to_string(least) + " to " +
                            std::to_string(most) + ", such as 30, 60)");
    };
    take(run_seconds_key, 1, most_seconds, read.seconds);
    take(exit_code_key, 0, 255, read.exit_codes);
    return read;
}

} // namespace sim
} // namespace v0_1
} // namespace muster
