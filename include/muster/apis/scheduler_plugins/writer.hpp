// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include <boost/json/object.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/gangs/check_manifest.hpp>
#include <muster/gangs/expressiveness.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/writing.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// PodGroups of scheduler-plugins' coscheduling: a total.
struct scheduler_plugins_writer {
    [[nodiscard]] static constexpr expressiveness can() {
        return {.timeout = true, .min_resources = true};
    }

    static void write(writing& out) {
        const gang_object& gang = out.gang();
        const std::string name = out.name(gang.name, labelled_object, "the PodGroup");
        boost::json::object group = out.manifest(plugins_group_version, "PodGroup", name);
        boost::json::object& spec = child_at(group, "spec");
        spec["minMember"] = out.minima().total;
        if (gang.min_resources)
            spec["minResources"] = *gang.min_resources;
        if (gang.wait_seconds)
            spec["scheduleTimeoutSeconds"] = *gang.wait_seconds;
        out.lose_all_but_total();
        out.add(std::move(group));
        for (gang_pod& pod : out.pods(schedulers::plugins)) {
            set_label(pod.document, keys::plugins_group, name);
            out.add(std::move(pod.document));
        }
    }

    static void check(manifest_check& manifest) {
        if (!manifest.is(plugins_group_version, "PodGroup"))
            return;
        manifest.expect_object_name(labelled_object);
        manifest.expect_int32("spec.minMember", manifest.at({"spec", "minMember"}), 1);
        manifest.expect_int32("spec.scheduleTimeoutSeconds",
                              manifest.at({"spec", "scheduleTimeoutSeconds"}), 0);
    }
};

} // namespace translate
} // namespace v0_1
} // namespace muster
