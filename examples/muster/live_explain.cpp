// SPDX-License-Identifier: Apache-2.0
#include "live_explain.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <muster/cycle/cycle.hpp>
#include <muster/explain/explain_kept.hpp>
#include <muster/problem/members.hpp>

#include "group_lines.hpp"
#include "headline.hpp"
#include "live_words.hpp"
#include "output.hpp"
#include "reason_lines.hpp"
#include "remedies.hpp"

namespace cli {

namespace {

/// Of the cycle that is shown, and of each try.
constexpr muster::budget search_limit{std::int64_t{1} << 14, std::int64_t{1} << 16};

} // namespace

std::optional<std::string> live_explainer::operator()(const std::string& name) {
    request asked;
    asked.how = *how_;
    std::string text;
    for (const auto& [key, which] : known_->gang_keys())
        if (full_name(key) == name)
            text += (text.empty() ? "" : "\n") + explanation(line_of_gang(which), asked, true);
    return text.empty() ? std::nullopt : std::optional(std::move(text));
}

void live_explainer::look_ahead() {
    if (next_)
        return;
    now_ = cluster_->now().wall;
    const auto size = static_cast<std::int64_t>(
        known_->node_order().size() + known_->pod_keys().size() + known_->gang_keys().size());
    tries_left_ =
        std::clamp<std::int64_t>(most_objects / std::max<std::int64_t>(1, size), 1, most_tries);
    next_.emplace(plan{*known_, {}});
    // A gang that is not asked again has no shortage that evictions leave.
    for (const auto& [key, which] : known_->gang_keys())
        if ((*known_)[which].placeable > 0)
            next_->state.recall(which);
    muster::cycle_options options;
    options.list_all = true;
    muster::cycle(next_->state, now_, live_policy(*how_), search_limit, options, next_->result);
    waiting_positions waiting;
    for (muster::decision& each : next_->result.decisions) {
        // The scheduler's own cycles have more steps.
        const muster::last_verdict& last = (*known_)[each.gang].last;
        if (each.outcome.kind == muster::answer::undecided && last.is_known) {
            each.outcome.kind = last.kind;
            each.outcome.at = last.at;
        }
        const bool is_first = next_->decision_of.emplace(each.gang, &each).second;
        if (is_first && has_position(next_->state, each))
            next_->position_of.emplace(each.gang, waiting.next(next_->state[each.gang].queue));
    }
}

group_line live_explainer::line_of_gang(muster::gang_index which) {
    look_ahead();
    live_state& state = next_->state;
    const auto& gang = (*known_)[which];
    muster::decision unlisted;
    unlisted.gang = which;
    unlisted.outcome.kind = gang.last.kind;
    const auto at = next_->decision_of.find(which);
    const muster::decision& decision = at != next_->decision_of.end() ? *at->second : unlisted;
    group_line line = line_of(state, decision);
    if (gang.nominated > 0)
        line.answer = "nominated";
    for (const muster::pod_index pod : gang.members) {
        line.members += (*known_)[pod].alive() || is_gated((*known_)[pod]) ? 1 : 0;
        line.holding += (*known_)[pod].holding() && !(*known_)[pod].nominated ? 1 : 0;
    }
    const muster::kind_table& kinds = cluster_->objects().kinds();
    if (line.is_settled()) {
        const muster::without_reservations<muster::core_of<live_cluster::traits>> all_free(state);
        line.surplus = surplus_lines(
            state, which, explain_options_of(*cluster_, muster::answer::admitted),
            [&](const muster::codec::object_key& pod) {
                return live_facts{cluster_, state.key(which), queue_name(state, gang.queue), &pod};
            });
        return line;
    }
    if (const auto found = next_->position_of.find(which); found != next_->position_of.end())
        line.position = found->second;
    line.kept = kept_for(state, kinds, which);
    if (how_->evicts())
        line.short_after_evictions = shortage_of(decision, kinds);
    const muster::explain_options options = explain_options_of(*cluster_, decision.outcome.kind);
    muster::without_reservations<muster::core_of<live_cluster::traits>> all_free(state);
    line.reasons = reason_lines(
        state, kinds, which, *options.scope, all_free.explain(which, options),
        live_facts{cluster_, state.key(which), queue_name(state, gang.queue), nullptr});
    line.headline = headline(state, kinds, muster::members_of(state, which), decision.outcome.at,
                             how_->score_of<live_width>(), line.reasons);
    muster::what_helps_options search;
    search.probes = tries_left_;
    search.limit = search_limit;
    const change_teller<live_width> tell(*known_, kinds, cluster_->objects().storage().plan(),
                                         which, request{}.default_namespace);
    tries_left_ -= add_changes(*known_, which, now_, live_policy(*how_), search, tell,
                               node_copies{&kinds, &cluster_->objects().storage().plan()}, line);
    return line;
}

} // namespace cli
