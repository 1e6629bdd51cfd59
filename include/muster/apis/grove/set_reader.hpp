// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/ack/labels.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/core/request_reader.hpp>
#include <muster/apis/grove/names.hpp>
#include <muster/apis/grove/set.hpp>
#include <muster/apis/grove/set_checks.hpp>
#include <muster/document/duration.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/gangs/target.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

namespace detail {

/// Reads one PodCliqueSet and checks it as Grove's own admission does. In the dialect `seed` roles
/// need no names, and the class of priorities stands in the pods' specs.
class grove_set_reader {
public:
    grove_set_reader(translate::grove_dialect whose, std::span<const std::string_view> schedulers,
                     reading_context& context, bool makes_claims)
        : dialect_(whose),
          schedulers_(schedulers),
          context_(context),
          makes_claims_(makes_claims) {}

    [[nodiscard]] translate::grove_set read(object_reader& object) {
        const object_metadata metadata = read_metadata(object, true, context_);
        set_.name_space = metadata.key.name_space;
        set_.terminating = metadata.terminating;
        if (const auto* own = object_at(object.optional("metadata"))) {
            set_.name = grove_text(*own, "name");
            set_.uid = grove_text(*own, "uid");
            set_.labels = part(*own, "labels");
            set_.annotations = part(*own, "annotations");
            if (const auto* number = own->if_contains("generation"); number && number->is_int64())
                set_.generation = number->get_int64();
        }
        if (!set_.name.empty() && !is_subdomain(set_.name))
            object.optional("metadata")
                .error(in_quotes(set_.name) + " is not a name (expected a DNS subdomain)");
        const field metadata_at = object.optional("metadata");
        object_reader own_metadata = metadata_at.as_object();
        read_links(own_metadata.optional("annotations"));
        own_metadata.ignore_rest();
        set_.status = object_at(object.optional("status"));
        const field spec_at = object.required("spec");
        object_reader spec = spec_at.as_object();
        set_.replicas = spec.optional("replicas").as_integer(0, most_).value_or(0);
        read_update(spec.optional("updateStrategy"));
        const field template_at = spec.required("template");
        object_reader inner = template_at.as_object();
        read_template(inner);
        inner.finish();
        name_old_topology();
        spec.finish();
        object.ignore({"apiVersion", "kind"});
        object.finish();
        return std::move(set_);
    }

private:
    using dialect = translate::grove_dialect;
    static constexpr std::int64_t most_ = 2147483647;

    static const boost::json::object* object_at(const field& at) {
        return at.value() ? at.value()->if_object() : nullptr;
    }
    static const boost::json::object* part(const boost::json::object& of, std::string_view key) {
        const auto* value = of.if_contains(key);
        return value ? value->if_object() : nullptr;
    }

    void read_update(const field& at) {
        object_reader object = at.as_object();
        const field type_at = object.optional("type");
        const auto type = type_at.as_string();
        if (type == "OnDelete")
            set_.update = translate::grove_update::on_delete;
        else if (type && type != "RollingRecreate")
            type_at.error(in_quotes(*type) +
                          " is no way to update (expected RollingRecreate or OnDelete)");
        object.finish();
    }

    void read_template(object_reader& inner) {
        read_startup(inner.optional("cliqueStartupType"));
        set_.priority_class = inner.optional("priorityClassName").as_string().value_or("");
        const field service_at = inner.optional("headlessServiceConfig");
        object_reader service = service_at.as_object();
        set_.publish_not_ready =
            service.optional("publishNotReadyAddresses").as_boolean().value_or(true);
        service.finish();
        set_.packing = read_packing(inner.optional("topologyConstraint"), {});
        const field delay_at = inner.optional("terminationDelay");
        if (const auto text = delay_at.as_string()) {
            const auto delay = parse_duration(*text);
            if (!delay || *delay <= 0)
                delay_at.error(in_quotes(*text) +
                               " is no delay (expected a duration above 0 such as 4h)");
            else
                set_.termination_delay = *delay;
        }
        set_.claim_templates = read_claims(inner.optional("resourceClaimTemplates"));
        set_.sharing = read_claims(inner.optional("resourceSharing"));

        const field cliques_at = inner.required("cliques");
        const array_reader cliques = cliques_at.as_array();
        if (cliques.is_present() && cliques.size() == 0)
            cliques_at.error("no cliques (expected at least one)");
        starts_after_.reserve(cliques.size());
        cliques.for_each_object([&](object_reader& each) { read_clique(each); });
        const field groups_at = inner.optional("podCliqueScalingGroups");
        const array_reader groups = groups_at.as_array();
        groups.for_each_object([&](object_reader& each) { read_group(each); });
        // Cliques that failed to be read would only make errors that follow from the first.
        if (set_.cliques.size() == cliques.size())
            grove_set_checks(set_, starts_after_, dialect_).check(cliques);
    }

    void read_startup(const field& at) {
        const auto name = at.as_string();
        if (name == "CliqueStartupTypeInOrder")
            set_.startup = translate::grove_startup::in_order;
        else if (name == "CliqueStartupTypeExplicit")
            set_.startup = translate::grove_startup::explicit_order;
        else if (name && name != "CliqueStartupTypeAnyOrder")
            at.error(in_quotes(*name) + " is no startup type (expected CliqueStartupTypeAnyOrder, "
                                        "CliqueStartupTypeInOrder or CliqueStartupTypeExplicit)");
    }

    /// Grove keeps pods with GPUs within a domain of NVLink by resource claims that it makes.
    static void read_links(const field& at) {
        object_reader annotations = at.as_object();
        for (const auto& [key, off] :
             {std::pair<std::string_view, std::string_view>{"grove.io/mnnvl-group", "none"},
              {"grove.io/auto-mnnvl", "disabled"}})
            if (const field link = annotations.optional(key);
                link.is_present() && link.as_string() != off)
                link.warning("resource claims are not made or shared here (expected " +
                             in_quotes(off) + ")");
        annotations.ignore_rest();
    }

    const boost::json::array* read_claims(const field& at) const {
        const array_reader list = at.as_array();
        if (!list.is_present() || list.size() == 0)
            return nullptr;
        if (!makes_claims_)
            at.warning("resource claims are not made or shared here (expected none)");
        return at.value()->if_array();
    }

    translate::grove_packing read_packing(const field& at, translate::grove_packing made) {
        object_reader object = at.as_object();
        made.topology = object.optional("topologyName").as_string().value_or("");
        const field pack_at = object.optional("pack");
        object_reader pack = pack_at.as_object();
        made.required = pack.optional("required").as_string().value_or("");
        made.preferred = pack.optional("preferred").as_string().value_or("");
        pack.finish();
        const field old_at = object.optional("packDomain");
        if (const auto old = old_at.as_string()) {
            if (!made.required.empty())
                old_at.error("stands beside pack.required (expected only pack.required)");
            else
                old_at.warning("deprecated, taken as pack.required");
            made.required = *old;
            of_one_topology_ = true;
        }
        object.finish();
        if (made.asks() || !object.is_present())
            return made;
        // A name alone is for those below to inherit.
        if (pack.is_present() || made.topology.empty())
            at.error("asks for nothing (expected pack.required, pack.preferred or both)");
        else
            at.warning("only names a topology, for others to inherit (expected pack.required, "
                       "pack.preferred or both)");
        return made;
    }

    /// Before sets named topologies there was one, which was called so.
    void name_old_topology() {
        bool named = !set_.packing.topology.empty();
        for (const translate::grove_scaling_group& group : set_.groups)
            named = named || !group.packing.topology.empty();
        for (const translate::grove_clique& clique : set_.cliques)
            named = named || !clique.packing.topology.empty();
        if (of_one_topology_ && !named)
            set_.packing.topology = "grove-topology";
    }

    /// minReplicas and maxReplicas of something that has `replicas` and needs `least`.
    std::optional<translate::grove_scale> read_scale(const field& at, std::int64_t replicas,
                                                     std::int64_t least) {
        object_reader object = at.as_object();
        if (!object.is_present())
            return std::nullopt;
        translate::grove_scale made;
        const field least_at = object.optional("minReplicas");
        const field most_at = object.required("maxReplicas");
        made.least = least_at.as_integer(0, most_).value_or(replicas);
        made.most = most_at.as_integer(0, most_).value_or(std::max(replicas, made.least));
        if (made.least < least)
            least_at.error("minReplicas is below minAvailable (expected at least " +
                           std::to_string(least) + ")");
        if (made.most < made.least || made.most < replicas)
            most_at.error("maxReplicas is too low (expected at least minReplicas and replicas: " +
                          std::to_string(std::max(made.least, replicas)) + ")");
        const field metrics_at = object.optional("metrics");
        if (metrics_at.as_array().is_present())
            made.metrics = &metrics_at.value()->get_array();
        object.finish();
        return made;
    }

    void check_name(const field& at, std::optional<std::string_view> name) {
        if (name && !is_subdomain(*name))
            at.error(in_quotes(*name) + " is not a name (expected a DNS subdomain)");
    }

    void read_clique(object_reader& each) {
        translate::grove_clique made;
        const field name_at = each.required("name");
        const auto name = name_at.as_string();
        check_name(name_at, name);
        made.name = name.value_or("");
        made.labels = object_at(each.optional("labels"));
        made.annotations = object_at(each.optional("annotations"));
        static_cast<void>(read_labels(each.optional("labels")));
        static_cast<void>(read_labels(each.optional("annotations")));
        read_links(each.optional("annotations"));
        made.packing = read_packing(each.optional("topologyConstraint"), {});
        made.sharing = read_claims(each.optional("resourceSharing"));
        const field spec_at = each.required("spec");
        object_reader spec = spec_at.as_object();
        made.spec = object_at(spec_at);
        const field role_at =
            dialect_ == dialect::upstream ? spec.required("roleName") : spec.optional("roleName");
        made.role = role_at.as_string().value_or("");
        const field replicas_at =
            dialect_ == dialect::upstream ? spec.required("replicas") : spec.optional("replicas");
        const auto written = replicas_at.as_integer(0, most_);
        made.replicas = std::max<std::int64_t>(1, written.value_or(1));
        const field least_at = spec.optional("minAvailable");
        const auto least = least_at.as_integer(0, most_);
        made.min_available = least.value_or(made.replicas);
        if (written == 0 && !least)
            replicas_at.error("0 without minAvailable (expected at least 1)");
        if (least == 0)
            least_at.error("0 (expected at least 1)");
        else if (made.min_available > made.replicas)
            least_at.error("minAvailable is above replicas (expected at most " +
                           std::to_string(made.replicas) + ")");
        made.scale =
            read_scale(spec.optional("autoScalingConfig"), made.replicas, made.min_available);
        const field after_at = spec.optional("startsAfter");
        const array_reader after = after_at.as_array();
        std::vector<std::string> parents = read_strings(after);
        read_pod_spec(spec.required("podSpec"), made);
        spec.finish();
        each.finish();
        for (const translate::grove_clique& known : set_.cliques) {
            if (!made.name.empty() && known.name == made.name)
                name_at.error(in_quotes(made.name) +
                              " is there twice (expected every clique once)");
            if (!made.role.empty() && known.role == made.role)
                role_at.error(in_quotes(made.role) + " is there twice (expected every role once)");
        }
        set_.cliques.push_back(std::move(made));
        starts_after_.push_back(std::move(parents));
    }

    void read_pod_spec(const field& at, translate::grove_clique& made) {
        object_reader spec = at.as_object();
        if (!spec.is_present())
            return;
        made.pod_spec = object_at(at);
        const bool first = set_.cliques.empty();
        const field scheduler_at = spec.optional("schedulerName");
        std::string_view scheduler = scheduler_at.as_string().value_or("");
        if (scheduler == "default-scheduler")
            scheduler = {};
        if (first) {
            set_.scheduler = scheduler;
            check_scheduler(scheduler_at, scheduler);
        } else if (scheduler != set_.scheduler)
            (scheduler_at.is_present() ? scheduler_at : at)
                .error("schedulerName is " + in_quotes(scheduler) + ", that of the first clique " +
                       in_quotes(set_.scheduler) + " (expected one scheduler for all cliques)");
        if (dialect_ == dialect::seed) {
            const field class_at = spec.optional("priorityClassName");
            const std::string_view own = class_at.as_string().value_or("");
            if (first && set_.priority_class.empty())
                set_.priority_class = own;
            else if (own != set_.priority_class)
                (class_at.is_present() ? class_at : at)
                    .error("priorityClassName is " + in_quotes(own) + " here and " +
                           in_quotes(set_.priority_class) +
                           " before (expected one for all cliques)");
        }
        for (const std::string_view key : {"topologySpreadConstraints", "nodeName"})
            if (const field never = spec.optional(key); never.is_present())
                never.error("may not be set in a PodCliqueSet (expected nothing)");
        for (const std::string_view key : {"initContainers", "containers"}) {
            const field list_at = key == "containers" ? spec.required(key) : spec.optional(key);
            const array_reader list = list_at.as_array();
            if (key == "containers" && list.is_present() && list.size() == 0)
                list_at.error("no containers (expected at least one)");
            std::vector<std::string> unsupported; // read_pod() finds them in the pods again
            list.for_each_object([&](object_reader& each) {
                static_cast<void>(each.required("name").as_string());
                static_cast<void>(read_container_requests(each.optional("resources"), unsupported));
                each.ignore_rest();
            });
        }
        spec.ignore_rest();
    }

    void check_scheduler(const field& at, std::string_view name) const {
        if (name.empty() || std::ranges::find(schedulers_, name) != schedulers_.end())
            return;
        std::string expected = "default-scheduler";
        for (const std::string_view each : schedulers_)
            expected.append(" or ").append(each);
        at.error(in_quotes(name) + " is no scheduler that has a backend (expected " + expected +
                 ")");
    }

    void read_group(object_reader& each) {
        translate::grove_scaling_group made;
        const field name_at = each.required("name");
        const auto name = name_at.as_string();
        check_name(name_at, name);
        made.name = name.value_or("");
        for (const translate::grove_scaling_group& known : set_.groups)
            if (!made.name.empty() && known.name == made.name)
                name_at.error(in_quotes(made.name) +
                              " is there twice (expected every scaling group once)");
        made.annotations = object_at(each.optional("annotations"));
        read_links(each.optional("annotations"));
        made.packing = read_packing(each.optional("topologyConstraint"), {});
        made.sharing = read_claims(each.optional("resourceSharing"));
        made.replicas = each.optional("replicas").as_integer(1, most_).value_or(1);
        const field least_at = each.optional("minAvailable");
        made.min_available = least_at.as_integer(1, most_).value_or(1);
        if (made.min_available > made.replicas)
            least_at.error("minAvailable is above replicas (expected at most " +
                           std::to_string(made.replicas) + ")");
        made.scale = read_scale(each.optional("scaleConfig"), made.replicas, made.min_available);
        const field names_at = each.required("cliqueNames");
        const array_reader names = names_at.as_array();
        if (names.is_present() && names.size() == 0)
            names_at.error("no cliques (expected at least one)");
        names.for_each([&](const field& at) {
            const auto member = at.as_string();
            if (!member)
                return;
            const auto clique =
                std::ranges::find(set_.cliques, *member, &translate::grove_clique::name);
            if (clique == set_.cliques.end()) {
                at.error(in_quotes(*member) + " is no clique (expected one of template.cliques)");
            } else if (clique->group) {
                at.error(in_quotes(*member) +
                         " is in a scaling group already (expected at most one for each clique)");
            } else {
                clique->group = set_.groups.size();
                made.cliques.push_back(static_cast<std::size_t>(clique - set_.cliques.begin()));
                if (clique->scale)
                    at.error(in_quotes(*member) +
                             " has an autoScalingConfig of its own (expected none in a scaling "
                             "group)");
            }
        });
        each.finish();
        set_.groups.push_back(std::move(made));
    }

    translate::grove_dialect dialect_;
    std::span<const std::string_view> schedulers_;
    reading_context& context_;
    bool makes_claims_;
    translate::grove_set set_;
    std::vector<std::vector<std::string>> starts_after_;
    bool of_one_topology_ = false; ///< it uses packDomain
};

} // namespace detail

/// A grove.io/v1alpha1 PodCliqueSet. It refers to the document, which must outlive it. Its pods may
/// ask for the cluster's own scheduler or for one of `schedulers`; whoever has backends of his own
/// names theirs. That it shares resource claims is a warning unless the caller `makes_claims`.
/// O(document + cliques²).
[[nodiscard]] inline translate::grove_set
read_pod_clique_set(object_reader& object, translate::grove_dialect dialect,
                    std::span<const std::string_view> schedulers, reading_context& context,
                    bool makes_claims = false) {
    return detail::grove_set_reader(dialect, schedulers, context, makes_claims).read(object);
}

[[nodiscard]] inline translate::grove_set read_pod_clique_set(object_reader& object,
                                                              translate::grove_dialect dialect,
                                                              reading_context& context,
                                                              bool makes_claims = false) {
    return read_pod_clique_set(object, dialect, translate::grove_schedulers(dialect), context,
                               makes_claims);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
