// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/core/each_object.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/document/json_text.hpp>
#include <muster/resource/quantity_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// The memory of the largest Node of an input, in bytes; nothing when it has none. What is wrong
/// with a Node is for its reader to say. O(objects).
[[nodiscard]] inline std::optional<std::int64_t>
largest_node_memory(const std::vector<document>& documents) {
    std::optional<std::int64_t> largest;
    diagnostics aside;
    each_object(documents, aside,
                [&](object_reader& object, std::string_view version, std::string_view kind,
                    const object_place&) {
                    const auto& manifest = object.value()->get_object();
                    object.ignore_rest();
                    if (version != "v1" || kind != "Node")
                        return;
                    const auto* status = translate::find_object(&manifest, "status");
                    const auto* there = translate::find_object(status, "allocatable");
                    if (!there)
                        there = translate::find_object(status, "capacity");
                    const auto text = translate::find_text(there, "memory");
                    if (!text)
                        return;
                    if (const auto amount = parse_quantity(*text); amount && amount->sign() >= 0)
                        largest = std::max(largest.value_or(0), amount->units_down());
                });
    return largest;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
