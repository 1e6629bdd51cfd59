// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/cluster/state.hpp>
#include <muster/vocabulary/labels.hpp>
#include <muster/vocabulary/node_names.hpp>

namespace muster {
inline namespace v0_1 {

// Changes to a cluster that may let a gang start. Indices refer to the state for which the changes
// were found, and are valid in copies of that state.

/// Removes these pods from their nodes.
struct free_pods {
    std::vector<pod_index> pods;

    [[nodiscard]] friend bool operator==(const free_pods&, const free_pods&) = default;
};
/// Adds `count` copies of the node `like`, without its cordon and its condition taints. `labels`
/// are added to the labels of the copies and replace those with the same keys.
struct add_nodes {
    node_index like;
    std::int64_t count = 0;
    label_set labels{};

    [[nodiscard]] friend bool operator==(const add_nodes&, const add_nodes&) = default;
};
/// Uncordons the nodes.
struct uncordon_nodes {
    std::vector<node_index> nodes;

    [[nodiscard]] friend bool operator==(const uncordon_nodes&, const uncordon_nodes&) = default;
};
/// Sets the quota of a queue for the kind. With `non_preemptible`, sets the quota for
/// non-preemptible gangs, and raises the deserved amount to it.
struct raise_quota {
    queue_index queue;
    kind_id kind;
    std::int64_t to = 0;
    bool non_preemptible = false;

    [[nodiscard]] friend bool operator==(const raise_quota&, const raise_quota&) = default;
};
/// Opens the queue for new gangs.
struct open_queue {
    queue_index queue;

    [[nodiscard]] friend bool operator==(const open_queue&, const open_queue&) = default;
};
/// Adds a toleration of the taint to the gang's waiting members.
struct tolerate_taint {
    taint what;

    [[nodiscard]] friend bool operator==(const tolerate_taint&, const tolerate_taint&) = default;
};
/// Removes requirements on the label from the node selectors of the gang's waiting members.
struct drop_label {
    std::string key;

    [[nodiscard]] friend bool operator==(const drop_label&, const drop_label&) = default;
};
/// Removes the required node affinity of the gang's waiting members.
struct drop_affinity {
    [[nodiscard]] friend bool operator==(const drop_affinity&, const drop_affinity&) = default;
};
/// Kinds of pod terms: affinity, anti-affinity and topology spread.
enum class pod_term_kind : std::uint8_t { affinity, anti_affinity, spread };
/// Removes the required terms of that kind from the gang's waiting members, except terms that stand
/// for a shared volume.
struct drop_pod_terms {
    pod_term_kind which = pod_term_kind::affinity;

    [[nodiscard]] friend bool operator==(const drop_pod_terms&, const drop_pod_terms&) = default;
};
/// Removes the requirement that the members of the gang, or of a role or subgroup of it, share a
/// domain.
struct drop_domain {
    vertex_index at;

    [[nodiscard]] friend bool operator==(const drop_domain&, const drop_domain&) = default;
};
/// Makes the volumes of the gang's waiting members ready, except those that are `volume_unusable`.
struct ready_volumes {
    [[nodiscard]] friend bool operator==(const ready_volumes&, const ready_volumes&) = default;
};
/// Lowers the minimum of the gang, or of a role or subgroup of it, to `to`.
struct lower_minimum {
    vertex_index at;
    std::int64_t to = 0;

    [[nodiscard]] friend bool operator==(const lower_minimum&, const lower_minimum&) = default;
};

using change = std::variant<free_pods, add_nodes, uncordon_nodes, raise_quota, open_queue,
                            tolerate_taint, drop_label, drop_affinity, drop_pod_terms, drop_domain,
                            ready_volumes, lower_minimum>;

/// Changes that are applied together.
using remedy = std::vector<change>;

/// Returns the key of a copy of a node: the key of the original, `-added-` and a number. For traits
/// whose node keys are strings. For other traits, write a namer that gets the number of the try,
/// from 1, and returns the same key for the same number.
///
/// A namer may also have `prepare(node&, like)`, which adjusts the copy of the node with key
/// `like`, e.g. removes what only the original has; and `can_copy(const node&)`, which returns
/// false for nodes that what_helps() must not propose to copy.
struct numbered_nodes {
    template<class Key>
    [[nodiscard]] Key operator()(const Key& like, std::int64_t number) const {
        return like + "-added-" + std::to_string(number);
    }
};

namespace detail {

[[nodiscard]] inline remedy joined(remedy first, const remedy& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

/// Applies changes to a state, for one gang.
template<class Traits, class Namer>
class changer {
public:
    changer(state<Traits>& cluster, gang_index which, const Namer& namer)
        : cluster_(&cluster), which_(which), namer_(&namer) {}

    [[nodiscard]] bool operator()(const free_pods& what) {
        bool fine = true;
        for (const pod_index pod : what.pods) {
            const typename Traits::pod_key key = cluster_->key(pod);
            fine = cluster_->remove_pod(key) == event_result::applied && fine;
        }
        return fine;
    }

    [[nodiscard]] bool operator()(const add_nodes& what) {
        auto spec = (*cluster_)[what.like].spec;
        const typename Traits::node_key like = cluster_->key(what.like);
        spec.unschedulable = false;
        std::erase_if(spec.taints, [](const taint& one) { return one.is_condition(); });
        std::int64_t made = 0;
        for (std::int64_t at = 1; made < what.count; ++at) {
            const typename Traits::node_key key = (*namer_)(like, at);
            if (cluster_->find_node(key))
                continue;
            auto fresh = spec;
            rename(fresh, key);
            for (const auto& [label, value] : what.labels)
                fresh.labels.set(label, value);
            if constexpr (requires { namer_->prepare(fresh, like); })
                namer_->prepare(fresh, like);
            if (cluster_->upsert_node(key, std::move(fresh)) != event_result::applied)
                return false;
            ++made;
        }
        return true;
    }

    [[nodiscard]] bool operator()(const uncordon_nodes& what) {
        bool fine = true;
        for (const node_index node : what.nodes) {
            auto spec = (*cluster_)[node].spec;
            spec.unschedulable = false;
            std::erase_if(spec.taints,
                          [](const taint& one) { return one.key == unschedulable_taint_key; });
            const typename Traits::node_key key = cluster_->key(node);
            fine = cluster_->upsert_node(key, std::move(spec)) == event_result::applied && fine;
        }
        return fine;
    }

    [[nodiscard]] bool operator()(const raise_quota& what) {
        return change_queue(what.queue, [&](auto& spec) {
            (what.non_preemptible ? spec.non_preemptible_quota : spec.quota)
                .set(what.kind, what.to);
            if (const auto deserved = spec.deserved[what.kind];
                what.non_preemptible && deserved && *deserved < what.to)
                spec.deserved.set(what.kind, what.to);
        });
    }

    [[nodiscard]] bool operator()(const open_queue& what) {
        return change_queue(what.queue, [](auto& spec) { spec.closed = false; });
    }

    [[nodiscard]] bool operator()(const tolerate_taint& what) {
        const toleration made{what.what.key, what.what.value, what.what.effect};
        return relax([&](constraints& where) { where.tolerations.push_back(made); });
    }

    [[nodiscard]] bool operator()(const drop_label& what) {
        return relax([&](constraints& where) {
            std::erase_if(where.selector.requirements, [&](const label_requirement& requirement) {
                return requirement.key == what.key;
            });
        });
    }

    [[nodiscard]] bool operator()(const drop_affinity&) {
        return relax([](constraints& where) { where.affinity.reset(); });
    }

    [[nodiscard]] bool operator()(const drop_pod_terms& what) {
        const auto can_go = [](const affinity_term& one) { return !one.of_volume; };
        return relax([&](constraints& where) {
            if (!where.pods)
                return;
            if (what.which == pod_term_kind::affinity)
                std::erase_if(where.pods->affinity, can_go);
            else if (what.which == pod_term_kind::anti_affinity)
                std::erase_if(where.pods->anti_affinity, can_go);
            else
                std::erase_if(where.pods->spread, [](const auto& one) { return one.required; });
            if (!where.pods->any())
                where.pods.reset();
        });
    }

    [[nodiscard]] bool operator()(const drop_domain& what) {
        return change_gang([&](gang_tree& tree) { tree.let_apart(what.at); });
    }

    [[nodiscard]] bool operator()(const ready_volumes&) {
        return relax([](constraints& where) { where.volume_not_ready = where.volume_unusable; });
    }

    [[nodiscard]] bool operator()(const lower_minimum& what) {
        return change_gang([&](gang_tree& tree) { tree.require_members(what.at, what.to); });
    }

private:
    template<class Change>
    [[nodiscard]] bool change_gang(const Change& make) {
        auto spec = cluster_->spec_of(which_);
        make(spec.tree);
        const typename Traits::gang_key key = cluster_->key(which_);
        return cluster_->upsert_gang(key, std::move(spec)) == event_result::applied;
    }

    /// Sets the name of the copy of a node, also in its labels.
    template<class Spec, class Key>
    static void rename(Spec& spec, const Key& key) {
        if constexpr (std::is_convertible_v<Key, std::string>) {
            spec.labels = labels_of_copy(spec.name, spec.labels, key);
            if (!spec.name.empty())
                spec.name = key;
        }
    }

    template<class Change>
    [[nodiscard]] bool change_queue(queue_index queue, const Change& make) {
        auto spec = (*cluster_)[queue].spec;
        make(spec);
        const typename Traits::queue_key key = cluster_->key(queue);
        std::optional<typename Traits::queue_key> above;
        if (const auto parent = (*cluster_)[queue].parent)
            above = cluster_->key(*parent);
        return cluster_->upsert_queue(key, std::move(spec), above) == event_result::applied;
    }

    /// Changes the constraints of the gang's waiting members.
    template<class Change>
    [[nodiscard]] bool relax(const Change& make) {
        bool fine = true;
        const std::vector<pod_index> members = (*cluster_)[which_].members;
        const typename Traits::gang_key gang = cluster_->key(which_);
        for (const pod_index member : members) {
            if (!(*cluster_)[member].placeable())
                continue;
            auto spec = cluster_->spec_of(member);
            make(spec.where);
            const typename Traits::pod_key key = cluster_->key(member);
            fine =
                cluster_->upsert_pod(key, gang, std::move(spec)) == event_result::applied && fine;
        }
        return fine;
    }

    state<Traits>* cluster_;
    gang_index which_;
    const Namer* namer_;
};

} // namespace detail

/// Applies the changes as events. Changes of constraints and minima apply to the gang `which`.
/// Returns false if an event was refused; the state is then changed in part. O(objects changed).
template<class Traits, class Namer = numbered_nodes>
[[nodiscard]] bool apply(state<Traits>& cluster, gang_index which, const remedy& changes,
                         const Namer& namer = {}) {
    detail::changer<Traits, Namer> make(cluster, which, namer);
    bool fine = true;
    for (const change& step : changes)
        fine = std::visit(make, step) && fine;
    return fine;
}

} // namespace v0_1
} // namespace muster
