// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <muster/apis/slurm/size_text.hpp>
#include <muster/gangs/names.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace slurm {

/// A number of GPUs.
struct gpu_request {
    std::int64_t count = 0;
    std::string type; ///< empty: any
    /// GPUs of several types, or of a type and of any: which of them are of which type is lost.
    bool mixed = false;

    friend bool operator==(const gpu_request&, const gpu_request&) = default;
};

/// What `--gres` or `--tres-per-task` asks for.
struct resource_request {
    gpu_request gpus;
    std::int64_t cpus = 0; ///< of --tres-per-task only
    bool others = false;   ///< resources that are not modelled are among them
};

namespace detail {

/// With `gpu-` in front it is the name of a label.
inline constexpr std::size_t longest_type = 59;

/// Adds `[TYPE:]COUNT`, `TYPE` or nothing, which stands for one. Returns false for anything else.
[[nodiscard]] inline bool add_gpus(std::string_view text, gpu_request& to) {
    const std::size_t colon = text.rfind(':');
    std::string_view type;
    std::optional<std::int64_t> count = 1;
    if (text.find_first_not_of("0123456789kmgtpKMGTP") == std::string_view::npos && !text.empty() &&
        text.front() >= '0' && text.front() <= '9') {
        count = parse_scaled_count(text);
    } else if (colon != std::string_view::npos) {
        type = text.substr(0, colon);
        count = parse_scaled_count(text.substr(colon + 1));
    } else {
        type = text;
    }
    if (!count || (colon != std::string_view::npos && type.empty()) ||
        (!type.empty() &&
         (type.size() > longest_type || !translate::is_legal(type, translate::label_value))) ||
        *count > largest_count - to.count)
        return false;
    if (*count == 0)
        return true;
    to.mixed = to.mixed || (to.count > 0 && to.type != type);
    to.count += *count;
    to.type = type;
    return true;
}

/// Calls `visit(std::string_view part) -> bool` for each part between commas. Returns false if a
/// visit does.
template<class Visit>
[[nodiscard]] bool each_part(std::string_view text, Visit&& visit) {
    for (bool more = true; more;) {
        const std::size_t comma = text.find(',');
        more = comma != std::string_view::npos;
        if (!visit(text.substr(0, comma)))
            return false;
        if (more)
            text.remove_prefix(comma + 1);
    }
    return true;
}

/// Removes a word from the front. Returns false if it is not there, or only the front of a word.
[[nodiscard]] inline bool take_word(std::string_view& text, std::string_view word,
                                    std::string_view ends) {
    if (!text.starts_with(word) ||
        (text.size() > word.size() && ends.find(text[word.size()]) == std::string_view::npos))
        return false;
    text.remove_prefix(word.size());
    return true;
}

} // namespace detail

/// Parses the value of --gpus and the like: `[TYPE:]COUNT`, several separated by commas. nullopt
/// for anything else. O(text).
[[nodiscard]] inline std::optional<gpu_request> parse_gpus(std::string_view text) {
    gpu_request made;
    if (!detail::each_part(text, [&](std::string_view part) {
            return !part.empty() && detail::add_gpus(part, made);
        }))
        return std::nullopt;
    return made;
}

/// Parses the value of --gres: `NAME[[:TYPE]:COUNT]`, several separated by commas, or `none`.
/// nullopt for anything else. O(text).
[[nodiscard]] inline std::optional<resource_request> parse_gres(std::string_view text) {
    resource_request made;
    if (text == "none")
        return made;
    if (!detail::each_part(text, [&](std::string_view part) {
            if (part.starts_with("gres:") || part.starts_with("gres/"))
                part.remove_prefix(5);
            if (part.empty())
                return false;
            if (!detail::take_word(part, "gpu", ":"))
                return made.others = true;
            if (part == ":")
                return false;
            return detail::add_gpus(part.empty() ? "1" : part.substr(1), made.gpus);
        }))
        return std::nullopt;
    return made;
}

/// Parses the value of --tres-per-task: `TYPE[/NAME]=COUNT`, several separated by commas; a colon
/// in place of `=` is read too. nullopt for anything else. O(text).
[[nodiscard]] inline std::optional<resource_request> parse_tres(std::string_view text) {
    resource_request made;
    if (!detail::each_part(text, [&](std::string_view part) {
            if (detail::take_word(part, "cpu", ":=")) {
                const auto count = part.empty() ? std::nullopt : parse_number(part.substr(1), 1);
                made.cpus = count.value_or(0);
                return count.has_value();
            }
            if (!detail::take_word(part, "gres/gpu", ":="))
                return made.others = !part.empty();
            if (part.size() < 2)
                return false;
            std::string rest(part.substr(1));
            for (char& each : rest)
                each = each == '=' ? ':' : each;
            return detail::add_gpus(rest, made.gpus);
        }))
        return std::nullopt;
    return made;
}

} // namespace slurm
} // namespace codec
} // namespace v0_1
} // namespace muster
