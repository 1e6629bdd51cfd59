// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/gangs/names.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace slurm {

enum class feature_support : std::uint8_t {
    modelled,
    /// Counts of nodes, and names that cannot be labels.
    not_modelled,
    malformed,
};

/// What `--constraint` or `--prefer` asks of nodes.
struct feature_request {
    feature_support support = feature_support::modelled;
    /// A node qualifies if it has all features of at least one of these. Empty: any node.
    std::vector<std::vector<std::string>> any_of;
    /// The same alternative must hold for all nodes of the job (`[rack1|rack2]`).
    bool same_for_all = false;
};

namespace detail {

/// Reads an expression strictly from left to right, as sbatch(1) says: `a|b&c` is (a or b) and c.
class feature_parser {
public:
    explicit feature_parser(std::string_view text) : text_(text) {}

    [[nodiscard]] feature_request run() {
        feature_request made;
        if (text_.starts_with('[') && text_.ends_with(']')) {
            text_ = text_.substr(1, text_.size() - 2);
            made.same_for_all = true;
        }
        // A count of nodes; the parts in front of it are read by Slurm alone.
        if (text_.find_first_of("*[]") != std::string_view::npos)
            return {feature_support::not_modelled, {}, false};
        made.any_of = expression(0);
        made.support = at_ < text_.size() ? feature_support::malformed : support_;
        if (made.support != feature_support::modelled)
            return {made.support, {}, false};
        return made;
    }

private:
    using alternatives = std::vector<std::vector<std::string>>;
    static constexpr std::size_t most_alternatives = 64;
    static constexpr std::size_t deepest = 16;

    [[nodiscard]] alternatives expression(std::size_t depth) {
        alternatives all = operand(depth);
        while (is_fine() && at_ < text_.size() && (text_[at_] == '&' || text_[at_] == '|')) {
            const char op = text_[at_++];
            alternatives next = operand(depth);
            if (op == '|')
                std::ranges::move(next, std::back_inserter(all));
            else
                all = both(all, next);
            if (all.size() > most_alternatives)
                fail(feature_support::not_modelled);
        }
        return all;
    }

    [[nodiscard]] alternatives operand(std::size_t depth) {
        if (at_ < text_.size() && text_[at_] == '(') {
            if (depth == deepest)
                return fail(feature_support::not_modelled);
            ++at_;
            alternatives inner = expression(depth + 1);
            if (at_ == text_.size() || text_[at_] != ')')
                return fail(feature_support::malformed);
            ++at_;
            return inner;
        }
        const std::size_t end = std::min(text_.find_first_of("&|()", at_), text_.size());
        const std::string_view name = text_.substr(at_, end - at_);
        at_ = end;
        if (name.empty())
            return fail(feature_support::malformed);
        if (!translate::is_legal(name, translate::label_value))
            return fail(feature_support::not_modelled);
        return {{std::string(name)}};
    }

    [[nodiscard]] static alternatives both(const alternatives& left, const alternatives& right) {
        alternatives made;
        if (left.size() * right.size() > most_alternatives)
            return alternatives(most_alternatives + 1);
        for (const auto& one : left)
            for (const auto& other : right) {
                made.push_back(one);
                for (const std::string& name : other)
                    if (std::ranges::find(made.back(), name) == made.back().end())
                        made.back().push_back(name);
            }
        return made;
    }

    /// Malformed weighs more than not modelled.
    alternatives fail(feature_support why) {
        support_ = std::max(support_, why);
        return {};
    }
    [[nodiscard]] bool is_fine() const { return support_ != feature_support::malformed; }

    std::string_view text_;
    std::size_t at_ = 0;
    feature_support support_ = feature_support::modelled;
};

} // namespace detail

/// Parses an expression of features. At most 64 alternatives are modelled. O(text × alternatives).
[[nodiscard]] inline feature_request parse_features(std::string_view text) {
    return detail::feature_parser(text).run();
}

} // namespace slurm
} // namespace codec
} // namespace v0_1
} // namespace muster
