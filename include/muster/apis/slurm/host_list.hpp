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

#include <muster/apis/slurm/size_text.hpp>
#include <muster/gangs/names.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace slurm {

/// How many names a list of hosts may stand for.
inline constexpr std::size_t most_hosts = 10'000;

namespace detail {

/// Reads lists such as `n1,rack[1-2]-node[01-04,07]`.
class host_list_parser {
public:
    explicit host_list_parser(std::string_view text) : text_(text) {}

    /// nullopt if the text is no such list, or stands for too many names.
    [[nodiscard]] std::optional<std::vector<std::string>> run() {
        std::vector<std::string> all;
        while (at_ < text_.size()) {
            std::vector<std::string> names{{}};
            if (!read_item(names))
                return std::nullopt;
            for (std::string& each : names) {
                if (!translate::is_legal(each, translate::label_value))
                    return std::nullopt;
                all.push_back(std::move(each));
            }
            if (all.size() > most_hosts || (at_ < text_.size() && ++at_ == text_.size()))
                return std::nullopt;
        }
        std::ranges::sort(all);
        all.erase(std::unique(all.begin(), all.end()), all.end());
        if (all.empty())
            return std::nullopt;
        return all;
    }

private:
    /// Up to the next comma outside of brackets.
    [[nodiscard]] bool read_item(std::vector<std::string>& names) {
        for (; at_ < text_.size() && text_[at_] != ','; ++at_) {
            if (text_[at_] == ']' || names.front().size() > 253)
                return false;
            if (text_[at_] == '[') {
                if (!read_brackets(names))
                    return false;
                continue;
            }
            for (std::string& each : names)
                each += text_[at_];
        }
        return true;
    }

    [[nodiscard]] bool read_brackets(std::vector<std::string>& names) {
        const std::size_t end = text_.find(']', at_);
        if (end == std::string_view::npos)
            return false;
        std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end;
        std::vector<std::string> parts;
        for (bool more = true; more;) {
            const std::size_t comma = inside.find(',');
            more = comma != std::string_view::npos;
            if (!read_range(inside.substr(0, comma), parts))
                return false;
            if (more)
                inside.remove_prefix(comma + 1);
        }
        if (parts.size() > most_hosts / names.size())
            return false;
        std::vector<std::string> longer;
        longer.reserve(names.size() * parts.size());
        for (const std::string& name : names)
            for (const std::string& part : parts)
                longer.push_back(name + part);
        names = std::move(longer);
        return true;
    }

    /// N or FIRST-LAST; zeros in front of FIRST give the width.
    [[nodiscard]] static bool read_range(std::string_view text, std::vector<std::string>& into) {
        const std::size_t dash = text.find('-');
        const std::string_view first_text = text.substr(0, dash);
        const auto first = parse_number(first_text);
        const auto last =
            dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1));
        if (!first || !last || *last < *first || first_text.size() > 16 ||
            *last - *first >= static_cast<std::int64_t>(most_hosts - into.size()))
            return false;
        for (std::int64_t number = *first; number <= *last; ++number) {
            std::string digits = std::to_string(number);
            if (digits.size() < first_text.size())
                digits.insert(0, first_text.size() - digits.size(), '0');
            into.push_back(std::move(digits));
        }
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

} // namespace detail

/// Parses a list of node names, sorted and each once. nullopt if it is none, if a name could not be
/// the value of a label, or beyond `most_hosts`. O(hosts · log).
[[nodiscard]] inline std::optional<std::vector<std::string>>
parse_host_list(std::string_view text) {
    return detail::host_list_parser(text).run();
}

} // namespace slurm
} // namespace codec
} // namespace v0_1
} // namespace muster
