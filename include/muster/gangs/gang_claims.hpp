// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/gangs/gang_keys.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/pod_marks.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// What a pod's marks of one API say: to which gang it belongs, and as what.
struct gang_claim {
    gang_api api = gang_api::none;
    /// The name that pods use. In Kubernetes 1.35 `<workload>/<podGroup>`.
    std::string group;
    std::string role; ///< a leaf of that gang; empty: none is named
    /// Kubernetes 1.35: which copy of the gang.
    std::string copy;
    /// A minimum that stands on the pod itself, as written.
    std::string minimum;
    /// The mark by which it was recognised, and what is wrong with it; empty when nothing is.
    std::string_view key;
    std::string error;
};

namespace detail {

/// Reads a value that may stand under several keys; two that differ are an error.
class mark_reader {
public:
    mark_reader(const boost::json::object& pod, gang_claim& into) : pod_(&pod), into_(&into) {}

    void take(std::string& value, std::string_view map, std::string_view key) const {
        const std::string_view found = metadata_entry(*pod_, map, key);
        if (found.data() == nullptr)
            return;
        if (into_->key.empty())
            into_->key = key;
        if (found.empty())
            into_->error = std::string(key) + " is empty (expected a name)";
        else if (value.empty())
            value = found;
        else if (value != found)
            into_->error = std::string(key) + " says " + std::string(found) + " and " +
                           std::string(into_->key) + " says " + value +
                           " (expected them to be equal)";
    }

private:
    const boost::json::object* pod_;
    gang_claim* into_;
};

[[nodiscard]] inline bool is_positive(std::string_view text) noexcept {
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() && value > 0;
}

[[nodiscard]] inline gang_claim t9k_claim(const boost::json::object& pod) {
    gang_claim made{gang_api::t9k, {}, {}, {}, {}, {}, {}};
    mark_reader(pod, made).take(made.group, "labels", keys::t9k_group);
    made.role = metadata_entry(pod, "labels", keys::t9k_role);
    return made;
}

[[nodiscard]] inline gang_claim coscheduling_claim(const boost::json::object& pod) {
    gang_claim made{gang_api::coscheduling, {}, {}, {}, {}, {}, {}};
    const mark_reader read(pod, made);
    read.take(made.group, "labels", keys::plugins_group);
    read.take(made.group, "labels", keys::sigs_group);
    read.take(made.group, "labels", keys::sigs_name);
    read.take(made.group, "annotations", keys::koord_name);
    const std::string_view named = made.key;
    read.take(made.minimum, "labels", keys::sigs_minimum);
    read.take(made.minimum, "annotations", keys::koord_minimum);
    if (named.empty() && !made.key.empty() && made.error.empty())
        made.error =
            std::string(made.key) + " is there, but " +
            std::string(made.key == keys::koord_minimum ? keys::koord_name : keys::sigs_name) +
            " is not (expected both)";
    return made;
}

[[nodiscard]] inline gang_claim volcano_claim(const boost::json::object& pod) {
    gang_claim made{gang_api::volcano, {}, {}, {}, {}, {}, {}};
    const mark_reader read(pod, made);
    read.take(made.group, "annotations", keys::volcano_group);
    read.take(made.group, "annotations", keys::volcano_own_group);
    made.role = metadata_entry(pod, "annotations", keys::volcano_task);
    if (made.role.empty())
        made.role = metadata_entry(pod, "labels", keys::volcano_task);
    return made;
}

[[nodiscard]] inline gang_claim kai_claim(const boost::json::object& pod) {
    gang_claim made{gang_api::kai, {}, {}, {}, {}, {}, {}};
    mark_reader(pod, made).take(made.group, "annotations", keys::kai_group);
    made.role = metadata_entry(pod, "labels", keys::kai_subgroup);
    return made;
}

[[nodiscard]] inline gang_claim workload_claim(const boost::json::object& pod) {
    gang_claim made{gang_api::workload, {}, {}, {}, {}, {}, {}};
    const auto* spec = find_object(&pod, "spec");
    if (const auto* reference = find_object(spec, "workloadRef")) {
        made.key = "spec.workloadRef";
        made.group = std::string(string_at(*reference, "name")) + '/' +
                     std::string(string_at(*reference, "podGroup"));
        made.copy = string_at(*reference, "podGroupReplicaKey");
        if (string_at(*reference, "name").empty() || string_at(*reference, "podGroup").empty())
            made.error = "spec.workloadRef names no pod group (expected name and podGroup)";
    }
    if (const auto* reference = find_object(spec, "schedulingGroup")) {
        if (!made.key.empty())
            made.error = "spec.workloadRef and spec.schedulingGroup are both there (expected one)";
        made.key = "spec.schedulingGroup";
        made.group = string_at(*reference, "podGroupName");
        if (made.group.empty())
            made.error = "spec.schedulingGroup names no group (expected podGroupName)";
    }
    return made;
}

[[nodiscard]] inline gang_claim grove_claim(const boost::json::object& pod) {
    gang_claim made{gang_api::grove, {}, {}, {}, {}, {}, {}};
    mark_reader(pod, made).take(made.group, "labels", keys::grove_gang);
    made.role = metadata_entry(pod, "labels", keys::grove_clique);
    return made;
}

/// A plain pod group of Kueue. Kueue admits it when all its pods are there; with fast admission,
/// each pod starts when it is there.
[[nodiscard]] inline gang_claim kueue_claim(const boost::json::object& pod) {
    gang_claim made{gang_api::kueue, {}, {}, {}, {}, {}, {}};
    const mark_reader read(pod, made);
    read.take(made.group, "labels", keys::kueue_group);
    const std::string in_label = made.group;
    read.take(made.group, "annotations", keys::kueue_group);
    if (const std::string_view note = metadata_entry(pod, "annotations", keys::kueue_group);
        !in_label.empty() && !note.empty() && note != in_label)
        made.error = std::string(keys::kueue_group) + " is '" + in_label + "' as a label and '" +
                     std::string(note) + "' as an annotation (expected them to be equal)";
    const bool is_named = !made.key.empty();
    const std::string_view total = metadata_entry(pod, "annotations", keys::kueue_total);
    if (!is_named && total.data() == nullptr)
        return made;
    made.key = keys::kueue_group;
    made.minimum = total;
    if (!made.error.empty())
        return made;
    if (!is_named)
        made.error = std::string(keys::kueue_total) + " is there, but " +
                     std::string(keys::kueue_group) + " is not (expected both)";
    else if (total.data() == nullptr)
        made.error = std::string(keys::kueue_group) + " is there, but " +
                     std::string(keys::kueue_total) + " is not (expected both)";
    else if (!is_positive(total))
        made.error = std::string(keys::kueue_total) + " says '" + made.minimum +
                     "' (expected a whole number from 1 to 2147483647)";
    else if (metadata_entry(pod, "annotations", keys::kueue_fast) == "true")
        made.minimum = "1";
    return made;
}

} // namespace detail

/// What a pod's marks say, API by API; a pod without marks claims nothing.
[[nodiscard]] inline std::vector<gang_claim> claims_of(const boost::json::object& pod) {
    std::vector<gang_claim> claims;
    for (const auto& claim :
         {detail::t9k_claim, detail::coscheduling_claim, detail::volcano_claim, detail::kai_claim,
          detail::workload_claim, detail::grove_claim, detail::kueue_claim})
        if (gang_claim made = claim(pod); !made.key.empty())
            claims.push_back(std::move(made));
    return claims;
}

/// Takes the name of a gang scheduler off a pod that is in no gang. Other schedulers stay: somebody
/// asked for them.
inline void strip_scheduler(gang_pod& pod) {
    const auto* spec = find_object(&pod.document, "spec");
    const std::string_view named = spec ? string_at(*spec, "schedulerName") : std::string_view{};
    for (const std::string_view known : schedulers::of_gangs)
        if (named == known)
            return mark_remover(pod).field("schedulerName");
}

/// Takes the marks of an API off a pod. The name of a scheduler goes with them: it is that API's.
inline void strip_marks(gang_pod& pod, gang_api of) {
    const mark_remover remove(pod);
    switch (of) {
    case gang_api::none:
        return;
    case gang_api::t9k:
        remove.label(keys::t9k_group);
        remove.label(keys::t9k_role);
        remove.label(keys::t9k_queue);
        break;
    case gang_api::coscheduling:
        for (const std::string_view key :
             {keys::plugins_group, keys::sigs_group, keys::sigs_name, keys::sigs_minimum,
              keys::sigs_groups, keys::sigs_matching, keys::koord_queue})
            remove.label(key);
        for (const std::string_view key :
             {keys::sigs_groups, keys::sigs_matching, keys::koord_name, keys::koord_minimum,
              keys::koord_groups, keys::koord_matching, keys::koord_mode, keys::koord_wait,
              keys::koord_total, keys::koord_timeout, keys::koord_topology})
            remove.annotation(key);
        break;
    case gang_api::volcano:
        remove.annotation(keys::volcano_group);
        remove.annotation(keys::volcano_own_group);
        remove.annotation(keys::volcano_task);
        remove.annotation(keys::volcano_queue);
        remove.annotation(keys::volcano_preemptible);
        remove.label(keys::volcano_task);
        break;
    case gang_api::kai:
        remove.annotation(keys::kai_group);
        remove.annotation(keys::kai_skip);
        remove.label(keys::kai_subgroup);
        remove.label(keys::kai_queue);
        break;
    case gang_api::workload:
        remove.field("workloadRef");
        remove.field("schedulingGroup");
        break;
    case gang_api::grove:
        remove.label(keys::grove_gang);
        remove.label(keys::grove_clique);
        remove.label(keys::grove_base_gang);
        remove.gate(keys::grove_gate);
        remove.gate(keys::grove_upstream_gate);
        break;
    case gang_api::kueue:
        // Kueue is no scheduler, and its gate stays until Kueue removes it.
        remove.label(keys::kueue_group);
        for (const std::string_view key : {keys::kueue_group, keys::kueue_total, keys::kueue_fast,
                                           keys::kueue_serving, keys::kueue_retriable})
            remove.annotation(key);
        return;
    }
    remove.field("schedulerName");
}

} // namespace translate
} // namespace v0_1
} // namespace muster
