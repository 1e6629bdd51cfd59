// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include <muster/resource/quantity_text.hpp>

#include "peer_case.hpp"

namespace peer_cases {

/// The file is not what it should be: names the case and the field.
struct unreadable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

namespace detail {

namespace json = boost::json;

[[nodiscard]] inline std::string text(const json::value& from) {
    if (!from.is_string())
        throw unreadable("expected a string, found " + json::serialize(from));
    return std::string(from.get_string());
}

[[nodiscard]] inline std::string text_at(const json::object& from, std::string_view name) {
    const json::value* found = from.if_contains(name);
    return found && !found->is_null() ? text(*found) : std::string();
}

[[nodiscard]] inline std::optional<std::int64_t> number_at(const json::object& from,
                                                           std::string_view name) {
    const json::value* found = from.if_contains(name);
    if (!found || found->is_null())
        return std::nullopt;
    if (!found->is_number())
        throw unreadable(std::string(name) + ": expected a number, found " +
                         json::serialize(*found));
    return found->to_number<std::int64_t>();
}

[[nodiscard]] inline bool flag_at(const json::object& from, std::string_view name, bool otherwise) {
    const json::value* found = from.if_contains(name);
    return found && found->is_bool() ? found->get_bool() : otherwise;
}

[[nodiscard]] inline std::vector<std::string> texts_at(const json::object& from,
                                                       std::string_view name) {
    std::vector<std::string> found;
    if (const json::value* list = from.if_contains(name); list && list->is_array())
        for (const json::value& each : list->get_array())
            found.push_back(text(each));
    return found;
}

[[nodiscard]] inline std::map<std::string, std::string> labels_at(const json::object& from,
                                                                  std::string_view name) {
    std::map<std::string, std::string> found;
    if (const json::value* labels = from.if_contains(name); labels && labels->is_object())
        for (const auto& each : labels->get_object())
            found[std::string(each.key())] = text(each.value());
    return found;
}

template<class Use>
void each_object(const json::object& from, std::string_view name, const Use& use) {
    if (const json::value* list = from.if_contains(name); list && list->is_array())
        for (const json::value& each : list->get_array())
            use(each.as_object());
}

/// Thousandths of a number or a quantity; nothing for "unlimited" and for negative numbers.
[[nodiscard]] inline std::optional<std::int64_t> thousandths(const json::value& from) {
    if (from.is_string()) {
        const std::string_view spelled = from.get_string();
        if (spelled == "unlimited")
            return std::nullopt;
        const auto parsed = muster::parse_quantity(spelled);
        const auto milli = parsed ? parsed->exact_milli() : std::nullopt;
        if (!milli)
            throw unreadable("not an amount: " + std::string(spelled));
        return *milli;
    }
    if (!from.is_number())
        throw unreadable("not an amount: " + json::serialize(from));
    const double value = from.to_number<double>();
    if (value < 0)
        return std::nullopt;
    return std::llround(value * 1000);
}

/// Amounts that are there; what is not a plain amount is told to `other`.
template<class Other>
[[nodiscard]] amounts amounts_at(const json::object& from, std::string_view name,
                                 const Other& other) {
    amounts found;
    const json::value* all = from.if_contains(name);
    if (!all || !all->is_object())
        return found;
    for (const auto& each : all->get_object()) {
        if (each.value().is_object() || each.value().is_array()) {
            other(std::string(each.key()));
            continue;
        }
        const auto amount = thousandths(each.value());
        if (!amount)
            throw unreadable(std::string(name) + "." + std::string(each.key()) +
                             ": an amount must be a number");
        found[std::string(each.key())] = *amount;
    }
    return found;
}

[[nodiscard]] inline amounts amounts_at(const json::object& from, std::string_view name) {
    return amounts_at(from, name, [](const std::string& kind) {
        throw unreadable(kind + ": expected an amount");
    });
}

[[nodiscard]] inline ceilings ceilings_at(const json::object& from, std::string_view name) {
    ceilings found;
    const json::value* all = from.if_contains(name);
    if (!all || !all->is_object())
        return found;
    for (const auto& each : all->get_object()) {
        const auto amount = thousandths(each.value());
        if (amount)
            found.named[std::string(each.key())] = *amount;
        else
            found.unlimited.emplace_back(each.key());
    }
    return found;
}

[[nodiscard]] inline pod_state state_of(std::string_view spelled) {
    if (const auto dot = spelled.rfind('.'); dot != std::string_view::npos)
        spelled.remove_prefix(dot + 1);
    if (spelled.starts_with("Pod"))
        spelled.remove_prefix(3);
    if (spelled == "Pending")
        return pod_state::pending;
    if (spelled == "Running" || spelled == "Binding" || spelled == "Bound" ||
        spelled == "Allocated")
        return pod_state::bound;
    if (spelled == "Pipelined")
        return pod_state::nominated;
    if (spelled == "Releasing")
        return pod_state::leaving;
    if (spelled == "StuckInReleasing")
        return pod_state::stuck;
    if (spelled == "Succeeded")
        return pod_state::succeeded;
    if (spelled == "Failed")
        return pod_state::failed;
    throw unreadable("unknown state of a task: " + std::string(spelled));
}

[[nodiscard]] inline domain_constraint domain_of(const json::object& from) {
    domain_constraint found;
    if (const json::value* at = from.if_contains("topologyConstraint"); at && at->is_object()) {
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
    if (from.contains("podAffinity"))
        unsupported = "pod affinity";
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
            made.role_minima[std::string(each.key())] = each.value().to_number<std::int64_t>();
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
    if (const auto delay = duration_at(from, "preemptionDelay"))
        made.preemption_delayed = made.age_minutes.value_or(0) * 60'000'000'000 < *delay;
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
    if (const json::value* priority = from.if_contains("priority");
        priority && priority->is_number())
        made.priority = priority->to_number<std::int64_t>();
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
                made.pods[std::string(one.key())] = {state_of(text_at(pod, "status")),
                                                     text_at(pod, "node")};
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
    if (asserts("ExpectStatus"))
        if (const json::value* at = totals.if_contains("podGroupPhase"); at && at->is_object())
            for (const auto& each : at->get_object())
                into.expected.let_in[std::string(each.key())] = text(each.value()) != "Pending";
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

/// Hypernodes become levels: tier t is the level "t", a node's domain the hypernode of that tier.
inline void read_hyper_nodes(const json::object& from, peer_case& into) {
    const json::value* tiers = from.if_contains("hyperNodesByTier");
    const json::value* leaves = from.if_contains("hyperNodes");
    if (!tiers || !leaves)
        return;
    std::vector<std::int64_t> order;
    for (const auto& tier : tiers->as_object()) {
        order.push_back(std::stoll(std::string(tier.key())));
        for (const json::value& hyper : tier.value().as_array())
            for (const std::string& leaf : texts_at(leaves->as_object(), text(hyper)))
                for (node_case& node : into.nodes)
                    if (node.name == leaf)
                        node.domains[std::string(tier.key())] = text(hyper);
    }
    std::ranges::sort(order, std::greater<>{});
    for (const std::int64_t tier : order)
        into.levels.push_back(std::to_string(tier));
    // A hypernode without a parent is its own domain on every tier above.
    for (node_case& node : into.nodes)
        for (std::size_t at = into.levels.size(); at-- > 0;)
            if (!node.domains.contains(into.levels[at]) && at + 1 < into.levels.size())
                if (const auto below = node.domains.find(into.levels[at + 1]);
                    below != node.domains.end())
                    node.domains[into.levels[at]] = below->second;
}

/// The widest tier that is allowed and there; nothing when that is the whole cluster.
inline void settle_tier(const peer_case& of, domain_constraint& what) {
    if (what.required.empty() || of.levels.empty())
        return;
    const std::int64_t allowed = std::stoll(what.required);
    if (allowed > std::stoll(of.levels.front())) {
        what.required.clear();
        return;
    }
    for (const std::string& level : of.levels)
        if (std::stoll(level) <= allowed) {
            what.required = level;
            return;
        }
}

inline void read_topologies(const json::object& from, peer_case& into) {
    each_object(from, "topologies", [&](const json::object& each) {
        if (!into.levels.empty())
            into.unsupported = "several topologies";
        into.levels = texts_at(each, "levels");
    });
    // A domain is named by its path: racks of one name in two zones are two racks.
    for (node_case& node : into.nodes) {
        std::string path;
        for (const std::string& level : into.levels) {
            const auto label = node.labels.find(level);
            if (label == node.labels.end())
                break;
            path += "/" + label->second;
            node.domains[level] = path;
        }
    }
}

[[nodiscard]] inline std::string reason_to_skip(const peer_case& of) {
    for (const char* feature :
         {"fractional-gpu", "gpu-memory", "mig", "dra", "numa", "pod-affinity", "pvc", "shard"})
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
    // The peer's own tests name their tiers so; a case may say otherwise.
    std::map<std::string, std::string> tier_names{{"volcano.sh/task-spec", "1"},
                                                  {"volcano.sh/job-spec", "2"}};
    for (const auto& [name, tier] : labels_at(from, "hyperNodeTierNames"))
        tier_names[name] = tier;
    each_object(from, "gangs", [&](const json::object& each) {
        made.gangs.push_back(gang_of(each, made, tier_names));
    });
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

} // namespace detail

/// The cases of one file. Throws `unreadable`, which names the case, for what it does not know.
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
            throw unreadable("case '" + detail::text_at(each, "name") + "': " + why.what());
        }
    });
    return found;
}

} // namespace peer_cases
