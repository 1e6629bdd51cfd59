// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/gangs/gang_marks.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/gangs/writing.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// What plain pods with marks say of their gang, and what of it they leave unsaid: all that an API
/// has its group's object for.
class said_by_pods {
public:
    /// `pods` as they are written.
    said_by_pods(const std::vector<boost::json::object>& pods, writing& out)
        : pods_(&pods), out_(&out) {}

    /// Names everything of the gang that no pod says, or not all of them.
    void lose_the_rest() {
        const gang_object& gang = out_->gang();
        lose_minima();
        if (gang.queue &&
            !all_have("labels", {keys::t9k_queue, keys::kai_queue, keys::koord_queue},
                      *gang.queue) &&
            !all_have("annotations", {keys::volcano_queue}, *gang.queue))
            out_->lose(loss_kind::queue, "queue '" + *gang.queue + "'");
        lose_priority();
        if (gang.preemptible &&
            !all_have("labels", {keys::kai_preemptibility},
                      *gang.preemptible ? "preemptible" : "non-preemptible") &&
            !all_have("annotations", {keys::volcano_preemptible},
                      *gang.preemptible ? "true" : "false"))
            out_->lose(loss_kind::preemptibility, *gang.preemptible
                                                      ? "may be evicted for others"
                                                      : "may not be evicted for others");
        if (gang.wait_seconds && !all_mention(keys::koord_wait))
            out_->lose(loss_kind::timeout, "members wait for each other for " +
                                               std::to_string(*gang.wait_seconds) + " s");
        if (gang.min_resources)
            out_->lose(loss_kind::min_resources, "resources that must be free at least");
        lose_levels();
        out_->lose_metadata(gang.labels, gang.annotations, "the gang's object");
        for (const own_word& word : gang.own_words)
            if (!says(word))
                out_->lose(word.what, word.field);
    }

private:
    template<class Test>
    [[nodiscard]] bool all(Test test) const {
        return !pods_->empty() && std::ranges::all_of(*pods_, test);
    }
    /// All pods have this value under one of the keys.
    [[nodiscard]] bool all_have(std::string_view map, std::initializer_list<std::string_view> any,
                                std::string_view value) const {
        return all([&](const boost::json::object& pod) {
            return std::ranges::any_of(
                any, [&](std::string_view key) { return metadata_entry(pod, map, key) == value; });
        });
    }
    /// All pods have something under that key, as a label or as an annotation.
    [[nodiscard]] bool all_mention(std::string_view key) const {
        return all([&](const boost::json::object& pod) {
            return metadata_entry(pod, "annotations", key).data() != nullptr ||
                   metadata_entry(pod, "labels", key).data() != nullptr;
        });
    }
    [[nodiscard]] bool says(const own_word& word) const {
        if (word.field == keys::koord_matching && all_mention(keys::sigs_matching))
            return true;
        return all_mention(word.field) ||
               (word.field == "preemptionDelay" && all_mention(keys::kai_preemption_delay)) ||
               (word.field == "stalenessGracePeriod" && all_mention(keys::kai_staleness)) ||
               (word.field == "preemptibility" && all_mention(keys::kai_preemptibility));
    }

    void lose_minima() {
        const gang_minima& minima = out_->minima();
        // A number on each pod that says how many of them start together, and with which others.
        if (all([](const boost::json::object& pod) {
                return metadata_entry(pod, "labels", keys::sigs_minimum).data() != nullptr ||
                       metadata_entry(pod, "annotations", keys::koord_minimum).data() != nullptr ||
                       metadata_entry(pod, "annotations", keys::kueue_total).data() != nullptr;
            }))
            return;
        const std::string total = std::to_string(minima.total) + " members start together: ";
        if (pods_->empty())
            out_->lose(loss_kind::total_minimum, total + "there are no pods to say so");
        else if (minima.total > 1)
            out_->lose(loss_kind::total_minimum,
                       total + (std::ranges::any_of(*pods_, has_group)
                                    ? "stands in its group's object, which is no pod"
                                    : "nothing on its pods says so"));
        const gang_tree& tree = out_->gang().tree;
        if (tree.size() > 1 && (minima.total > 1 || minima.roles.size() > 1) &&
            minima.any_role_minimum())
            out_->lose(loss_kind::role_minima, "minima of roles");
        if (minima.some_optional)
            out_->lose(loss_kind::subgroup_minima, "some subgroups of many");
        if (minima.inner_total)
            out_->lose(loss_kind::total_minimum, "minima of subgroups with roles");
        if (minima.nested)
            out_->lose(loss_kind::nesting, "subgroups of roles");
        if (out_->spans_namespaces())
            out_->lose(loss_kind::namespaces,
                       "members in several namespaces: no pod says that they are of one gang");
    }

    static bool has_group(const boost::json::object& pod) {
        return !membership_mark(&pod).empty() ||
               metadata_entry(pod, "labels", keys::grove_gang).data() != nullptr;
    }

    void lose_priority() {
        const gang_priority& asked = out_->gang().priority;
        const bool by_class = !asked.class_name.empty() && all([&](const boost::json::object& pod) {
            const boost::json::object* const spec = find_object(&pod, "spec");
            return find_text(spec, "priorityClassName") == std::string_view(asked.class_name);
        });
        if (by_class)
            return;
        if (!asked.class_name.empty())
            out_->lose(loss_kind::priority, "class '" + asked.class_name + "' of the group");
        else if (asked.number.value_or(0) != 0)
            out_->lose(loss_kind::priority, "priority " + std::to_string(*asked.number));
    }

    // Only KAI's annotations on all pods speak of closeness, of the whole gang's.
    void lose_levels() {
        const gang_tree& tree = out_->gang().tree;
        for (std::size_t at = 0; at < tree.size(); ++at) {
            if (const std::string level = required_level(tree[at]);
                !level.empty() &&
                (at > 0 || !all_have("annotations", {keys::kai_topology_required}, level)))
                out_->lose(loss_kind::topology_required,
                           out_->vertex_text(at) + " within one " + level);
            if (const std::string level = preferred_level(tree[at]);
                !level.empty() &&
                (at > 0 || !all_have("annotations", {keys::kai_topology_preferred}, level)))
                out_->lose(loss_kind::topology_preferred,
                           out_->vertex_text(at) + " rather within one " + level);
        }
    }

    const std::vector<boost::json::object>* pods_;
    writing* out_;
};

} // namespace translate
} // namespace v0_1
} // namespace muster
