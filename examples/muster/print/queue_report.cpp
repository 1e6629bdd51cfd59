// SPDX-License-Identifier: Apache-2.0
#include "queue_report.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>

#include <muster/base/timestamp.hpp>
#include <muster/words/amount_text.hpp>

#include "output.hpp"

namespace cli {

using muster::words::amount_text;
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

/// Three decimals, rounded to the nearest; nothing for a use of nothing that is there.
std::string decimal_text(const share_line& share) {
    if (share.total == 0)
        return share.used > 0 ? "inf" : "0.000";
    const auto thousandths = static_cast<std::int64_t>(
        (static_cast<muster::int128>(share.used) * 2'000 + share.total) / share.total / 2);
    const std::string rest = std::to_string(thousandths % 1'000);
    return std::to_string(thousandths / 1'000) + "." + std::string(3 - rest.size(), '0') + rest;
}

std::string fraction_text(const share_line& share) {
    if (share.kind.empty())
        return "";
    return amount_text(share.kind, share.used) + "/" + amount_text(share.kind, share.total) + " " +
           share.kind;
}

value share_value(const share_line& share) {
    if (share.kind.empty())
        return nullptr;
    return object{{"resource", share.kind},
                  {"used", amount_text(share.kind, share.used)},
                  {"quota", amount_text(share.kind, share.total)},
                  {"decimal", decimal_text(share)}};
}

std::string amount_or_none(const std::string& kind, const std::optional<std::int64_t>& amount) {
    return amount ? amount_text(kind, *amount) : "";
}

value text_or_null(const std::string& text) {
    return text.empty() ? value(nullptr) : value(text);
}

std::string counted(std::size_t groups, std::size_t pods) {
    return std::to_string(groups) + " (" + std::to_string(pods) + (pods == 1 ? " pod)" : " pods)");
}

} // namespace

std::string age_text(std::int64_t nanoseconds) {
    const std::int64_t seconds = nanoseconds / 1'000'000'000;
    const std::int64_t minutes = seconds / 60;
    const std::int64_t hours = minutes / 60;
    const std::int64_t days = hours / 24;
    const auto both = [](std::int64_t large, char first, std::int64_t small, char second) {
        return std::to_string(large) + first +
               (small > 0 ? std::to_string(small) + second : std::string{});
    };
    if (seconds < 120)
        return std::to_string(seconds) + "s";
    if (minutes < 10)
        return both(minutes, 'm', seconds % 60, 's');
    if (minutes < 180)
        return std::to_string(minutes) + "m";
    if (hours < 8)
        return both(hours, 'h', minutes % 60, 'm');
    if (hours < 48)
        return std::to_string(hours) + "h";
    if (days < 8)
        return both(days, 'd', hours % 24, 'h');
    return std::to_string(days) + "d";
}

std::string queues_table(const report& made, bool wide, const table_form& form) {
    std::vector<std::string> header{"NAME",    "STATE",   "PRIORITY", "SHARE",
                                    "RUNNING", "WAITING", "OLDEST",   "USED"};
    if (wide)
        header.insert(header.begin() + 3, "WEIGHT");
    table queues(std::move(header));
    table resources({"QUEUE", "RESOURCE", "USED", "QUOTA", "DESERVED", "GUARANTEE", "BORROWED"});
    bool any = false;
    for (const queue_line& queue : made.queues) {
        std::string used;
        for (const auto& [kind, one] : queue.resources) {
            any = true;
            resources.add({queue.name, kind, amount_text(kind, one.used),
                           amount_or_none(kind, one.quota), amount_or_none(kind, one.deserved),
                           one.guarantee > 0 ? amount_text(kind, one.guarantee) : "",
                           one.borrowed() > 0 ? amount_text(kind, one.borrowed()) : ""});
            if (one.quota || one.deserved)
                used += (used.empty() ? "" : ", ") + kind + " " + amount_text(kind, one.used) +
                        "/" + amount_text(kind, one.quota ? *one.quota : *one.deserved);
        }
        std::vector<std::string> cells{
            (form.csv ? "" : std::string(2 * queue.depth, ' ')) + queue.name,
            queue.state.empty() ? "" : capitalised(queue.state),
            queue.state == "open" || queue.state == "closed" ? std::to_string(queue.priority) : "",
            queue.share.kind.empty() ? "" : decimal_text(queue.share),
            counted(queue.running_groups, queue.running_pods),
            counted(queue.waiting_groups, queue.waiting_pods),
            queue.oldest ? age_text(made.now - *queue.oldest) : "",
            used};
        if (wide)
            cells.insert(cells.begin() + 3, queue.state == "open" || queue.state == "closed"
                                                ? std::to_string(queue.weight)
                                                : "");
        queues.add(std::move(cells));
    }
    std::string out = queues.text(form);
    if (wide && any)
        out += "\n" + resources.text({form.header, form.csv});
    if (wide && made.gpus_before) {
        table gpus({"GPUS", "IDLE", "FRAGMENTED"});
        gpus.add({std::to_string(made.gpus_before->gpus), gpus_text(made.gpus_before->idle_milli),
                  gpus_text(made.gpus_before->fragmented_milli)});
        out += "\n" + gpus.text({form.header, form.csv});
    }
    return out;
}

object queues_object(const report& made) {
    array queues;
    for (const queue_line& queue : made.queues) {
        object one;
        one["name"] = text_or_null(queue.name);
        one["parent"] = text_or_null(queue.parent);
        one["state"] = text_or_null(queue.state);
        one["priority"] = queue.priority;
        one["weight"] = queue.weight;
        one["share"] = share_value(queue.share);
        object resources;
        for (const auto& [kind, each] : queue.resources) {
            object amounts;
            amounts["used"] = amount_text(kind, each.used);
            if (each.quota)
                amounts["quota"] = amount_text(kind, *each.quota);
            if (each.deserved)
                amounts["deserved"] = amount_text(kind, *each.deserved);
            if (each.guarantee > 0)
                amounts["guarantee"] = amount_text(kind, each.guarantee);
            if (each.borrowed() > 0)
                amounts["borrowed"] = amount_text(kind, each.borrowed());
            resources[kind] = std::move(amounts);
        }
        one["resources"] = std::move(resources);
        one["running"] = object{{"groups", queue.running_groups}, {"pods", queue.running_pods}};
        one["waiting"] = object{{"groups", queue.waiting_groups}, {"pods", queue.waiting_pods}};
        one["waitingSince"] =
            queue.oldest ? value(muster::time_text(*queue.oldest)) : value(nullptr);
        one["status"] = queue.status ? value(*queue.status) : value(nullptr);
        queues.push_back(std::move(one));
    }
    object out;
    out["apiVersion"] = "muster.dev/v1alpha1";
    out["kind"] = "Queues";
    out["now"] = muster::time_text(made.now);
    out["queues"] = std::move(queues);
    if (made.gpus_before)
        out["gpus"] = gpus_value(*made.gpus_before);
    return out;
}

std::string prio_table(const report& made, const table_form& form) {
    table groups({"RANK", "NAMESPACE", "NAME", "QUEUE", "QUEUE-PRIORITY", "SHARE", "EXACT",
                  "PRIORITY", "AGE", "ANSWER"});
    std::size_t rank = 0;
    for (const group_line& group : made.groups) {
        if (group.waited == 0)
            continue;
        groups.add({std::to_string(++rank), group.name_space, group.name, group.queue.value_or(""),
                    std::to_string(group.queue_priority), decimal_text(group.share),
                    fraction_text(group.share), std::to_string(group.priority),
                    group.created ? age_text(made.now - *group.created) : "",
                    capitalised(group.answer)});
    }
    return groups.text(form);
}

object prio_object(const report& made) {
    array groups;
    for (const group_line& group : made.groups) {
        if (group.waited == 0)
            continue;
        object one;
        one["rank"] = groups.size() + 1;
        one["namespace"] = group.name_space;
        one["name"] = group.name;
        one["queue"] = group.queue ? value(*group.queue) : value(nullptr);
        one["queuePriority"] = group.queue_priority;
        one["queueShare"] = share_value(group.share);
        one["priority"] = group.priority;
        one["created"] = group.created ? value(muster::time_text(*group.created)) : value(nullptr);
        one["answer"] = group.answer;
        groups.push_back(std::move(one));
    }
    object out;
    out["apiVersion"] = "muster.dev/v1alpha1";
    out["kind"] = "Priorities";
    out["now"] = muster::time_text(made.now);
    out["groups"] = std::move(groups);
    return out;
}

} // namespace cli
