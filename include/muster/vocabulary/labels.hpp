// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <muster/base/ranges.hpp>

namespace muster {
inline namespace v0_1 {

/// Labels of an object, with unique keys.
class label_set {
public:
    label_set() = default;
    label_set(std::initializer_list<std::pair<std::string, std::string>> entries) {
        for (const auto& [key, value] : entries)
            set(key, value);
    }

    void set(std::string key, std::string value) {
        const auto at = detail::lower_bound(entries_, key, {}, &entry::first);
        if (at != entries_.end() && at->first == key)
            at->second = std::move(value);
        else
            entries_.emplace(at, std::move(key), std::move(value));
    }

    void erase(std::string_view key) {
        const auto at = detail::lower_bound(entries_, key, {}, &entry::first);
        if (at != entries_.end() && at->first == key)
            entries_.erase(at);
    }

    /// Returns the label's value, or null. O(log size).
    [[nodiscard]] const std::string* find(std::string_view key) const noexcept {
        const auto at = detail::lower_bound(entries_, key, {}, &entry::first);
        return at != entries_.end() && at->first == key ? &at->second : nullptr;
    }

    [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
    [[nodiscard]] auto end() const noexcept { return entries_.end(); }
    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }

    [[nodiscard]] friend auto operator<=>(const label_set&, const label_set&) = default;

private:
    using entry = std::pair<std::string, std::string>;
    std::vector<entry> entries_;
};

/// The operators of Kubernetes' label and node selector requirements.
enum class label_operator : std::uint8_t { in, not_in, exists, does_not_exist, greater, less };

/// A requirement on one label. An absent label satisfies `not_in` and `does_not_exist`. `greater`
/// and `less` compare int64; they fail if either side is not an int64 (Kubernetes
/// NodeSelectorRequirement).
struct label_requirement {
    std::string key;
    label_operator op = label_operator::exists;
    std::vector<std::string> values;

    [[nodiscard]] bool matches(const std::string* value) const noexcept {
        switch (op) {
        case label_operator::exists:
            return value != nullptr;
        case label_operator::does_not_exist:
            return value == nullptr;
        case label_operator::in:
            return value != nullptr && detail::find(values, *value) != values.end();
        case label_operator::not_in:
            return value == nullptr || detail::find(values, *value) == values.end();
        case label_operator::greater:
        case label_operator::less:
            break;
        }
        std::int64_t have = 0;
        std::int64_t bound = 0;
        if (!value || values.empty() || !number(*value, have) || !number(values.front(), bound))
            return false;
        return op == label_operator::greater ? have > bound : have < bound;
    }

    [[nodiscard]] friend auto operator<=>(const label_requirement&,
                                          const label_requirement&) = default;

private:
    static bool number(std::string_view text, std::int64_t& value) noexcept {
        if (text.starts_with('+')) {
            text.remove_prefix(1);
            if (text.starts_with('-'))
                return false;
        }
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc{} && end == text.data() + text.size();
    }
};

/// A conjunction of requirements; without requirements, everything matches.
struct label_selector {
    std::vector<label_requirement> requirements;

    [[nodiscard]] bool matches(const label_set& labels) const noexcept {
        return detail::all_of(requirements, [&](const label_requirement& requirement) {
            return requirement.matches(labels.find(requirement.key));
        });
    }

    [[nodiscard]] friend auto operator<=>(const label_selector&, const label_selector&) = default;
};

} // namespace v0_1
} // namespace muster
