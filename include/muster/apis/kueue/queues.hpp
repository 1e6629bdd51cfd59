// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/kueue/reader.hpp>
#include <muster/base/checked.hpp>
#include <muster/document/diagnostic.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A cohort as a queue: a ClusterQueue may bear the same name.
[[nodiscard]] inline std::string cohort_queue(const std::string& name) {
    return "cohort:" + name;
}

/// A LocalQueue as a queue, where it is one: it lets nobody start, or is not there.
[[nodiscard]] inline std::string local_queue(const object_key& key) {
    return key.name_space + "/" + key.name;
}

namespace detail {

[[nodiscard]] inline const object_key& name_of(const local_queue_object& of) {
    return of.metadata.key;
}

} // namespace detail

/// The queue that a LocalQueue leads to. O(log local queues).
[[nodiscard]] inline std::string queue_behind(const manifests& objects, const object_key& key) {
    const auto known = std::ranges::lower_bound(objects.local_queues, key, {}, detail::name_of);
    const bool leads = known != objects.local_queues.end() && known->metadata.key == key;
    return leads && !known->held ? known->cluster_queue : local_queue(key);
}

/// Kueue's objects of an input, and the tree of queues that they are together, as the table in
/// policy/README.md writes it. What queues cannot say is a warning:
///  - flavors: of each kind there is one quota, the sum over its flavors, and only where all that
///    a queue has is of one flavor do that flavor's node labels bind;
///  - admission checks and the like (see the readers).
class kueue_book {
public:
    std::vector<kueue_queue> queues;
    std::vector<kueue_queue> cohorts;
    std::vector<flavor_object> flavors;

    /// Puts the tree into `to`, whose local queues are read. O(objects · (depth + log objects)).
    void settle(manifests& to, diagnostics& out) {
        if (queues.empty() && cohorts.empty() && to.local_queues.empty())
            return;
        to.kueue = true;
        std::ranges::sort(to.local_queues, {}, detail::name_of);
        place_cohorts();
        add_up();
        check_flavors(out);
        // Weights only compare with one another.
        const auto fraction = [](const kueue_queue& each) { return each.weight % 1000 != 0; };
        unit_ = std::ranges::any_of(queues, fraction) || std::ranges::any_of(cohorts, fraction)
                    ? 1
                    : 1000;
        std::set<std::string> names;
        for (const kueue_queue& each : queues) {
            names.insert(each.metadata.key.name);
            to.queues.push_back(queue_of(each, out));
        }
        for (const auto& [name, each] : tree_)
            to.queues.push_back(queue_of(name, each));
        for (const local_queue_object& each : to.local_queues) {
            if (!names.contains(each.cluster_queue))
                report(out, severity::warning, each.metadata.where, {"spec", "clusterQueue"},
                       "there is no ClusterQueue " + in_quotes(each.cluster_queue) +
                           ", so its groups wait (expected one of the input)");
            if (each.held)
                to.queues.push_back(held(each));
        }
    }

private:
    using amounts = std::map<std::string, std::int64_t>;
    struct cohort {
        /// Nothing of a cohort that is only named.
        const kueue_queue* object = nullptr;
        /// Who names it first.
        const object_metadata* named = nullptr;
        /// The cohort above; empty = none.
        std::string above;
        /// Its own quota and that of all below it.
        amounts nominal;
    };

    void place_cohorts() {
        for (const kueue_queue& each : cohorts) {
            cohort& made = tree_[each.metadata.key.name];
            made.object = &each;
            made.above = each.cohort;
        }
        for (const std::vector<kueue_queue>* all : {&queues, &cohorts})
            for (const kueue_queue& each : *all)
                if (!each.cohort.empty())
                    if (cohort& made = tree_[each.cohort]; !made.object && !made.named)
                        made.named = &each.metadata;
    }

    /// The cohorts above, the nearest first. A circle ends: the state refuses it.
    [[nodiscard]] std::vector<std::string> above(const kueue_queue& of) const {
        std::vector<std::string> path;
        for (std::string at = of.cohort; !at.empty() && std::ranges::find(path, at) == path.end();
             at = tree_.at(at).above)
            path.push_back(at);
        return path;
    }

    void add_up() {
        const auto add = [](amounts& to, const kueue_queue& of) {
            for (const flavor_quota& each : of.quotas)
                to[each.kind] = saturating_add(to[each.kind], each.nominal);
        };
        for (const kueue_queue& each : queues)
            for (const std::string& name : above(each))
                add(tree_[name].nominal, each);
        for (const kueue_queue& each : cohorts) {
            add(tree_[each.metadata.key.name].nominal, each);
            for (const std::string& name : above(each))
                add(tree_[name].nominal, each);
        }
    }

    /// Tells where quotas of several flavors are one.
    void check_flavors(diagnostics& out) const {
        std::map<std::string, std::map<std::string, std::set<std::string>>> of_trees;
        const auto note = [](auto& kinds, const kueue_queue& of) {
            for (const flavor_quota& each : of.quotas)
                kinds[each.kind].insert(each.flavor);
        };
        const auto tell = [&](const auto& kinds, const object_metadata& of,
                              const std::string& who) {
            for (const auto& [kind, names] : kinds) {
                if (names.size() < 2)
                    continue;
                std::string list;
                for (const std::string& each : names)
                    list += (list.empty() ? "" : ", ") + each;
                report(out, severity::warning, of.where, {"spec", "resourceGroups"},
                       who + ": " + kind + " of flavors " + list +
                           " counts as one, with the sum of their quotas (expected one flavor)");
            }
        };
        for (const std::vector<kueue_queue>* all : {&queues, &cohorts})
            for (const kueue_queue& each : *all) {
                const std::vector<std::string> path = above(each);
                if (!path.empty())
                    note(of_trees[path.back()], each);
                else if (all == &cohorts)
                    note(of_trees[each.metadata.key.name], each);
                else {
                    std::map<std::string, std::set<std::string>> own;
                    note(own, each);
                    tell(own, each.metadata, each.metadata.key.name);
                }
            }
        for (const auto& [name, kinds] : of_trees) {
            const cohort& top = tree_.at(name);
            tell(kinds, top.object ? top.object->metadata : *top.named, "cohort " + name);
        }
    }

    /// What both kinds of queues have alike.
    [[nodiscard]] queue_object common(const kueue_queue& of) const {
        queue_object made;
        made.of_cluster = true;
        made.weight = of.weight / unit_;
        if (!of.cohort.empty())
            made.parent = cohort_queue(of.cohort);
        return made;
    }

    /// The limits of one kind, over its flavors: nothing when one of them has none.
    template<class Limit>
    [[nodiscard]] static std::optional<std::int64_t>
    sum(const kueue_queue& of, const std::string& kind, const Limit& limit) {
        std::optional<std::int64_t> total = 0;
        for (const flavor_quota& each : of.quotas)
            if (each.kind == kind) {
                const auto one = limit(each);
                total = total && one ? std::optional(saturating_add(*total, *one)) : std::nullopt;
            }
        return total;
    }

    /// Quotas and limits on what `nominal` says it has.
    static void set_amounts(const kueue_queue& of, const amounts& nominal, bool alone,
                            queue_object& to) {
        to.deserved = nominal;
        for (const auto& each_kind : nominal) {
            // clang 14 captures no structured bindings.
            const std::string& kind = each_kind.first;
            const std::int64_t has = each_kind.second;
            const bool named = std::ranges::any_of(
                of.quotas, [&](const flavor_quota& each) { return each.kind == kind; });
            const auto borrows =
                alone   ? std::optional<std::int64_t>(0)
                : named ? sum(of, kind, [](const flavor_quota& each) { return each.borrows; })
                        : std::nullopt;
            if (borrows)
                to.quota.emplace(kind, saturating_add(has, *borrows));
            const auto lends =
                named ? sum(of, kind, [](const flavor_quota& each) { return each.lends; })
                      : std::nullopt;
            if (lends && *lends < has)
                to.guarantee.emplace(kind, has - *lends);
        }
    }

    [[nodiscard]] queue_object queue_of(const kueue_queue& of, diagnostics& out) const {
        queue_object made = common(of);
        made.metadata = of.metadata;
        amounts nominal;
        for (const flavor_quota& each : of.quotas)
            nominal[each.kind] = saturating_add(nominal[each.kind], each.nominal);
        set_amounts(of, nominal, of.cohort.empty(), made);
        made.nothing_else = true;
        made.closed = of.closed;
        made.strict_order = of.strict_order;
        made.within_queue = of.within_queue;
        made.within_cohort = of.within_cohort;
        made.borrow_within_cohort = of.borrow_within_cohort;
        made.namespaces = of.namespaces;
        choose_nodes(of, made, out);
        return made;
    }

    [[nodiscard]] queue_object queue_of(const std::string& name, const cohort& of) const {
        static const kueue_queue nothing;
        queue_object made = common(of.object ? *of.object : nothing);
        made.metadata = of.object ? of.object->metadata : object_metadata{};
        if (!of.object)
            made.metadata.where = of.named->where;
        made.metadata.key = {"", cohort_queue(name)};
        set_amounts(of.object ? *of.object : nothing, of.nominal, of.above.empty(), made);
        return made;
    }

    /// Below its ClusterQueue, so that who runs in it counts there.
    [[nodiscard]] static queue_object held(const local_queue_object& of) {
        queue_object made;
        made.of_cluster = true;
        made.metadata = of.metadata;
        made.metadata.key = {"", local_queue(of.metadata.key)};
        made.parent = of.cluster_queue;
        made.closed = true;
        made.namespaces = label_selector{};
        return made;
    }

    /// Where all pods get one flavor they stand on its nodes.
    void choose_nodes(const kueue_queue& of, queue_object& to, diagnostics& out) const {
        std::set<std::string> names;
        for (const auto& group : of.groups)
            names.insert(group.begin(), group.end());
        for (const std::string& name : names) {
            const auto known = std::ranges::find(
                flavors, name, [](const flavor_object& each) { return each.metadata.key.name; });
            if (known == flavors.end())
                report(out, severity::warning, of.metadata.where, {"spec", "resourceGroups"},
                       "there is no ResourceFlavor " + in_quotes(name) +
                           ", its pods may use every node (expected one of the input)");
            else if (known->nodes.begin() != known->nodes.end() && names.size() > 1)
                report(out, severity::warning, of.metadata.where, {"spec", "resourceGroups"},
                       "the node labels of flavor " + name +
                           " are not looked at, as there are other flavors");
            else
                to.nodes.requirements = require_equal(known->nodes);
        }
    }

    std::map<std::string, cohort> tree_;
    std::int64_t unit_ = 1000;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
