// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {

/// Which of `objects` a garbage collector deletes: those that have owners, of which none is there
/// any more, and what they own in turn. Positions in ascending order. O(depth · objects · log
/// objects).
[[nodiscard]] inline std::vector<std::size_t>
orphans_of(std::span<const boost::json::object* const> objects) {
    const auto text = [](const boost::json::object& in, std::string_view key) {
        const auto* value = in.if_contains(key);
        const auto* found = value ? value->if_string() : nullptr;
        return found ? std::string_view(found->data(), found->size()) : std::string_view{};
    };
    const auto metadata_of = [](const boost::json::object& object) {
        const auto* value = object.if_contains("metadata");
        return value ? value->if_object() : nullptr;
    };
    std::set<std::string_view, std::less<>> alive;
    for (const boost::json::object* each : objects)
        if (const auto* metadata = metadata_of(*each))
            alive.insert(text(*metadata, "uid"));
    std::vector<bool> gone(objects.size());
    for (bool again = true; again;) {
        again = false;
        for (std::size_t at = 0; at < objects.size(); ++at) {
            const auto* metadata = metadata_of(*objects[at]);
            const auto* owners = metadata ? metadata->if_contains("ownerReferences") : nullptr;
            if (gone[at] || !owners || !owners->is_array() || owners->get_array().empty())
                continue;
            gone[at] = std::ranges::none_of(owners->get_array(), [&](const auto& owner) {
                return owner.is_object() && alive.contains(text(owner.get_object(), "uid"));
            });
            if (gone[at])
                again = alive.erase(text(*metadata, "uid")) > 0 || again;
        }
    }
    std::vector<std::size_t> made;
    for (std::size_t at = 0; at < objects.size(); ++at)
        if (gone[at])
            made.push_back(at);
    return made;
}

} // namespace lifecycle
} // namespace v0_1
} // namespace muster
