// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/vocabulary/queue.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

// Kueue's objects one by one (kueue.x-k8s.io); queues.hpp makes a tree of queues from them.

/// What a ClusterQueue or a Cohort has of one kind in one flavor.
struct flavor_quota {
    std::string kind;
    std::string flavor;
    std::int64_t nominal = 0;
    std::optional<std::int64_t> borrows;
    std::optional<std::int64_t> lends;
};

/// A ClusterQueue or a Cohort, as it stands there by itself.
struct kueue_queue {
    object_metadata metadata;
    /// The cohort above; empty = none.
    std::string cohort;
    std::vector<flavor_quota> quotas;
    /// The flavors of each of its resource groups.
    std::vector<std::vector<std::string>> groups;
    /// In thousandths.
    std::int64_t weight = 1000;
    bool closed = false;
    bool strict_order = false;
    preemption_scope within_queue = preemption_scope::never;
    preemption_scope within_cohort = preemption_scope::never;
    std::optional<std::int64_t> borrow_within_cohort;
    std::optional<label_selector> namespaces;
};

struct flavor_object {
    object_metadata metadata;
    label_set nodes;
};

namespace detail {

/// One of `words`; the first of them when it is absent or none of them, which is an error.
template<std::size_t Count>
[[nodiscard]] std::size_t read_word(const field& at, const std::string_view (&words)[Count]) {
    const auto text = at.as_string();
    if (!text || text->empty())
        return 0;
    std::string all;
    for (std::size_t each = 0; each < Count; ++each) {
        if (words[each] == *text)
            return each;
        all += (each == 0 ? "" : each + 1 == Count ? " or " : ", ") + std::string(words[each]);
    }
    at.error(in_quotes(*text) + " is not one (expected " + all + ")");
    return 0;
}

/// It lets nobody start.
[[nodiscard]] inline bool read_stop_policy(const field& at) {
    const std::size_t said = read_word(at, {"None", "Hold", "HoldAndDrain"});
    if (said == 2)
        at.warning("running groups are not drained");
    return said != 0;
}

[[nodiscard]] inline std::int64_t read_fair_weight(const field& at) {
    object_reader object = at.as_object();
    const field weight_at = object.optional("weight");
    std::int64_t milli = 1000;
    if (const auto weight = read_quantity(weight_at)) {
        milli = weight->milli_down();
        if (milli > largest_weight) {
            weight_at.error("is too large (expected at most " +
                            std::to_string(largest_weight / 1000) + ")");
            milli = 1000;
        }
    }
    object.finish();
    return milli;
}

inline void read_preemption(const field& at, kueue_queue& to) {
    object_reader object = at.as_object();
    constexpr preemption_scope own[]{preemption_scope::never, preemption_scope::lower_priority,
                                     preemption_scope::lower_or_newer_equal};
    constexpr preemption_scope others[]{preemption_scope::never, preemption_scope::lower_priority,
                                        preemption_scope::any};
    to.within_queue = own[read_word(object.optional("withinClusterQueue"),
                                    {"Never", "LowerPriority", "LowerOrNewerEqualPriority"})];
    to.within_cohort = others[read_word(object.optional("reclaimWithinCohort"),
                                        {"Never", "LowerPriority", "Any"})];
    const field borrowing_at = object.optional("borrowWithinCohort");
    object_reader borrowing = borrowing_at.as_object();
    const bool borrows = read_word(borrowing.optional("policy"), {"Never", "LowerPriority"}) == 1;
    const field threshold_at = borrowing.optional("maxPriorityThreshold");
    const auto threshold = threshold_at.as_integer(-2147483648LL, 2147483647);
    borrowing.finish();
    if (borrows && to.within_cohort == preemption_scope::never)
        borrowing_at.error("needs reclaimWithinCohort (expected LowerPriority or Any there)");
    if (borrows)
        to.borrow_within_cohort = threshold.value_or(std::numeric_limits<std::int64_t>::max());
    else if (threshold)
        threshold_at.error("is there without a policy (expected policy: LowerPriority)");
    object.finish();
}

inline void read_resource_groups(const field& at, kueue_queue& to) {
    const array_reader groups = at.as_array();
    groups.for_each_object([&](object_reader& group) {
        const field covered_at = group.required("coveredResources");
        const array_reader covered_list = covered_at.as_array();
        const std::vector<std::string> covered = read_strings(covered_list);
        to.groups.emplace_back();
        const field flavors_at = group.required("flavors");
        const array_reader flavors = flavors_at.as_array();
        flavors.for_each_object([&](object_reader& flavor) {
            const std::string name(flavor.required("name").as_string().value_or(""));
            to.groups.back().push_back(name);
            const field resources_at = flavor.required("resources");
            const array_reader resources = resources_at.as_array();
            if (resources.is_present() && resources.size() != covered.size())
                resources_at.error("there are " + std::to_string(resources.size()) +
                                   " (expected one for each of the " +
                                   std::to_string(covered.size()) + " of coveredResources)");
            resources.for_each_object([&](object_reader& resource) {
                flavor_quota made;
                made.flavor = name;
                const field name_at = resource.required("name");
                made.kind = name_at.as_string().value_or("");
                bool is_covered = false;
                for (const std::string& each : covered)
                    is_covered = is_covered || each == made.kind;
                if (!is_covered && !made.kind.empty())
                    name_at.error(in_quotes(made.kind) + " is none of coveredResources");
                const auto amount = [&](const field& of) -> std::optional<std::int64_t> {
                    if (const auto read = read_quantity(of))
                        return capacity_units(made.kind, *read);
                    return std::nullopt;
                };
                made.nominal = amount(resource.required("nominalQuota")).value_or(0);
                const field borrows_at = resource.optional("borrowingLimit");
                made.borrows = amount(borrows_at);
                const field lends_at = resource.optional("lendingLimit");
                made.lends = amount(lends_at);
                if (to.cohort.empty())
                    for (const field* limit : {&borrows_at, &lends_at})
                        if (limit->is_present())
                            limit->error(
                                "there is no other queue to share with (expected none without a "
                                "cohort above)");
                resource.finish();
                for (const flavor_quota& other : to.quotas)
                    if (other.kind == made.kind && other.flavor == made.flavor)
                        name_at.error(in_quotes(made.kind) + " of flavor " + in_quotes(name) +
                                      " is there twice (expected it once)");
                to.quotas.push_back(std::move(made));
            });
            flavor.finish();
        });
        group.finish();
    });
}

} // namespace detail

[[nodiscard]] inline kueue_queue read_cluster_queue(object_reader& object,
                                                    reading_context& context) {
    kueue_queue read;
    read.metadata = read_metadata(object, false, context);
    const field spec_at = object.optional("spec");
    object_reader spec = spec_at.as_object();
    // v1beta1, and v1beta2.
    for (const std::string_view key : {"cohort", "cohortName"})
        if (const auto cohort = spec.optional(key).as_string(); cohort && !cohort->empty())
            read.cohort = *cohort;
    detail::read_resource_groups(spec.optional("resourceGroups"), read);
    read.strict_order =
        detail::read_word(spec.optional("queueingStrategy"), {"BestEffortFIFO", "StrictFIFO"}) == 1;
    read.namespaces = read_label_selector(spec.optional("namespaceSelector"));
    detail::read_preemption(spec.optional("preemption"), read);
    read.closed = detail::read_stop_policy(spec.optional("stopPolicy"));
    read.weight = detail::read_fair_weight(spec.optional("fairSharing"));
    // Which flavor is tried first matters to who has several, which is told of below.
    spec.ignore({"flavorFungibility"});
    for (const std::string_view key : {"admissionChecks", "admissionChecksStrategy"})
        if (const field checks = spec.optional(key); checks.is_present())
            checks.warning("is ignored: groups do not wait for admission checks");
    for (const std::string_view key : {"admissionScope", "concurrentAdmissionPolicy"})
        if (const field said = spec.optional(key); said.is_present())
            said.warning("is not looked at");
    spec.finish();
    object.ignore({"apiVersion", "kind", "status"});
    object.finish();
    return read;
}

[[nodiscard]] inline kueue_queue read_cohort(object_reader& object, reading_context& context) {
    kueue_queue read;
    read.metadata = read_metadata(object, false, context);
    const field spec_at = object.optional("spec");
    object_reader spec = spec_at.as_object();
    // v1alpha1, and those after.
    for (const std::string_view key : {"parent", "parentName"})
        if (const auto parent = spec.optional(key).as_string(); parent && !parent->empty())
            read.cohort = *parent;
    detail::read_resource_groups(spec.optional("resourceGroups"), read);
    read.weight = detail::read_fair_weight(spec.optional("fairSharing"));
    spec.finish();
    object.ignore({"apiVersion", "kind", "status"});
    object.finish();
    return read;
}

[[nodiscard]] inline flavor_object read_flavor(object_reader& object, reading_context& context) {
    flavor_object read;
    read.metadata = read_metadata(object, false, context);
    const field spec_at = object.optional("spec");
    object_reader spec = spec_at.as_object();
    read.nodes = read_labels(spec.optional("nodeLabels"));
    if (const field taints = spec.optional("nodeTaints"); taints.is_present())
        taints.warning("is not looked at: the taints of the nodes themselves count");
    if (const field more = spec.optional("tolerations"); more.is_present())
        more.warning("is not looked at: pods tolerate what they say themselves");
    if (const field name = spec.optional("topologyName"); name.is_present())
        name.warning("is not looked at: how close pods stand is what their groups say");
    spec.finish();
    object.ignore({"apiVersion", "kind", "status"});
    object.finish();
    return read;
}

[[nodiscard]] inline local_queue_object read_local_queue(object_reader& object,
                                                         reading_context& context) {
    local_queue_object read;
    read.metadata = read_metadata(object, true, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    read.cluster_queue = spec.required("clusterQueue").as_string().value_or("");
    read.held = detail::read_stop_policy(spec.optional("stopPolicy"));
    if (const field sharing = spec.optional("fairSharing"); sharing.is_present())
        sharing.warning("is not looked at: groups of one ClusterQueue go by priority and age");
    spec.finish();
    object.ignore({"apiVersion", "kind", "status"});
    object.finish();
    return read;
}

[[nodiscard]] inline workload_priority_object read_workload_priority(object_reader& object,
                                                                     reading_context& context) {
    workload_priority_object read;
    read.metadata = read_metadata(object, false, context);
    read.value = object.required("value").as_integer(-2147483648LL, 2147483647).value_or(0);
    object.ignore({"apiVersion", "kind", "description"});
    object.finish();
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
