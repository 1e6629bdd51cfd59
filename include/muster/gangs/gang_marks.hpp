// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/document/json_text.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/job_object.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// The first mark by which a PodTemplateSpec ties its pods to a gang of its own; empty if none.
[[nodiscard]] inline std::string_view membership_mark(const boost::json::object* pod_template) {
    const boost::json::object* const metadata = find_object(pod_template, "metadata");
    for (const auto& [place, in] : {std::pair{mark_place::label, find_object(metadata, "labels")},
                                    {mark_place::annotation, find_object(metadata, "annotations")},
                                    {mark_place::field, find_object(pod_template, "spec")}})
        for (const api_facts& api : gang_facts)
            for (const gang_mark& each : api.marks)
                if (each.at == place && each.use == mark_use::membership && in &&
                    find(in, each.key))
                    return each.key;
    return {};
}

/// A gang as ACK's labels describe it, which also Arena writes.
struct labelled_gang {
    std::string_view name;
    std::int64_t minimum = 0;

    [[nodiscard]] friend bool operator==(const labelled_gang&, const labelled_gang&) = default;
};

/// What the template's ACK labels say; nothing when there are none or they say nothing that counts.
[[nodiscard]] inline std::optional<labelled_gang>
labelled_gang_of(const boost::json::object* pod_template) {
    const boost::json::object* const labels =
        find_object(find_object(pod_template, "metadata"), "labels");
    const auto name = translate::find_text(labels, keys::sigs_name);
    const auto least = translate::find_text(labels, keys::sigs_minimum);
    if (!name || name->empty() || !least)
        return std::nullopt;
    std::int32_t minimum = 0;
    const char* const end = least->data() + least->size();
    const auto [stop, error] = std::from_chars(least->data(), end, minimum);
    if (error != std::errc{} || stop != end || minimum < 1)
        return std::nullopt;
    return labelled_gang{*name, minimum};
}

/// Sets apart the pods that are not of the job's own gang. Where ACK's labels stand on templates
/// they name that gang, if they all name the same one, and pods without them are none of it. All
/// other marks lead to a gang that is described elsewhere.
[[nodiscard]] inline std::optional<labelled_gang> settle_marks(std::vector<pod_series>& all) {
    std::optional<labelled_gang> gang;
    bool agreed = true;
    for (const pod_series& each : all)
        if (const auto said = labelled_gang_of(each.pod_template)) {
            agreed = agreed && (!gang || *gang == *said);
            gang = said;
        }
    if (!agreed)
        gang.reset();
    for (pod_series& each : all)
        each.loose = gang ? labelled_gang_of(each.pod_template) != gang
                          : !membership_mark(each.pod_template).empty();
    return gang;
}

/// Labels and annotations of a job by which it asks for a queue, a rank or closeness; they become
/// fields of its gang.
namespace owner_mark {
inline constexpr std::string_view queue = keys::kai_queue;
inline constexpr std::string_view project = "project";
inline constexpr std::string_view volcano_queue = keys::volcano_queue;
inline constexpr std::string_view priority_class = "priorityClassName";
inline constexpr std::string_view preemptibility = keys::kai_preemptibility;
inline constexpr std::string_view topology_name = keys::kai_topology;
inline constexpr std::string_view topology_required = keys::kai_topology_required;
inline constexpr std::string_view topology_preferred = keys::kai_topology_preferred;
inline constexpr std::string_view batch_minimum = keys::kai_batch_minimum;
inline constexpr std::string_view volcano_minimum = keys::volcano_minimum;
inline constexpr std::string_view preemption_delay = keys::kai_preemption_delay;
inline constexpr std::string_view staleness = keys::kai_staleness;
inline constexpr std::string_view last_applied = "kubectl.kubernetes.io/last-applied-configuration";
} // namespace owner_mark

/// What all leaves want together.
[[nodiscard]] inline std::int64_t leaf_minima(const gang_tree& tree) {
    std::int64_t sum = 0;
    for (std::size_t at = 1; at < tree.size(); ++at)
        sum += tree.is_leaf(at) ? tree[at].min_member : 0;
    return sum;
}

namespace detail {

/// All strings of labels or annotations but those that became fields.
template<class Keys>
void copy_texts(const boost::json::object* from, const Keys& but, boost::json::object& to) {
    if (!from)
        return;
    for (const auto& member : *from) {
        const std::string_view key(member.key().data(), member.key().size());
        if (!member.value().is_string())
            continue;
        bool taken = false;
        for (const std::string_view each : but)
            taken = taken || each == key;
        if (!taken)
            to.emplace(key, member.value());
    }
}

} // namespace detail

/// How close the pods are to stand, as annotations say it, by default KAI's: `topology_name` names
/// a Topology object that lists the levels; here each level that is asked for is one, the required
/// one first.
[[nodiscard]] inline std::optional<topology_constraint>
closeness_asked(const boost::json::object* annotations,
                std::string_view required_key = owner_mark::topology_required,
                std::string_view preferred_key = owner_mark::topology_preferred) {
    const auto required = translate::find_text(annotations, required_key);
    const auto preferred = translate::find_text(annotations, preferred_key);
    topology_constraint asked;
    if (required && !required->empty()) {
        asked.within.levels.emplace_back(*required);
        asked.required = 0;
    }
    if (preferred && !preferred->empty()) {
        if (preferred == required) {
            asked.preferred = 0;
        } else {
            asked.preferred = asked.within.levels.size();
            asked.within.levels.emplace_back(*preferred);
        }
    }
    if (!asked.required && !asked.preferred)
        return std::nullopt;
    return asked;
}

/// All in one domain of a node label; nothing when none is named.
[[nodiscard]] inline std::optional<topology_constraint> one_domain(std::string_view label) {
    if (label.empty())
        return std::nullopt;
    topology_constraint asked;
    asked.within.levels.emplace_back(label);
    asked.required = 0;
    return asked;
}

/// What `scheduling` in a job's spec says of groups of Kubernetes besides who waits for whom.
struct group_words {
    std::string_view topology;                      ///< a node label: all pods in one domain of it
    const boost::json::value* disruption = nullptr; ///< disruptionMode
    const boost::json::value* claims = nullptr;     ///< resourceClaims that the pods share
};

inline void take_group_words(const group_words& said, gang_object& to) {
    if (auto asked = one_domain(said.topology))
        to.tree.constrain_topology(vertex_index{0}, std::move(*asked));
    if (said.disruption)
        to.own_words.push_back(
            {gang_api::workload, loss_kind::lifecycle, "disruptionMode", *said.disruption});
    if (said.claims)
        to.own_words.push_back(
            {gang_api::workload, loss_kind::lifecycle, "resourceClaims", *said.claims});
}

/// How close the pods of a segment are to stand, as annotations of a template say it.
[[nodiscard]] inline std::optional<topology_constraint>
segment_closeness(const boost::json::object* annotations) {
    boost::json::object words;
    for (const auto& [from, to] :
         {std::pair{"kai.scheduler/segment-topology-required-placement",
                    owner_mark::topology_required},
          {"kai.scheduler/segment-topology-preferred-placement", owner_mark::topology_preferred}})
        if (const auto said = translate::find_text(annotations, from))
            words[to] = *said;
    return closeness_asked(&words);
}

/// How many pods a segment has, as an annotation says it; 0 when it says no number.
[[nodiscard]] inline std::optional<std::int64_t>
segment_size(const boost::json::object* annotations) {
    const auto said = translate::find_text(annotations, "kai.scheduler/segment-size");
    if (!said)
        return std::nullopt;
    std::int32_t value = 0;
    const char* const end = said->data() + said->size();
    const auto [stop, error] = std::from_chars(said->data(), end, value);
    return error == std::errc{} && stop == end && value > 0 ? value : 0;
}

namespace detail {

/// The first text that a search in the templates gives.
template<class Search>
[[nodiscard]] std::string_view first_of(const std::vector<const boost::json::object*>& templates,
                                        Search&& search) {
    for (const boost::json::object* const each : templates)
        if (const auto found = search(each); found && !found->empty())
            return *found;
    return {};
}

[[nodiscard]] inline const boost::json::object* labels_of(const boost::json::object* pod_template) {
    return find_object(find_object(pod_template, "metadata"), "labels");
}

[[nodiscard]] inline const boost::json::object*
annotations_of(const boost::json::object* pod_template) {
    return find_object(find_object(pod_template, "metadata"), "annotations");
}

[[nodiscard]] inline std::string_view
queue_of(const job_object& job, const std::vector<const boost::json::object*>& templates) {
    const auto on_pods = [&](std::string_view key) {
        return first_of(templates, [&](const auto* each) {
            return translate::find_text(labels_of(each), key);
        });
    };
    for (const std::string_view found :
         {translate::find_text(job.labels, owner_mark::queue).value_or(""),
          on_pods(owner_mark::queue),
          translate::find_text(job.annotations, owner_mark::volcano_queue).value_or(""),
          translate::find_text(job.labels, owner_mark::volcano_queue).value_or(""),
          first_of(templates,
                   [](const auto* each) {
                       return translate::find_text(annotations_of(each), owner_mark::volcano_queue);
                   }),
          on_pods(owner_mark::volcano_queue),
          translate::find_text(job.labels, owner_mark::project).value_or(""),
          on_pods(owner_mark::project)})
        if (!found.empty())
            return found;
    return {};
}

} // namespace detail

/// What KAI's label `preemptibility` and its annotations, of an owner or of a pod, say of
/// evictions.
inline void take_eviction_words(std::string_view preemptibility,
                                const boost::json::object* annotations, gang_object& to) {
    if (preemptibility == "preemptible" || preemptibility == "non-preemptible")
        to.preemptible = preemptibility == "preemptible";
    else if (!preemptibility.empty())
        to.own_words.push_back({gang_api::kai, loss_kind::preemptibility, "preemptibility",
                                boost::json::string(preemptibility)});
    for (const auto& [annotation, field] :
         {std::pair<std::string_view, const char*>{owner_mark::preemption_delay, "preemptionDelay"},
          {owner_mark::staleness, "stalenessGracePeriod"}})
        if (const auto said = translate::find_text(annotations, annotation))
            to.own_words.push_back(
                {gang_api::kai, loss_kind::lifecycle, field, boost::json::string(*said)});
}

/// A gang of a job, with all that labels and annotations of any job may say about it: queue,
/// priority class, preemptibility and topology. What the job leaves open the first template that
/// says something decides; of topology only when `topology_requirement` says so. Its tree is a root
/// alone.
[[nodiscard]] inline gang_object gang_of(const job_object& job, std::string name,
                                         const std::vector<const boost::json::object*>& templates,
                                         bool topology_requirement = true) {
    gang_object gang;
    gang.kind = job.kind;
    gang.name_space = job.name_space;
    gang.name = std::move(name);
    gang.owners.push_back(reference_to(job));
    constexpr std::array<std::string_view, 4> label_fields{
        owner_mark::queue, owner_mark::volcano_queue, owner_mark::priority_class,
        owner_mark::preemptibility};
    constexpr std::array<std::string_view, 9> annotation_fields{
        owner_mark::preemption_delay, owner_mark::staleness,         owner_mark::volcano_queue,
        owner_mark::topology_name,    owner_mark::topology_required, owner_mark::topology_preferred,
        owner_mark::batch_minimum,    owner_mark::volcano_minimum,   owner_mark::last_applied};
    detail::copy_texts(job.labels, label_fields, gang.labels);
    detail::copy_texts(job.annotations, annotation_fields, gang.annotations);

    if (const std::string_view queue = detail::queue_of(job, templates); !queue.empty())
        gang.queue = std::string(queue);
    const auto by_label = [&](std::string_view key) {
        const auto own = translate::find_text(job.labels, key);
        return own && !own->empty() ? *own : detail::first_of(templates, [&](const auto* each) {
            return translate::find_text(detail::labels_of(each), key);
        });
    };
    gang.priority.class_name = by_label(owner_mark::priority_class);
    if (gang.priority.class_name.empty())
        gang.priority.class_name = detail::first_of(templates, [](const auto* each) {
            return translate::find_text(find_object(each, "spec"), "priorityClassName");
        });
    take_eviction_words(by_label(owner_mark::preemptibility), job.annotations, gang);
    const auto stand_close = [&](const boost::json::object* from) {
        auto asked = closeness_asked(from);
        if (!asked || gang.tree[0].together)
            return;
        gang.tree.constrain_topology(vertex_index{0}, std::move(*asked));
        gang.topology_name =
            translate::find_text(from, owner_mark::topology_name).value_or(std::string_view{});
    };
    stand_close(job.annotations);
    for (const boost::json::object* const each : templates)
        if (topology_requirement)
            stand_close(detail::annotations_of(each));
    return gang;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
