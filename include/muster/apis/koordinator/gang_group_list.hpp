// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/gang_facts.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/gangs/pod_marks.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Maximum number of gangs that gang groups may link. Bounds the cost of a changed object, so that
/// one tenant cannot make the gangs of others expensive.
inline constexpr std::size_t most_linked_gangs = 256;

/// The gangs that start together, as an annotation (or label) of Koordinator or ACK lists them.
struct gang_group_list {
    std::string_view key; ///< of the annotation or label; empty = the object has no list
    std::vector<object_key> gangs;
    std::string wrong; ///< why the list is invalid; empty = it is valid

    [[nodiscard]] bool holds(const object_key& gang) const {
        return std::ranges::find(gangs, gang) != gangs.end();
    }
};

/// Parses the text of a list: a JSON array of `namespace/name`.
[[nodiscard]] inline gang_group_list parse_gang_group(std::string_view key, std::string_view text) {
    gang_group_list made{key, {}, {}};
    constexpr std::string_view expected =
        " (expected a JSON list such as [\"namespace/gang-a\",\"namespace/gang-b\"])";
    boost::system::error_code wrong;
    const boost::json::value read = boost::json::parse(text, wrong);
    if (wrong || !read.is_array()) {
        made.wrong = in_quotes(text) + " is no list of gangs" + std::string(expected);
        return made;
    }
    for (const auto& each : read.get_array()) {
        const std::string_view gang =
            each.is_string() ? std::string_view(each.get_string()) : std::string_view{};
        const std::size_t slash = gang.find('/');
        if (slash == std::string_view::npos || slash == 0 || slash + 1 == gang.size()) {
            made.wrong = in_quotes(text) + " names no gang at one place" + std::string(expected);
            return made;
        }
        object_key one{std::string(gang.substr(0, slash)), std::string(gang.substr(slash + 1))};
        if (made.holds(one))
            continue;
        if (made.gangs.size() == most_linked_gangs) {
            made.wrong =
                "lists too many gangs (expected at most " + std::to_string(most_linked_gangs) + ")";
            return made;
        }
        made.gangs.push_back(std::move(one));
    }
    return made;
}

/// Returns the list of a gang object, or of a pod whose labels declare a gang. If there are several
/// lists, Koordinator's precedes ACK's, and an annotation precedes a label.
[[nodiscard]] inline gang_group_list gang_group_of(const boost::json::object& manifest) {
    for (const std::string_view key :
         {translate::keys::koord_groups, translate::keys::sigs_groups}) {
        std::string_view text = translate::metadata_entry(manifest, "annotations", key);
        if (text.data() == nullptr)
            text = translate::metadata_entry(manifest, "labels", key);
        if (text.empty())
            continue;
        gang_group_list made = parse_gang_group(key, text);
        if (!made.gangs.empty() || !made.wrong.empty())
            return made;
    }
    return {};
}

} // namespace codec
} // namespace v0_1
} // namespace muster
