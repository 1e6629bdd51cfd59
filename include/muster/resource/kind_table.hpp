// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>

namespace muster {
inline namespace v0_1 {

/// The maximum width of amount vectors. A cluster that names more kinds is an input error.
inline constexpr std::size_t max_kinds = 32;

/// Maps names of resource kinds to columns. Each cluster in a program has its own table. Columns
/// are numbered in the order of interning and never appear in output. A lookup is O(kinds).
class kind_table {
public:
    /// The kind's column, new or old; nothing when the table is full.
    [[nodiscard]] std::optional<kind_id> intern(std::string_view name) {
        if (const auto found = find(name))
            return found;
        if (names_.size() == max_kinds)
            return std::nullopt;
        names_.emplace_back(name);
        return kind_id{names_.size() - 1};
    }

    [[nodiscard]] std::optional<kind_id> find(std::string_view name) const noexcept {
        for (std::size_t column = 0; column < names_.size(); ++column)
            if (names_[column] == name)
                return kind_id{column};
        return std::nullopt;
    }

    [[nodiscard]] const std::string& name(kind_id kind) const noexcept {
        MUSTER_ASSERT(kind.value() < names_.size(), "a kind of another table");
        return names_[kind.value()];
    }

    [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }

private:
    std::vector<std::string> names_;
};

} // namespace v0_1
} // namespace muster
