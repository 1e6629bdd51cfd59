// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/document/field_path.hpp>
#include <muster/vocabulary/labels.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Nanoseconds since 1970-01-01T00:00:00Z.
using timestamp = std::int64_t;

/// The name of a namespaced object.
struct object_key {
    std::string name_space;
    std::string name;

    [[nodiscard]] friend auto operator<=>(const object_key&, const object_key&) = default;
};

/// The place of an object in the input. Line and column are computed only for a report; the
/// document must live until then.
struct object_place {
    const document* source = nullptr;
    /// Positions of the object in nested lists, outermost first.
    std::vector<std::size_t> items;
};

/// Adds a finding about an object that was read earlier. `below` is the path from the object to the
/// field.
inline void report(diagnostics& out, severity level, const object_place& at,
                   std::initializer_list<path_step> below, std::string_view message) {
    out.add_made(level, [&] {
        std::vector<path_step> steps;
        for (const std::size_t item : at.items) {
            steps.emplace_back("items");
            steps.emplace_back(item);
        }
        steps.insert(steps.end(), below);
        const path_view path(steps);
        return diagnostic{level, at.source ? at.source->locate(path) : location{"(input)", 0, 0},
                          to_text(path), std::string(message)};
    });
}

struct object_metadata {
    object_key key;
    std::string uid;
    label_set labels;
    label_set annotations;
    /// Absent = the object was never created; it counts as created now.
    std::optional<timestamp> created;
    bool terminating = false;
    object_place where;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
