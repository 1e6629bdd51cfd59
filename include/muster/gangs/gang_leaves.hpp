// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/document/json_text.hpp>
#include <muster/gangs/gang_marks.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/job_object.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {
/// Returns true if the tree requires the pods of a leaf to stand in one domain of this node label.
/// O(depth).
[[nodiscard]] inline bool keeps_together(const gang_tree& tree, vertex_index leaf,
                                         std::string_view label) {
    for (std::size_t at = leaf.value();; at = tree[at].parent) {
        const auto& asked = tree[at].together;
        if (asked && asked->required && asked->within.levels[*asked->required] == label)
            return true;
        if (at == 0)
            return false;
    }
}

namespace detail {

/// Kueue's podsets are the pods of one template, or of several that share a group's name. What
/// their annotations say of closeness holds for all pods of one podset.
class podsets {
public:
    explicit podsets(planned_gang& of) : of_(&of) {}

    void keep_close() {
        std::vector<const pod_series*> seen;
        for (const pod_series& each : of_->series) {
            if (each.loose || (!seen.empty() && seen.back()->pod_template == each.pod_template))
                continue;
            const boost::json::object* const said = annotations_of(each.pod_template);
            if (!said || std::ranges::any_of(
                             seen, [&](const pod_series* other) { return same(*other, each); }))
                continue;
            seen.push_back(&each);
            keep_close(each, *said);
        }
    }

private:
    [[nodiscard]] static std::string_view group_of(const pod_series& series) {
        return translate::find_text(annotations_of(series.pod_template), keys::kueue_podset_group)
            .value_or("");
    }
    [[nodiscard]] static bool same(const pod_series& one, const pod_series& other) {
        return one.pod_template == other.pod_template ||
               (!group_of(one).empty() && group_of(one) == group_of(other));
    }
    /// The lowest vertex that has all pods of the podset below it; nothing when others are there
    /// too.
    [[nodiscard]] std::optional<vertex_index> vertex_of(const pod_series& podset) const {
        const gang_tree& tree = of_->gang.tree;
        std::vector<std::int64_t> own(tree.size());
        std::vector<std::int64_t> all(tree.size());
        std::int64_t sum = 0;
        for (const pod_series& each : of_->series) {
            if (each.loose)
                continue;
            const bool one_of_it = same(each, podset);
            sum += one_of_it ? each.count : 0;
            for (std::size_t at = each.leaf.value();; at = tree[at].parent) {
                all[at] += each.count;
                own[at] += one_of_it ? each.count : 0;
                if (at == 0)
                    break;
            }
        }
        for (std::size_t at = tree.size(); at-- > 0;)
            if (own[at] == sum)
                return all[at] == sum ? std::optional(vertex_index{at}) : std::nullopt;
        return std::nullopt;
    }

    void keep_close(const pod_series& podset, const boost::json::object& said) {
        if (auto asked = closeness_asked(&said, keys::kueue_required, keys::kueue_preferred)) {
            const auto at = vertex_of(podset);
            if (!at) {
                lose(said, keys::kueue_required, loss_kind::topology_required);
                lose(said, keys::kueue_preferred, loss_kind::topology_preferred);
            } else if (!of_->gang.tree[at->value()].together) {
                of_->gang.tree.constrain_topology(*at, std::move(*asked));
            }
        }
        const auto slice = one_domain(
            translate::find_text(&said, keys::kueue_slice_required).value_or(std::string_view{}));
        if (!slice)
            return;
        if (!in_slices(podset, translate::find_text(&said, keys::kueue_slice_size).value_or("")))
            return lose(said, keys::kueue_slice_required, loss_kind::topology_required);
        for (const pod_series& each : of_->series)
            if (!each.loose && same(each, podset) && !of_->gang.tree[each.leaf.value()].together)
                of_->gang.tree.constrain_topology(each.leaf, *slice);
    }

    /// Whether each of the podset's leaves is one slice.
    [[nodiscard]] bool in_slices(const pod_series& podset, std::string_view size) const {
        for (const pod_series& each : of_->series)
            if (!each.loose && same(each, podset) &&
                (std::to_string(each.count) != size || shared(each)))
                return false;
        return true;
    }
    [[nodiscard]] bool shared(const pod_series& series) const {
        for (const pod_series& each : of_->series)
            if (&each != &series && !each.loose && each.leaf == series.leaf)
                return true;
        return false;
    }

    /// A gang cannot say it, and neither can any of the APIs.
    void lose(const boost::json::object& said, std::string_view key, loss_kind what) {
        if (const auto value = translate::find_text(&said, key))
            of_->gang.own_words.push_back(
                {gang_api::none, what, std::string(key), boost::json::string(*value)});
    }

    planned_gang* of_;
};

} // namespace detail

/// Fills in how many pods there are to be below each leaf, and how close Kueue's annotations of
/// their templates want them.
inline void settle_leaves(planned_gang& planned) {
    std::vector<std::int64_t> counts(planned.gang.tree.size());
    for (const pod_series& series : planned.series)
        if (!series.loose)
            counts[series.leaf.value()] += series.count;
    planned.gang.sizes.clear();
    for (std::size_t at = 0; at < counts.size(); ++at)
        if (planned.gang.tree.is_leaf(at))
            planned.gang.sizes.push_back({vertex_index{at}, counts[at]});
    detail::podsets(planned).keep_close();
}

} // namespace translate
} // namespace v0_1
} // namespace muster
