// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/checked.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/greedy/affinity_place.hpp>
#include <muster/greedy/domain_choice.hpp>
#include <muster/greedy/subgroup_search.hpp>
#include <muster/index/domain_scan.hpp>
#include <muster/index/placement_order.hpp>
#include <muster/plan/plan.hpp>
#include <muster/policy/domain_order_concept.hpp>
#include <muster/policy/surplus_concept.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/problem/members.hpp>
#include <muster/problem/quota_room.hpp>
#include <muster/resource/share.hpp>
#include <muster/vocabulary/tree_standing.hpp>

namespace muster {
inline namespace v0_1 {

/// Places one gang's members into a plan in the order of their turns, each on the best node that
/// the finder knows; members that are alike and follow one another are found room for together.
/// Members that are to stand together are placed in one domain after the other, in the order of
/// domains, until one takes them. Keeps its scratch from one gang to the next.
template<class Traits, class Finder, domain_order DomainOrder = detail::listed_domains>
class placer {
public:
    static constexpr std::size_t width = Traits::width;
    using score_type = std::remove_cvref_t<decltype(std::declval<Finder&>().score())>;

    placer() = default;
    explicit placer(const DomainOrder& order) : order_(order) {}

    /// The gang to place from here on; all arguments must outlive that. `into` is a plan on the
    /// state's own accounts.
    void begin(const cluster_state<Traits>& known, const gang_members<width>& members,
               plan<width>& into, Finder& finder) {
        known_ = &known;
        members_ = &members;
        into_ = &into;
        others_ = into.size();
        finder_ = &finder;
        finder.serve(members.spec);
        flat_ = is_flat(*members.tree);
        const std::size_t classes = members.classes.size();
        const std::size_t turns = members.turns.size();
        taken_.assign(turns, 0);
        exhausted_.assign(classes, 0);
        used_.assign(classes, 0);
        counts_ = members.holding;
        stopped_by_.reset();
        classes_in_.assign(members.tree->size(), 0);
        for (const member_class<width>& each : members.classes)
            ++classes_in_[each.role.value()];
        first_.assign(members.tree->size() + 1, turns);
        for (std::size_t at = turns; at-- > 0;)
            first_[members.classes[members.turns[at]].role.value()] = at;
        for (std::size_t vertex = members.tree->size(); vertex-- > 0;)
            if (first_[vertex] == turns)
                first_[vertex] = first_[vertex + 1];
        cursor_ = first_;
        domains_.begin(known, members);
    }

    /// For gangs on which terms between pods bear.
    [[nodiscard]] auto& among_pods() noexcept { return among_pods_; }

    /// The class for which, before anything was placed, less room than wanted was found, and how
    /// much: known when the finder finds all there is.
    [[nodiscard]] const std::optional<std::pair<std::size_t, std::int64_t>>&
    stopped_by() const noexcept {
        return stopped_by_;
    }

    /// Meets the gang's minima, role minima first; false and nothing placed when this order of
    /// taking them does not get there.
    [[nodiscard]] bool meet_minima() {
        const savepoint start = into_->mark();
        if (satisfy(0))
            return true;
        into_->rollback(start);
        return false;
    }

    /// Places what the search found: `counts` as `fit_search::counts` of `problem`, oldest first
    /// onto the first nodes. False and nothing placed when an account cannot hold the sum.
    [[nodiscard]] bool place_found(const fit_problem<width>& problem,
                                   const std::vector<std::int64_t>& counts) {
        every_class_.resize(members_->classes.size());
        std::iota(every_class_.begin(), every_class_.end(), std::size_t{0});
        if (!put_all(problem, counts, every_class_))
            return false;
        domains_.settle(std::span(into_->placements()).subspan(others_));
        return true;
    }

    /// Places what is left, best effort: further members of subgroups that are met, and whole
    /// subgroups that are not yet.
    void place_surplus(surplus_wish wish = {}) {
        const std::size_t before = into_->size();
        const auto placed = [&] { return static_cast<std::int64_t>(into_->size() - before); };
        do {
            if (wish == surplus_wish{})
                surplus(0);
            else
                while (placed() < wish.most && one_more(0, wish.level)) {
                }
        } while (domains_.any() && give_up_preferences());
    }

private:
    /// What does not fit where it is preferred may stand wherever it is allowed; false when there
    /// is no more to give up.
    [[nodiscard]] bool give_up_preferences() {
        if (!domains_.widen())
            return false;
        exhausted_.assign(exhausted_.size(), 0);
        cursor_ = first_;
        return true;
    }

    [[nodiscard]] bool put(std::size_t of_class, node_index node, std::int64_t count) {
        const member_class<width>& from = members_->classes[of_class];
        const auto pods =
            members_->of(from).subspan(used_[of_class], static_cast<std::size_t>(count));
        if (!into_->try_place(pods, node, from.request, *from.claims, members_->queue))
            return false;
        used_[of_class] += pods.size();
        counts_[from.role.value()] += count;
        return true;
    }

    /// Puts down what a search found for these classes; false and nothing placed when an account
    /// cannot hold the sum.
    [[nodiscard]] bool put_all(const fit_problem<width>& problem,
                               const std::vector<std::int64_t>& counts,
                               const std::vector<std::size_t>& classes) {
        const savepoint start = into_->mark();
        used_before_ = used_;
        counts_before_ = counts_;
        for (std::size_t at = 0; at < classes.size(); ++at) {
            for (std::size_t row = 0; row < problem.rows.size(); ++row) {
                const std::int64_t here = counts[row * classes.size() + at];
                if (here == 0 || put(classes[at], problem.rows[row].node, here))
                    continue;
                into_->rollback(start);
                used_ = used_before_;
                counts_ = counts_before_;
                return false;
            }
        }
        used_before_ = used_;
        for (std::size_t turn = 0; turn < taken_.size(); ++turn) {
            std::size_t& more = used_before_[members_->turns[turn]];
            taken_[turn] = more > 0 ? 1 : 0;
            more -= more > 0 ? 1 : 0;
        }
        cursor_ = first_;
        return true;
    }

    /// Members of a subgroup that differ may fit though the order of their turns does not get
    /// there; were that left undecided, less room could serve where more did not.
    [[nodiscard]] bool search_for(std::size_t vertex) {
        if (!subgroups_.run(*known_, *members_, vertex, counts_, used_, domains_) ||
            !put_all(subgroups_.problem(), subgroups_.counts(), subgroups_.classes()))
            return false;
        domains_.settle(std::span(into_->placements()).subspan(others_));
        return true;
    }

    /// Nodes for up to `want` members of the class; `all` says that there is no more when it finds
    /// less.
    [[nodiscard]] std::int64_t find(const member_class<width>& from, std::int64_t want, bool& all) {
        all = finder_->exhaustive();
        if (!domains_.any())
            return finder_->find(*known_, from.shape, members_->queue_nodes, want, runs_);
        if (!domains_.confine(from.role.value(), among_)) {
            all = true;
            return 0;
        }
        if (among_.empty())
            return finder_->find(*known_, from.shape, members_->queue_nodes, want, runs_);
        // The last of them is the nearest above the role, and mostly lies in the others.
        const vertex_domain last = among_.back();
        among_.pop_back();
        all = scan_.exhaustive(finder_->score());
        return scan_.find(
            *known_, finder_->weights(), finder_->score(),
            known_->topologies()[last.within][*last.domain].nodes,
            [&](node_index node) {
                return admits(*known_, *members_->tree, among_, from.role.value(), node);
            },
            from.shape, members_->queue_nodes, members_->spec, want, runs_);
    }

    /// What an attempt changes, and what it is to be as before when it fails.
    [[nodiscard]] auto everything() noexcept {
        return std::tie(taken_, exhausted_, counts_, cursor_, used_, domains_.chosen());
    }
    struct attempt_frame {
        detail::sequence<detail::chosen_domain> ways;
        std::tuple<std::vector<char>, std::vector<char>, std::vector<std::int64_t>,
                   std::vector<std::size_t>, std::vector<std::size_t>,
                   detail::sequence<detail::chosen_domain>>
            before;
    };
    [[nodiscard]] attempt_frame& deeper() {
        if (depth_ == frames_.size())
            frames_.emplace_back();
        return frames_[depth_++];
    }

    /// Tries the domains that may be chosen for a vertex that must stand together until `attempt()`
    /// succeeds. An attempt that fails leaves no trace. If nothing was placed, nothing was decided.
    template<class Attempt>
    [[nodiscard]] auto in_some_domain(std::size_t at, const domain_sum<width>& least,
                                      const Attempt& attempt) {
        attempt_frame& mine = deeper();
        domains_.list(at, least, *finder_, order_, mine.ways);
        const savepoint start = into_->mark();
        mine.before = everything();
        auto outcome = decltype(attempt()){};
        for (const detail::chosen_domain& way : mine.ways) {
            into_->rollback(start);
            everything() = mine.before;
            domains_.chosen()[at] = way;
            outcome = attempt();
            if (!outcome)
                continue;
            if (into_->mark().entries == start.entries)
                domains_.chosen()[at] = {};
            --depth_;
            return outcome;
        }
        into_->rollback(start);
        domains_.chosen() = std::get<5>(mine.before);
        --depth_;
        return outcome;
    }

    /// Places up to `want` members of the class, each on the node that is best then, and returns
    /// how many; fewer only when no more of it can be placed. `whole` is none rather than fewer.
    [[nodiscard]] std::int64_t place_some(std::size_t of_class, std::int64_t want, bool whole) {
        const member_class<width>& from = members_->classes[of_class];
        const std::int64_t within =
            quota_room(into_->accounts(), members_->queue, from.request, want);
        if (whole && within < want)
            return 0;
        want = within;
        std::int64_t placed = 0;
        while (placed < want) {
            runs_.clear();
            const std::int64_t asked = want - placed;
            bool all = false;
            const std::int64_t found = find(from, asked, all);
            if (all && found < asked) {
                if (into_->size() == 0 && !domains_.any())
                    stopped_by_ = {of_class, found};
                if (whole)
                    return 0;
            }
            for (const node_run& run : runs_) {
                const bool fitted = put(of_class, run.node, run.count);
                MUSTER_ASSERT(fitted, "what the finder finds has room");
                static_cast<void>(fitted);
            }
            placed += found;
            if (found == 0 || (all && found < asked))
                break;
        }
        return placed;
    }

    /// The next members of the role that fit anywhere, at most `most`; 0 when there are none.
    [[nodiscard]] std::int64_t place_next(std::size_t role, std::int64_t most, bool whole = false) {
        if (domains_.any())
            if (const std::size_t open = domains_.first_open(role); open != domains_.none)
                return in_some_domain(open, {}, [&] { return place_next(role, most, whole); });
        std::size_t& turn = cursor_[role];
        const std::size_t end = first_[role + 1];
        while (turn < end) {
            const std::uint32_t of_class = members_->turns[turn];
            if (taken_[turn] || exhausted_[of_class]) {
                ++turn;
                continue;
            }
            std::int64_t alike = 1;
            for (std::size_t next = turn + 1; next < end && alike < most; ++next, ++alike)
                if (taken_[next] || members_->turns[next] != of_class)
                    break;
            const std::int64_t placed = place_some(of_class, alike, whole && alike == most);
            for (std::int64_t at = 0; at < placed; ++at)
                taken_[turn++] = 1;
            // Room and quota only shrink until a rollback, which forgets this.
            if (placed < alike)
                exhausted_[of_class] = 1;
            if (placed > 0)
                return placed;
        }
        return 0;
    }

    [[nodiscard]] bool satisfy(std::size_t vertex) {
        const gang_tree& tree = *members_->tree;
        if (domains_.any())
            if (const std::size_t open = domains_.first_open(vertex); open != domains_.none)
                return in_some_domain(
                    open, detail::least_demand(*members_, vertex, counts_, used_, demands_),
                    [&] { return satisfy(vertex); });
        if (tree.is_leaf(vertex)) {
            while (counts_[vertex] < tree[vertex].min_member)
                if (place_next(vertex, tree[vertex].min_member - counts_[vertex],
                               classes_in_[vertex] == 1) == 0)
                    return false;
            return true;
        }
        const auto all = static_cast<std::int64_t>(tree[vertex].children);
        const std::int64_t needed = tree[vertex].min_subgroups.value_or(all);
        std::int64_t met = 0;
        for (std::size_t child = vertex + 1; child < tree.size() && met < needed; ++child)
            if (tree[child].parent == vertex &&
                (needed == all ? satisfy(child) : try_satisfy(child)))
                ++met;
            else if (tree[child].parent == vertex && needed == all)
                return false;
        if (met < needed)
            return false;
        for (;;) {
            const std::int64_t missing = tree[vertex].min_member - standing_at(vertex);
            if (missing <= 0)
                break;
            if (!place_below(vertex, missing))
                return false;
        }
        return true;
    }

    /// As `satisfy`, but leaves no trace when it fails.
    [[nodiscard]] bool try_satisfy(std::size_t vertex) {
        const savepoint start = into_->mark();
        attempt_frame& mine = deeper();
        mine.before = everything();
        const bool met = satisfy(vertex);
        if (!met) {
            into_->rollback(start);
            everything() = mine.before;
        }
        --depth_;
        return met;
    }

    [[nodiscard]] std::int64_t standing_at(std::size_t vertex) {
        // Where all children are met, all that is held below them counts.
        if (flat_)
            return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
        return stand(*members_->tree, counts_, standing_).counts[vertex];
    }

    /// One more member, or in a flat tree as many as are wanted, of the first leaf below that has
    /// one, where every vertex between is met.
    [[nodiscard]] bool place_below(std::size_t vertex, std::int64_t most) {
        const gang_tree& tree = *members_->tree;
        if (flat_) {
            for (std::size_t leaf = 1; leaf < tree.size(); ++leaf)
                if (place_next(leaf, most) > 0)
                    return true;
            return false;
        }
        // A leaf of which no member can be placed leaves all as it was.
        stand(tree, counts_, standing_);
        for (std::size_t leaf = vertex + 1; leaf < tree.size(); ++leaf) {
            if (!tree.is_leaf(leaf))
                continue;
            std::size_t above = leaf;
            while (above > vertex && standing_.met[above])
                above = tree[above].parent;
            if (above == vertex && place_next(leaf, 1) > 0)
                return true;
        }
        return false;
    }

    void surplus(std::size_t vertex) {
        const gang_tree& tree = *members_->tree;
        if (tree.is_leaf(vertex)) {
            while (place_next(vertex, std::numeric_limits<std::int64_t>::max()) > 0) {
            }
            return;
        }
        for (std::size_t child = vertex + 1; child < tree.size(); ++child) {
            if (tree[child].parent != vertex)
                continue;
            if (flat_ || is_met(child) || try_satisfy(child) || search_for(child))
                surplus(child);
        }
    }

    /// One member more below the vertex, which is met, or one more of its subgroups.
    [[nodiscard]] bool one_more(std::size_t vertex, bool level) {
        const gang_tree& tree = *members_->tree;
        if (tree.is_leaf(vertex))
            return place_next(vertex, 1) > 0;
        // Above those of the vertices above this one.
        const std::size_t first = children_.size();
        add_children_by_need(tree, counts_, vertex, level, standing_, children_);
        const std::size_t last = children_.size();
        bool more = false;
        for (std::size_t at = first; at < last && !more; ++at) {
            const std::size_t child = children_[at].second;
            more = is_met(child) ? one_more(child, level) : try_satisfy(child) || search_for(child);
        }
        children_.resize(first);
        return more;
    }

    [[nodiscard]] bool is_met(std::size_t vertex) {
        return stand(*members_->tree, counts_, standing_).met[vertex] != 0;
    }

    const cluster_state<Traits>* known_ = nullptr;
    const gang_members<width>* members_ = nullptr;
    plan<width>* into_ = nullptr;
    /// Placements in it when the gang's began.
    std::size_t others_ = 0;
    Finder* finder_ = nullptr;
    DomainOrder order_{};
    detail::domain_choices<Traits> domains_;
    domain_scan<Traits, score_type> scan_;
    detail::affinity_placer<Traits, score_type> among_pods_;
    std::vector<vertex_domain> among_;
    bool flat_ = false;
    std::vector<node_run> runs_;
    std::optional<std::pair<std::size_t, std::int64_t>> stopped_by_;
    /// Per vertex (leaves only): classes of its members.
    std::vector<std::size_t> classes_in_;
    /// Per turn.
    std::vector<char> taken_;
    /// Per class: none of it fits any more.
    std::vector<char> exhausted_;
    /// Per vertex (leaves only): members holding, old and new.
    std::vector<std::int64_t> counts_;
    /// Per vertex: the first turn of its role; the next vertex's is the end.
    std::vector<std::size_t> first_;
    std::vector<std::size_t> cursor_;
    /// Per class: members placed; they go oldest first.
    std::vector<std::size_t> used_;
    // Scratch, kept from one gang to the next.
    std::vector<std::size_t> every_class_;
    std::vector<std::size_t> used_before_;
    std::vector<std::int64_t> counts_before_;
    tree_standing standing_;
    detail::sequence<domain_sum<width>> demands_;
    detail::sequence<std::pair<share, std::size_t>> children_;
    detail::subgroup_search<Traits> subgroups_;
    /// By depth: attempts lie in one another.
    std::deque<attempt_frame> frames_;
    std::size_t depth_ = 0;
};

} // namespace v0_1
} // namespace muster
