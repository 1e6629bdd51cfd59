// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <muster/gangs/writing.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// One gang of a gang group (Koordinator, ACK).
struct gang_of_group {
    std::string name_space;
    std::string name;
    std::int64_t minimum = 1;
    const gang_role* role = nullptr; ///< none: it has all members
};

/// A gang for every role, called as their own objects or else `<gang>-<role>`; they start together
/// or not at all.
[[nodiscard]] inline std::vector<gang_of_group> gang_group_of(writing& out) {
    std::vector<gang_of_group> made;
    for (const gang_role& role : out.minima().roles) {
        const std::string wanted =
            !role.object.empty() ? role.object : out.gang().name + "-" + out.vertex_path(role.leaf);
        made.push_back({role.name_space, out.name(wanted, labelled_object, "the PodGroup"),
                        role.needed, &role});
    }
    return made;
}

/// All members as one gang.
[[nodiscard]] inline std::vector<gang_of_group> one_gang_of(writing& out) {
    return {{out.gang().name_space, out.name(out.gang().name, labelled_object, "the PodGroup"),
             out.minima().total, nullptr}};
}

/// `["namespace/gang", ...]`, as the annotation has it.
[[nodiscard]] inline std::string group_list(const std::vector<gang_of_group>& gangs) {
    boost::json::array list;
    for (const gang_of_group& each : gangs)
        list.emplace_back(each.name_space + "/" + each.name);
    return boost::json::serialize(list);
}

/// For each vertex the gang that members there belong to; none where there is none.
[[nodiscard]] inline std::vector<const gang_of_group*>
gangs_by_leaf(const std::vector<gang_of_group>& gangs, const gang_tree& tree) {
    std::vector<const gang_of_group*> made(tree.size());
    for (const gang_of_group& each : gangs) {
        if (each.role)
            made[each.role->leaf] = &each;
        else
            made.assign(tree.size(), &each);
    }
    return made;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
