// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <muster/base/timestamp.hpp>
#include <muster/lifecycle/status_document.hpp>

namespace cli {
namespace {

using muster::codec::object_key;
using muster::codec::timestamp;
using muster::lifecycle::job_condition;
using muster::lifecycle::job_status;
using muster::sim::run_job;
using muster::sim::run_line;
using muster::sim::run_record;

/// Seconds with as many decimals as there are.
std::string seconds_text(std::int64_t nanoseconds) {
    constexpr std::int64_t second = 1'000'000'000;
    std::string text = std::to_string(nanoseconds / second);
    if (nanoseconds % second == 0)
        return text + "s";
    std::string decimals = std::to_string(second + nanoseconds % second).substr(1);
    decimals.erase(decimals.find_last_not_of('0') + 1);
    return text + "." + decimals + "s";
}

std::string name_of(const object_key& key) {
    return key.name_space.empty() ? key.name : key.name_space + "/" + key.name;
}

std::int64_t restarts_of(const job_status& status) {
    std::int64_t sum = 0;
    for (const auto& task : status.tasks)
        sum += restarts(task);
    return sum;
}

/// `Type=True, Type=False (Reason: message)`: those that changed alike stand together.
std::string changes_text(const job_status& was, const job_status& is, bool sample) {
    std::string text;
    const job_condition* last = nullptr;
    const auto explain = [&] {
        if (last != nullptr && !last->reason.empty() && last->reason != "-")
            text += " (" + last->reason + ": " + last->message + ")";
    };
    for (const job_condition& each : is.conditions) {
        const job_condition* before = muster::lifecycle::find_condition(was, each.type);
        if (before != nullptr && before->is_true == each.is_true && before->message == each.message)
            continue;
        const bool alike = last != nullptr && last->message == each.message;
        if (!alike)
            explain();
        text += (alike ? ", " : "; ") +
                std::string(sample && each.type == muster::lifecycle::condition_type::initialized
                                ? std::string_view("Initializing")
                                : to_text(each.type)) +
                (each.is_true ? "=True" : "=False");
        last = &each;
    }
    explain();
    return text;
}

/// The phase, how many replicas are in which phase, and the conditions that are not as before.
std::string status_text(const job_status& was, const job_status& is, bool sample) {
    std::string text(to_text(*is.phase));
    const auto counts = muster::lifecycle::aggregate(is);
    std::string parts;
    for (std::size_t i = 0; i < counts.size(); ++i)
        if (counts[i] > 0) {
            std::string name(muster::lifecycle::replica_phases[i].second);
            name.front() = static_cast<char>(name.front() - 'A' + 'a');
            parts += (parts.empty() ? ": " : ", ") + std::to_string(counts[i]) + " " + name;
        }
    text += parts;
    if (const std::int64_t restarts = restarts_of(is); restarts > 0)
        text += ", " + std::to_string(restarts) + (restarts == 1 ? " restart" : " restarts");
    text += changes_text(was, is, sample);
    return text;
}

/// How many of its replicas are available.
std::string set_phase(const muster::sim::run_set& set) {
    if (set.deleted)
        return "Deleted";
    const auto count = [&](std::string_view field) {
        const auto* value = set.status.if_contains(field);
        return value != nullptr ? boost::json::serialize(*value) : "0";
    };
    return count("availableReplicas") + "/" + count("replicas") + " available";
}

std::string phase_of(const run_job& job) {
    if (job.deleted)
        return "Deleted";
    if (!job.status.phase)
        return "";
    return std::string(*job.status.phase == muster::lifecycle::job_phase::pending
                           ? muster::lifecycle::status_form_of(job.kind).pending
                           : to_text(*job.status.phase));
}

muster::lifecycle::status_form form_of(std::string_view kind) {
    using muster::translate::t9k_kind;
    for (const t9k_kind each :
         {t9k_kind::generic, t9k_kind::tensorflow, t9k_kind::pytorch, t9k_kind::xgboost,
          t9k_kind::mpi, t9k_kind::colossal_ai, t9k_kind::deepspeed, t9k_kind::beam})
        if (to_text(each) == kind)
            return muster::lifecycle::status_form_of(each);
    return {};
}

boost::json::value time_or_null(const std::optional<timestamp>& time) {
    return time ? boost::json::value(muster::time_text(*time)) : boost::json::value(nullptr);
}

} // namespace

std::string run_table(const run_record& made, table_form form, bool sample) {
    std::map<std::pair<std::string, object_key>, job_status> before;
    table lines({"TIME", "KIND", "NAME", "EVENT", "DETAILS"});
    for (const run_line& each : made.lines) {
        std::string details = each.details;
        if (each.status) {
            job_status& was = before[{each.kind, each.whom}];
            details = status_text(was, *each.status, sample);
            was = *each.status;
        }
        lines.add({seconds_text(each.at - made.start), each.kind, name_of(each.whom), each.what,
                   details});
    }
    table jobs({"JOB", "NAME", "PHASE", "CREATED", "RUNNING", "ENDED", "RESTARTS"});
    const auto since = [&](const std::optional<timestamp>& time) {
        return time ? seconds_text(*time - made.start) : std::string{};
    };
    for (const run_job& each : made.jobs)
        jobs.add({std::string(to_text(each.kind)), name_of(each.key), phase_of(each),
                  since(each.created), since(each.began), since(each.ended),
                  std::to_string(restarts_of(each.status))});
    for (const muster::sim::run_set& each : made.sets)
        jobs.add({"PodCliqueSet", name_of(each.key), set_phase(each), since(each.created),
                  since(each.began), "", ""});
    return lines.text(form) + (form.csv ? "" : "\n" + jobs.text(form));
}

boost::json::object run_object(const run_record& made, bool sample) {
    const auto document = [&](const job_status& status, muster::lifecycle::status_form form) {
        form.sample = sample;
        return status_document(status, form);
    };
    boost::json::object out;
    out["apiVersion"] = "muster.dev/v1alpha1";
    out["kind"] = "Run";
    out["start"] = muster::time_text(made.start);
    out["end"] = muster::time_text(made.end);
    out["cutShort"] = made.cut_short;
    out["podsPending"] = made.pods_pending;
    boost::json::array jobs;
    for (const run_job& each : made.jobs) {
        boost::json::object one;
        one["kind"] = to_text(each.kind);
        one["namespace"] = each.key.name_space;
        one["name"] = each.key.name;
        one["phase"] = phase_of(each);
        one["created"] = time_or_null(each.created);
        one["running"] = time_or_null(each.began);
        one["ended"] = time_or_null(each.ended);
        one["status"] = document(each.status, muster::lifecycle::status_form_of(each.kind));
        jobs.push_back(std::move(one));
    }
    out["jobs"] = std::move(jobs);
    boost::json::array sets;
    for (const muster::sim::run_set& each : made.sets) {
        boost::json::object one;
        one["kind"] = "PodCliqueSet";
        one["namespace"] = each.key.name_space;
        one["name"] = each.key.name;
        one["deleted"] = each.deleted;
        one["created"] = time_or_null(each.created);
        one["available"] = time_or_null(each.began);
        one["status"] = each.status;
        sets.push_back(std::move(one));
    }
    if (!sets.empty())
        out["sets"] = std::move(sets);
    boost::json::array lines;
    for (const run_line& each : made.lines) {
        boost::json::object one;
        one["time"] = muster::time_text(each.at);
        one["kind"] = each.kind;
        if (!each.whom.name_space.empty())
            one["namespace"] = each.whom.name_space;
        one["name"] = each.whom.name;
        one["event"] = each.what;
        if (!each.details.empty())
            one["details"] = each.details;
        if (each.status)
            one["status"] = document(*each.status, form_of(each.kind));
        if (each.document)
            one["status"] = *each.document;
        lines.push_back(std::move(one));
    }
    out["timeline"] = std::move(lines);
    return out;
}

} // namespace cli
