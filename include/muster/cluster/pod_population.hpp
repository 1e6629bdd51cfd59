// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/label_table.hpp>
#include <muster/vocabulary/pod_terms.hpp>

namespace muster {
inline namespace v0_1 {

/// An interned `pod_selector`.
using selector_index = index_of<struct selector_tag>;
/// Pods that are alike to every selector: same labels, same tenant.
using identity_index = index_of<struct identity_tag>;

/// How a pod is on its node.
enum class presence : std::uint8_t {
    staying,
    /// On its way out: it counts for affinity and not for spread.
    leaving,
    /// Nominated: other pods respect its terms, but it does not satisfy their terms yet.
    coming,
};

/// How many pods are on a node, or nominated to it.
struct pod_counts {
    node_index node;
    std::int32_t staying = 0;
    std::int32_t leaving = 0;
    std::int32_t coming = 0;
    /// Number of nominated pods with required affinity of their own.
    std::int32_t seeking = 0;

    [[nodiscard]] std::int32_t& of(presence how) noexcept {
        return how == presence::staying ? staying : how == presence::leaving ? leaving : coming;
    }
    [[nodiscard]] bool nobody() const noexcept {
        return staying == 0 && leaving == 0 && coming == 0;
    }
};

/// A term with its selector and the topology of its label key looked up.
struct known_term {
    selector_index pods;
    topology_index topology;
    /// Of a preferred term.
    std::int32_t weight = 0;
    /// As `affinity_term::of_volume`; false for terms other than required affinity.
    bool of_volume = false;
    /// As `affinity_term::domains_may_change`, likewise.
    bool domains_may_change = false;
};

/// Terms of one set of constraints, and the pods that carry them, by node.
struct known_terms {
    constraint_index where;
    detail::sequence<known_term> affinity;
    detail::sequence<known_term> anti_affinity;
    detail::sequence<known_term> preferred;
    detail::sequence<known_term> spread;
    /// By node.
    detail::sequence<pod_counts> counts;
};

/// The pods on each node, as far as pod terms need them. Nothing is kept before the first pod with
/// terms. Each pair of selector and label set is matched once, not per pod.
class pod_population {
public:
    /// Some pod carried terms once; from then on all pods are counted.
    [[nodiscard]] bool active() const noexcept { return active_; }
    void activate() noexcept { active_ = true; }
    /// True if some pod has terms. If not, terms affect no pod.
    [[nodiscard]] bool in_use() const noexcept { return !terms_.empty(); }
    /// Increases whenever a pod gets a node or changes there, because terms may become satisfied.
    /// (A pod that leaves increases the state's release epoch.)
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
    void moved() noexcept { ++epoch_; }

    // ---- terms ---------------------------------------------------------------------------------

    /// The set of constraints `where` carries these terms. `topology_of(key)` interns the topology
    /// whose one level is that label key. O(log sets), and O(identities) for each selector that is
    /// new.
    template<class TopologyOf>
    void add_terms(constraint_index where, const pod_terms& value, const label_table& labels,
                   const TopologyOf& topology_of) {
        known_terms fresh;
        fresh.where = where;
        const auto know = [&](const pod_selector& pods, const std::string& key,
                              std::int32_t weight) {
            return known_term{acquire(pods, labels), topology_of(key), weight, false, false};
        };
        for (const affinity_term& each : value.affinity) {
            fresh.affinity.push_back(know(each.pods, each.topology, 0));
            fresh.affinity.back().of_volume = each.of_volume;
            fresh.affinity.back().domains_may_change = each.domains_may_change;
        }
        for (const affinity_term& each : value.anti_affinity)
            fresh.anti_affinity.push_back(know(each.pods, each.topology, 0));
        for (const preferred_affinity_term& each : value.preferred)
            fresh.preferred.push_back(know(each.term.pods, each.term.topology, each.weight));
        for (const spread_term& each : value.spread)
            fresh.spread.push_back(know(each.pods, each.topology, 0));
        for_each_pull(fresh, [&](const known_term& each) {
            auto& carriers = selectors_[each.pods.value()].carriers;
            if (detail::find(carriers, where) == carriers.end())
                carriers.push_back(where);
        });
        terms_.emplace(where, std::move(fresh));
    }

    /// The last pod that carried them is gone; `forget(topology)` gives one back.
    template<class Forget>
    void remove_terms(constraint_index where, const Forget& forget) {
        const auto found = terms_.find(where);
        MUSTER_ASSERT(found != terms_.end() && found->second.counts.empty(),
                      "terms go after the pods that carry them");
        for_each_pull(found->second, [&](const known_term& each) {
            erase_if(selectors_[each.pods.value()].carriers,
                     [&](constraint_index carrier) { return carrier == where; });
        });
        for (const auto* list : {&found->second.affinity, &found->second.anti_affinity,
                                 &found->second.preferred, &found->second.spread})
            for (const known_term& each : *list) {
                release(each.pods);
                forget(each.topology);
            }
        terms_.erase(found);
    }

    /// The terms of a set of constraints, or null.
    [[nodiscard]] const known_terms* terms(constraint_index where) const noexcept;

    /// Sets of constraints whose affinity, anti-affinity or preferred terms have that selector.
    [[nodiscard]] const detail::sequence<constraint_index>&
    carriers(selector_index which) const noexcept {
        return selectors_[which.value()].carriers;
    }

    // ---- pods ----------------------------------------------------------------------------------

    /// One more pod with these labels, of a gang with that tenant. O(log identities), and
    /// O(selectors) for an identity that is new.
    void add_pod(label_set_index labels, label_set_index tenant, const label_table& sets);

    void remove_pod(label_set_index labels, label_set_index tenant);

    /// The identity of pods with these labels and tenant, of which there are some.
    [[nodiscard]] identity_index identity_of(label_set_index labels,
                                             label_set_index tenant) const noexcept;

    /// A pod is counted on the node (`by` 1) or no longer (-1); `where` are its constraints when
    /// they have terms. O(log nodes), and 20 bytes moved for each node behind it.
    void count(identity_index who, const constraint_index* where, node_index node, std::int32_t by,
               presence how);

    // ---- for decisions -------------------------------------------------------------------------

    /// The selectors that match the identity, in ascending order.
    template<class Use>
    void for_each_selector(identity_index who, const Use& use) const {
        for (const match& each : identities_[who.value()].matched)
            use(each.selector);
    }
    [[nodiscard]] bool matches(selector_index which, identity_index who) const noexcept;
    /// The same selectors match both.
    [[nodiscard]] bool alike(identity_index lhs, identity_index rhs) const noexcept;
    /// Some pod on a node has a required anti-affinity term that selects the identity.
    [[nodiscard]] bool repelled(identity_index who) const noexcept;
    /// Some pod on a node has required anti-affinity.
    [[nodiscard]] bool anybody_repels() const noexcept { return repelling_ > 0; }
    /// Some pod is to come to a node.
    [[nodiscard]] bool anybody_comes() const noexcept { return coming_ > 0; }
    /// The identities that the selector matches, in no order.
    [[nodiscard]] const detail::sequence<identity_index>&
    matched(selector_index which) const noexcept {
        return selectors_[which.value()].matched;
    }
    /// The pods of the identity, by node.
    [[nodiscard]] const detail::sequence<pod_counts>& counts_of(identity_index who) const noexcept {
        return identities_[who.value()].counts;
    }

private:
    struct selector {
        pod_selector value;
        std::size_t users = 0;
        detail::sequence<identity_index> matched;
        detail::sequence<constraint_index> carriers;
        /// Pods on nodes whose required anti-affinity has this selector.
        std::int64_t repelling = 0;
    };
    struct match {
        selector_index selector;
        /// The place of the identity in the selector's list.
        std::uint32_t place = 0;
    };
    struct identity {
        label_set_index labels;
        label_set_index tenant;
        std::size_t pods = 0;
        /// By selector.
        detail::sequence<match> matched;
        detail::sequence<pod_counts> counts;
    };

    /// Terms of pods that affect other pods.
    template<class Use>
    static void for_each_pull(const known_terms& of, const Use& use) {
        for (const auto* list : {&of.affinity, &of.anti_affinity, &of.preferred})
            for (const known_term& each : *list)
                use(each);
    }

    static void count_in(detail::sequence<pod_counts>& counts, node_index node, std::int32_t by,
                         presence how, bool seeks);

    void join(identity_index who, selector_index which);

    void part(identity_index who, selector_index which);

    [[nodiscard]] detail::sequence<match>::iterator find_match(identity_index who,
                                                               selector_index which) noexcept;

    [[nodiscard]] selector_index acquire(const pod_selector& value, const label_table& sets);

    void release(selector_index which);

    bool active_ = false;
    std::uint64_t epoch_ = 0;
    /// Pods on nodes with required anti-affinity.
    std::int64_t repelling_ = 0;
    std::int64_t coming_ = 0;
    std::map<constraint_index, known_terms> terms_;
    std::map<pod_selector, selector_index> selector_of_;
    detail::sequence<selector> selectors_;
    detail::sequence<std::size_t> unused_selectors_;
    std::map<std::pair<label_set_index, label_set_index>, identity_index> identity_of_;
    detail::sequence<identity> identities_;
    detail::sequence<std::size_t> unused_identities_;
};

} // namespace v0_1
} // namespace muster

#ifndef MUSTER_SEPARATE_COMPILATION
#include <muster/cluster/tables_inl.hpp>
#endif
