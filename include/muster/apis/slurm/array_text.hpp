// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <muster/apis/slurm/resource_text.hpp>
#include <muster/apis/slurm/size_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace slurm {

/// How many tasks an array may have.
inline constexpr std::int64_t most_array_tasks = 100'000;

/// The jobs of a job array.
struct job_array {
    std::vector<std::int64_t> indices;   ///< sorted, each once; at least one
    std::optional<std::int64_t> at_once; ///< how many may run at a time

    friend bool operator==(const job_array&, const job_array&) = default;
};

namespace detail {

/// FIRST, FIRST-LAST or FIRST-LAST:STEP.
[[nodiscard]] inline bool add_indices(std::string_view text, std::vector<std::int64_t>& to) {
    const std::size_t colon = text.find(':');
    const std::string_view range = text.substr(0, colon);
    const std::size_t dash = range.find('-');
    const auto step = colon == std::string_view::npos ? std::optional<std::int64_t>(1)
                                                      : parse_number(text.substr(colon + 1), 1);
    const auto first = parse_number(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(range.substr(dash + 1));
    if (!step || !first || !last || *last < *first ||
        (colon != std::string_view::npos && dash == std::string_view::npos) ||
        (*last - *first) / *step + 1 + static_cast<std::int64_t>(to.size()) > most_array_tasks)
        return false;
    for (std::int64_t index = *first; index <= *last; index += *step)
        to.push_back(index);
    return true;
}

} // namespace detail

/// Parses the value of --array, such as `0-15:4,20%2`. nullopt for anything else, and beyond
/// `most_array_tasks`. O(text + tasks · log).
[[nodiscard]] inline std::optional<job_array> parse_array(std::string_view text) {
    job_array made;
    if (const std::size_t percent = text.find('%'); percent != std::string_view::npos) {
        made.at_once = parse_number(text.substr(percent + 1), 1);
        if (!made.at_once)
            return std::nullopt;
        text = text.substr(0, percent);
    }
    if (!detail::each_part(
            text, [&](std::string_view part) { return detail::add_indices(part, made.indices); }))
        return std::nullopt;
    std::ranges::sort(made.indices);
    made.indices.erase(std::unique(made.indices.begin(), made.indices.end()), made.indices.end());
    return made;
}

} // namespace slurm
} // namespace codec
} // namespace v0_1
} // namespace muster
