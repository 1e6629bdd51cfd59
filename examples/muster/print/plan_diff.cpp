// SPDX-License-Identifier: Apache-2.0
#include "plan_diff.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>

#include <muster/apis/core/reading_context.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/input/read_inputs.hpp>
#include <muster/words/amount_text.hpp>

#include "output.hpp"

namespace cli {

using muster::words::amount_text;
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;
using namespace muster::codec;

/// Reads a number that must be there.
std::int64_t count(object_reader& from, std::string_view key) {
    return from.required(key).as_integer(0).value_or(0);
}

std::string text(object_reader& from, std::string_view key) {
    return std::string(from.required(key).as_string().value_or(""));
}

void read_group(object_reader& from, plan_digest& into) {
    plan_digest::group group;
    const std::string name_space = text(from, "namespace");
    const std::string name = text(from, "name");
    const std::string origin = text(from, "origin");
    const field queue = from.optional("queue");
    if (queue.is_present())
        if (const auto known = queue.as_string())
            group.queue = std::string(*known);
    const field answer = from.required("answer");
    group.answer = std::string(answer.as_string().value_or(""));
    constexpr std::string_view answers[] = {"admitted", "nominated", "evicted",
                                            "waiting",  "never",     "undecided"};
    if (answer.is_present() && std::ranges::find(answers, group.answer) == std::end(answers))
        answer.error(in_quotes(group.answer) + " is no answer (expected admitted, nominated, "
                                               "evicted, waiting, never or undecided)");
    group.pods = count(from, "holding");
    const field placements_at = from.required("placements");
    const array_reader placements = placements_at.as_array();
    placements.for_each_object([&](object_reader& each) {
        group.placements.emplace(text(each, "pod"), text(each, "node"));
        group.nominated += each.optional("nominated").as_boolean().value_or(false) ? 1 : 0;
        each.ignore_rest();
    });
    const auto placed = static_cast<std::int64_t>(group.placements.size());
    group.pods += placed;
    if (group.answer == "nominated")
        group.nominated = placed;
    const field evicted_at = from.optional("evicted");
    const array_reader evicted = evicted_at.as_array();
    evicted.for_each_object([&](object_reader& each) {
        // The replacement of a moved member counts in its place.
        if (each.optional("movesTo").is_present()) {
            group.placements.emplace(text(each, "pod"), text(each, "movesTo"));
            group.makes_room = true;
        } else {
            --group.pods;
        }
        each.ignore_rest();
    });
    const field reasons_at = from.required("reasons");
    const array_reader reasons = reasons_at.as_array();
    reasons.for_each_object([&](object_reader& each) {
        if (group.reason.empty())
            group.reason = text(each, "code");
        each.ignore_rest();
    });
    from.ignore_rest();
    into.groups.emplace(std::tuple(name_space, name, origin), std::move(group));
}

void read_resources(const field& at, plan_digest& into) {
    object_reader resources = at.as_object();
    resources.for_each([&](std::string_view kind, const field& each) {
        object_reader one = each.as_object();
        const auto amount = [&](std::string_view key) {
            const auto read = read_quantity(one.required(key));
            return read ? capacity_units(kind, *read) : 0;
        };
        const std::int64_t allocatable = amount("allocatable");
        into.resources.emplace(std::string(kind), resource_use{allocatable, amount("requested")});
        one.ignore_rest();
    });
}

struct change {
    std::string name;
    struct move {
        std::string pod;
        std::string from;
        std::string to;
    };
    std::vector<move> moves;
};

/// What became of a group; an empty name when nothing did.
change compare(const plan_digest::group* before, const plan_digest::group* after) {
    change found;
    if (before && after)
        for (const auto& [pod, node] : before->placements)
            if (const auto now = after->placements.find(pod);
                now != after->placements.end() && now->second != node)
                found.moves.push_back({pod, node, now->second});
    const auto pods = [](const plan_digest::group* of) { return of ? of->pods : 0; };
    const auto starts = [](const plan_digest::group* of) {
        return of && (of->answer == "admitted" || of->answer == "nominated");
    };
    if (!after)
        found.name = "gone";
    else if (!before && after->makes_room)
        found.name = "moved";
    else if (pods(after) > pods(before) || (starts(after) && before && !starts(before)))
        found.name = "gained";
    else if (pods(after) < pods(before) || (!starts(after) && starts(before)))
        found.name = "lost";
    else if (!before)
        found.name = after->answer == "evicted" ? "lost" : "new";
    else if (!found.moves.empty() || before->placements.size() != after->placements.size())
        found.name = "moved";
    else if (before->answer != after->answer || before->reason != after->reason ||
             before->nominated != after->nominated)
        found.name = "changed";
    return found;
}

/// Calls `use(key, change, before, after)` for every group for which something changed.
template<class Use>
void for_each_change(const plan_digest& before, const plan_digest& after, const Use& use) {
    auto left = before.groups.begin();
    auto right = after.groups.begin();
    while (left != before.groups.end() || right != after.groups.end()) {
        const bool in_before = right == after.groups.end() ||
                               (left != before.groups.end() && left->first <= right->first);
        const bool in_after = left == before.groups.end() ||
                              (right != after.groups.end() && right->first <= left->first);
        const plan_digest::group* was = in_before ? &left->second : nullptr;
        const plan_digest::group* is = in_after ? &right->second : nullptr;
        const auto& key = in_before ? left->first : right->first;
        if (const change found = compare(was, is); !found.name.empty())
            use(key, found, was, is);
        if (in_before)
            ++left;
        if (in_after)
            ++right;
    }
}

value side(const plan_digest::group* of) {
    if (!of)
        return nullptr;
    object out;
    out["answer"] = of->answer;
    out["pods"] = of->pods;
    if (of->nominated > 0)
        out["nominated"] = of->nominated;
    if (!of->reason.empty())
        out["reason"] = of->reason;
    return out;
}

struct metric {
    const char* name;
    const char* title;
    std::int64_t plan_digest::*value;
};
constexpr metric metrics[] = {
    {"nodes", "nodes", &plan_digest::nodes},
    {"groupsStarting", "groups starting", &plan_digest::starting},
    {"podsPlaced", "pods placed", &plan_digest::pods_placed},
    {"podsPending", "pods pending", &plan_digest::pods_pending},
};

/// Calls `use(kind, before, after)` for every kind that either names.
template<class Use>
void for_each_kind(const plan_digest& before, const plan_digest& after, const Use& use) {
    std::map<std::string, std::pair<resource_use, resource_use>> all;
    for (const auto& [kind, used] : before.resources)
        all[kind].first = used;
    for (const auto& [kind, used] : after.resources)
        all[kind].second = used;
    for (const auto& [kind, sides] : all)
        use(kind, sides.first, sides.second);
}

std::string signed_text(std::string text) {
    return text.starts_with('-') || text == "0" ? text : "+" + text;
}

object use_object(const std::string& kind, const resource_use& used) {
    object out;
    out["allocatable"] = amount_text(kind, used.allocatable);
    out["requested"] = amount_text(kind, used.requested);
    return out;
}

std::string use_text(const std::string& kind, const resource_use& used) {
    return amount_text(kind, used.requested) + "/" + amount_text(kind, used.allocatable) +
           (used.allocatable > 0
                ? " (" +
                      std::to_string(static_cast<std::int64_t>(
                          static_cast<muster::int128>(used.requested) * 100 / used.allocatable)) +
                      "%)"
                : "");
}

bool starts_now(const plan_digest::group& of) {
    return of.answer == "admitted" && !of.placements.empty();
}

std::string state_text(const plan_digest::group* of) {
    if (!of)
        return "";
    if (of->answer != "admitted")
        return capitalised(of->answer);
    return of->placements.empty() ? "Runs" : "Starts";
}

} // namespace

plan_digest digest_of(const report& made) {
    plan_digest digest;
    for (const group_line& group : made.groups) {
        plan_digest::group one;
        one.queue = group.queue;
        one.answer = group.answer;
        one.reason = group.reasons.empty() ? "" : group.reasons.front().code;
        one.pods = group.holding + static_cast<std::int64_t>(group.placements.size()) -
                   static_cast<std::int64_t>(group.lost.size());
        for (const placed_line& placed : group.placements)
            one.placements.emplace(placed.pod, placed.node);
        one.nominated = static_cast<std::int64_t>(group.nominated_pods());
        digest.starting += starts_now(one) ? 1 : 0;
        digest.groups.emplace(std::tuple(group.name_space, group.name, group.origin),
                              std::move(one));
    }
    digest.nodes = static_cast<std::int64_t>(made.nodes);
    digest.pods_placed = static_cast<std::int64_t>(made.pods_placed);
    digest.pods_pending = static_cast<std::int64_t>(made.pods_pending);
    digest.resources = made.resources;
    return digest;
}

plan_digest read_digest(const std::string& file, diagnostics& out) {
    plan_digest digest;
    const std::vector<document> documents = read_inputs(std::vector{file}, out);
    if (!out.ok())
        return digest;
    if (documents.size() != 1) {
        out.error({file, 1, 1},
                  "holds " + std::to_string(documents.size()) + " documents (expected one plan)");
        return digest;
    }
    const field root(documents.front(), out);
    object_reader plan = root.as_object();
    const field kind = plan.required("kind");
    if (const auto name = kind.as_string(); name && *name != "Plan")
        kind.error(in_quotes(*name) + " is no plan (expected Plan, as `muster plan -o json` "
                                      "writes it)");
    const field version = plan.required("apiVersion");
    if (const auto name = version.as_string(); name && *name != "muster.dev/v1alpha1")
        version.error(in_quotes(*name) + " is not known (expected muster.dev/v1alpha1)");
    const field groups_at = plan.required("groups");
    const array_reader groups = groups_at.as_array();
    groups.for_each_object([&](object_reader& each) { read_group(each, digest); });
    const field summary_at = plan.required("summary");
    object_reader summary = summary_at.as_object();
    digest.nodes = count(summary, "nodes");
    digest.pods_placed = count(summary, "podsPlaced");
    digest.pods_pending = count(summary, "podsPending");
    read_resources(summary.required("resources"), digest);
    summary.ignore_rest();
    plan.ignore_rest();
    digest.starting = std::ranges::count_if(
        digest.groups, [](const auto& each) { return starts_now(each.second); });
    return digest;
}

object diff_object(const std::string& kind, const std::vector<std::string>& changes,
                   const plan_digest& before, const plan_digest& after) {
    object out;
    out["apiVersion"] = "muster.dev/v1alpha1";
    out["kind"] = kind;
    array asked;
    for (const std::string& each : changes)
        asked.emplace_back(each);
    out["changes"] = std::move(asked);
    array groups;
    for_each_change(
        before, after, [&](const auto& key, const change& found, const auto* was, const auto* is) {
            object one;
            one["namespace"] = std::get<0>(key);
            one["name"] = std::get<1>(key);
            one["origin"] = std::get<2>(key);
            one["queue"] = or_null(is ? is->queue : was->queue);
            one["change"] = found.name;
            one["before"] = side(was);
            one["after"] = side(is);
            array moves;
            for (const auto& each : found.moves)
                moves.push_back(object{{"pod", each.pod}, {"from", each.from}, {"to", each.to}});
            one["moved"] = std::move(moves);
            groups.push_back(std::move(one));
        });
    out["groups"] = std::move(groups);
    object figures;
    for (const metric& each : metrics)
        figures[each.name] = object{{"before", before.*each.value},
                                    {"after", after.*each.value},
                                    {"delta", after.*each.value - before.*each.value}};
    out["metrics"] = std::move(figures);
    object resources;
    for_each_kind(before, after,
                  [&](const std::string& name, const resource_use& was, const resource_use& is) {
                      resources[name] =
                          object{{"before", use_object(name, was)},
                                 {"after", use_object(name, is)},
                                 {"delta", amount_text(name, is.requested - was.requested)}};
                  });
    out["resources"] = std::move(resources);
    return out;
}

std::string diff_table(const plan_digest& before, const plan_digest& after, bool wide,
                       bool with_header) {
    table groups({"NAMESPACE", "NAME", "QUEUE", "CHANGE", "BEFORE", "AFTER", "PODS", "REASON"});
    table moved({"NAMESPACE", "GROUP", "POD", "FROM", "TO"});
    bool any = false;
    bool any_moved = false;
    for_each_change(
        before, after, [&](const auto& key, const change& found, const auto* was, const auto* is) {
            any = true;
            groups.add({std::get<0>(key), std::get<1>(key),
                        (is ? is->queue : was->queue).value_or(""), capitalised(found.name),
                        state_text(was), state_text(is),
                        (was ? std::to_string(was->pods) : "-") + " -> " +
                            (is ? std::to_string(is->pods) : "-"),
                        is ? is->reason : ""});
            for (const auto& each : found.moves) {
                any_moved = true;
                moved.add({std::get<0>(key), std::get<1>(key), each.pod, each.from, each.to});
            }
        });
    std::string out = any ? groups.text(with_header) : "No group is better or worse off.\n";
    if (wide && any_moved)
        out += "\n" + moved.text(with_header);
    table figures({"METRIC", "BEFORE", "AFTER", "DELTA"});
    for (const metric& each : metrics)
        figures.add({each.title, std::to_string(before.*each.value),
                     std::to_string(after.*each.value),
                     signed_text(std::to_string(after.*each.value - before.*each.value))});
    for_each_kind(before, after,
                  [&](const std::string& name, const resource_use& was, const resource_use& is) {
                      figures.add({name, use_text(name, was), use_text(name, is),
                                   signed_text(amount_text(name, is.requested - was.requested))});
                  });
    return out + "\n" + figures.text(with_header);
}

const char* const diff_schema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://muster.dev/schemas/v1alpha1/diff.json",
  "title": "Diff",
  "description": "The differences of two plans: those of two files, or those before and after changes to one cluster. Groups are in the order of namespace and name; keys are always in the order given here.",
  "type": "object",
  "additionalProperties": false,
  "required": ["apiVersion", "kind", "changes", "groups", "metrics", "resources"],
  "properties": {
    "apiVersion": {"const": "muster.dev/v1alpha1"},
    "kind": {"enum": ["Diff", "WhatIf"]},
    "changes": {"description": "What was changed, as options of `muster whatif`.", "type": "array", "items": {"type": "string", "minLength": 1}},
    "groups": {"description": "Those for which something changed.", "type": "array", "items": {"$ref": "#/$defs/group"}},
    "metrics": {
      "type": "object",
      "additionalProperties": false,
      "required": ["nodes", "groupsStarting", "podsPlaced", "podsPending"],
      "properties": {
        "nodes": {"$ref": "#/$defs/metric"},
        "groupsStarting": {"$ref": "#/$defs/metric"},
        "podsPlaced": {"$ref": "#/$defs/metric"},
        "podsPending": {"$ref": "#/$defs/metric"}
      }
    },
    "resources": {"description": "By kind: all nodes, and all pods that hold one once the plan is carried out.", "type": "object", "additionalProperties": {"$ref": "#/$defs/resource"}}
  },
  "$defs": {
    "count": {"type": "integer", "minimum": 0},
    "quantity": {"description": "A Kubernetes quantity.", "type": "string", "pattern": "^-?[0-9]+([numkMGTPE]|[KMGTPE]i|e-?[0-9]+)?$"},
    "group": {
      "type": "object",
      "additionalProperties": false,
      "required": ["namespace", "name", "origin", "queue", "change", "before", "after", "moved"],
      "properties": {
        "namespace": {"type": "string", "minLength": 1},
        "name": {"type": "string", "minLength": 1},
        "origin": {"enum": ["podGroup", "labels", "pod", "coscheduling", "volcano", "kai", "workload", "grove", "job", "kueue"]},
        "queue": {"type": ["string", "null"]},
        "change": {"description": "More or fewer of its members stand, it starts or no longer does; it is only in the one plan or the other; its members stand elsewhere; its answer or first reason is another.", "enum": ["gained", "lost", "gone", "new", "moved", "changed"]},
        "before": {"$ref": "#/$defs/side"},
        "after": {"$ref": "#/$defs/side"},
        "moved": {
          "description": "Pods that both plans place, on different nodes.",
          "type": "array",
          "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["pod", "from", "to"],
            "properties": {
              "pod": {"type": "string", "minLength": 1},
              "from": {"type": "string", "minLength": 1},
              "to": {"type": "string", "minLength": 1}
            }
          }
        }
      }
    },
    "side": {
      "description": "Null where the group is not in the plan.",
      "type": ["object", "null"],
      "additionalProperties": false,
      "required": ["answer", "pods"],
      "properties": {
        "answer": {"enum": ["admitted", "nominated", "evicted", "waiting", "never", "undecided"]},
        "pods": {"description": "Members that hold a node once the plan is carried out and those have left that are to be evicted, or have succeeded.", "$ref": "#/$defs/count"},
        "nominated": {"description": "How many of these pods start once other pods have left. Absent = none.", "type": "integer", "minimum": 1},
        "reason": {"description": "The code of the first reason.", "type": "string", "minLength": 1}
      }
    },
    "metric": {
      "type": "object",
      "additionalProperties": false,
      "required": ["before", "after", "delta"],
      "properties": {
        "before": {"$ref": "#/$defs/count"},
        "after": {"$ref": "#/$defs/count"},
        "delta": {"type": "integer"}
      }
    },
    "resource": {
      "type": "object",
      "additionalProperties": false,
      "required": ["before", "after", "delta"],
      "properties": {
        "before": {"$ref": "#/$defs/use"},
        "after": {"$ref": "#/$defs/use"},
        "delta": {"description": "Of what is requested.", "$ref": "#/$defs/quantity"}
      }
    },
    "use": {
      "type": "object",
      "additionalProperties": false,
      "required": ["allocatable", "requested"],
      "properties": {
        "allocatable": {"$ref": "#/$defs/quantity"},
        "requested": {"$ref": "#/$defs/quantity"}
      }
    }
  }
}
)json";

} // namespace cli
