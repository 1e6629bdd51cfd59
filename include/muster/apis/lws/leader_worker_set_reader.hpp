// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/job_reader.hpp>
#include <muster/apis/lws/leader_worker_set.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/document/json_text.hpp>
#include <muster/gangs/job_companions.hpp>
#include <muster/gangs/job_object.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// The size of segments: subGroupPolicy's, else KAI's annotation on the set or the workers.
inline void read_segments(object_reader& pods, translate::leader_worker_set& set) {
    const field policy_at = pods.optional("subGroupPolicy");
    object_reader policy = policy_at.as_object();
    const field size_at = policy.optional("subGroupSize");
    set.segment_size = count_of(size_at, 1);
    for (const std::string_view key : {"subGroupPolicyType", "type"}) {
        const field type_at = policy.optional(key);
        const std::string_view type = text_of(type_at);
        if (type == "LeaderExcluded")
            set.leader_apart = true;
        else if (!type.empty() && type != "LeaderWorker")
            type_at.error(in_quotes(type) +
                          " is no type (expected LeaderWorker or LeaderExcluded)");
    }
    policy.finish();
    if (!set.segment_size)
        for (const boost::json::object* const from :
             {set.object.annotations, translate::detail::annotations_of(set.worker_template)}) {
            const auto size = translate::segment_size(from);
            if (size == 0)
                pods.error("annotation kai.scheduler/segment-size is not a size (expected a whole "
                           "number of at least 1)");
            else if (!set.segment_size)
                set.segment_size = size;
        }
    if (!set.segment_size)
        return;
    const field& place = size_at.is_present() ? size_at : static_cast<const field&>(pods);
    if (*set.segment_size > set.size) {
        place.error(std::to_string(*set.segment_size) +
                    " pods of a segment are more than the group has (expected at most " +
                    std::to_string(set.size) + ")");
        set.segment_size.reset();
    } else if (set.leader_apart && (set.size - 1) % *set.segment_size != 0) {
        place.error("the workers do not fill segments of " + std::to_string(*set.segment_size) +
                    " evenly (expected so with LeaderExcluded)");
    }
}

/// A level of `scheduling`; what levels below it say is read by others.
inline void read_level(object_reader& object, translate::leader_worker_level& into) {
    const field policy_at = object.optional("schedulingPolicy");
    object_reader policy = policy_at.as_object();
    const field gang_at = policy.optional("gang");
    object_reader gang = gang_at.as_object();
    into.gang = gang.is_present();
    // Counts of members or groups are those of the set; its controller refuses others.
    gang.ignore({"minCount", "minGroupCount"});
    gang.finish();
    into.basic = policy.optional("basic").is_present();
    policy.finish();
    into.active = read_group_constraints(object, into) || policy.is_present();
}

/// spec.scheduling. One kind of groups may be spoken of: several become groups of groups, which its
/// controller does not make yet.
inline void read_leader_worker_scheduling(const field& at, translate::leader_worker_set& set) {
    object_reader object = at.as_object();
    if (!object.is_present())
        return;
    translate::leader_worker_scheduling& read = set.scheduling.emplace();
    read_level(object, read.whole);
    const field replica_at = object.optional("replica");
    object_reader replica = replica_at.as_object();
    read_level(replica, read.replica);
    for (const auto& [key, level] :
         {std::pair{"leader", &read.leader}, {"worker", &read.workers}}) {
        const field role_at = replica.optional(key);
        object_reader role = role_at.as_object();
        read_level(role, *level);
        level->active = role.is_present();
        role.finish();
    }
    replica.finish();
    object.finish();
    const bool roles = read.leader.active || read.workers.active;
    if (int{read.whole.active} + int{read.replica.active} + int{roles} > 1)
        at.error("it speaks of several levels of groups (expected one: the set, its replicas, or "
                 "leader and worker)");
    if (set.leader_first && !roles && (read.whole.active ? read.whole.gang : !read.replica.basic))
        at.error("a gang of leader and workers waits forever when workers are made after their "
                 "leader is ready (expected startupPolicy LeaderCreated, or groups of leader and "
                 "worker)");
}

} // namespace detail

/// The spec of a LeaderWorkerSet; `annotations` are the set's.
inline void read_leader_worker_spec(object_reader& spec, const boost::json::object* annotations,
                                    const reading_context& context,
                                    translate::leader_worker_set& set) {
    const auto annotation = [&](std::string_view key) {
        return translate::find_text(annotations, key).value_or(std::string_view{});
    };
    set.exclusive_topology = annotation("leaderworkerset.sigs.k8s.io/exclusive-topology");
    set.segment_exclusive_topology =
        annotation("leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology");
    set.replicas = count_of(spec.optional("replicas")).value_or(1);
    const field pods_at = spec.required("leaderWorkerTemplate");
    object_reader pods = pods_at.as_object();
    set.size = count_of(pods.optional("size"), 1).value_or(1);
    if (const field leader_at = pods.optional("leaderTemplate"); leader_at.is_present())
        set.leader_template = read_pod_template(leader_at, context);
    set.worker_template = read_pod_template(pods.required("workerTemplate"), context);
    detail::read_segments(pods, set);
    const field claims_at = pods.optional("volumeClaimTemplates");
    if (claims_at.as_array().is_present())
        set.volume_claims = &claims_at.value()->get_array();
    note_present(pods,
                 {"restartPolicy", "maxGroupRestarts", "resizePolicy",
                  "persistentVolumeClaimRetentionPolicy"},
                 set.lifecycle);
    pods.finish();
    const field startup_at = spec.optional("startupPolicy");
    const std::string_view startup = text_of(startup_at);
    set.leader_first = startup == "LeaderReady";
    if (!startup.empty() && !set.leader_first && startup != "LeaderCreated")
        startup_at.error(in_quotes(startup) +
                         " is no policy (expected LeaderCreated or LeaderReady)");
    const field network_at = spec.optional("networkConfig");
    object_reader network = network_at.as_object();
    set.own_subdomains = text_of(network.optional("subdomainPolicy")) == "UniquePerReplica";
    network.finish();
    const field placement_at = spec.optional("groupPlacementPolicy");
    object_reader placement = placement_at.as_object();
    if (placement.is_present()) {
        const field type_at = placement.required("type");
        const std::string_view type = text_of(type_at);
        const std::string_view key = text_of(placement.required("topologyKey"));
        if (type == "Exclusive")
            set.exclusive_topology = key;
        else if (type == "Colocated")
            set.shared_topology = key;
        else
            type_at.error(in_quotes(type) + " is no type (expected Colocated or Exclusive)");
        placement.finish();
    }
    note_present(spec, {"rolloutStrategy"}, set.lifecycle);
    detail::read_leader_worker_scheduling(spec.optional("scheduling"), set);
    spec.finish();
}

namespace detail {

[[nodiscard]] inline translate::job_gangs make_groups(const translate::leader_worker_set& set,
                                                      const object_reader& object,
                                                      const translate::job_options& options) {
    if (set.replicas * set.size > most_pods_of_a_job) {
        report_too_many_pods(object);
        return {};
    }
    if (set.replicas == 0)
        object.warning("it has no replicas, and so no gangs");
    return pods_of(set, gangs_of(set, options), options);
}

} // namespace detail

/// leaderworkerset.x-k8s.io/v1 LeaderWorkerSet.
[[nodiscard]] inline translate::job_gangs
read_leader_worker_set(object_reader& object, reading_context& context,
                       const translate::job_options& options) {
    translate::leader_worker_set set;
    set.object = read_job_object(object, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    read_leader_worker_spec(spec, set.object.annotations, context, set);
    object.finish();
    return detail::make_groups(set, object, options);
}

namespace detail {

/// A role of a DisaggregatedSet, by what its slices have in common.
struct disaggregated_role {
    std::string name;
    /// Of the role, and beside them those of the whole set.
    boost::json::object labels;
    boost::json::object annotations;
    translate::leader_worker_set set;
};

/// The groups of a role in one slice, of a LeaderWorkerSet of that name.
inline void add_role(const disaggregated_role& role, const std::string& name, std::int64_t slice,
                     const object_reader& object, const translate::job_options& options,
                     translate::job_gangs& made) {
    translate::leader_worker_set set = role.set;
    const std::string owner(set.object.name);
    set.object.name = name;
    set.object.labels = &role.labels;
    set.object.annotations = &role.annotations;
    translate::job_gangs part = make_groups(set, object, options);
    const auto mark = [&](boost::json::object& pod) {
        const std::string prefix = "disaggregatedset.x-k8s.io/";
        translate::set_label(pod, prefix + "name", owner);
        translate::set_label(pod, prefix + "slice", std::to_string(slice));
        translate::set_label(pod, prefix + "role", role.name);
    };
    for (translate::gang_bundle& bundle : part.gangs) {
        // Pods and gangs are those of the role; the set itself owns both.
        bundle.gang.owners.front().name = owner;
        for (translate::gang_pod& pod : bundle.pods)
            mark(pod.document);
        made.gangs.push_back(std::move(bundle));
    }
    for (boost::json::object& pod : part.loose_pods)
        mark(pod);
    std::ranges::move(part.loose_pods, std::back_inserter(made.loose_pods));
    // No LeaderWorkerSet is made that could own them.
    for (boost::json::object& service : part.companions)
        translate::child_at(service, "metadata").erase("ownerReferences");
    std::ranges::move(part.companions, std::back_inserter(made.companions));
    // And a Service by which others reach the role, beside that of its pods' names.
    if (options.pods && set.replicas > 0) {
        boost::json::object own;
        translate::set_label(own, "disaggregatedset.x-k8s.io/name", owner);
        translate::set_label(own, "disaggregatedset.x-k8s.io/role", role.name);
        translate::set_label(own, "disaggregatedset.x-k8s.io/slice", std::to_string(slice));
        const boost::json::object& selector = own.at("metadata").at("labels").as_object();
        made.companions.push_back(
            translate::headless_service(role.set.object, name + "-prv", selector, selector, false,
                                        translate::reference_to(role.set.object)));
    }
    std::ranges::move(part.losses, std::back_inserter(made.losses));
}

} // namespace detail

/// disaggregatedset.x-k8s.io/v1 DisaggregatedSet: in each slice a LeaderWorkerSet per role, named
/// `<set>-<slice>-<role>`, or `<set>-<role>` when no slices are asked for; the hash of the
/// templates in these names is left out. That a slice's roles stand together, or alone, is beyond
/// what a gang of one of them can say.
[[nodiscard]] inline translate::job_gangs
read_disaggregated_set(object_reader& object, reading_context& context,
                       const translate::job_options& options) {
    const translate::job_object own = read_job_object(object, context);
    translate::job_plan beside;
    std::vector<std::string_view> lifecycle;
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    const auto slices = count_of(spec.optional("slices"), 1);
    const field placement_at = spec.optional("placementPolicy");
    object_reader placement = placement_at.as_object();
    const field type_at = placement.optional("type");
    const std::string_view type = text_of(type_at);
    const std::string level(text_of(placement.optional("topology")));
    placement.finish();
    if (type == "ExclusiveSlice" || type == "ExclusiveTopology")
        lose(beside, translate::loss_kind::topology_required, own,
             "placementPolicy " + std::string(type) +
                 ": the roles of a slice stand in one domain of " + level + ", alone there");
    else if (!type.empty() && type != "None")
        type_at.error(in_quotes(type) +
                      " is no type (expected None, ExclusiveSlice or ExclusiveTopology)");
    std::vector<detail::disaggregated_role> read;
    const field roles_at = spec.required("roles");
    const array_reader roles = roles_at.as_array();
    roles.for_each_object([&](object_reader& each) {
        detail::disaggregated_role role;
        role.name = text_of(each.required("name"));
        role.set.object = own;
        const field metadata_at = each.optional("metadata");
        object_reader metadata = metadata_at.as_object();
        const auto* const labels = read_texts(metadata.optional("labels"));
        const auto* const annotations = read_texts(metadata.optional("annotations"));
        metadata.finish();
        for (const auto& [to, from] : {std::pair{&role.labels, labels},
                                       {&role.labels, own.labels},
                                       {&role.annotations, annotations},
                                       {&role.annotations, own.annotations}})
            if (from)
                to->insert(from->begin(), from->end());
        const field inner_at = each.required("spec");
        object_reader inner = inner_at.as_object();
        read_leader_worker_spec(inner, annotations ? annotations : own.annotations, context,
                                role.set);
        note_present(each, {"scaling"}, lifecycle);
        each.finish();
        read.push_back(std::move(role));
    });
    note_present(spec, {"rolloutStrategy"}, lifecycle);
    spec.finish();
    object.finish();
    translate::job_gangs made;
    const std::int64_t copies = slices.value_or(1);
    if (copies > most_pods_of_a_job) {
        report_too_many_pods(object);
        return made;
    }
    lose_lifecycle(beside, own, lifecycle);
    made.losses = std::move(beside.losses);
    for (std::int64_t slice = 0; slice < copies; ++slice)
        for (const detail::disaggregated_role& role : read)
            detail::add_role(role,
                             std::string(own.name) + '-' +
                                 (slices ? std::to_string(slice) + '-' : "") + role.name,
                             slice, object, options, made);
    return made;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
