// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_amounts.hpp>
#include <muster/apis/core/pod_reader.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/core/request_reader.hpp>
#include <muster/apis/yunikorn/facts.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/gangs/check_manifest.hpp>
#include <muster/gangs/expressiveness.hpp>
#include <muster/gangs/writing.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// YuniKorn's task groups: annotations that each pod of the application carries. A group's amounts
/// are the most that one of its pods requests of each resource, summed over containers: YuniKorn
/// holds room for pods of that size.
struct yunikorn_writer {
    [[nodiscard]] static constexpr expressiveness can() {
        return {.api = yunikorn_facts.api, .queue = true, .timeout = true};
    }

    static void write(writing& out) {
        const gang_object& gang = out.gang();
        const std::string application = out.name(gang.name, label_value, "the application");
        // Roles without minima of their own are one group, which keeps the total.
        const bool one_group = std::ranges::none_of(out.minima().roles, [](const gang_role& each) {
            return each.leaf == 0 || each.minimum > 0;
        });
        if (one_group)
            out.lose_all_but_total();
        else
            lose_above_groups(out);
        if (out.bundle().pods.empty())
            return lose_without_pods(out);
        out.lose_metadata(gang.labels, gang.annotations, "the gang's object");
        const std::string groups = boost::json::serialize(groups_of(one_group, out));
        const std::string parameters = parameters_of(out);
        for (gang_pod& pod : out.pods(yunikorn_facts.scheduler)) {
            set_label(pod.document, keys::yunikorn_application, application);
            if (gang.queue)
                set_label(pod.document, keys::yunikorn_queue,
                          out.name(*gang.queue, label_value, "the queue"));
            const gang_role& role = out.role_of(pod.leaf);
            if (one_group || least_of(role, out) > 0)
                set_annotation(pod.document, keys::yunikorn_task_group,
                               one_group ? whole_name(out) : group_name(role, out));
            set_annotation(pod.document, keys::yunikorn_task_groups, groups);
            if (!parameters.empty())
                set_annotation(pod.document, keys::yunikorn_parameters, parameters);
            out.add(std::move(pod.document));
        }
    }

    static void check(manifest_check& manifest) {
        if (const auto* id = manifest.at({"metadata", "labels", keys::yunikorn_application}))
            manifest.expect_name("metadata.labels[" + std::string(keys::yunikorn_application) + "]",
                                 id->as_string(), label_value);
    }

private:
    static void lose_above_groups(writing& out) {
        out.lose_all_above_roles();
        if (out.minima().some_optional)
            out.lose(loss_kind::subgroup_minima,
                     "some subgroups of many: all task groups must reach their minima");
        const gang_tree& tree = out.gang().tree;
        for (std::size_t at = 1; at < tree.size(); ++at)
            out.lose_levels_of(at);
    }

    static void lose_without_pods(writing& out) {
        const gang_object& gang = out.gang();
        out.lose(loss_kind::all_or_nothing,
                 "members start one by one: only pods can say it, and there are none");
        out.lose_metadata(gang.labels, gang.annotations, "the gang's object");
        if (gang.queue)
            out.lose(loss_kind::queue, "queue '" + *gang.queue + "': only pods can say it");
        if (gang.wait_seconds)
            out.lose(loss_kind::timeout, "how long members wait: only pods can say it");
    }

    // A gang of one role has a total and no minimum of the role. What follows from a total follows
    // only where all subgroups are needed.
    [[nodiscard]] static std::int64_t least_of(const gang_role& role, const writing& out) {
        const gang_minima& all = out.minima();
        return role.leaf == 0 ? all.total : all.some_optional ? role.minimum : role.needed;
    }
    [[nodiscard]] static std::string whole_name(writing& out) {
        return out.name(out.gang().name, dns_label, "the task group");
    }
    [[nodiscard]] static std::string group_name(const gang_role& role, writing& out) {
        return role.leaf == 0 && role.name.empty()
                   ? whole_name(out)
                   : out.name(out.vertex_path(role.leaf), dns_label, "the task group");
    }

    [[nodiscard]] static boost::json::array groups_of(bool one_group, writing& out) {
        std::map<std::size_t, codec::named_amounts> amounts;
        for (const gang_pod& pod : out.bundle().pods)
            codec::raise(amounts[one_group ? 0 : pod.leaf.value()], requests_of(pod.document));
        const auto group = [&](std::string name, std::int64_t least, std::size_t leaf) {
            return boost::json::object{{"name", std::move(name)},
                                       {"minMember", least},
                                       {"minResource", codec::resource_list(amounts[leaf])}};
        };
        boost::json::array made;
        if (one_group)
            made.push_back(group(whole_name(out), out.minima().total, 0));
        else
            for (const gang_role& role : out.minima().roles)
                if (const std::int64_t least = least_of(role, out); least > 0)
                    made.push_back(group(group_name(role, out), least, role.leaf));
        return made;
    }

    // Timeout and style.
    [[nodiscard]] static std::string parameters_of(writing& out) {
        std::string made;
        if (out.gang().wait_seconds)
            made = "placeholderTimeoutInSeconds=" + std::to_string(*out.gang().wait_seconds);
        std::string style = "Hard";
        for (const own_word& word : out.gang().own_words)
            if (out.knows(word)) {
                if (word.field == "gangSchedulingStyle" && word.value.is_string())
                    style = word.value.get_string();
                else
                    out.lose(word.what, word.field);
            }
        return made + (made.empty() ? "" : " ") + "gangSchedulingStyle=" + style;
    }

    [[nodiscard]] static codec::named_amounts requests_of(const boost::json::object& pod) {
        codec::diagnostics aside; // the faults were reported when the pod was read
        const codec::document whole("pod", pod);
        codec::object_reader object(whole, aside);
        codec::reading_context context;
        return codec::read_pod(object, context).requests;
    }
};

} // namespace translate
} // namespace v0_1
} // namespace muster
