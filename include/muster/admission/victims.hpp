// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include <muster/admission/tree_standing.hpp>
#include <muster/base/id.hpp>
#include <muster/model/state.hpp>
#include <muster/policy/victim_rule_concept.hpp>

namespace muster::inline v0_1 {

/// How a rule sees a gang, `since` aside. O(1).
template<class Traits>
[[nodiscard]] contender contender_of(const state<Traits>& known, gang_index which) {
    const auto& group = known[which];
    contender side;
    side.queue = group.queue;
    if (group.queue) {
        const auto& queue = known[*group.queue];
        side.queue_priority = queue.spec.priority;
        side.queue_preemptible = queue.present && queue.spec.preemptible;
    }
    side.preemptible = group.spec.preemptible;
    side.priority = group.spec.priority;
    side.created = group.spec.created;
    return side;
}

/// A gang of which something may be taken.
struct victim {
    gang_index gang;
    victim_terms terms;
    /// Members that stand, newest first, then by key.
    std::vector<pod_index> pods;
    /// Per pod: the gang keeps its minima without it alone.
    std::vector<char> spare;
    /// Per pod: it is taken.
    std::vector<char> taken;
    std::size_t count = 0;
    /// Per vertex (leaves only): members that hold.
    std::vector<std::int64_t> holding;
    bool any_spare = false;
    /// All of it may be taken.
    bool as_a_whole = false;
    /// How many may be taken at most as long as the gang keeps its minima.
    std::int64_t most = 0;

    [[nodiscard]] bool broken() const noexcept { return count == pods.size(); }
};

/// The victims that a rule admits for one gang, level by level.
template<class Traits>
class victim_list {
public:
    /// Finds whose turn may come. O(gangs + those whom the rule admits · log).
    template<victim_rule Rule>
    void begin(const state<Traits>& known, gang_index by, const Rule& rule, std::int64_t now) {
        known_ = &known;
        found_.clear();
        next_ = 0;
        next_change_.reset();
        const contender mine = contender_of(known, by);
        for (const auto& [key, which] : known.gang_keys()) {
            const auto& group = known[which];
            // Who comes or has just come is left to settle down first.
            if (which == by || group.members.empty() || group.nominated > 0 ||
                group.placeable == group.members.size())
                continue;
            contender of = contender_of(known, which);
            auto terms = rule(mine, of, now);
            if (!terms)
                continue;
            if constexpr (!Rule::timeless) {
                of.since = since(known, which);
                terms = rule(mine, of, now);
                wake_at(rule.next_change(of, now));
                if (!terms)
                    continue;
            }
            found_.push_back({*terms, of.created, which});
        }
        std::ranges::stable_sort(found_, [](const entry& lhs, const entry& rhs) {
            return std::tuple(lhs.terms.outer, lhs.terms.inner, rhs.created) <
                   std::tuple(rhs.terms.outer, rhs.terms.inner, lhs.created);
        });
    }

    /// When a rule of time may say more.
    [[nodiscard]] std::optional<std::int64_t> next_change() const noexcept { return next_change_; }

    /// The gangs of the next level: newest first, then by key; false when there are none left.
    [[nodiscard]] bool next_level(std::vector<victim>& into) {
        const std::size_t before = into.size();
        while (next_ < found_.size() && into.size() == before) {
            const entry& first = found_[next_];
            for (; next_ < found_.size() && found_[next_].terms.outer == first.terms.outer &&
                   found_[next_].terms.inner == first.terms.inner;
                 ++next_)
                open(found_[next_], into);
        }
        return into.size() > before;
    }

private:
    struct entry {
        victim_terms terms;
        std::int64_t created = 0;
        gang_index gang;
    };

    [[nodiscard]] static std::optional<std::int64_t> since(const state<Traits>& known,
                                                           gang_index which) {
        std::optional<std::int64_t> first;
        for (const pod_index member : known[which].members)
            if (const auto& pod = known[member]; pod.charged() && pod.started)
                first = first ? std::min(*first, *pod.started) : *pod.started;
        return first;
    }
    void wake_at(std::optional<std::int64_t> when) noexcept {
        if (when && (!next_change_ || *when < *next_change_))
            next_change_ = when;
    }

    void open(const entry& from, std::vector<victim>& into) const {
        const state<Traits>& known = *known_;
        const auto& group = known[from.gang];
        const gang_tree& tree = group.spec.tree;
        victim fresh;
        fresh.gang = from.gang;
        fresh.terms = from.terms;
        fresh.holding.assign(tree.size(), 0);
        std::int64_t leaving = 0;
        for (const pod_index member : group.members) {
            const auto& pod = known[member];
            if (pod.assumed)
                return;
            leaving += pod.charged() && pod.charged_as() == tenure::leaving ? 1 : 0;
            if (!pod.holding() || pod.role.value() >= tree.size())
                continue;
            ++fresh.holding[pod.role.value()];
            if (pod.charged())
                fresh.pods.push_back(member);
        }
        if (fresh.pods.empty())
            return;
        const auto pods = static_cast<std::int64_t>(fresh.pods.size());
        fresh.most = pods;
        if (group.spec.max_disrupted)
            fresh.most = std::clamp<std::int64_t>(*group.spec.max_disrupted - leaving, 0, pods);
        fresh.as_a_whole = !from.terms.only_surplus && fresh.most == pods;
        std::ranges::sort(fresh.pods, [&](pod_index lhs, pod_index rhs) {
            if (known[lhs].created != known[rhs].created)
                return known[lhs].created > known[rhs].created;
            return key_less<Traits>{}(known[lhs].key, known[rhs].key);
        });
        fresh.taken.assign(fresh.pods.size(), 0);
        fresh.spare.assign(fresh.pods.size(), 0);
        if (!from.terms.only_whole && fresh.most > 0 && reaches_minima(tree, fresh.holding)) {
            std::vector<char> spare(tree.size());
            for (std::size_t at = 0; at < tree.size(); ++at) {
                if (fresh.holding[at] == 0)
                    continue;
                --fresh.holding[at];
                spare[at] = reaches_minima(tree, fresh.holding) ? 1 : 0;
                ++fresh.holding[at];
            }
            for (std::size_t at = 0; at < fresh.pods.size(); ++at) {
                fresh.spare[at] = spare[known[fresh.pods[at]].role.value()];
                fresh.any_spare = fresh.any_spare || fresh.spare[at] != 0;
            }
        }
        if (fresh.any_spare || fresh.as_a_whole)
            into.push_back(std::move(fresh));
    }

    const state<Traits>* known_ = nullptr;
    std::vector<entry> found_;
    std::size_t next_ = 0;
    std::optional<std::int64_t> next_change_;
};

} // namespace muster::inline v0_1
