// SPDX-License-Identifier: Apache-2.0
#include "live_explain.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <muster/cycle/cycle.hpp>
#include <muster/explain/explain_kept.hpp>
#include <muster/problem/members.hpp>
#include <muster/words/headline.hpp>

#include "../plan/group_lines.hpp"
#include "../plan/planning.hpp"
#include "../plan/reason_lines.hpp"
#include "../plan/remedies.hpp"
#include "../plan/volume_changes.hpp"
#include "../print/output.hpp"
#include "live_words.hpp"

namespace cli {

namespace codec = muster::codec;

std::optional<std::string> live_explainer::operator()(const std::string& name) {
    request asked;
    asked.how = how_;
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
    next_.emplace(plan{*known_, {}});
    // A gang that is not asked again has no shortage that evictions leave.
    for (const auto& [key, which] : known_->gang_keys())
        if ((*known_)[which].placeable > 0)
            next_->state.recall(which);
    muster::cycle_options options;
    options.list_all = true;
    muster::cycle(next_->state, now_, live_policy(how_), {}, options, next_->result);
    waiting_positions waiting;
    for (const muster::decision& each : next_->result.decisions) {
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
        line.members += (*known_)[pod].alive() || (*known_)[pod].gated() ? 1 : 0;
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
    if (how_.evicts())
        line.short_after_evictions = shortage_of(decision, kinds);
    const muster::explain_options options = explain_options_of(*cluster_, decision.outcome.kind);
    muster::without_reservations<muster::core_of<live_cluster::traits>> all_free(state);
    line.reasons = reason_lines(
        state, kinds, which, *options.scope, all_free.explain(which, options),
        live_facts{cluster_, state.key(which), queue_name(state, gang.queue), nullptr});
    line.headline =
        muster::words::headline(state, kinds, muster::members_of(state, which), decision.outcome.at,
                                how_.score_of<live_width>(), line.reasons);
    find_changes(which, line);
    return line;
}

/// The same search, and the same number of tries, as those of `muster explain` with files.
void live_explainer::find_changes(muster::gang_index which, group_line& line) {
    const codec::group_key& key = known_->key(which);
    const muster::kind_table& kinds = cluster_->objects().kinds();
    const codec::volume_plan& volumes = cluster_->objects().storage().plan();
    request asked;
    asked.how = how_;
    asked.now = now_;
    asked.queue_namespace = cluster_->objects().options().queue_namespace;
    asked.topology = cluster_->objects().options().levels.levels;
    muster::what_helps_options search;
    search.probes = affordable_tries(static_cast<std::int64_t>(
        known_->node_order().size() + known_->pod_keys().size() + known_->gang_keys().size()));
    const change_teller<live_width> tell(*known_, kinds, volumes, which, asked.default_namespace);
    static_cast<void>(add_changes(*known_, which, now_, live_policy(how_), search, tell,
                                  node_copies{&kinds, &volumes}, line));
    const group_with_volumes group{
        key,
        live_facts{cluster_, key, queue_name(*known_, (*known_)[which].queue), nullptr}.volumes()};
    if (!group.volumes.empty())
        static_cast<void>(correct_changes(cluster_->copies(), asked, group,
                                          search.probes / tries_of_trial, line));
}

} // namespace cli
