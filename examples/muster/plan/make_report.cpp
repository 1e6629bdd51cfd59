// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include <boost/json/array.hpp>

#include <muster/advice/forecast.hpp>
#include <muster/apis/core/claims/device_assignment.hpp>
#include <muster/apis/core/volumes/volume_words.hpp>
#include <muster/apis/t9k/pod_group_status.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/explain/explain_kept.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/queue_status.hpp>
#include <muster/muster.hpp>
#include <muster/words/headline.hpp>

#include "check_plan.hpp"
#include "group_lines.hpp"
#include "planning.hpp"
#include "proof.hpp"
#include "queue_lines.hpp"
#include "reason_lines.hpp"
#include "remedies.hpp"
#include "volume_changes.hpp"

namespace cli {
namespace {

using namespace muster::codec;

template<std::size_t Width>
class reporter {
    using traits = kubernetes_traits<Width>;

public:
    reporter(cluster<Width>& known, const request& asked)
        : known_(&known), asked_(&asked), how_(policy_of<traits>(asked, known)) {}

    report run() {
        const auto& state = known_->state;
        if (!is_everybody_selected())
            for (const pod_object& pod : known_->objects->pods)
                labels_.emplace(pod.metadata.key, &pod.metadata.labels);
        report made;
        made.now = known_->now;
        std::map<muster::gang_index, std::size_t> held;
        std::map<muster::gang_index, bool> listed;
        for (const auto& [key, group] : state.gang_keys()) {
            listed[group] = (asked_->all_groups || is_listed(group)) && is_selected(group);
            for (const muster::pod_index member : state[group].members)
                held[group] += state[member].holding() ? 1U : 0U;
        }

        made.gpus_before = use_of_gpus(*known_);
        made.queues = queue_lister<Width>(*known_).list();
        find_statuses(made.queues);
        keep_selected(made.queues);
        std::map<muster::queue_index, muster::resources<Width>> used;
        for (const auto& [key, queue] : state.queue_keys())
            used[queue] = state.accounts().used(queue);

        muster::cycle_options options;
        options.list_all = true;
        limit_ = budget_of(*asked_);
        tries_ = asked_->tries ? *asked_->tries : affordable_tries(size());
        if (tries_ > 0)
            before_ = known_->state;
        tries_left_ = tries_ * 4;
        if (asked_->forecast)
            look_ahead();
        const auto result = muster::cycle(known_->state, known_->now, how_, limit_, options);

        placements placed;
        placements placed_later;
        std::set<object_key> gone;
        std::set<object_key> moved;
        bool nominates = false;
        for (const muster::decision& decision : result.decisions) {
            nominates = nominates || decision.nominated;
            for (const muster::pod_index victim : decision.evictions) {
                gone.insert(state.key(victim));
                listed[state[victim].gang] = is_selected(state[victim].gang);
                evicted_for_.emplace(victim, decision.gang);
            }
            for (const muster::placement& one : decision.moves) {
                moved.insert(state.key(one.pod));
                placed_later.emplace(state.key(one.pod), state.key(one.node));
                moves_to_.emplace(one.pod, one.node);
            }
            for (const muster::placement& one : decision.placements) {
                placed_later.emplace(state.key(one.pod), state.key(one.node));
                if (decision.nominated)
                    continue;
                placed.emplace(state.key(one.pod), state.key(one.node));
                placed_.insert(one.pod);
            }
        }
        waiting_positions waiting;
        std::map<muster::gang_index, std::size_t> line_of;
        for (const muster::decision& decision : result.decisions) {
            const auto queue = state[decision.gang].queue;
            const share_line share =
                queue ? share_of(used[*queue], state[*queue].spec.quota, known_->kinds)
                      : share_line{};
            for (auto at = queue; at; at = state[*at].parent)
                for (const muster::placement& one : decision.placements)
                    for (std::size_t column = 0; column < Width; ++column)
                        used[*at][column] += state.request(one.pod)[column];
            if (!listed[decision.gang])
                continue;
            // If surplus is placed in separate turns, its decisions are added to the first line.
            const auto told = line_of.try_emplace(decision.gang, made.groups.size());
            if (!told.second) {
                add_surplus(decision, made.groups[told.first->second]);
                continue;
            }
            group_line line = group_of(decision);
            line.queue_priority = queue ? state[*queue].spec.priority : 0;
            line.share = share;
            if (const auto& born = state[decision.gang].spec.created;
                born != std::numeric_limits<timestamp>::max())
                line.created = born;
            line.holding = static_cast<std::int64_t>(held[decision.gang]);
            if (line.answer == "waiting" || line.answer == "undecided") {
                if (has_position(state, decision))
                    line.position = waiting.next(queue);
                if (const auto start = starts_.find(decision.gang); start != starts_.end())
                    line.expected_start = start->second;
            }
            if (tries_ > 0 && !line.is_settled() && is_wanted(line))
                look_for_changes(decision.gang, line);
            made.groups.push_back(std::move(line));
        }
        const muster::codec::device_assignment assigned(*known_->objects, placed, {});
        for (group_line& line : made.groups)
            for (placed_line& each : line.placements)
                if (const auto* const devices = assigned.of({line.name_space, each.pod});
                    devices && !each.nominated)
                    each.devices = *devices;
        for (const auto& [key, pod] : state.pod_keys()) {
            if (is_everybody_selected() || asked_->groups_with.matches(*labels_.at(key)))
                made.pods.push_back(pod_of(pod));
            const auto& record = state[pod];
            if (is_selected(record.gang) &&
                (record.placeable() || record.nominated || record.gated()))
                ++made.pods_pending;
        }
        for (const muster::node_index node : state.node_order())
            made.nodes += state[node].present ? 1U : 0U;
        made.resources = use_of_nodes();
        made.gpus = use_of_gpus(*known_);
        if (asked_->node_lines)
            made.node_lines = list_nodes();
        for (const muster::decision& decision : result.decisions) {
            if (!is_selected(decision.gang))
                continue;
            (decision.nominated ? made.pods_nominated : made.pods_placed) +=
                decision.placements.size();
            made.pods_evicted += decision.evictions.size();
            made.pods_moved += decision.moves.size();
        }
        made.search_steps = result.counters.search_steps;
        made.violations =
            violations_of(*known_->objects, known_->groups, placed, asked_->queue_namespace);
        if (nominates) {
            // What is placed later is judged in the cluster as it will be then.
            for (const pod_object& pod : known_->objects->pods)
                if (pod.metadata.terminating)
                    gone.insert(pod.metadata.key);
            // The replacement of a pod that moves is a copy of it that waits for a node.
            manifests later;
            if (!moved.empty())
                later = *known_->objects;
            for (pod_object& pod : later.pods)
                if (moved.contains(pod.metadata.key)) {
                    pod.node.clear();
                    pod.phase = muster::pod_phase::pending;
                    gone.erase(pod.metadata.key);
                }
            for (std::string& each :
                 violations_of(moved.empty() ? *known_->objects : later, known_->groups,
                               placed_later, asked_->queue_namespace, gone))
                if (std::ranges::find(made.violations, each) == made.violations.end())
                    made.violations.push_back(std::move(each));
        }
        std::ranges::move(faults_, std::back_inserter(made.violations));
        return made;
    }

private:
    void find_statuses(std::vector<queue_line>& queues) const {
        auto standings = queue_standings(*known_->objects, known_->groups);
        std::map<std::string_view, const queue_object*> objects;
        for (const queue_object& queue : known_->objects->queues)
            if (queue.metadata.key.name_space == asked_->queue_namespace)
                objects.emplace(queue.metadata.key.name, &queue);
        for (queue_line& line : queues)
            if (const auto known = objects.find(line.name); known != objects.end())
                line.status = status_of(*known->second, standings[line.name]);
    }

    [[nodiscard]] bool is_everybody_selected() const {
        return asked_->groups_with.requirements.empty();
    }

    /// By the labels of its object; where it has none, by those of any of its pods.
    [[nodiscard]] bool is_selected(muster::gang_index group) const {
        if (is_everybody_selected())
            return true;
        const auto& facts = facts_of(group);
        if (facts.object || facts.declared)
            return asked_->groups_with.matches(facts.object ? facts.object->metadata.labels
                                                            : facts.declared->metadata.labels);
        return std::ranges::any_of(facts.members, [&](std::size_t member) {
            return asked_->groups_with.matches(known_->objects->pods[member].metadata.labels);
        });
    }

    /// Groups that name no queue have no labels for this.
    void keep_selected(std::vector<queue_line>& queues) const {
        if (asked_->queues_with.requirements.empty())
            return;
        std::set<std::string_view> kept;
        for (const queue_object& queue : known_->objects->queues)
            if (queue.counts(asked_->queue_namespace) &&
                asked_->queues_with.matches(queue.metadata.labels))
                kept.insert(queue.metadata.key.name);
        std::erase_if(queues, [&](const queue_line& line) { return !kept.contains(line.name); });
    }

    [[nodiscard]] const auto& facts_of(muster::gang_index group) const {
        return known_->groups.at(known_->state.key(group));
    }

    [[nodiscard]] bool is_wanted(const group_line& line) const {
        const std::string& named = asked_->changes_of;
        return named.empty() || named == line.name || named == line.name_space + "/" + line.name;
    }

    /// When a pod ends, as far as it or its queue declares.
    [[nodiscard]] std::optional<timestamp> end_of(const pod_object& pod, const std::string& queue,
                                                  std::optional<timestamp> start) const {
        const auto begun = start           ? start
                           : pod.started   ? pod.started
                           : pod.scheduled ? pod.scheduled
                                           : pod.metadata.created;
        std::optional<timestamp> end;
        std::int64_t sum = 0;
        if (begun && pod.run_time && !__builtin_add_overflow(*begun, *pod.run_time, &sum))
            end = sum;
        const auto age = max_ages_.find(queue);
        const auto born = pod.metadata.created ? pod.metadata.created : begun;
        if (age != max_ages_.end() && born && !__builtin_add_overflow(*born, age->second, &sum))
            end = std::min(end.value_or(sum), sum);
        return end;
    }

    void look_ahead() {
        const auto& state = known_->state;
        std::map<object_key, const pod_object*> objects;
        for (const pod_object& pod : known_->objects->pods)
            objects.emplace(pod.metadata.key, &pod);
        for (const queue_object& queue : known_->objects->queues)
            if (queue.max_duration && queue.counts(asked_->queue_namespace))
                max_ages_.emplace(queue.metadata.key.name, *queue.max_duration);
        muster::forecast_options options;
        options.limit = limit_;
        const auto ahead = muster::forecast(
            state, known_->now, how_,
            [&](muster::pod_index pod, std::optional<timestamp> start) {
                return end_of(*objects.at(state.key(pod)), facts_of(state[pod].gang).queue, start);
            },
            options);
        for (const muster::expected_start& each : ahead.starts)
            starts_.emplace(each.gang, each.at);
    }

    /// Nodes, pods and groups.
    [[nodiscard]] std::int64_t size() const {
        const auto& objects = *known_->objects;
        return static_cast<std::int64_t>(objects.nodes.size() + objects.pods.size() +
                                         objects.pod_groups.size());
    }

    void look_for_changes(muster::gang_index which, group_line& line) {
        muster::what_helps_options options;
        options.probes = std::min(tries_, tries_left_);
        options.limit = limit_;
        const change_teller<Width> tell(before_, known_->kinds, known_->volumes, which,
                                        asked_->default_namespace);
        tries_left_ -= add_changes(before_, which, known_->now, how_, options, tell,
                                   node_copies{&known_->kinds, &known_->volumes}, line);
        const group_with_volumes group{known_->state.key(which), volumes_of(facts_of(which))};
        if (!group.volumes.empty())
            tries_left_ -= tries_of_trial * correct_changes(*known_->objects, *asked_, group,
                                                            options.probes / tries_of_trial, line);
    }

    [[nodiscard]] std::map<std::string, resource_use> use_of_nodes() const {
        const auto& state = known_->state;
        std::map<std::string, resource_use> found;
        for (std::size_t column = 0; column < known_->kinds.size(); ++column) {
            muster::int128 allocatable = 0;
            muster::int128 requested = 0;
            for (const muster::node_index node : state.node_order()) {
                if (!state[node].present)
                    continue;
                const auto& accounts = state.accounts();
                allocatable += accounts.allocatable(node)[column];
                requested += accounts.allocatable(node)[column] - accounts.free(node)[column];
            }
            found[known_->kinds.name(muster::kind_id{column})] = {muster::saturate(allocatable),
                                                                  muster::saturate(requested)};
        }
        return found;
    }

    /// Returns the resource kinds that pods request, without the kind that counts pods: devices
    /// first, then cpu and memory, each part by name.
    [[nodiscard]] std::vector<muster::kind_id> requested_kinds() const {
        const auto& state = known_->state;
        std::vector<muster::kind_id> found;
        for (std::size_t column = 0; column < known_->kinds.size(); ++column) {
            const muster::kind_id kind{column};
            if (kind != state.pods_kind() &&
                std::ranges::any_of(state.pod_keys(), [&](const auto& each) {
                    return state.request(each.second)[kind] > 0;
                }))
                found.push_back(kind);
        }
        std::ranges::sort(found, {}, [&](muster::kind_id kind) {
            const std::string& name = known_->kinds.name(kind);
            return std::pair(name.find('/') == name.npos, name);
        });
        return found;
    }

    [[nodiscard]] std::vector<node_line> list_nodes() const {
        const auto& state = known_->state;
        const std::vector<muster::kind_id> kinds = requested_kinds();
        std::vector<node_line> lines;
        std::map<muster::node_index, std::size_t> line_of;
        for (const muster::node_index node : state.node_order()) {
            if (!state[node].present)
                continue;
            node_line line;
            line.name = state.key(node);
            line.unschedulable = state[node].spec.unschedulable;
            const auto add = [&](muster::kind_id kind) {
                const std::int64_t all = state.accounts().allocatable(node)[kind];
                if (all > 0)
                    line.uses.push_back({known_->kinds.name(kind),
                                         all,
                                         all - state.accounts().free(node)[kind],
                                         {},
                                         0});
            };
            std::ranges::for_each(kinds, add);
            if (line.uses.empty() && state.pods_kind())
                add(*state.pods_kind());
            line_of.emplace(node, lines.size());
            lines.push_back(std::move(line));
        }
        // Pods that leave no longer count when the nominated pods start.
        std::set<muster::node_index> changes;
        for (const auto& [key, pod] : state.pod_keys())
            if (state[pod].nominated)
                changes.insert(*state[pod].node);
        for (const auto& [key, gang] : state.gang_keys())
            for (const muster::pod_index index : state[gang].members) {
                const auto& pod = state[index];
                if (!pod.charged() || !line_of.contains(*pod.node))
                    continue;
                node_line& line = lines[line_of.at(*pod.node)];
                if (pod.charged_as() == muster::allocation::releasing &&
                    changes.contains(*pod.node)) {
                    ++line.leaving;
                    continue;
                }
                for (node_use& use : line.uses) {
                    const std::int64_t amount = state.request(index)[*known_->kinds.find(use.kind)];
                    if (amount == 0)
                        ++use.others;
                    else
                        use.pods.push_back({state.key(index).name_space, state.key(index).name,
                                            key.name, amount, placed_.contains(index),
                                            pod.nominated});
                }
            }
        return lines;
    }

    /// A declared group always; others only when something of them waits.
    [[nodiscard]] bool is_listed(muster::gang_index group) const {
        const auto& state = known_->state;
        return facts_of(group).object || facts_of(group).declared ||
               std::ranges::any_of(state[group].members, [&](muster::pod_index member) {
                   const auto& pod = state[member];
                   return !pod.node && !pod.terminal() && !pod.terminating;
               });
    }

    [[nodiscard]] pod_line pod_of(muster::pod_index index) const {
        const auto& state = known_->state;
        const auto& pod = state[index];
        pod_line line;
        line.name_space = state.key(index).name_space;
        line.name = state.key(index).name;
        line.role = role_name(state[pod.gang].spec.tree, pod.role);
        line.placed_now = placed_.contains(index);
        if (pod.node)
            line.node = state.key(*pod.node);
        switch (pod.phase) {
        case muster::pod_phase::gated:
            line.status = "SchedulingGated";
            break;
        case muster::pod_phase::bound:
            line.status = "ContainerCreating";
            break;
        case muster::pod_phase::running:
            line.status = "Running";
            break;
        case muster::pod_phase::succeeded:
            line.status = "Completed";
            break;
        case muster::pod_phase::failed:
            line.status = "Error";
            break;
        case muster::pod_phase::unknown:
            line.status = "Unknown";
            break;
        case muster::pod_phase::pending:
            line.status = "Pending";
            break;
        }
        if (pod.nominated)
            line.status = "Nominated";
        if (pod.evicted)
            line.status = moves_to_.contains(index) ? "Moved" : "Evicted";
        if (pod.terminating)
            line.status = "Terminating";
        return line;
    }

    void add_surplus(const muster::decision& decision, group_line& to) const {
        add_placements(known_->state, decision, to);
        to.waited += decision.placements.size();
        if (decision.nominated)
            to.waits += decision.placements.size();
    }

    [[nodiscard]] group_line group_of(const muster::decision& decision) {
        const auto& state = known_->state;
        const auto& group = state[decision.gang];
        const auto& facts = facts_of(decision.gang);
        const muster::gang_tree& tree = group.spec.tree;
        const auto& outcome = decision.outcome;
        group_line line = line_of(state, decision);
        line.origin = to_text(state.key(decision.gang).origin);

        group_standing standing;
        standing.object = facts.object;
        const auto now_holding = muster::members_of(state, decision.gang);
        standing.sufficient = muster::reaches_minima(tree, now_holding.alive);
        standing.scheduled = muster::reaches_minima(tree, placed_of(decision.gang));
        for (const std::size_t member : facts.members) {
            const pod_object& object = known_->objects->pods[member];
            const muster::pod_index index = state.pod_keys().at(object.metadata.key);
            const auto& pod = state[index];
            line.pods.push_back(pod_of(index));
            standing.members.push_back(&object);
            if (pod.charged() && !pod.nominated)
                standing.allocated.push_back(&object);
            line.members += pod.alive() || pod.gated() ? 1 : 0;
            line.waits += pod.placeable() ? 1U : 0U;
            line.gated += pod.gated() ? 1U : 0U;
            if (const auto to = evicted_for_.find(index); to != evicted_for_.end())
                line.lost.push_back(
                    {state.key(index).name, full_name(state.key(to->second)), new_node_of(index)});
        }
        line.waited = line.waits + decision.placements.size();
        if (decision.nominated)
            line.waits = line.waited;
        const bool stands =
            std::ranges::any_of(now_holding.holding, [](std::int64_t count) { return count > 0; });
        if (!line.lost.empty() && !(stands && muster::reaches_minima(tree, now_holding.holding)))
            line.answer = "evicted";
        if (facts.object)
            line.status = status_of(standing, known_->now);
        if (line.is_settled()) {
            line.gate.reset();
            if (line.answer != "evicted" && asked_->surplus_reasons && is_wanted(line))
                line.surplus = surplus_of(decision.gang);
            return line;
        }
        line.kept = kept_for(state, known_->kinds, decision.gang);
        if (asked_->evicts())
            line.short_after_evictions = shortage_of(decision, known_->kinds);
        // The members are those that the proof is about, as long as none was lost since.
        if (outcome.proof && line.lost.empty())
            line.certificate = certificate_of(decision, now_holding);
        if (!asked_->reasons)
            return line;
        // Reasons are computed without reserved room. If there are none, the reservations are the
        // reason.
        muster::without_reservations<muster::core_of<traits>> all_free(known_->state);
        line.reasons = reasons_of(decision, now_holding, all_free);
        if (asked_->headlines)
            line.headline = muster::words::headline(state, known_->kinds, now_holding, outcome.at,
                                                    how_.score, line.reasons);
        return line;
    }

    /// Explains the waiting members of a group that meets its minima.
    [[nodiscard]] std::vector<surplus_line> surplus_of(muster::gang_index which) {
        muster::explain_options options;
        options.kinds = &known_->kinds;
        const muster::without_reservations<muster::core_of<traits>> all_free(known_->state);
        return surplus_lines(known_->state, which, options, [&](const object_key& pod) {
            return told_facts{this, &facts_of(which), &pod};
        });
    }

    [[nodiscard]] std::string new_node_of(muster::pod_index pod) const {
        const auto to = moves_to_.find(pod);
        return to == moves_to_.end() ? std::string() : known_->state.key(to->second);
    }

    /// Per vertex: members that were placed by now, whether or not they are to go; not those that
    /// are nominated.
    [[nodiscard]] std::vector<std::int64_t> placed_of(muster::gang_index group) const {
        const auto& state = known_->state;
        std::vector<std::int64_t> counts(state[group].spec.tree.size(), 0);
        for (const muster::pod_index member : state[group].members) {
            auto pod = state[member];
            pod.evicted = false;
            if (pod.holding() && !pod.nominated && pod.role.value() < counts.size())
                ++counts[pod.role.value()];
        }
        return counts;
    }

    /// Returns what exactly is wrong with a group, or with its members. With `only`, returns what
    /// is wrong with that member.
    [[nodiscard]] std::string detail_of(const group_facts& facts,
                                        const object_key* only = nullptr) const {
        if (!facts.fault_detail.empty())
            return facts.fault_detail;
        if (!facts.unsupported.empty())
            return facts.unsupported;
        std::string out;
        std::size_t others = 0;
        for (const std::size_t member : facts.members) {
            const pod_object& pod = known_->objects->pods[member];
            const auto index = known_->state.pod_keys().at(pod.metadata.key);
            if ((only && pod.metadata.key != *only) || !known_->state[index].placeable() ||
                !known_->state.where(index).value.unsupported)
                continue;
            if (!out.empty()) {
                ++others;
                continue;
            }
            out = "pod " + pod.metadata.key.name + ": ";
            const std::vector<std::string> all =
                muster::codec::unmodelled_of(pod, known_->volumes.find(pod.metadata.key));
            for (std::size_t at = 0; at < all.size(); ++at)
                out += (at > 0 ? ", " : "") + all[at];
            if (all.empty())
                out += "required anti-affinity of a pod that stands already";
        }
        if (out.empty())
            return waiting_volumes_text(volumes_of(facts, only));
        return out + muster::codec::more_text(others, "pod");
    }

    /// What `reason_lines` asks of a group.
    struct told_facts {
        const reporter* from;
        const group_facts* facts;
        /// The member to which the facts are restricted; null = all members.
        const object_key* only = nullptr;

        [[nodiscard]] std::string detail(muster::reason_code) const {
            return from->detail_of(*facts, only);
        }
        [[nodiscard]] std::set<std::string> gates() const { return from->gates_of(*facts); }
        [[nodiscard]] volumes_of_pods volumes() const { return from->volumes_of(*facts, only); }
        [[nodiscard]] const muster::codec::volume_plan& volume_plan() const {
            return from->known_->volumes;
        }
        [[nodiscard]] const std::string& queue() const { return facts->queue; }
        template<class Write>
        [[nodiscard]] const std::string& filter_text(const muster::words::node_filter_key& of,
                                                     const Write& write) const {
            const auto [at, fresh] = from->filter_texts_.try_emplace(of);
            if (fresh)
                at->second = write();
            return at->second;
        }
    };

    /// Returns the scheduling gates of the group's gated members.
    [[nodiscard]] std::set<std::string> gates_of(const group_facts& facts) const {
        std::set<std::string> found;
        for (const std::size_t member : facts.members) {
            const pod_object& pod = known_->objects->pods[member];
            if (pod.phase == muster::pod_phase::gated)
                found.insert(pod.gates.begin(), pod.gates.end());
        }
        return found;
    }

    /// Returns the volume effects of the group's waiting members, or of `only` one of them.
    [[nodiscard]] volumes_of_pods volumes_of(const group_facts& facts,
                                             const object_key* only = nullptr) const {
        volumes_of_pods found;
        for (const std::size_t member : facts.members) {
            const object_key& key = known_->objects->pods[member].metadata.key;
            const volume_effects* const volumes = known_->volumes.find(key);
            if (volumes && (!only || key == *only) &&
                known_->state[known_->state.pod_keys().at(key)].placeable())
                found.emplace_back(key.name, volumes);
        }
        return found;
    }
    /// All that bears on the reasons of a group that was stopped at the search: groups alike in it
    /// are explained once.
    using likeness = std::vector<std::int64_t>;

    /// Groups of groups and groups that keep together are explained one by one.
    [[nodiscard]] static bool is_plain(const muster::gang_tree& tree) {
        for (std::size_t vertex = 0; vertex < tree.size(); ++vertex)
            if (tree[vertex].min_subgroups || tree[vertex].together)
                return false;
        return true;
    }

    [[nodiscard]] static likeness likeness_of(const muster::decision& decision,
                                              const muster::gang_members<Width>& members) {
        likeness all{static_cast<std::int64_t>(decision.outcome.kind),
                     members.queue ? static_cast<std::int64_t>(members.queue->queue.value()) : -1,
                     members.queue && members.queue->non_preemptible ? 1 : 0,
                     static_cast<std::int64_t>(members.tree->size())};
        for (std::size_t vertex = 0; vertex < members.tree->size(); ++vertex) {
            all.push_back(static_cast<std::int64_t>((*members.tree)[vertex].parent));
            all.push_back((*members.tree)[vertex].min_member);
            all.push_back(members.holding[vertex]);
        }
        for (const auto& each : members.classes) {
            all.push_back(static_cast<std::int64_t>(each.role.value()));
            all.push_back(static_cast<std::int64_t>(each.where.value()));
            all.push_back(each.waiting());
            for (std::size_t column = 0; column < Width; ++column)
                all.push_back(each.request[column]);
        }
        return all;
    }

    [[nodiscard]] std::vector<muster::reason>
    explain(const muster::decision& decision, const muster::gang_members<Width>& members,
            muster::without_reservations<muster::core_of<traits>>& now,
            const muster::explain_options& options) {
        const muster::gate at = decision.outcome.at;
        // What is kept for a gang is no hindrance to it alone.
        if ((at != muster::gate::space && at != muster::gate::quota) ||
            kept_for(known_->state, known_->kinds, decision.gang) || !is_plain(*members.tree))
            return now.explain(decision.gang, options);
        const auto [place, fresh] = explained_.try_emplace(likeness_of(decision, members));
        if (fresh)
            place->second = now.explain(decision.gang, options);
        return place->second;
    }

    [[nodiscard]] std::vector<reason_line>
    reasons_of(const muster::decision& decision, const muster::gang_members<Width>& members,
               muster::without_reservations<muster::core_of<traits>>& now) {
        muster::explain_options options;
        options.kinds = &known_->kinds;
        options.scope = scope_of(decision.outcome.kind);
        return reason_lines(known_->state, known_->kinds, decision.gang, *options.scope,
                            explain(decision, members, now, options),
                            told_facts{this, &facts_of(decision.gang), nullptr});
    }

    [[nodiscard]] std::optional<boost::json::object>
    certificate_of(const muster::decision& decision, const muster::gang_members<Width>& members) {
        const muster::certificate& proof = *decision.outcome.proof;
        proof_writer writer(known_->state, known_->kinds, members, proof);
        auto tree = writer.write();
        if (!tree) {
            faults_.push_back("the proof for group " + full_name(known_->state.key(decision.gang)) +
                              " is not in order");
            return std::nullopt;
        }
        boost::json::array classes;
        for (const auto& each : members.classes) {
            boost::json::object one;
            const auto role = role_name(*members.tree, each.role);
            one["role"] = role ? boost::json::value(*role) : boost::json::value(nullptr);
            boost::json::array pods;
            for (const muster::pod_index pod : members.of(each))
                pods.emplace_back(known_->state.key(pod).name);
            one["pods"] = std::move(pods);
            classes.push_back(std::move(one));
        }
        boost::json::object out;
        out["scope"] = proof.scope == muster::certificate_scope::free_now ? "freeNow" : "emptied";
        out["classes"] = std::move(classes);
        if (!proof.caps.empty())
            out["caps"] = writer.caps();
        out["proof"] = std::move(*tree);
        return out;
    }

    cluster<Width>* known_;
    const request* asked_;
    muster::any_policy<muster::core_of<traits>> how_;
    muster::budget limit_;
    /// The state as it was before the plan, when changes to it are to be tried out.
    muster::state<traits> before_;
    std::int64_t tries_ = 0;
    std::int64_t tries_left_ = 0;
    std::map<std::string, std::int64_t> max_ages_;
    /// Of pods, where some of them are asked for.
    std::map<object_key, const muster::label_set*> labels_;
    std::map<muster::gang_index, timestamp> starts_;
    std::set<muster::pod_index> placed_;
    /// The pods to evict, and the group that each makes room for.
    std::map<muster::pod_index, muster::gang_index> evicted_for_;
    std::map<muster::pod_index, muster::node_index> moves_to_;
    /// Our own mistakes.
    std::vector<std::string> faults_;
    std::map<likeness, std::vector<muster::reason>> explained_;
    mutable std::map<muster::words::node_filter_key, std::string> filter_texts_;
};

} // namespace

report make_report(const manifests& objects, const request& asked, diagnostics& out) {
    auto known = make_cluster(objects, cluster_options_of(asked), out);
    return known && out.ok() ? reporter(*known, asked).run() : report{};
}

} // namespace cli
