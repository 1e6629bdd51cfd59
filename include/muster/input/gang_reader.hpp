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

#include <muster/apis/core/each_object.hpp>
#include <muster/apis/core/node_memory.hpp>
#include <muster/apis/gang_facts.hpp>
#include <muster/apis/grove/expansion.hpp>
#include <muster/apis/grove/set_reader.hpp>
#include <muster/apis/grove/topology_reader.hpp>
#include <muster/apis/job_kinds.hpp>
#include <muster/apis/kubeflow/train_job_reader.hpp>
#include <muster/apis/lifecycle_words.hpp>
#include <muster/apis/owners/workload_reader.hpp>
#include <muster/apis/t9k/jobs/gang.hpp>
#include <muster/apis/t9k/jobs/job_reader.hpp>
#include <muster/apis/t9k/jobs/objects.hpp>
#include <muster/apis/t9k/jobs/pods.hpp>
#include <muster/base/assert.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/gangs/job_object.hpp>
#include <muster/input/gang_book.hpp>
#include <muster/input/gang_kinds.hpp>
#include <muster/input/gang_origins.hpp>
#include <muster/input/group_objects.hpp>
#include <muster/input/job_standing.hpp>
#include <muster/input/manifests.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

struct gang_options {
    /// For namespaced objects that name none.
    std::string default_namespace = "default";
    reading_rules rules;
    translate::grove_dialect dialect = translate::grove_dialect::upstream;
    translate::t9k_options t9k;
    translate::job_options jobs;
    /// The same input, read as a cluster. If given, reads only the rest: gangs of other APIs than
    /// T9k's, jobs that have no pods yet, and the marks of pods. Findings about the cluster are not
    /// repeated.
    const manifests* cluster = nullptr;
};

/// What an input says of gangs.
struct gangs {
    /// In the order in which the input defines them.
    std::vector<translate::gang_bundle> bundles;
    /// What jobs say and no gang can, whatever it is written for.
    std::vector<translate::loss> losses;
    /// What jobs make beside groups and pods, and what their pods need: Services,
    /// ConfigMaps and claims.
    std::vector<boost::json::object> companions;
    /// Objects of kinds that have no gangs, such as Node or Service, by `apiVersion kind`.
    std::map<std::string, std::size_t> apart;
    std::size_t idle = 0; ///< jobs that are to have no replicas now, and so no gangs
};

/// The gangs of a cluster as it stands, and the pods that found none.
struct standing_gangs {
    std::vector<booked_gang> gangs;
    std::vector<stray_pod> strays;
    /// Objects other than groups and pods that jobs would create, such as claims.
    std::vector<boost::json::object> companions;
    /// Objects that were read, or that need not be, by `apiVersion kind`.
    std::map<std::string, std::size_t> understood;
    /// Groups of which a part could not be read, and which part. They are in no gang above.
    std::map<object_key, std::string> unread_groups;
    /// The topologies of all ClusterTopologyBindings: Grove makes a KAI Topology of the same name
    /// for each.
    std::vector<translate::grove_topology> topologies;
    /// The newest time that the objects name from which they were read.
    std::optional<timestamp> newest;
};

namespace detail {

/// Sorts objects by their kinds, and hands what defines gangs to a book.
class gang_input_reader {
public:
    gang_input_reader(const std::vector<document>& documents, const gang_options& options,
                      diagnostics& out)
        : options_(&options),
          out_(&out),
          origins_(
              documents, options.default_namespace,
              [&](std::string_view version, std::string_view kind) {
                  return makes_gangs(version, kind) &&
                         (!options.cluster || has_pods_now(version, kind) ||
                          is_pod_gang(version, kind));
              },
              options.cluster != nullptr),
          book_(options.cluster ? *options.cluster : cluster_, options.default_namespace, out,
                options.cluster != nullptr) {
        context_.default_namespace = options.default_namespace;
        context_.rules = options.rules;
        context_.largest_node_memory = largest_node_memory(documents);
    }
    gang_input_reader(const gang_input_reader&) = delete;
    gang_input_reader& operator=(const gang_input_reader&) = delete;

    void take(object_reader& object, std::string_view version, std::string_view kind,
              const object_place& where) {
        if (options_->cluster && take_broken(object, version, kind, where))
            return object.ignore_rest();
        if (options_->cluster && !take_standing(object, version, kind, where))
            return object.ignore_rest();
        if (twice(object, version, kind))
            return object.ignore_rest();
        if (const std::string maker = origins_.maker(object.value()->get_object(), kind);
            !maker.empty() &&
            (kind == "Pod" || makes_gangs(version, kind) || is_gang_group(version, kind)))
            return leave_out(object, version, kind, maker);
        if (take_job(object, version, kind, where) || groups_.take(object, version, kind, where) ||
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
        for (booked_gang& each : finish_book())
            made_.bundles.push_back(std::move(each.made));
        leave_out_known_companions();
        return std::move(made_);
    }

    [[nodiscard]] standing_gangs finish_standing() && {
        standing_gangs made;
        made.gangs = finish_book();
        made.strays = book_.strays();
        made.companions = std::move(made_.companions);
        made.understood = std::move(understood_);
        made.unread_groups = std::move(unread_groups_);
        made.topologies = std::move(topologies_);
        made.newest = context_.newest;
        return made;
    }

private:
    [[nodiscard]] std::vector<booked_gang> finish_book() {
        for (const grove_source& each : sets_)
            expand(each);
        for (const auto& [where, order] : train_jobs_)
            expand(where, order);
        for (const auto& [name, title] : idle_runtimes_)
            ++made_.apart[title];
        groups_.finish();
        return book_.finish();
    }

    /// Notes an object that has an unread part, other than a pod, which is read without this part.
    /// A job makes no pods then. Returns false for other objects.
    bool take_broken(const object_reader& object, std::string_view version, std::string_view kind,
                     const object_place& where) {
        const auto parts = where.source->unread_of(where.items);
        if (parts.empty() || (version == "v1" && kind == "Pod"))
            return false;
        const auto& manifest = object.value()->get_object();
        if (is_of_gangs(version, kind))
            ++understood_[std::string(version) + " " + std::string(kind)];
        if (is_gang_group(version, kind) || is_pod_gang(version, kind)) {
            const std::string_view home = translate::metadata_namespace(manifest);
            unread_groups_.try_emplace(
                {home.empty() ? options_->default_namespace : std::string(home),
                 std::string(translate::metadata_name(manifest))},
                parts.front().text());
        }
        return true;
    }

    /// Whether an object of a cluster as it stands is to be read on as a group or a job.
    bool take_standing(object_reader& object, std::string_view version, std::string_view kind,
                       const object_place& where) {
        const auto& manifest = object.value()->get_object();
        if (version == "v1" && kind == "Pod") {
            boost::json::object document = translate::as_written(manifest);
            if (translate::metadata_name(document).empty())
                take_generated_name(document, where);
            book_.add_pod(std::move(document), where, book_.reserve(), false);
            return false;
        }
        const bool names_domains = is_grove(version, kind, "ClusterTopologyBinding") ||
                                   is_grove(version, kind, "ClusterTopology");
        const bool is_runtime = version == trainer_api &&
                                (kind == "TrainingRuntime" || kind == "ClusterTrainingRuntime");
        if (!is_of_gangs(version, kind) && !names_domains && !is_runtime)
            return false;
        const bool is_job = makes_gangs(version, kind) && !is_pod_gang(version, kind);
        // Its pods stand somewhere where the input does not tell of them.
        if (is_job && !origins_.has_pods(manifest, kind) && counts_pods(manifest))
            return false;
        ++understood_[std::string(version) + " " + std::string(kind)];
        return !is_job || !(origins_.has_pods(manifest, kind) || wants_no_pods(manifest));
    }

    /// Sets the name of a pod that has only `generateName` to the name that the cluster's pod at
    /// the same place got.
    void take_generated_name(boost::json::object& pod, const object_place& where) {
        const auto& pods = options_->cluster->pods;
        if (generated_.empty())
            for (std::size_t at = 0; at < pods.size(); ++at)
                generated_.emplace(
                    std::pair(pods[at].metadata.where.source, pods[at].metadata.where.items), at);
        if (const auto known = generated_.find({where.source, where.items});
            known != generated_.end())
            translate::child_at(pod, "metadata")["name"] = pods[known->second].metadata.key.name;
    }

    struct grove_source {
        translate::grove_set set;
        object_place where;
        std::size_t order = 0;
    };

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

    /// A controller makes no object that is there: the input holds it, or another job made it.
    void leave_out_known_companions() {
        std::erase_if(made_.companions, [&](const boost::json::object& each) {
            const std::string version(translate::string_at(each, "apiVersion"));
            const std::string kind(translate::string_at(each, "kind"));
            const std::string home(translate::metadata_namespace(each));
            const std::string name(translate::metadata_name(each));
            const bool by_default = home == options_->default_namespace &&
                                    names_.contains({version, kind, std::string(), name});
            return by_default || !names_.emplace(version, kind, home, name).second;
        });
    }

    void leave_out(object_reader& object, std::string_view version, std::string_view kind,
                   const std::string& maker) {
        const auto& manifest = object.value()->get_object();
        object.warning("made by " + maker + " of this input, left out");
        if (is_gang_group(version, kind)) {
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
            if (out_->errors() != errors)
                return true;
            const bool of_groups = kind == "LeaderWorkerSet" || kind == "DisaggregatedSet";
            made_.idle += of_groups && read.gangs.empty() && read.loose_pods.empty() ? 1U : 0U;
            add(std::move(read), where, book_.reserve());
        } else if (version == trainer_api && kind == "TrainJob") {
            // Its runtime may stand behind it.
            train_jobs_.emplace_back(where, book_.reserve());
            object.ignore_rest();
        } else if (version == trainer_api &&
                   (kind == "TrainingRuntime" || kind == "ClusterTrainingRuntime")) {
            runtimes_.add(object, context_);
            idle_runtimes_.emplace(translate::metadata_name(object.value()->get_object()),
                                   std::string(version) + " " + std::string(kind));
        } else if (is_grove_set(version, kind)) {
            const std::size_t errors = out_->errors();
            auto set = read_pod_clique_set(object, options_->dialect, context_, true);
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
        for (boost::json::object& each : read.companions) {
            translate::drop_absent_owners(each);
            made_.companions.push_back(std::move(each));
        }
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
        translate::lose_lifecycle(made_.losses,
                                  std::string(to_text(job.kind)) + " " + job.name_space + "/" +
                                      std::string(job.name),
                                  translate::lifecycle_words(job));
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
            const auto* const spec = translate::find_object(&object.value()->get_object(), "spec");
            const auto* const runtime = translate::find_object(spec, "runtimeRef");
            idle_runtimes_.erase(std::string(translate::find_text(runtime, "name").value_or("")));
            const std::size_t errors = out_->errors();
            translate::job_gangs read = read_train_job(object, context_, options_->jobs, runtimes_);
            if (out_->errors() == errors)
                add(std::move(read), where, order);
        });
    }

    void expand(const grove_source& from) {
        const std::string title =
            "PodCliqueSet " + from.set.name_space + "/" + std::string(from.set.name);
        translate::lose_lifecycle(made_.losses, title, translate::lifecycle_words(from.set));
        if (from.set.replicas == 0) {
            report(*out_, severity::warning, from.where, {}, "it has no replicas, and so no gangs");
            ++made_.idle;
        }
        if (translate::starts_in_order(from.set))
            made_.losses.push_back({translate::loss_kind::startup_order, title,
                                    "which of its parts start first: Grove's own controller sees "
                                    "to it"});
        const std::string_view asked = translate::grove_topology_name(from.set);
        const bool lacks_levels =
            !asked.empty() &&
            std::ranges::find(topologies_, asked, &translate::grove_topology::name) ==
                topologies_.end();
        for (translate::gang_bundle& each : expand_grove_set(
                 from.set, options_->dialect, topologies_, from.where, made_.companions, *out_)) {
            if (options_->cluster && lacks_levels)
                each.gang.own_words.push_back({translate::gang_api::grove,
                                               translate::loss_kind::topology_required,
                                               "ClusterTopologyBinding " + std::string(asked) +
                                                   " (which the input does not hold)",
                                               nullptr});
            book_.add_job(std::move(each), from.where, from.order);
        }
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
        else if (version == translate::kai_topology_version && kind == "Topology")
            cluster_.topologies.push_back(read_topology(object, context_));
        else if (is_grove(version, kind, "ClusterTopologyBinding") ||
                 is_grove(version, kind, "ClusterTopology"))
            topologies_.push_back(read_grove_topology(object, context_));
        else if (!describes_no_pods(version, kind))
            return false;
        else
            object.ignore_rest();
        ++made_.apart[std::string(version) + " " + std::string(kind)];
        return true;
    }

    const gang_options* options_;
    diagnostics* out_;
    gang_origins origins_;
    manifests cluster_;
    reading_context context_;
    gang_book book_;
    group_objects groups_{book_, context_, *out_};
    std::vector<grove_source> sets_;
    std::vector<std::pair<object_place, std::size_t>> train_jobs_;
    training_runtimes runtimes_;
    std::multimap<std::string, std::string> idle_runtimes_; ///< titles by name
    std::vector<translate::grove_topology> topologies_;
    std::map<std::string, std::size_t> understood_;
    std::map<object_key, std::string> unread_groups_;
    std::set<std::tuple<std::string, std::string, std::string, std::string>> names_;
    /// Positions among the cluster's pods, by place in the input. Filled when the first pod without
    /// a name is read.
    std::map<std::pair<const document*, std::vector<std::size_t>>, std::size_t> generated_;
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

/// Reads, beside a cluster that was read from the same documents (options.cluster), the gangs of
/// other APIs, and jobs as the gangs and pods that they would make. Jobs that have pods in the
/// input are left to these; so are jobs that say that they have some elsewhere, that are over, or
/// that are suspended. O(input · log).
[[nodiscard]] inline standing_gangs read_standing_gangs(const std::vector<document>& documents,
                                                        const gang_options& options,
                                                        diagnostics& out) {
    MUSTER_ASSERT(options.cluster, "the cluster is read first");
    detail::gang_input_reader reader(documents, options, out);
    each_object(documents, out,
                [&](object_reader& object, std::string_view version, std::string_view kind,
                    const object_place& where) { reader.take(object, version, kind, where); });
    return std::move(reader).finish_standing();
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
} // namespace v0_1
} // namespace muster
