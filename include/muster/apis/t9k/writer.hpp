// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/gangs/check_manifest.hpp>
#include <muster/gangs/expressiveness.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/writing.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// PodGroups of the T9k scheduler: a total and minima of roles, both of which must hold.
struct t9k_writer {
    [[nodiscard]] static constexpr expressiveness can() {
        return {.api = gang_api::t9k, .queue = true, .priority = priority_word::number};
    }

    static void write(writing& out) {
        const gang_object& gang = out.gang();
        const gang_minima& minima = out.minima();
        const std::string name = out.name(gang.name, labelled_object, "the PodGroup");
        boost::json::object group = out.manifest(t9k_group_version, "PodGroup", name);
        boost::json::object& spec = child_at(group, "spec");
        // Both minima hold side by side: what was declared stays as it was.
        spec["minMember"] = gang.tree[0].min_member > 0 && !minima.some_optional
                                ? gang.tree[0].min_member
                                : minima.total;
        boost::json::array roles;
        for (const gang_role& role : minima.roles)
            if (role.leaf > 0 && role.minimum > 0)
                roles.push_back(boost::json::object{{"name", role_name(role, out)},
                                                    {"minMember", role.minimum}});
        if (!roles.empty())
            spec["roles"] = std::move(roles);
        if (gang.queue)
            spec["queue"] = *gang.queue;
        if (const auto number = gang.priority.number) {
            if (*number >= 0 && *number <= 100)
                spec["priority"] = *number;
            else
                out.lose(loss_kind::priority, "priority " + std::to_string(*number) +
                                                  ": PodGroups have priorities from 0 to 100");
        }
        if (minima.some_optional)
            out.lose(loss_kind::subgroup_minima,
                     "some subgroups of many: roles are all needed, or none");
        if (minima.inner_total)
            out.lose(loss_kind::total_minimum, "roles are in no parts with minima of their own");
        if (minima.nested)
            out.lose(loss_kind::nesting, "roles are in no parts");
        out.give_back(group);
        out.add(std::move(group));

        for (gang_pod& pod : out.pods(schedulers::t9k)) {
            set_label(pod.document, keys::t9k_group, name);
            const gang_role& role = out.role_of(pod.leaf);
            if (!role.name.empty())
                set_label(pod.document, keys::t9k_role, role_name(role, out));
            if (gang.queue)
                set_label(pod.document, keys::t9k_queue,
                          out.name(*gang.queue, label_value, "the queue"));
            out.add(std::move(pod.document));
        }
    }

    static void check(manifest_check& manifest) {
        if (!manifest.is(t9k_group_version, "PodGroup"))
            return;
        manifest.expect_object_name(labelled_object);
        manifest.expect_int32("spec.minMember", manifest.at({"spec", "minMember"}), 1);
        manifest.expect_names("spec.roles", manifest.at({"spec", "roles"}), label_value);
        if (const auto* priority = manifest.at({"spec", "priority"}))
            manifest.expect_number("spec.priority", *priority, 0, 100);
    }

private:
    // Pods name it in a label. Leaves of one name in several parts are several roles.
    [[nodiscard]] static std::string role_name(const gang_role& role, writing& out) {
        return out.name(out.vertex_path(role.leaf), label_value, "the role");
    }
};

} // namespace translate
} // namespace v0_1
} // namespace muster
