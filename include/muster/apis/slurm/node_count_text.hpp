// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <muster/apis/slurm/size_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace slurm {

/// How many nodes a job may have.
struct node_count {
    std::int64_t least = 1;
    std::int64_t most = 1;
    /// Only some of the numbers between them are allowed, e.g. 1,5,9.
    bool gaps = false;

    friend bool operator==(const node_count&, const node_count&) = default;
};

namespace detail {

/// Digits with an optional k (1024) or m (1024 × 1024), at least 1.
[[nodiscard]] inline std::optional<std::int64_t> parse_nodes(std::string_view text) {
    std::int64_t scale = 1;
    for (const auto& [letters, factor] :
         {std::pair<std::string_view, std::int64_t>{"kK", 1024}, {"mM", 1024 * 1024}})
        if (!text.empty() && letters.find(text.back()) != std::string_view::npos && scale == 1) {
            scale = factor;
            text.remove_suffix(1);
        }
    const auto number = parse_number(text, 1);
    if (!number || *number > largest_count / scale)
        return std::nullopt;
    return *number * scale;
}

/// N or FIRST-LAST.
[[nodiscard]] inline std::optional<node_count> parse_node_range(std::string_view text) {
    const std::size_t dash = text.find('-');
    const auto least = parse_nodes(text.substr(0, dash));
    const auto most = dash == std::string_view::npos ? least : parse_nodes(text.substr(dash + 1));
    if (!least || !most || *most < *least)
        return std::nullopt;
    return node_count{*least, *most, false};
}

} // namespace detail

/// Parses the value of `--nodes`: MIN, MIN-MAX, or a list such as 1,5,9 or 1-15:4. nullopt for
/// anything else. O(text).
[[nodiscard]] inline std::optional<node_count> parse_node_count(std::string_view text) {
    std::optional<node_count> all;
    for (bool more = true; more;) {
        const std::size_t comma = text.find(',');
        more = comma != std::string_view::npos;
        std::string_view part = text.substr(0, comma);
        if (more)
            text.remove_prefix(comma + 1);
        std::int64_t step = 1;
        if (const std::size_t colon = part.find(':'); colon != std::string_view::npos) {
            const auto read = parse_number(part.substr(colon + 1), 1);
            if (!read)
                return std::nullopt;
            step = *read;
            part = part.substr(0, colon);
        }
        auto range = detail::parse_node_range(part);
        if (!range)
            return std::nullopt;
        range->most -= (range->most - range->least) % step;
        range->gaps = step > 1 && range->most > range->least;
        if (!all) {
            all = range;
            continue;
        }
        all->gaps = true;
        all->least = std::min(all->least, range->least);
        all->most = std::max(all->most, range->most);
    }
    return all;
}

} // namespace slurm
} // namespace codec
} // namespace v0_1
} // namespace muster
