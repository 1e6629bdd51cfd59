// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <boost/json/serialize.hpp>

#include <muster/base/timestamp.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/words/amount_text.hpp>
#include <muster/words/surplus_text.hpp>

#include "../plan/reason_lines.hpp"

namespace cli {

using muster::words::amount_text;
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

void write_json(const value& what, std::size_t indent, std::string& out) {
    const auto between = [&](bool first) {
        out.append(first ? "\n" : ",\n").append(indent + 2, ' ');
    };
    const auto close = [&](char bracket) { out.append(1, '\n').append(indent, ' ') += bracket; };
    if (what.is_object() && !what.get_object().empty()) {
        out += '{';
        bool first = true;
        for (const auto& [key, each] : what.get_object()) {
            between(std::exchange(first, false));
            out += boost::json::serialize(value(key)) + ": ";
            write_json(each, indent + 2, out);
        }
        close('}');
    } else if (what.is_array() && !what.get_array().empty()) {
        out += '[';
        bool first = true;
        for (const value& each : what.get_array()) {
            between(std::exchange(first, false));
            write_json(each, indent + 2, out);
        }
        close(']');
    } else {
        out += boost::json::serialize(what);
    }
}

/// Plain only where no reader of YAML could take it for anything but this string.
std::string yaml_scalar(const value& what) {
    if (!what.is_string())
        return boost::json::serialize(what);
    const std::string_view text(what.get_string().data(), what.get_string().size());
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto plain = [&](char c) {
        return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/' || c == '_';
    };
    std::string lower;
    for (const char c : text.substr(0, 8))
        lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    constexpr std::string_view words[] = {"true", "false", "yes", "no", "on",
                                          "off",  "null",  "y",   "n"};
    if (!text.empty() && letter(text.front()) && std::ranges::all_of(text, plain) &&
        std::ranges::find(words, lower) == std::end(words))
        return std::string(text);
    return boost::json::serialize(what);
}

bool is_block(const value& what) {
    return (what.is_object() && !what.get_object().empty()) ||
           (what.is_array() && !what.get_array().empty());
}

/// Appends the value to `out`, which ends with the `:` or `-` before the value.
void write_yaml(const value& what, std::size_t indent, bool after_dash, std::string& out) {
    const auto start = [&](bool first) {
        if (first && after_dash)
            out += ' ';
        else
            out.append(1, '\n').append(indent, ' ');
    };
    bool first = true;
    if (!is_block(what)) {
        out += ' ' + yaml_scalar(what);
    } else if (what.is_object()) {
        for (const auto& [key, each] : what.get_object()) {
            start(std::exchange(first, false));
            out += yaml_scalar(value(key)) + ':';
            // kubectl does not indent the elements of a list below its key.
            write_yaml(each, each.is_array() ? indent : indent + 2, false, out);
        }
    } else {
        for (const value& each : what.get_array()) {
            start(std::exchange(first, false));
            out += '-';
            write_yaml(each, indent + 2, true, out);
        }
    }
}

object reason_object(const reason_line& reason) {
    object out;
    out["code"] = reason.code;
    out["kind"] = reason.kind;
    if (reason.not_minimal)
        out["notMinimal"] = true;
    if (reason.queue)
        out["queue"] = *reason.queue;
    if (reason.resource) {
        out["resource"] = *reason.resource;
        out["needed"] = reason.needed;
        out["left"] = reason.left;
    }
    array roles;
    for (const muster::words::told_role& role : reason.roles) {
        object one;
        one["role"] = or_null(role.role);
        one["needed"] = role.needed;
        one["possible"] = role.possible;
        roles.push_back(std::move(one));
    }
    out["roles"] = std::move(roles);
    if (!reason.kept_for.empty())
        out["keptFor"] = array(reason.kept_for.begin(), reason.kept_for.end());
    out["message"] = reason.message;
    return out;
}

object amounts_object(const amounts_by_kind& amounts) {
    object out;
    for (const auto& [kind, amount] : amounts)
        out[kind] = amount_text(kind, amount);
    return out;
}

object kept_object(const kept_line& kept) {
    object out;
    if (kept.start)
        out["start"] = muster::time_text(*kept.start);
    array nodes;
    for (const auto& [node, amounts] : kept.nodes)
        nodes.push_back(object{{"node", node}, {"amounts", amounts_object(amounts)}});
    out["nodes"] = std::move(nodes);
    if (!kept.quota.empty())
        out["quota"] = amounts_object(kept.quota);
    return out;
}

object shortage_object(const shortage_line& lacks) {
    if (lacks.kind.empty())
        return {{"needed", lacks.needed}, {"left", lacks.there}};
    return {{"resource", lacks.kind},
            {"needed", amount_text(lacks.kind, lacks.needed)},
            {"left", amount_text(lacks.kind, lacks.there)}};
}

std::string first_reason(const group_line& group) {
    if (!group.moves.empty())
        return "Moves(" + std::to_string(group.moves.size()) + ")";
    if (!group.evictions.empty())
        return "Evicts(" + std::to_string(group.evictions.size()) + ")";
    if (!group.lost.empty())
        return (group.lost.front().node.empty() ? "Loses(" : "IsMoved(") +
               std::to_string(group.lost.size()) + ")";
    if (group.reasons.empty())
        return "";
    const std::size_t more = group.reasons.size() - 1;
    return group.reasons.front().code + (more > 0 ? "(+" + std::to_string(more) + ")" : "");
}

} // namespace

value or_null(const std::optional<std::string>& text) {
    return text ? value(*text) : value(nullptr);
}

std::string capitalised(std::string text) {
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return text;
}

std::size_t table::column_of(const std::string& name) const {
    const auto same = [&](const std::string& column) {
        return std::ranges::equal(column, name, [](unsigned char lhs, unsigned char rhs) {
            return std::toupper(lhs) == std::toupper(rhs);
        });
    };
    const auto found = std::ranges::find_if(rows_.front(), same);
    if (found != rows_.front().end())
        return static_cast<std::size_t>(found - rows_.front().begin());
    std::string all;
    for (const std::string& column : rows_.front())
        all += (all.empty() ? "" : ", ") + column;
    throw std::invalid_argument(muster::codec::in_quotes(name) + " is no column (expected one of " +
                                all + ")");
}

table table::arranged(const table_form& form) const {
    table made = *this;
    if (!form.sort_by.empty()) {
        const std::size_t by = column_of(form.sort_by);
        const auto number = [](const std::string& cell) -> std::optional<double> {
            double value = 0;
            const auto [end, error] =
                std::from_chars(cell.data(), cell.data() + cell.size(), value);
            if (error != std::errc{} || end != cell.data() + cell.size())
                return std::nullopt;
            return value;
        };
        std::stable_sort(made.rows_.begin() + 1, made.rows_.end(),
                         [&](const auto& lhs, const auto& rhs) {
                             const auto left = number(lhs[by]);
                             const auto right = number(rhs[by]);
                             // Numbers before words.
                             if (left.has_value() != right.has_value())
                                 return left.has_value();
                             return left ? *left < *right : lhs[by] < rhs[by];
                         });
    }
    if (form.columns.empty())
        return made;
    std::vector<std::size_t> wanted;
    for (const std::string& each : form.columns)
        wanted.push_back(column_of(each));
    made.columns_ = wanted.size();
    for (auto& row : made.rows_) {
        std::vector<std::string> kept;
        for (const std::size_t column : wanted)
            kept.push_back(row[column]);
        row = std::move(kept);
    }
    return made;
}

std::string table::text(const table_form& form) const {
    if (!form.sort_by.empty() || !form.columns.empty()) {
        table_form plain = form;
        plain.sort_by.clear();
        plain.columns.clear();
        return arranged(form).text(plain);
    }
    const std::size_t first = form.header ? 0 : 1;
    if (form.csv)
        return csv(first);
    const auto shown = [](const std::string& cell) -> std::string_view {
        return cell.empty() ? "<none>" : std::string_view(cell);
    };
    std::vector<std::size_t> widths(columns_, 0);
    for (std::size_t row = first; row < rows_.size(); ++row)
        for (std::size_t column = 0; column < columns_; ++column)
            widths[column] = std::max(widths[column], shown(rows_[row][column]).size());
    std::string out;
    for (std::size_t row = first; row < rows_.size(); ++row) {
        for (std::size_t column = 0; column < columns_; ++column) {
            const std::string_view cell = shown(rows_[row][column]);
            out += cell;
            if (column + 1 < columns_)
                out.append(widths[column] - cell.size() + 3, ' ');
        }
        out += '\n';
    }
    return out;
}

std::string table::csv(std::size_t first) const {
    std::string out;
    for (std::size_t row = first; row < rows_.size(); ++row) {
        for (std::size_t column = 0; column < columns_; ++column) {
            const std::string& cell = rows_[row][column];
            out += column > 0 ? "," : "";
            if (cell.find_first_of(",\"\r\n") == cell.npos) {
                out += cell;
                continue;
            }
            out += '"';
            for (const char c : cell)
                out.append(c == '"' ? 2 : 1, c);
            out += '"';
        }
        out += '\n';
    }
    return out;
}

std::string gpus_text(std::int64_t milli) {
    return muster::quantity_text(milli, muster::quantity_scale::milli,
                                 muster::quantity_format::decimal_si);
}

boost::json::value gpus_value(const muster::gpu_use& use) {
    return object{{"count", use.gpus},
                  {"idle", gpus_text(use.idle_milli)},
                  {"fragmented", gpus_text(use.fragmented_milli)}};
}

std::string json_text(const value& what) {
    std::string out;
    write_json(what, 0, out);
    return out + '\n';
}

std::string yaml_text(const value& what) {
    std::string out;
    write_yaml(what, 0, false, out);
    return out.substr(1) + '\n';
}

array devices_array(const std::vector<muster::codec::assigned_device>& devices) {
    array made;
    for (const muster::codec::assigned_device& each : devices)
        if (each.driver.empty())
            made.push_back(
                object{{"device", each.device}, {"memory", each.memory}, {"cores", each.cores}});
        else
            made.push_back(object{{each.resource.empty() ? "claim" : "resource",
                                   each.resource.empty() ? each.entry : each.resource},
                                  {"request", each.request},
                                  {"driver", each.driver},
                                  {"pool", each.pool},
                                  {"device", each.device}});
    return made;
}

object group_object(const group_line& group) {
    object out;
    out["namespace"] = group.name_space;
    out["name"] = group.name;
    out["origin"] = group.origin;
    out["queue"] = or_null(group.queue);
    out["priority"] = group.priority;
    out["answer"] = group.answer;
    out["gate"] = or_null(group.gate);
    if (group.answer == "waiting")
        out["couldStart"] = group.could_start ? "shown" : "unknown";
    out["holding"] = group.holding;
    array placements;
    for (const placed_line& placed : group.placements) {
        object one;
        one["pod"] = placed.pod;
        one["role"] = or_null(placed.role);
        one["node"] = placed.node;
        if (placed.nominated)
            one["nominated"] = true;
        if (!placed.devices.empty())
            one["devices"] = devices_array(placed.devices);
        placements.push_back(std::move(one));
    }
    out["placements"] = std::move(placements);
    if (group.nominated() || !group.evictions.empty())
        out["evictions"] = array(group.evictions.begin(), group.evictions.end());
    if (!group.moves.empty()) {
        array moves;
        for (const move_line& each : group.moves)
            moves.push_back(object{{"pod", each.pod}, {"node", each.node}});
        out["moves"] = std::move(moves);
    }
    if (!group.lost.empty()) {
        array lost;
        for (const lost_line& each : group.lost) {
            object one{{"pod", each.pod}, {"for", each.to}};
            if (!each.node.empty())
                one["movesTo"] = each.node;
            lost.push_back(std::move(one));
        }
        out["evicted"] = std::move(lost);
    }
    array reasons;
    for (const reason_line& reason : group.reasons)
        reasons.push_back(reason_object(reason));
    out["reasons"] = std::move(reasons);
    if (!group.surplus.empty()) {
        array surplus;
        for (const surplus_line& each : group.surplus) {
            array why;
            for (const reason_line& reason : each.reasons)
                why.push_back(reason_object(reason));
            surplus.push_back(object{{"pods", array(each.pods.begin(), each.pods.end())},
                                     {"reasons", std::move(why)}});
        }
        out["surplus"] = std::move(surplus);
    }
    if (group.short_after_evictions)
        out["shortAfterEvictions"] = shortage_object(*group.short_after_evictions);
    if (group.kept)
        out["reservation"] = kept_object(*group.kept);
    if (group.position)
        out["position"] =
            object{{"queue", group.position->in_queue}, {"overall", group.position->overall}};
    if (group.expected_start)
        out["expectedStart"] = muster::time_text(*group.expected_start);
    if (group.changes_sought) {
        array remedies;
        for (const auto& remedy : group.remedies) {
            array changes;
            array options;
            for (const change_line& each : remedy) {
                changes.push_back(each.details);
                for (const std::string& option : each.options)
                    options.emplace_back(option);
            }
            remedies.push_back(
                object{{"changes", std::move(changes)}, {"whatif", std::move(options)}});
        }
        out["wouldStartIf"] = std::move(remedies);
        out["wouldStartIfComplete"] = group.changes_complete;
    }
    if (group.certificate)
        out["certificate"] = *group.certificate;
    if (group.status)
        out["status"] = *group.status;
    return out;
}

object plan_object(const report& made) {
    object out;
    out["apiVersion"] = "muster.dev/v1alpha1";
    out["kind"] = "Plan";
    out["now"] = muster::time_text(made.now);
    array groups;
    for (const group_line& group : made.groups)
        groups.push_back(group_object(group));
    out["groups"] = std::move(groups);
    const auto count = [&](std::string_view answer) {
        return std::ranges::count(made.groups, answer, &group_line::answer);
    };
    object summary;
    summary["groups"] = made.groups.size();
    for (const std::string_view answer :
         {"admitted", "nominated", "evicted", "waiting", "never", "undecided"})
        summary[answer] = count(answer);
    summary["podsPlaced"] = made.pods_placed;
    summary["podsNominated"] = made.pods_nominated;
    summary["podsEvicted"] = made.pods_evicted;
    if (made.pods_moved > 0)
        summary["podsMoved"] = made.pods_moved;
    summary["podsPending"] = made.pods_pending;
    summary["nodes"] = made.nodes;
    summary["searchSteps"] = made.search_steps;
    object resources;
    for (const auto& [kind, used] : made.resources)
        resources[kind] = object{{"allocatable", amount_text(kind, used.allocatable)},
                                 {"requested", amount_text(kind, used.requested)}};
    summary["resources"] = std::move(resources);
    if (made.gpus)
        summary["gpus"] = gpus_value(*made.gpus);
    out["summary"] = std::move(summary);
    return out;
}

std::string plan_table(const report& made, const table_form& form) {
    table groups({"NAMESPACE", "NAME", "QUEUE", "PRIORITY", "ANSWER", "PLACED", "REASON"});
    for (const group_line& group : made.groups) {
        const std::size_t later = group.nominated() ? 0 : group.nominated_pods();
        groups.add({group.name_space, group.name, group.queue.value_or(""),
                    std::to_string(group.priority), capitalised(group.answer),
                    std::to_string(group.placements.size() - later) + "/" +
                        std::to_string(group.waited + group.gated),
                    first_reason(group)});
    }
    return groups.text(form);
}

std::string members_table(const report& made, bool with_header) {
    table pods({"NAMESPACE", "GROUP", "POD", "ROLE", "NODE", "STATUS"});
    for (const group_line& group : made.groups)
        for (const pod_line& pod : group.pods)
            pods.add({pod.name_space, group.name, pod.name, pod.role.value_or(""), pod.node,
                      pod.placed_now ? "Placed" : pod.status});
    return pods.text(with_header);
}

std::string pods_table(const report& made, const table_form& form) {
    const bool one_namespace = std::ranges::all_of(made.pods, [&](const pod_line& pod) {
        return pod.name_space == made.pods.front().name_space;
    });
    std::vector<std::string> header{"NAME", "READY", "STATUS"};
    if (!one_namespace)
        header.insert(header.begin(), "NAMESPACE");
    table pods(header);
    for (const pod_line& pod : made.pods) {
        const bool runs = pod.placed_now || pod.status == "Running";
        std::vector<std::string> cells{pod.name, runs ? "1/1" : "0/1",
                                       pod.placed_now ? "Running" : pod.status};
        if (!one_namespace)
            cells.insert(cells.begin(), pod.name_space);
        pods.add(std::move(cells));
    }
    return pods.text(form);
}

std::string names(const report& made) {
    std::string out;
    for (const group_line& group : made.groups)
        out += group.name_space + "/" + group.name + "\n";
    return out;
}

namespace {

/// Each change that would start the group, with the options that try it out.
std::string changes_text(const group_line& group) {
    std::string out;
    for (const auto& remedy : group.remedies) {
        std::string what;
        std::string options;
        for (const change_line& each : remedy) {
            what += (what.empty() ? "" : ", and ") + each.text;
            for (const std::string& option : each.options)
                options += (options.empty() ? "" : " ") + option;
        }
        out += "- " + what + "\n" + (options.empty() ? "" : "    " + options + "\n");
    }
    if (!out.empty())
        out = "It would start if\n" + out;
    if (!group.changes_complete)
        out += out.empty() ? "No change that would start it was found within the tries.\n"
                           : "There may be others: the tries ended first.\n";
    else if (out.empty())
        out = "No change of one kind would start it.\n";
    return "\n" + out;
}

std::string shortage_text(const shortage_line& lacks) {
    const auto amount = [&](std::int64_t of) {
        return lacks.kind.empty() ? std::to_string(of) : amount_text(lacks.kind, of);
    };
    return "Evictions do not help: with all gone that may be evicted, " +
           (lacks.kind.empty() ? "there is room for " + amount(lacks.there) + " of the " +
                                     amount(lacks.needed) + " pods needed."
                               : amount(lacks.there) + " " + lacks.kind + " of the " +
                                     amount(lacks.needed) + " needed are there.");
}

/// Names the pods that make room for the group or for its nominated members.
std::string room_text(const group_line& group) {
    const std::size_t later = group.nominated_pods();
    if (later == 0)
        return "";
    std::string starts;
    if (group.nominated()) {
        starts = "It starts";
    } else {
        for (const placed_line& placed : group.placements)
            if (placed.nominated)
                starts += (starts.empty() ? "" : ", ") + placed.pod;
        starts += later == 1 ? " starts" : " start";
    }
    const std::vector<std::string>& gone = group.evictions;
    std::string out = "\n" + starts + " in the room of ";
    if (!group.moves.empty()) {
        for (std::size_t at = 0; at < group.moves.size(); ++at)
            out += (at > 0 ? ", " : "") + group.moves[at].pod + ", which moves to " +
                   group.moves[at].node;
        return out + ".\n";
    }
    if (gone.empty())
        return "\n" + starts + " once others have come or left: " +
               (group.nominated() || later == 1 ? "its" : "their") + " room is kept.\n";
    for (std::size_t at = 0; at < gone.size(); ++at)
        out += (at > 0 ? ", " : "") + gone[at];
    return out + (gone.size() == 1 ? ", which is evicted.\n" : ", which are evicted.\n");
}

std::string kept_text(const kept_line& kept) {
    std::string out;
    for (const auto& [node, amounts] : kept.nodes) {
        std::string what;
        for (const auto& [kind, amount] : amounts)
            if (kind != "pods")
                what += (what.empty() ? "" : ", ") + amount_text(kind, amount) + " " + kind;
        out += (out.empty() ? "" : "; ") + node + (what.empty() ? "" : " " + what);
    }
    return "Room is kept for it" +
           (kept.start ? ", to start at " + muster::time_text(*kept.start) : std::string()) +
           (out.empty() ? "" : ": ") + out + ".";
}

/// Returns the numbered reasons, a line each.
std::string reasons_text(const std::vector<reason_line>& reasons) {
    std::string out;
    std::size_t longest = 0;
    for (const reason_line& reason : reasons)
        longest = std::max(longest, reason.code.size());
    const std::size_t last = std::to_string(reasons.size()).size();
    for (std::size_t at = 0; at < reasons.size(); ++at) {
        const reason_line& reason = reasons[at];
        const std::string number = std::to_string(at + 1);
        out += std::string(last - number.size(), ' ') + number + ". " + reason.code +
               std::string(longest - reason.code.size() + 3, ' ') + reason.message;
        if (reason.kind == "blockingTogether")
            out += reason.not_minimal ? " (with the others so marked, and perhaps without some)"
                                      : " (with the others so marked)";
        if (reason.kind == "contributing")
            out += " (contributes)";
        out += '\n';
    }
    return out;
}

} // namespace

std::string explanation(const group_line& group, const request& asked, bool with_header) {
    std::string out = group.headline.empty() ? "" : group.headline + "\n\n";
    table facts({"NAME", "GANG", "MIN", "READY", "QUEUE", "POS", "ALL", "STATE", "REASON"});
    facts.add({group.name_space == asked.default_namespace ? group.name
                                                           : group.name_space + "/" + group.name,
               std::to_string(group.members),
               group.minimum > 0 ? std::to_string(group.minimum) : "",
               std::to_string(group.holding), group.queue.value_or(""),
               group.position ? std::to_string(group.position->in_queue) : "",
               group.position ? std::to_string(group.position->overall) : "",
               capitalised(group.answer), first_reason(group)});
    out += facts.text(with_header);
    if (!group.reasons.empty())
        out += "\n" + reasons_text(group.reasons);
    for (const surplus_line& each : group.surplus)
        out += "\n" + muster::words::surplus_text(each.pods) + ":\n" + reasons_text(each.reasons);
    out += room_text(group);
    for (std::size_t at = 0; at < group.lost.size(); ++at)
        out += (at == 0 ? "\n" : "") + group.lost[at].pod +
               (group.lost[at].node.empty() ? std::string(" is evicted for ")
                                            : " moves to " + group.lost[at].node + " for ") +
               group.lost[at].to + ".\n";
    if (group.short_after_evictions)
        out += "\n" + shortage_text(*group.short_after_evictions) + "\n";
    else if (asked.evicts() && (group.gate == "space" || group.gate == "quota"))
        out += "\nEvictions do not help: no pods that may be evicted were found to make room.\n";
    if (group.kept)
        out += "\n" + kept_text(*group.kept) + "\n";
    if (group.expected_start)
        out += "\nExpected to start at " + muster::time_text(*group.expected_start) +
               ", when pods end as they declare.\n";
    if (group.changes_sought)
        out += changes_text(group);
    return out;
}

} // namespace cli
