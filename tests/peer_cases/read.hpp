// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include "peer_case.hpp"
#include "values.hpp"

namespace peer_cases {
namespace detail {

namespace json = boost::json;

[[nodiscard]] inline domain_constraint domain_of(const json::object& from) {
    domain_constraint found;
    if (const json::value* at = from.if_contains("topologyConstraint"); at && at->is_object()) {
        found.topology = text_at(at->get_object(), "topology");
        found.required = text_at(at->get_object(), "required");
        found.preferred = text_at(at->get_object(), "preferred");
    }
    return found;
}

[[nodiscard]] inline subgroup subgroup_of(const json::object& from) {
    subgroup made;
    made.name = text_at(from, "name");
    made.min_member = number_at(from, "minAvailable").value_or(0);
    made.min_subgroups = number_at(from, "minSubGroup");
    made.domain = domain_of(from);
    each_object(from, "podSets",
                [&](const json::object& each) { made.children.push_back(subgroup_of(each)); });
    each_object(from, "groups",
                [&](const json::object& each) { made.children.push_back(subgroup_of(each)); });
    return made;
}

/// Volcano's tiers are numbers, the lowest the narrowest; ours are levels of that name.
[[nodiscard]] inline domain_constraint tier_of(const json::object& from,
                                               const std::map<std::string, std::string>& names,
                                               std::string& unsupported) {
    domain_constraint found;
    const std::string mode = text_at(from, "Mode");
    const auto tier = number_at(from, "HighestTierAllowed");
    const std::string name = text_at(from, "HighestTierName");
    if (mode != "hard")
        return found;
    if (tier)
        found.required = std::to_string(*tier);
    else if (const auto known = names.find(name); known != names.end())
        found.required = known->second;
    else if (!name.empty())
        unsupported = "the case does not say which tier is named " + name;
    return found;
}

[[nodiscard]] inline task task_of(const json::object& from, std::string& unsupported) {
    task made;
    made.name = text_at(from, "name");
    made.request = amounts_at(from, "request", [&](const std::string& kind) {
        unsupported = "a request for parts of devices (" + kind + ")";
    });
    made.state =
        flag_at(from, "gated", false) ? pod_state::gated : state_of(text_at(from, "state"));
    made.node = text_at(from, "node");
    made.role = text_at(from, "role");
    made.priority = number_at(from, "priority");
    if (!made.priority)
        made.priority = number_at(from, "taskPriority");
    made.labels = labels_at(from, "labels");
    made.node_selector = labels_at(from, "nodeSelector");
    made.affinity_in = texts_at(from, "nodeAffinityIn");
    made.never_preempts = text_at(from, "preemptionPolicy") == "Never";
    made.arrival = number_at(from, "arrivalOrder");
    if (const json::value* terms = from.if_contains("podAffinity"); terms && terms->is_object()) {
        for (const auto& [key, value] : labels_at(terms->get_object(), "labels"))
            made.labels[key] = value;
        made.beside = text_at(terms->get_object(), "affinityKey");
        made.apart = text_at(terms->get_object(), "antiAffinityKey");
    }
    if (from.contains("resourceClaims"))
        unsupported = "resource claims";
    if (made.request.contains("gpuMemoryMiB") || made.request.contains("gpuFractionDevices"))
        unsupported = "a request for parts of devices";
    if (const auto gpus = made.request.find("gpu");
        gpus != made.request.end() && gpus->second % 1000 != 0)
        unsupported = "a request for parts of devices";
    return made;
}

[[nodiscard]] inline std::optional<std::int64_t> duration_at(const json::object& from,
                                                             std::string_view name) {
    const json::value* found = from.if_contains(name);
    if (found && found->is_object())
        return number_at(found->get_object(), "Duration");
    return number_at(from, name);
}

[[nodiscard]] inline gang_case gang_of(const json::object& from, peer_case& in,
                                       const std::map<std::string, std::string>& tier_names) {
    gang_case made;
    made.name = text_at(from, "name");
    made.queue = text_at(from, "queue");
    made.priority = number_at(from, "priority").value_or(0);
    made.preemptible = flag_at(from, "preemptible", true);
    each_object(from, "tasks", [&](const json::object& each) {
        made.tasks.push_back(task_of(each, in.unsupported));
    });
    made.min_member =
        number_at(from, "minMember").value_or(static_cast<std::int64_t>(made.tasks.size()));
    if (const json::value* minima = from.if_contains("minTaskMember");
        minima && minima->is_object())
        for (const auto& each : minima->get_object())
            if (const auto least = number(each.value()))
                made.role_minima[std::string(each.key())] = *least;
    if (const json::value* tree = from.if_contains("subgroups"); tree && tree->is_object())
        made.tree = subgroup_of(tree->get_object());
    if (in.from == peer::kai && made.min_member == 0)
        made.min_member = static_cast<std::int64_t>(made.tasks.size());
    each_object(from, "subgroups", [&](const json::object& each) {
        partition one;
        one.name = text_at(each, "Name");
        one.size = number_at(each, "SubGroupSize").value_or(1);
        one.min_subgroups = number_at(each, "MinSubGroups").value_or(0);
        one.keys = texts_at(each, "MatchLabelKeys");
        if (const json::value* at = each.if_contains("NetworkTopology"); at && at->is_object())
            one.domain = tier_of(at->get_object(), tier_names, in.unsupported);
        made.partitions.push_back(std::move(one));
    });
    if (const json::value* at = from.if_contains("networkTopology"); at && at->is_object())
        made.domain = tier_of(at->get_object(), tier_names, in.unsupported);
    made.has_min_resources = from.contains("minResources");
    made.min_resources = amounts_at(from, "minResources");
    made.phase = text_at(from, "phase");
    made.age_minutes = number_at(from, "ageMinutes");
    made.stale_for = number_at(from, "staleForNs");
    made.grace = duration_at(from, "stalenessGracePeriod");
    made.deleted_during_test = flag_at(from, "deletedDuringTest", false);
    made.preemption_delay = duration_at(from, "preemptionDelay").value_or(0);
    return made;
}

/// KAI's queues count thousandths of cpus and millions of bytes.
inline void rescale_for_kai(ceilings& of) {
    if (const auto cpu = of.named.find("cpu"); cpu != of.named.end())
        cpu->second /= 1000;
    if (const auto memory = of.named.find("memory"); memory != of.named.end()) {
        constexpr std::int64_t most = std::int64_t{1} << 60;
        memory->second = memory->second > most / 1'000'000 ? most : memory->second * 1'000'000;
    }
}

/// Of KAI's queues.
inline constexpr std::int64_t default_priority = 100;

[[nodiscard]] inline queue_case queue_of(const json::object& from, peer which) {
    queue_case made;
    made.name = text_at(from, "name");
    made.parent = text_at(from, "parent");
    made.weight = number_at(from, from.contains("overQuotaWeight") ? "overQuotaWeight" : "weight");
    made.deserved = ceilings_at(from, "deserved");
    made.limit = ceilings_at(from, from.contains("capability") ? "capability" : "limit");
    made.guarantee = ceilings_at(from, "guarantee");
    if (which == peer::kai)
        for (ceilings* each : {&made.deserved, &made.limit})
            rescale_for_kai(*each);
    // A department's weight is what it deserves.
    if (which == peer::kai && flag_at(from, "isParent", false))
        made.weight = made.deserved.named.contains("gpu") ? made.deserved.named["gpu"] / 1000 : 0;
    made.priority = number_at(from, "priority");
    // What is above the default one, or below, by how much the case does not say.
    if (const json::value* said = from.if_contains("priority"); said && said->is_string())
        if (const std::string_view spelled = said->get_string(); spelled.starts_with("default"))
            made.priority = default_priority + (spelled.find('+') != spelled.npos   ? 1
                                                : spelled.find('-') != spelled.npos ? -1
                                                                                    : 0);
    const std::string state = text_at(from, "state");
    made.closed = state == "Closed" || state == "Closing";
    made.reclaimable = flag_at(from, "reclaimable", true);
    return made;
}

inline void read_kai_expectation(const json::object& from, peer_case& into) {
    for (const auto& each : from) {
        const json::object& of = each.value().as_object();
        expected_gang made;
        if (const json::value* tasks = of.if_contains("tasks"); tasks && tasks->is_object())
            for (const auto& one : tasks->get_object()) {
                const json::object& pod = one.value().as_object();
                const pod_state state = state_of(text_at(pod, "status"));
                made.pods[std::string(one.key())] = {
                    state == pod_state::gated ? pod_state::pending : state, text_at(pod, "node")};
            }
        if (made.pods.empty()) {
            made.bound = number_at(of, "bound");
            made.pending = number_at(of, "pending");
            made.nominated = number_at(of, "pipelined");
            made.leaving = number_at(of, "releasing");
        }
        into.expected.gangs[std::string(each.key())] = std::move(made);
    }
}

inline void read_volcano_expectation(const json::object& from, peer_case& into) {
    const std::vector<std::string> asserted = texts_at(from, "assertedFields");
    const auto asserts = [&](std::string_view field) {
        return std::ranges::find(asserted, field) != asserted.end();
    };
    const json::value* found = from.if_contains("expectedTotals");
    if (!found || !found->is_object())
        throw unreadable("expectedTotals: expected an object");
    const json::object& totals = found->get_object();
    if (asserts("ExpectBindsNum"))
        into.expected.bindings = number_at(totals, "bindCount");
    if (asserts("ExpectBindMap") && !flag_at(totals, "bindMapNotChecked", false))
        into.expected.bind_map = labels_at(totals, "binds");
    if (asserts("ExpectEvictNum"))
        into.expected.evictions = number_at(totals, "evictCount");
    if (asserts("ExpectEvicted") && totals.contains("evicted"))
        into.expected.evicted = texts_at(totals, "evicted");
    if (asserts("ExpectPipeLined")) {
        into.expected.nominated.emplace();
        if (const json::value* at = totals.if_contains("pipelinedNodes"); at && at->is_object())
            for (const auto& each : at->get_object())
                (*into.expected.nominated)[std::string(each.key())] =
                    texts_at(at->get_object(), each.key());
    }
}

inline void read_coscheduling_expectation(const json::object& from, peer_case& into) {
    into.expected.must_bind = texts_at(from, "expectedBoundPods");
    if (const json::value* all = from.if_contains("expected"); all && all->is_object())
        for (const auto& each : all->get_object()) {
            if (!each.value().is_object())
                continue;
            const json::object& of = each.value().get_object();
            for (std::string& pod : texts_at(of, "mustStayPending"))
                into.expected.must_wait.push_back(std::move(pod));
            into.expected.gangs[std::string(each.key())].bound = number_at(of, "bound");
        }
}

[[nodiscard]] inline std::int64_t tier_number(const std::string& spelled) {
    const auto read = number(json::value(spelled));
    if (!read)
        throw unreadable("not the number of a tier: " + spelled);
    return *read;
}

/// Hypernodes become levels: tier t is the level "t", a node's domain the hypernode of that tier.
inline void read_hyper_nodes(const json::object& from, peer_case& into) {
    const json::value* tiers = from.if_contains("hyperNodesByTier");
    const json::value* leaves = from.if_contains("hyperNodes");
    if (!tiers || !leaves)
        return;
    std::vector<std::int64_t> order;
    for (const auto& tier : tiers->as_object()) {
        const std::string level = std::string(tier.key());
        order.push_back(tier_number(level));
        for (const json::value& hyper : tier.value().as_array())
            for (const std::string& leaf : texts_at(leaves->as_object(), text(hyper)))
                for (node_case& node : into.nodes)
                    if (node.name == leaf)
                        node.domains[{"", level}] = text(hyper);
    }
    std::ranges::sort(order, std::greater<>{});
    std::vector<std::string>& levels = into.topologies[""];
    for (const std::int64_t tier : order)
        levels.push_back(std::to_string(tier));
    // A hypernode without a parent is its own domain on every tier above.
    for (node_case& node : into.nodes)
        for (std::size_t at = levels.size(); at-- > 0;)
            if (!node.domains.contains({"", levels[at]}) && at + 1 < levels.size())
                if (const auto below = node.domains.find({"", levels[at + 1]});
                    below != node.domains.end())
                    node.domains[{"", levels[at]}] = below->second;
}

/// The widest tier that is allowed and there; nothing when that is the whole cluster.
inline void settle_tier(const peer_case& of, domain_constraint& what) {
    const auto known = of.topologies.find("");
    if (what.required.empty())
        return;
    const std::int64_t allowed = tier_number(what.required);
    if (known == of.topologies.end() || known->second.empty() ||
        allowed > tier_number(known->second.front())) {
        what.required.clear();
        return;
    }
    for (const std::string& level : known->second)
        if (tier_number(level) <= allowed) {
            what.required = level;
            return;
        }
}

inline void read_topologies(const json::object& from, peer_case& into) {
    each_object(from, "topologies", [&](const json::object& each) {
        into.topologies[text_at(each, "name")] = texts_at(each, "levels");
    });
    // A domain is named by its path: racks of one name in two zones are two racks.
    for (node_case& node : into.nodes)
        for (const auto& [name, levels] : into.topologies) {
            std::string path;
            for (const std::string& level : levels) {
                const auto label = node.labels.find(level);
                if (label == node.labels.end())
                    break;
                path += "/" + label->second;
                node.domains[{name, level}] = path;
            }
        }
}

/// A parent that is not among the queues is the department that all are in: it bounds nothing.
inline void add_departments(peer_case& into) {
    for (std::size_t at = 0; at < into.queues.size(); ++at) {
        const std::string parent = into.queues[at].parent;
        if (parent.empty() ||
            std::ranges::find(into.queues, parent, &queue_case::name) != into.queues.end())
            continue;
        queue_case made;
        made.name = parent;
        made.deserved.unlimited = {"gpu"};
        into.queues.push_back(std::move(made));
    }
}

[[nodiscard]] inline std::string reason_to_skip(const peer_case& of) {
    for (const char* feature :
         {"fractional-gpu", "gpu-memory", "mig", "dra", "numa", "pvc", "shard"})
        if (of.has(feature) && !of.core)
            return std::string("feature ") + feature;
    return of.unsupported;
}

[[nodiscard]] inline peer_case case_of(const json::object& from, peer which) {
    peer_case made;
    made.from = which;
    made.name = text_at(from, "name");
    made.source = text_at(from, "source");
    made.test_function = text_at(from, "testFunc");
    made.features = texts_at(from, "features");
    made.actions = texts_at(from, "actions");
    if (made.actions.empty())
        made.actions.push_back(text_at(from, "stage"));
    made.core = flag_at(from, "core", false);
    each_object(from, "nodes", [&](const json::object& each) {
        node_case node;
        node.name = text_at(each, "name");
        node.allocatable = amounts_at(each, "resources", [&](const std::string& kind) {
            made.unsupported = "a node with parts of devices (" + kind + ")";
        });
        node.labels = labels_at(each, "labels");
        if (each.contains("mig"))
            made.unsupported = "a node with parts of devices";
        made.nodes.push_back(std::move(node));
    });
    read_hyper_nodes(from, made);
    if (which == peer::kai)
        read_topologies(from, made);
    each_object(from, "queues",
                [&](const json::object& each) { made.queues.push_back(queue_of(each, which)); });
    if (which == peer::kai)
        add_departments(made);
    // The peer's own tests name their tiers so; a case may say otherwise.
    std::map<std::string, std::string> tier_names{{"volcano.sh/task-spec", "1"},
                                                  {"volcano.sh/job-spec", "2"}};
    for (const auto& [name, tier] : labels_at(from, "hyperNodeTierNames"))
        tier_names[name] = tier;
    each_object(from, "gangs", [&](const json::object& each) {
        made.gangs.push_back(gang_of(each, made, tier_names));
    });
    std::set<std::string> names;
    for (const gang_case& gang : made.gangs) {
        std::set<std::string> tasks;
        for (const task& one : gang.tasks)
            if (!tasks.insert(one.name).second)
                throw unreadable("task '" + one.name + "' is there twice");
        if (!names.insert(gang.name).second)
            throw unreadable("gang '" + gang.name + "' is there twice");
    }
    if (which == peer::volcano)
        for (gang_case& gang : made.gangs) {
            settle_tier(made, gang.domain);
            for (partition& one : gang.partitions)
                settle_tier(made, one.domain);
        }
    each_object(from, "ungroupedPods", [&](const json::object& each) {
        gang_case alone;
        alone.tasks.push_back(task_of(each, made.unsupported));
        alone.name = alone.tasks.front().name;
        alone.min_member = 1;
        alone.priority = alone.tasks.front().priority.value_or(0);
        made.gangs.push_back(std::move(alone));
    });
    if (const json::value* rounds = from.if_contains("rounds"); rounds && rounds->is_object()) {
        made.rounds_until_match = number_at(rounds->get_object(), "untilMatch").value_or(0);
        made.rounds_after_match = number_at(rounds->get_object(), "afterMatch").value_or(0);
    }
    switch (which) {
    case peer::kai:
        if (const json::value* all = from.if_contains("expected"); all && all->is_object())
            read_kai_expectation(all->get_object(), made);
        break;
    case peer::volcano:
        read_volcano_expectation(from, made);
        break;
    case peer::coscheduling:
        read_coscheduling_expectation(from, made);
        break;
    }
    if (from.contains("schedulerConf"))
        made.unsupported = "a scheduler configuration of its own";
    made.unsupported = reason_to_skip(made);
    return made;
}

/// What is left of a case that cannot be read: its name, and whether it counts.
[[nodiscard]] inline peer_case not_read(const json::object& from, peer which, const char* why) {
    peer_case made;
    made.from = which;
    if (const json::value* name = from.if_contains("name"); name && name->is_string())
        made.name = text(*name);
    if (const json::value* actions = from.if_contains("actions"); actions && actions->is_array())
        for (const json::value& each : actions->get_array())
            made.actions.push_back(each.is_string() ? text(each) : json::serialize(each));
    if (const json::value* stage = from.if_contains("stage"); stage && stage->is_string())
        made.actions.push_back(text(*stage));
    made.core = flag_at(from, "core", false);
    made.unreadable = why;
    return made;
}

} // namespace detail

/// The cases of one file. A case that is not what it should be says so itself, so that the others
/// run; throws `unreadable` when the file as a whole is none of cases.
[[nodiscard]] inline std::vector<peer_case> read_cases(std::string_view file_text) {
    namespace json = boost::json;
    boost::system::error_code failed;
    const json::value all = json::parse(file_text, failed);
    if (failed)
        throw unreadable("not JSON: " + failed.message());
    if (!all.is_object())
        throw unreadable("expected an object with meta and cases");
    const json::object& top = all.get_object();
    const json::value* meta = top.if_contains("meta");
    const std::string from =
        meta && meta->is_object() ? detail::text_at(meta->get_object(), "peer") : std::string();
    peer which = peer::kai;
    if (from.find("volcano") != std::string::npos)
        which = peer::volcano;
    else if (from.find("coscheduling") != std::string::npos)
        which = peer::coscheduling;
    else if (from.find("KAI") == std::string::npos)
        throw unreadable("meta.peer: expected KAI-Scheduler, volcano or coscheduling, found '" +
                         from + "'");
    std::vector<peer_case> found;
    detail::each_object(top, "cases", [&](const json::object& each) {
        try {
            found.push_back(detail::case_of(each, which));
        } catch (const std::exception& why) {
            found.push_back(detail::not_read(each, which, why.what()));
        }
    });
    return found;
}

} // namespace peer_cases
