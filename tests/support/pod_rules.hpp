// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/plan/plan.hpp>
#include <support/observed_gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

// Kubernetes' rules for terms between pods, written down once more from their definitions: a pod
// and a list of those that stand, judged by going through the list for every question.

[[nodiscard]] inline bool selects(const pod_selector& which, const label_set& pod,
                                  const label_set& tenant) {
    bool reached = !which.tenants;
    for (std::size_t at = 0; which.tenants && at < which.tenants->size(); ++at)
        reached = reached || selects((*which.tenants)[at], tenant);
    return reached && selects(which.labels, pod);
}

/// A pod as terms see it. Of one that waits no node; `coming`: to that node, where nobody finds it
/// yet.
template<std::size_t Width>
struct seen_pod {
    pod<Width> spec;
    label_set tenant;
    const node<Width>* on = nullptr;
    bool coming = false;
};

/// Nodes, who stands on them, and what the newcomer's queue asks of nodes.
template<std::size_t Width>
struct pod_scene {
    std::vector<const node<Width>*> nodes;
    std::vector<seen_pod<Width>> standing;
    label_selector queue_nodes;

    /// The newcomer may come to stand there now, as far as terms between pods go.
    [[nodiscard]] bool accepts(const seen_pod<Width>& newcomer, const node<Width>& there) const {
        const pod_terms none;
        const pod_terms& terms = newcomer.spec.where.pods ? *newcomer.spec.where.pods : none;
        return spreads(newcomer, terms, there, true) && spreads(newcomer, terms, there, false) &&
               has_company(newcomer, terms, there) && keeps_apart(newcomer, terms, there);
    }

private:
    [[nodiscard]] static bool share(const std::string& key, const node<Width>& lhs,
                                    const node<Width>& rhs) {
        const std::string* mine = label(lhs.labels, key);
        const std::string* theirs = label(rhs.labels, key);
        return mine && theirs && *mine == *theirs;
    }
    [[nodiscard]] static bool selects_pod(const pod_selector& which, const seen_pod<Width>& one) {
        return selects(which, one.spec.labels, one.tenant);
    }
    [[nodiscard]] static bool selects_by_all(const std::vector<affinity_term>& terms,
                                             const seen_pod<Width>& one) {
        return std::all_of(terms.begin(), terms.end(),
                           [&](const affinity_term& term) { return selects_pod(term.pods, one); });
    }

    /// The required terms of the pod count together. The term of each shared volume counts by
    /// itself.
    [[nodiscard]] bool has_company(const seen_pod<Width>& newcomer, const pod_terms& terms,
                                   const node<Width>& there) const {
        std::vector<affinity_term> own;
        for (const affinity_term& term : terms.affinity)
            if (!term.of_volume)
                own.push_back(term);
            else if (!has_company(newcomer, std::vector{term}, there))
                return false;
        return has_company(newcomer, own, there);
    }
    [[nodiscard]] bool has_company(const seen_pod<Width>& newcomer,
                                   const std::vector<affinity_term>& terms,
                                   const node<Width>& there) const {
        if (terms.empty())
            return true;
        bool company = true;
        for (const affinity_term& term : terms) {
            if (!label(there.labels, term.topology))
                return false;
            company =
                company && std::any_of(standing.begin(), standing.end(), [&](const auto& one) {
                    return !one.coming && selects_by_all(terms, one) &&
                           share(term.topology, *one.on, there);
                });
        }
        if (company)
            return true;
        for (const auto& one : standing)
            for (const affinity_term& term : terms)
                if (selects_by_all(terms, one) && label(one.on->labels, term.topology))
                    return false;
        return selects_by_all(terms, newcomer);
    }

    [[nodiscard]] bool keeps_apart(const seen_pod<Width>& newcomer, const pod_terms& terms,
                                   const node<Width>& there) const {
        for (const auto& one : standing) {
            for (const affinity_term& term : terms.anti_affinity)
                if (selects_pod(term.pods, one) && share(term.topology, *one.on, there))
                    return false;
            if (!one.spec.where.pods)
                continue;
            for (const affinity_term& term : one.spec.where.pods->anti_affinity)
                if (selects_pod(term.pods, newcomer) && share(term.topology, *one.on, there))
                    return false;
        }
        return true;
    }

    [[nodiscard]] bool counts(const seen_pod<Width>& newcomer, const pod_terms& terms,
                              const spread_term& by, const node<Width>& one) const {
        for (const spread_term& each : terms.spread)
            if (each.required == by.required && !label(one.labels, each.topology))
                return false;
        const constraints& where = newcomer.spec.where;
        if (by.honor_affinity) {
            bool chosen = !where.affinity;
            for (std::size_t at = 0; where.affinity && at < where.affinity->size(); ++at)
                chosen = chosen || selects((*where.affinity)[at], one);
            if (!chosen || !selects(where.selector, one.labels) ||
                !selects(queue_nodes, one.labels))
                return false;
        }
        for (const taint& each : one.taints)
            if (by.honor_taints && each.effect != taint_effect::prefer_no_schedule &&
                !is_tolerated(each, where))
                return false;
        return true;
    }

    /// With those who are to come, or without them.
    [[nodiscard]] bool spreads(const seen_pod<Width>& newcomer, const pod_terms& terms,
                               const node<Width>& there, bool with_coming) const {
        for (const spread_term& term : terms.spread) {
            if (!term.required)
                continue;
            const std::string* here = label(there.labels, term.topology);
            if (!here)
                return false;
            std::map<std::string, std::int64_t> found;
            for (const node<Width>* one : nodes)
                if (counts(newcomer, terms, term, *one))
                    found[*label(one->labels, term.topology)] += 0;
            for (const auto& one : standing)
                if (!one.spec.terminating && (with_coming || !one.coming) &&
                    selects_pod(term.pods, one) && counts(newcomer, terms, term, *one.on))
                    ++found[*label(one.on->labels, term.topology)];
            std::int64_t fewest = 0;
            if (!found.empty() && static_cast<std::int64_t>(found.size()) >= term.min_domains) {
                fewest = found.begin()->second;
                for (const auto& [value, count] : found)
                    fewest = std::min(fewest, count);
            }
            const auto mine = found.find(*here);
            const std::int64_t count = mine == found.end() ? 0 : mine->second;
            if (count + (selects_pod(term.pods, newcomer) ? 1 : 0) - fewest > term.max_skew)
                return false;
        }
        return true;
    }
};

template<class Traits>
[[nodiscard]] seen_pod<Traits::width> seen(const state<Traits>& known, pod_index which) {
    return {known.spec_of(which), known[known[which].gang].spec.tenant, nullptr,
            known[which].nominated};
}

/// What the gang's members meet, from the records alone.
template<class Traits>
[[nodiscard]] pod_scene<Traits::width> scene_for(const state<Traits>& known, gang_index which) {
    pod_scene<Traits::width> scene;
    for (const node_index node : known.node_order())
        if (known[node].present)
            scene.nodes.push_back(&known[node].spec);
    for (const auto& entry : known.pod_keys()) {
        const auto& pod = known[entry.second];
        if (!takes_room(pod) || !known[*pod.node].present)
            continue;
        scene.standing.push_back(seen(known, entry.second));
        scene.standing.back().on = &known[*pod.node].spec;
        scene.standing.back().spec.terminating |= pod.evicted;
    }
    const auto& queue = known[which].queue;
    if (queue && known[*queue].present)
        scene.queue_nodes = known[*queue].spec.nodes;
    return scene;
}

/// Some waiting member of the gang carries required terms, or those who stand keep it off by their
/// own: only then may such terms bear on whether it fits.
template<class Traits>
[[nodiscard]] bool pods_bear_on(const state<Traits>& known, gang_index which) {
    for (const auto& entry : known.pod_keys()) {
        const auto& pod = known[entry.second];
        if (pod.gang != which || !is_waiting(pod))
            continue;
        const auto mine = seen(known, entry.second);
        if (mine.spec.where.pods && mine.spec.where.pods->requires_something())
            return true;
        for (const auto& other : known.pod_keys()) {
            if (!takes_room(known[other.second]))
                continue;
            const auto theirs = seen(known, other.second);
            if (theirs.spec.where.pods)
                for (const affinity_term& term : theirs.spec.where.pods->anti_affinity)
                    if (selects(term.pods, mine.spec.labels, mine.tenant))
                        return true;
        }
    }
    return false;
}

/// The first of these placements that its node would not accept, given those before it.
template<class Traits>
[[nodiscard]] std::string fault_among_pods(const state<Traits>& before, gang_index which,
                                           const std::vector<placement>& placements) {
    auto scene = scene_for(before, which);
    for (const placement& one : placements) {
        auto newcomer = seen(before, one.pod);
        if (!scene.accepts(newcomer, before[one.node].spec))
            return "terms: " + before.key(one.pod) + " may not stand on " + before.key(one.node);
        newcomer.on = &before[one.node].spec;
        scene.standing.push_back(std::move(newcomer));
    }
    return {};
}

/// Is there an order of some waiting members, and a node for each, so that the gang starts and
/// every member is accepted in its turn? By trying everything. In the emptied cluster no pod stands
/// before the first of them.
template<class Traits>
class pod_brute_force {
    static constexpr std::size_t width = Traits::width;

public:
    pod_brute_force(const state<Traits>& known, gang_index which,
                    certificate_scope scope = certificate_scope::free_now)
        : view_(view_of(known, which, scope)),
          scene_(scene_for(known, which)),
          counts_(view_.holding),
          stands_(view_.waiting.size(), nowhere) {
        if (scope == certificate_scope::empty_cluster)
            scene_.standing.clear();
        for (const auto& one : view_.waiting)
            pods_.push_back(seen(known, one.pod));
    }

    [[nodiscard]] bool fits() { return starts() || more(); }

private:
    static constexpr std::size_t nowhere = ~std::size_t{0};

    [[nodiscard]] bool starts() const {
        if (!starts_with(*view_.tree, counts_))
            return false;
        for (std::size_t leaf = 0; leaf < counts_.size(); ++leaf)
            for (std::size_t above = leaf; counts_[leaf] > view_.holding[leaf];
                 above = (*view_.tree)[above].parent) {
                if (!judge(*view_.tree, above, counts_).met)
                    return false;
                if (above == 0)
                    break;
            }
        return true;
    }

    [[nodiscard]] bool more() {
        if (!tried_.insert(stands_).second)
            return false;
        for (std::size_t at = 0; at < pods_.size(); ++at) {
            if (stands_[at] != nowhere)
                continue;
            bool within = true;
            for (std::size_t kind = 0; kind < width; ++kind)
                within = within && (!view_.quota_left[kind] || pods_[at].spec.request[kind] == 0 ||
                                    pods_[at].spec.request[kind] <= *view_.quota_left[kind]);
            for (std::size_t node = 0; within && node < view_.nodes.size(); ++node)
                if (try_on(at, node))
                    return true;
        }
        return false;
    }

    [[nodiscard]] bool try_on(std::size_t at, std::size_t on) {
        auto& node = view_.nodes[on];
        const auto& pod = pods_[at].spec;
        resources<width> rest = node.free;
        if (!draw(pod.request, rest) || !view_.welcome(pod.where, *node.spec) ||
            clash(pod.where.claims.ports, node.ports) ||
            !serve(view_.devices, node.spec->devices, node.devices, pod.where.claims) ||
            !scene_.accepts(pods_[at], *node.spec))
            return false;
        const auto quota = view_.quota_left;
        for (std::size_t kind = 0; kind < width; ++kind)
            if (view_.quota_left[kind])
                *view_.quota_left[kind] -= pod.request[kind];
        std::swap(node.free, rest);
        node.put(pod.where.claims);
        scene_.standing.push_back(pods_[at]);
        scene_.standing.back().on = node.spec;
        stands_[at] = on;
        ++counts_[view_.waiting[at].role];
        const bool done = starts() || more();
        --counts_[view_.waiting[at].role];
        stands_[at] = nowhere;
        scene_.standing.pop_back();
        node.take_back(pod.where.claims);
        std::swap(node.free, rest);
        view_.quota_left = quota;
        return done;
    }

    observed_gang<Traits> view_;
    pod_scene<width> scene_;
    std::vector<seen_pod<width>> pods_;
    std::vector<std::int64_t> counts_;
    /// Per waiting member.
    std::vector<std::size_t> stands_;
    std::set<std::vector<std::size_t>> tried_;
};

} // namespace testing
} // namespace v0_1
} // namespace muster
