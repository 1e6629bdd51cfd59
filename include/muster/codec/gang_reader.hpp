// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/base/assert.hpp>
#include <muster/codec/coscheduling_groups.hpp>
#include <muster/codec/diagnostic.hpp>
#include <muster/codec/document.hpp>
#include <muster/codec/each_object.hpp>
#include <muster/codec/gang_book.hpp>
#include <muster/codec/gang_origins.hpp>
#include <muster/codec/grove_reader.hpp>
#include <muster/codec/grove_topology_reader.hpp>
#include <muster/codec/job_kinds.hpp>
#include <muster/codec/kai_groups.hpp>
#include <muster/codec/manifests.hpp>
#include <muster/codec/node_memory.hpp>
#include <muster/codec/pod_gang_reader.hpp>
#include <muster/codec/t9k_groups.hpp>
#include <muster/codec/t9k_job_reader.hpp>
#include <muster/codec/train_job_reader.hpp>
#include <muster/codec/volcano_groups.hpp>
#include <muster/codec/workload_groups.hpp>
#include <muster/codec/workload_reader.hpp>
#include <muster/lifecycle/transition_id.hpp>
#include <muster/translate/grove_gangs.hpp>
#include <muster/translate/grove_pods.hpp>
#include <muster/translate/grove_topology_check.hpp>
#include <muster/translate/t9k_gang.hpp>
#include <muster/translate/t9k_objects.hpp>
#include <muster/translate/t9k_pods.hpp>

namespace muster::inline v0_1 {
namespace codec {

struct gang_options {
    /// For namespaced objects that name none.
    std::string default_namespace = "default";
    translate::grove_dialect dialect = translate::grove_dialect::upstream;
    translate::t9k_options t9k;
    translate::job_options jobs;
};

/// What an input says of gangs.
struct gangs {
    /// In the order in which the input defines them.
    std::vector<translate::gang_bundle> bundles;
    /// What jobs say and no gang can, whatever it is written for.
    std::vector<translate::loss> losses;
    /// What jobs make beside groups and pods, and what their pods need: Services and ConfigMaps.
    std::vector<boost::json::object> companions;
    /// Objects of kinds that have no gangs, such as Node or Service, by `apiVersion kind`.
    std::map<std::string, std::size_t> apart;
};

namespace detail {

/// Sorts objects by their kinds, and hands what defines gangs to a book.
class gang_input_reader {
public:
    gang_input_reader(const std::vector<document>& documents, const gang_options& options,
                      diagnostics& out)
        : options_(&options),
          out_(&out),
          origins_(documents, options.default_namespace, makes),
          book_(cluster_, options.default_namespace, out) {
        context_.default_namespace = options.default_namespace;
        context_.largest_node_memory = largest_node_memory(documents);
    }
    gang_input_reader(const gang_input_reader&) = delete;
    gang_input_reader& operator=(const gang_input_reader&) = delete;

    void take(object_reader& object, std::string_view version, std::string_view kind,
              const object_place& where) {
        if (twice(object, version, kind))
            return object.ignore_rest();
        if (const std::string maker = origins_.maker(object.value()->get_object(), kind);
            !maker.empty() && (kind == "Pod" || makes(version, kind) || groups(version, kind)))
            return leave_out(object, version, kind, maker);
        if (take_job(object, version, kind, where) || take_group(object, version, kind, where) ||
            take_other(object, version, kind, where))
            return;
        if (has_pod_template(object)) {
            const std::size_t errors = out_->errors();
            translate::job_gangs read = read_any_workload(object, context_, options_->jobs);
            if (out_->errors() == errors)
                add(std::move(read), where, book_.reserve());
            return;
        }
        object.warning("kind " + std::string(kind) + " of " + in_quotes(version) +
                       " is not understood, left out");
        object.ignore_rest();
    }

    [[nodiscard]] gangs finish() && {
        for (const grove_source& each : sets_)
            expand(each);
        for (const auto& [where, order] : train_jobs_)
            expand(where, order);
        workloads_.finish(book_, *out_);
        made_.bundles = book_.finish();
        return std::move(made_);
    }

private:
    struct grove_source {
        translate::grove_set set;
        object_place where;
        std::size_t order = 0;
    };

    static constexpr std::string_view t9k_group_version = "scheduler.tensorstack.dev/v1beta1";
    static constexpr std::string_view kai_version = "scheduling.run.ai/v2alpha2";
    /// The last is kube-batch's, from which Volcano's come.
    static constexpr std::array<std::string_view, 4> volcano_versions{
        "scheduling.volcano.sh/v1beta1", "scheduling.volcano.sh/v1alpha2",
        "scheduling.volcano.sh/v1alpha1", "scheduling.incubator.k8s.io/v1alpha1"};
    static bool is_volcano(std::string_view version) {
        return std::ranges::find(volcano_versions, version) != volcano_versions.end();
    }
    static constexpr std::string_view old_version = "scheduling.sigs.k8s.io/v1alpha1";
    static constexpr std::string_view plugins_version = "scheduling.x-k8s.io/v1alpha1";

    /// Kinds whose objects are read as the groups and pods that their controller makes.
    static bool makes(std::string_view version, std::string_view kind) {
        return t9k_job_kind(version, kind) || find_job_kind(version, kind) ||
               (version == trainer_api && kind == "TrainJob") ||
               is_grove(version, kind, "PodCliqueSet") || is_pod_gang(version, kind);
    }
    static bool is_grove(std::string_view version, std::string_view kind, std::string_view wanted) {
        return version == translate::grove::api_version && kind == wanted;
    }
    static bool is_pod_gang(std::string_view version, std::string_view kind) {
        return version == translate::grove::scheduler_api_version && kind == "PodGang";
    }
    static translate::gang_api group_api(std::string_view version, std::string_view kind) {
        using translate::gang_api;
        if (workload_groups::understands(version, kind))
            return gang_api::workload;
        if (kind != "PodGroup")
            return gang_api::none;
        return version == t9k_group_version                           ? gang_api::t9k
               : version == kai_version                               ? gang_api::kai
               : is_volcano(version)                                  ? gang_api::volcano
               : version == old_version || version == plugins_version ? gang_api::coscheduling
                                                                      : gang_api::none;
    }
    static bool groups(std::string_view version, std::string_view kind) {
        return group_api(version, kind) != translate::gang_api::none;
    }

    bool twice(object_reader& object, std::string_view version, std::string_view kind) {
        const auto& manifest = object.value()->get_object();
        const std::string name(translate::metadata_name(manifest));
        if (name.empty() || names_
                                .emplace(std::string(version), std::string(kind),
                                         std::string(translate::metadata_namespace(manifest)), name)
                                .second)
            return false;
        object.error(std::string(kind) + " " + in_quotes(name) +
                     " is there twice (expected every object once)");
        return true;
    }

    void leave_out(object_reader& object, std::string_view version, std::string_view kind,
                   const std::string& maker) {
        const auto& manifest = object.value()->get_object();
        object.warning("made by " + maker + " of this input, left out");
        if (groups(version, kind)) {
            const std::string_view home = translate::metadata_namespace(manifest);
            book_.leave_out(group_api(version, kind),
                            home.empty() ? options_->default_namespace : std::string(home),
                            std::string(translate::metadata_name(manifest)));
        }
        object.ignore_rest();
    }

    bool take_job(object_reader& object, std::string_view version, std::string_view kind,
                  const object_place& where) {
        if (const auto t9k = t9k_job_kind(version, kind)) {
            const std::size_t errors = out_->errors();
            const translate::t9k_job job = read_t9k_job(object, *t9k, context_);
            if (out_->errors() == errors)
                expand(job, where);
        } else if (const job_kind* known = find_job_kind(version, kind)) {
            const std::size_t errors = out_->errors();
            translate::job_gangs read = known->read(object, context_, options_->jobs);
            if (out_->errors() == errors)
                add(std::move(read), where, book_.reserve());
        } else if (version == trainer_api && kind == "TrainJob") {
            // Its runtime may stand behind it.
            train_jobs_.emplace_back(where, book_.reserve());
            object.ignore_rest();
        } else if (version == trainer_api &&
                   (kind == "TrainingRuntime" || kind == "ClusterTrainingRuntime")) {
            runtimes_.add(object, context_);
            ++made_.apart[std::string(version) + " " + std::string(kind)];
        } else if (is_grove(version, kind, "PodCliqueSet")) {
            const std::size_t errors = out_->errors();
            auto set = read_pod_clique_set(object, options_->dialect, context_);
            if (out_->errors() == errors)
                sets_.push_back({std::move(set), where, book_.reserve()});
        } else {
            return false;
        }
        return true;
    }

    void add(translate::job_gangs read, const object_place& where, std::size_t order) {
        for (translate::gang_bundle& each : read.gangs)
            book_.add_job(std::move(each), where, order);
        for (boost::json::object& each : read.loose_pods)
            book_.add_pod(std::move(each), where, order);
        std::ranges::move(read.losses, std::back_inserter(made_.losses));
    }

    void expand(const translate::t9k_job& job, const object_place& where) {
        const std::size_t order = book_.reserve();
        std::vector<translate::gang_pod> pods = translate::pods_of(job, options_->t9k);
        std::vector<translate::gang_object> found = translate::gangs_of(job, options_->t9k);
        MUSTER_ASSERT(found.size() <= 1, "a T9k job is at most one gang");
        if (!found.empty())
            book_.add_job({std::move(found.front()), std::move(pods)}, where, order);
        else
            for (translate::gang_pod& each : pods)
                book_.add_pod(std::move(each.document), where, order);
        const std::size_t first = made_.companions.size();
        if (auto map = translate::config_map_of(job, options_->t9k))
            made_.companions.push_back(std::move(*map));
        std::ranges::move(translate::services_of(job, options_->t9k),
                          std::back_inserter(made_.companions));
        for (std::size_t at = first; at < made_.companions.size(); ++at)
            translate::drop_absent_owners(made_.companions[at]);
    }

    /// A TrainJob at its place.
    void expand(const object_place& where, std::size_t order) {
        object_at(where, *out_, [&](object_reader& object) {
            const std::size_t errors = out_->errors();
            translate::job_gangs read = read_train_job(object, context_, options_->jobs, runtimes_);
            if (out_->errors() == errors)
                add(std::move(read), where, order);
        });
    }

    void expand(const grove_source& from) {
        using translate::grove_dialect;
        const translate::grove_set& set = from.set;
        const bool seed = options_->dialect == grove_dialect::seed;
        const translate::grove_topology* within = nullptr;
        for (const translate::grove_topology& each : topologies_)
            if (each.name == translate::grove_topology_name(set))
                within = &each;
        if (within) {
            const auto faults = translate::grove_topology_faults(set, *within);
            for (const translate::grove_topology_fault& fault : faults)
                report(*out_, severity::error, from.where, {"spec", "template"},
                       fault.field + ": " + fault.message);
            if (!faults.empty())
                return;
        } else if (const auto name = translate::grove_topology_name(set); !name.empty()) {
            report(*out_, severity::warning, from.where, {"spec", "template"},
                   "the input does not hold the ClusterTopologyBinding " + in_quotes(name) +
                       ", so that domains stand for node labels (expected it as well)");
        }
        const std::string_view mark =
            !seed ? (set.scheduler.empty() ? "default-scheduler" : set.scheduler)
            : set.scheduler == "kai-scheduler"   ? "kai"
            : set.scheduler == "koord-scheduler" ? "koordinator"
                                                 : "default";
        translate::grove_options options;
        options.dialect = options_->dialect;
        // The walk-through's names hold uids. Of objects that do not exist yet they are made up
        // from what names them.
        if (seed)
            report(*out_, severity::warning, from.where, {"metadata"},
                   "the uids of its PodGangs are made up until they exist (names of PodGroups hold "
                   "them in the dialect seed)");
        const auto uid_of = [&](std::string_view kind, std::string_view name) {
            return lifecycle::transition_id(set.name_space, kind, name);
        };
        for (std::int64_t replica = 0; replica < set.replicas; ++replica) {
            made_.companions.push_back(translate::grove_service(set, replica, options));
            translate::drop_absent_owners(made_.companions.back());
            for (const translate::grove_gang& gang : translate::grove_gangs_of(set, replica)) {
                translate::gang_bundle made;
                made.gang =
                    translate::grove_gang_object(set, gang, options_->dialect, mark, within,
                                                 [&](const translate::grove_member& member) {
                                                     return set.cliques[member.clique].replicas;
                                                 });
                for (std::size_t at = 0; at < gang.members.size(); ++at) {
                    const auto& member = gang.members[at];
                    for (std::int64_t index = 0; index < set.cliques[member.clique].replicas;
                         ++index) {
                        translate::gang_pod pod;
                        pod.leaf = made.gang.sizes[at].leaf;
                        pod.document = translate::grove_pod(
                            set, gang, member, index, translate::grove_pod_name(member, index), {},
                            options);
                        translate::strip_marks(pod, translate::gang_api::grove);
                        made.pods.push_back(std::move(pod));
                    }
                }
                if (seed) {
                    made.gang.uid = uid_of("PodGang", gang.name);
                    if (set.uid.empty())
                        made.gang.owners.front().uid = uid_of("PodCliqueSet", set.name);
                }
                book_.add_job(std::move(made), from.where, from.order);
            }
        }
    }

    bool take_group(object_reader& object, std::string_view version, std::string_view kind,
                    const object_place& where) {
        using translate::gang_api;
        if (is_pod_gang(version, kind)) {
            pod_gang read = read_pod_gang(object, context_, where);
            const std::size_t at =
                book_.define(gang_api::grove, std::move(read.made), book_.reserve());
            for (auto& [pod, leaf] : read.pods)
                book_.refer(std::move(pod), at, leaf);
            return true;
        }
        const gang_api api = group_api(version, kind);
        switch (api) {
        case gang_api::none:
        case gang_api::grove:
            return false;
        case gang_api::t9k:
            book_.define(api, read_t9k_group(object, context_, where), book_.reserve());
            break;
        case gang_api::coscheduling:
            book_.define(
                api,
                read_coscheduling_group(object, version == old_version, context_, where, *out_),
                book_.reserve());
            break;
        case gang_api::volcano:
            book_.define(api, read_volcano_group(object, context_, where), book_.reserve());
            break;
        case gang_api::kai:
            book_.define(api, read_kai_group(object, context_, where), book_.reserve());
            break;
        case gang_api::workload:
            workloads_.read(object, version, kind, context_, where, book_.reserve());
            break;
        }
        return true;
    }

    bool take_other(object_reader& object, std::string_view version, std::string_view kind,
                    const object_place& where) {
        const bool core = version == "v1";
        if (core && kind == "Pod") {
            boost::json::object document = translate::as_written(object.value()->get_object());
            const std::string name = read_pod(object, context_).metadata.key.name;
            if (translate::metadata_name(document).empty() && !name.empty()) {
                boost::json::object& metadata = translate::child_at(document, "metadata");
                metadata.erase("generateName");
                metadata["name"] = name;
            }
            book_.add_pod(std::move(document), where, book_.reserve());
            return true;
        }
        if (version == "scheduling.k8s.io/v1" && kind == "PriorityClass")
            cluster_.priority_classes.push_back(read_priority_class(object, context_));
        else if (version == "kai.scheduler/v1alpha1" && kind == "Topology")
            cluster_.topologies.push_back(read_topology(object, context_));
        else if (is_grove(version, kind, "ClusterTopologyBinding") ||
                 is_grove(version, kind, "ClusterTopology"))
            topologies_.push_back(read_grove_topology(object, context_));
        else if (!has_no_gangs(version, kind))
            return false;
        else
            object.ignore_rest();
        ++made_.apart[std::string(version) + " " + std::string(kind)];
        return true;
    }

    /// Kinds that are known to describe no pods.
    static bool has_no_gangs(std::string_view version, std::string_view kind) {
        static constexpr std::array<std::string_view, 13> core{
            "Node",          "Namespace",  "Service",          "ConfigMap",
            "Secret",        "Event",      "Endpoints",        "ServiceAccount",
            "ResourceQuota", "LimitRange", "PersistentVolume", "PersistentVolumeClaim",
            "Binding"};
        if (version == "v1")
            return std::ranges::find(core, kind) != core.end();
        static constexpr std::array<std::string_view, 9> groups{
            "rbac.authorization.k8s.io", "storage.k8s.io",   "networking.k8s.io",
            "apiextensions.k8s.io",      "policy",           "autoscaling",
            "resource.k8s.io",           "discovery.k8s.io", "coordination.k8s.io"};
        if (std::ranges::find(groups, version.substr(0, version.find('/'))) != groups.end())
            return true;
        return kind == "Queue" && (version == t9k_group_version || is_volcano(version) ||
                                   version == "scheduling.run.ai/v2");
    }

    const gang_options* options_;
    diagnostics* out_;
    gang_origins origins_;
    manifests cluster_;
    reading_context context_;
    gang_book book_;
    workload_groups workloads_;
    std::vector<grove_source> sets_;
    std::vector<std::pair<object_place, std::size_t>> train_jobs_;
    training_runtimes runtimes_;
    std::vector<translate::grove_topology> topologies_;
    std::set<std::tuple<std::string, std::string, std::string, std::string>> names_;
    gangs made_;
};

} // namespace detail

/// As read_gangs(), but of those objects only for which `keep(version, kind)` says so.
template<class Keep>
[[nodiscard]] gangs read_gangs_of(const std::vector<document>& documents,
                                  const gang_options& options, diagnostics& out, const Keep& keep) {
    detail::gang_input_reader reader(documents, options, out);
    each_object(documents, out,
                [&](object_reader& object, std::string_view version, std::string_view kind,
                    const object_place& where) {
                    if (keep(version, kind))
                        reader.take(object, version, kind, where);
                    else
                        object.ignore_rest();
                });
    return std::move(reader).finish();
}

/// Reads the gangs of an input: groups of any gang API with their pods, jobs of any kind, and pods
/// by themselves, which are gangs of one. Kinds that are not understood are warnings. Groups and
/// pods that the input says were made by a job that it holds as well are left out with a warning.
/// The gangs are to be used only when there is no error; they refer to nothing. O(input · log).
[[nodiscard]] inline gangs read_gangs(const std::vector<document>& documents,
                                      const gang_options& options, diagnostics& out) {
    return read_gangs_of(documents, options, out,
                         [](std::string_view, std::string_view) { return true; });
}

} // namespace codec
} // namespace muster::inline v0_1
