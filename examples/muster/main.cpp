// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <muster/base/version.hpp>
#include <muster/codec/default_spread.hpp>
#include <muster/codec/input.hpp>
#include <muster/codec/nearest.hpp>
#include <muster/codec/objects.hpp>
#include <muster/codec/reading_rules.hpp>
#include <muster/codec/selector_text.hpp>

#include "completion.hpp"
#include "draw.hpp"
#include "edits.hpp"
#include "exit_codes.hpp"
#include "live.hpp"
#include "output.hpp"
#include "plan_diff.hpp"
#include "queue_report.hpp"
#include "read.hpp"
#include "report.hpp"
#include "run.hpp"
#include "translate_command.hpp"
#include "up.hpp"

namespace {

using namespace muster::codec;

void complain(const std::string& line) {
    std::fprintf(stderr, "%s\n", line.c_str());
}

/// With `strict` warnings are errors.
void print(const diagnostics& found, bool strict) {
    for (diagnostic each : found.findings()) {
        if (strict)
            each.level = severity::error;
        complain(to_text(each));
    }
    if (found.dropped() > 0)
        complain("and " + std::to_string(found.dropped()) + " more findings");
}

/// Prints nothing after an error: the objects of gangs are then not read at all, and all count as
/// skipped.
void print_skipped(const manifests& objects, const diagnostics& found) {
    if (!found.ok())
        return;
    for (const std::string& line : cli::skipped_lines(objects))
        complain(line);
}

/// Warns if default spread constraints were asked for and the input does not show which pods they
/// apply to.
void warn_of_spread(const manifests& objects, const cli::request& asked, diagnostics& found) {
    if (asked.rules.default_spread.empty() || !objects.spread_owners.empty() ||
        objects.lists_spread_owners || objects.pods.empty())
        return;
    muster::codec::report(
        found, severity::warning, object_place{}, {},
        "--default-spread has no effect: the input has no Service, ReplicaSet, StatefulSet or "
        "ReplicationController that selects pods (expected those of kubectl get "
        "services,replicasets,statefulsets,replicationcontrollers -A -o json)");
}

/// Reads the objects and hands them to `use`, which answers with the exit code.
template<class Use>
int with_objects(const cli::request& asked, const Use& use) {
    diagnostics found;
    std::vector<document> documents = cli::read_objects(asked.files, found, on_unread::isolate);
    if (!found.ok()) {
        print(found, asked.strict);
        return cli::code_of_failure(found);
    }
    gang_options how;
    how.default_namespace = asked.default_namespace;
    how.rules = asked.rules;
    manifests objects = cli::read_cluster(documents, how, found);
    warn_of_spread(objects, asked, found);
    const bool refused =
        !found.ok() ||
        (asked.strict && (found.warnings() > 0 || !cli::skipped_lines(objects).empty()));
    if (refused) {
        print(found, asked.strict);
        print_skipped(objects, found);
        return cli::invalid_input;
    }
    return use(objects, found);
}

/// Complains of what is wrong with the objects beyond their form; true when they cannot be used.
bool refuse(const manifests& objects, const cli::request& asked, const diagnostics& found) {
    print(found, asked.strict);
    print_skipped(objects, found);
    return !found.ok() || (asked.strict && found.warnings() > 0);
}

/// The exit code of a command whose output is out.
int judge(const cli::report& made, int code) {
    for (const std::string& each : made.violations)
        complain("a bug in muster: " + each);
    return made.violations.empty() ? code : int{cli::broken};
}

/// Reads, plans, and hands the report to `show`, which prints it and answers with the exit code.
template<class Show>
int with_report(const cli::request& asked, const Show& show) {
    return with_objects(asked, [&](const manifests& objects, diagnostics& found) {
        const cli::report made = cli::make_report(objects, asked, found);
        if (refuse(objects, asked, found))
            return int{cli::invalid_input};
        return judge(made, show(made));
    });
}

/// False when stdout is gone.
bool write(const std::string& text) {
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
           std::fflush(stdout) == 0;
}

int finish(bool written, bool waits) {
    if (!written) {
        complain("stdout cannot be written");
        return cli::usage;
    }
    return waits ? cli::pending : cli::fine;
}

struct look {
    std::string format = "table";
    bool no_headers = false;
    std::string sort_by;
    std::vector<std::string> columns;
};

cli::table_form form(const look& how) {
    cli::table_form made(!how.no_headers, how.format == "csv");
    made.sort_by = how.sort_by;
    made.columns = how.columns;
    return made;
}

bool print_diff(const char* kind, const std::vector<std::string>& changes,
                const cli::plan_digest& before, const cli::plan_digest& after, const look& how) {
    if (how.format == "json")
        return write(cli::json_text(cli::diff_object(kind, changes, before, after)));
    if (how.format == "yaml")
        return write(cli::yaml_text(cli::diff_object(kind, changes, before, after)));
    return write(cli::diff_table(before, after, how.format == "wide", !how.no_headers));
}

int plan(cli::request asked, const look& how) {
    asked.reasons = how.format != "pods" && how.format != "name";
    asked.node_lines = how.format == "svg";
    return with_report(asked, [&](const cli::report& made) {
        std::string out;
        if (how.format == "json")
            out = cli::json_text(cli::plan_object(made));
        else if (how.format == "yaml")
            out = cli::yaml_text(cli::plan_object(made));
        else if (how.format == "name")
            out = cli::names(made);
        else if (how.format == "svg")
            out = cli::draw_nodes(made);
        else if (how.format == "pods")
            out = cli::pods_table(made, form(how));
        else
            out = cli::plan_table(made, form(how));
        if (how.format == "wide")
            out += "\n" + cli::members_table(made, !how.no_headers);
        return finish(write(out), made.pods_pending > 0);
    });
}

int explain(cli::request asked, const look& how, const std::string& wanted) {
    asked.headlines = how.format == "table";
    asked.changes_of = wanted;
    asked.surplus_reasons = true;
    asked.forecast = true;
    return with_report(asked, [&](const cli::report& made) {
        boost::json::array objects;
        std::string out;
        bool found = false;
        bool waits = false;
        for (const cli::group_line& group : made.groups) {
            const bool named =
                wanted == group.name || wanted == group.name_space + "/" + group.name;
            const bool is_explained = !group.starts() || !group.lost.empty() ||
                                      group.nominated_pods() > 0 || !group.surplus.empty();
            if (wanted.empty() ? !is_explained : !named)
                continue;
            found = true;
            waits = waits || group.waits + group.gated > 0;
            objects.push_back(cli::group_object(group));
            out += (out.empty() ? "" : "\n") + cli::explanation(group, asked, !how.no_headers);
        }
        if (!wanted.empty() && !found) {
            const bool with_namespace = wanted.find('/') != std::string::npos;
            std::vector<std::string> names;
            for (const cli::group_line& group : made.groups)
                names.push_back(with_namespace ? group.name_space + "/" + group.name : group.name);
            complain("there is no group " + in_quotes(wanted) +
                     " with something to decide (expected NAME or NAMESPACE/NAME)" +
                     suggestion(wanted, names));
            return int{cli::usage};
        }
        if (how.format == "json")
            out = cli::json_text(objects);
        else if (how.format == "yaml")
            out = cli::yaml_text(objects);
        else if (!found)
            complain("none of the groups asked for waits");
        return finish(write(out), waits || (wanted.empty() && made.pods_pending > 0));
    });
}

int queues(cli::request asked, const look& how) {
    asked.reasons = false;
    return with_report(asked, [&](const cli::report& made) {
        std::string out;
        if (how.format == "json")
            out = cli::json_text(cli::queues_object(made));
        else if (how.format == "yaml")
            out = cli::yaml_text(cli::queues_object(made));
        else if (how.format == "svg")
            out = cli::draw_queues(made);
        else if (how.format == "name")
            for (const cli::queue_line& queue : made.queues)
                out += queue.name.empty() ? "" : queue.name + "\n";
        else
            out = cli::queues_table(made, how.format == "wide", form(how));
        return finish(write(out), false);
    });
}

int prio(cli::request asked, const look& how) {
    asked.reasons = false;
    return with_report(asked, [&](const cli::report& made) {
        std::string out;
        if (how.format == "json")
            out = cli::json_text(cli::prio_object(made));
        else if (how.format == "yaml")
            out = cli::yaml_text(cli::prio_object(made));
        else
            out = cli::prio_table(made, form(how));
        return finish(write(out), false);
    });
}

int whatif(cli::request asked, const look& how, const std::vector<cli::edit>& edits) {
    if (edits.empty()) {
        complain("nothing is to change (expected e.g. --add-nodes 4xnode-a, see --help)");
        return cli::usage;
    }
    asked.all_groups = true;
    return with_objects(asked, [&](manifests& objects, diagnostics& found) {
        const cli::report before = cli::make_report(objects, asked, found);
        if (refuse(objects, asked, found))
            return int{cli::invalid_input};
        std::vector<std::string> remarks;
        if (const std::string fault = cli::apply_edits(edits, asked, objects, remarks);
            !fault.empty()) {
            complain(fault);
            return int{cli::usage};
        }
        for (const std::string& each : remarks)
            complain(each);
        diagnostics of_edits;
        const cli::report after = cli::make_report(objects, asked, of_edits);
        if (!of_edits.ok()) {
            print(of_edits, asked.strict);
            return int{cli::invalid_input};
        }
        std::vector<std::string> changes;
        for (const cli::edit& each : edits)
            changes.push_back(cli::option_text(each));
        const auto was = cli::digest_of(before);
        const auto is = cli::digest_of(after);
        const bool written = print_diff("WhatIf", changes, was, is, how);
        return judge(before, judge(after, finish(written, after.pods_pending > 0)));
    });
}

int translate(const cli::translate_request& asked) {
    diagnostics found;
    const cli::translation made = cli::translate(asked, found);
    print(found, asked.strict);
    if (!found.ok())
        return cli::code_of_failure(found);
    for (const std::string& each : made.remarks)
        complain(each);
    if (made.refused || (asked.strict && (made.lost || found.warnings() > 0)))
        return cli::invalid_input;
    return finish(write(made.manifests), false);
}

int compare(const std::vector<std::string>& files, const look& how) {
    diagnostics found;
    const auto before = cli::read_digest(files.at(0), found);
    const auto after = cli::read_digest(files.at(1), found);
    if (!found.ok()) {
        print(found, false);
        return cli::code_of_failure(found);
    }
    return finish(print_diff("Diff", {}, before, after, how), false);
}

int run_jobs(const cli::request& asked, const cli::run_request& more, const look& how) {
    diagnostics found;
    std::vector<document> documents = cli::read_objects(asked.files, found);
    std::vector<document> events;
    if (!more.events.empty())
        events = read_inputs(std::vector{more.events}, found);
    if (!found.ok()) {
        print(found, asked.strict);
        return cli::code_of_failure(found);
    }
    cli::run_input read =
        cli::read_run(std::move(documents), events, asked.default_namespace, more.dialect, found);
    for (const auto& each : read.losses)
        complain("lost: " + std::string(to_text(each.what)) + " of " + each.object + ": " +
                 each.detail);
    if (refuse(read.objects, asked, found) ||
        (asked.strict && !cli::skipped_lines(read.objects).empty()))
        return cli::invalid_input;
    diagnostics of_run;
    const auto made = cli::make_run(read.objects, std::move(read.jobs), std::move(read.sets),
                                    read.script, asked, more, of_run);
    print(of_run, asked.strict);
    if (!made || !of_run.ok() || (asked.strict && of_run.warnings() > 0))
        return cli::invalid_input;
    if (made->cut_short)
        complain("the run was cut short after " + std::to_string(more.until) +
                 " seconds, or because it never came to rest (see --until)");
    std::string out;
    if (how.format == "json")
        out = cli::json_text(cli::run_object(*made, more.sample_conditions));
    else if (how.format == "yaml")
        out = cli::yaml_text(cli::run_object(*made, more.sample_conditions));
    else
        out = cli::run_table(*made, form(how), more.sample_conditions);
    return finish(write(out), made->pods_pending > 0);
}

std::string version_text() {
    const auto [major, minor, patch] = muster::library_version;
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

int print_version(const std::string& format) {
    const std::string text = version_text();
    if (format == "table")
        return finish(write("muster " + text + "\n"), false);
    boost::json::object out;
    out["apiVersion"] = "muster.dev/v1alpha1";
    out["kind"] = "Version";
    out["version"] = text;
    return finish(write(format == "json" ? cli::json_text(out) : cli::yaml_text(out)), false);
}

/// Accepts the names of `all`. The message about another word suggests the nearest name.
template<class Names>
CLI::Validator one_of(const Names& all) {
    std::vector<std::string> names;
    for (const auto& each : all)
        if constexpr (requires { each.first; })
            names.push_back(each.first);
        else
            names.push_back(each);
    CLI::Validator made = CLI::IsMember(names);
    std::string list;
    for (const std::string& each : names)
        list += (list.empty() ? "" : ", ") + each;
    return made.operation([names, list, accept = made](std::string& word) {
        return accept(word).empty()
                   ? std::string()
                   : in_quotes(word) + " is none of " + list + suggestion(word, names);
    });
}

/// An option whose values are the names of an enumeration's.
template<class Kind>
void add_choice(CLI::App& to, const char* name, Kind& into, const std::map<std::string, Kind>& all,
                const char* help) {
    to.add_option_function<std::string>(
          name, [&into, &all](const std::string& text) { into = all.at(text); }, help)
        ->check(one_of(all));
}

/// As add_choice(), for an option that has no default.
template<class Kind>
void add_optional_choice(CLI::App& to, const char* name, std::optional<Kind>& into,
                         const std::map<std::string, Kind>& all, const char* help) {
    to.add_option_function<std::string>(
          name, [&into, &all](const std::string& text) { into = all.at(text); }, help)
        ->check(one_of(all));
}

/// An option whose values are the names of policies.
template<const auto& Table>
void add_choice(CLI::App& to, const char* name, cli::choice<Table>& into, const char* help) {
    std::map<std::string, int> all;
    for (std::string& each : cli::choice<Table>::names())
        all.emplace(std::move(each), 0);
    to.add_option_function<std::string>(
          name, [&into](const std::string& text) { into.choose(text); }, help)
        ->check(one_of(all));
}

void add_policy(CLI::App& to, cli::policy_options& how) {
    static const std::map<std::string, cli::surplus_kind> surpluses{
        {"at-once", cli::surplus_kind::at_once},
        {"in-turn", cli::surplus_kind::in_turn},
        {"level", cli::surplus_kind::level}};
    const auto place_surplus = [&how](cli::surplus_kind which) { how.surplus = which; };
    static const std::map<std::string, cli::backfill_kind> backfills{
        {"none", cli::backfill_kind::none},
        {"easy", cli::backfill_kind::easy},
        {"conservative", cli::backfill_kind::conservative}};
    static const std::map<std::string, cli::preemption_kind> preemptions{
        {"none", cli::preemption_kind::none},
        {"queues", cli::preemption_kind::queues},
        {"queue", cli::preemption_kind::own_queue},
        {"both", cli::preemption_kind::both},
        {"fair-share", cli::preemption_kind::reclaim_fair_share},
        {"deserved", cli::preemption_kind::reclaim_deserved},
        {"queues-say", cli::preemption_kind::kueue_preemption}};
    static const std::map<std::string, cli::profile> profiles{
        {"t9k", {"priority", cli::preemption_kind::queues, false, cli::surplus_kind::at_once}},
        {"kai",
         {"fair-share", cli::preemption_kind::reclaim_fair_share, true, cli::surplus_kind::level}},
        {"volcano",
         {"due", cli::preemption_kind::reclaim_deserved, false, cli::surplus_kind::in_turn}},
        {"kueue",
         {"borrowing", cli::preemption_kind::kueue_preemption, false, cli::surplus_kind::at_once}}};
    // Added first, so that the options after it override its settings.
    to.add_option_function<std::string>(
          "--profile",
          [&how, place_surplus](const std::string& text) {
              const cli::profile& chosen = profiles.at(text);
              how.queue_order.choose(chosen.queues);
              how.preempt = chosen.victims;
              // Only the KAI profile consolidates.
              how.consolidate = how.consolidate_as_kai = chosen.consolidates;
              place_surplus(chosen.surplus);
          },
          "Policy options of another scheduler; options given besides override it. t9k: "
          "--queue-order priority --surplus at-once --preempt queues; kai: --queue-order "
          "fair-share --surplus level --preempt fair-share --consolidate; volcano: --queue-order "
          "due --surplus in-turn --preempt deserved; kueue: --queue-order borrowing --surplus "
          "at-once --preempt queues-say (default: none)")
        ->check(one_of(profiles));
    add_choice(
        to, "--score", how.score,
        "Choice of node among those that a pod fits (default: best-fit). avoid-scarce: nodes "
        "without extended resources that the pod does not request. fgd: the node on which the pod "
        "leaves the fewest GPUs that typical pods cannot use. power: the node whose power rises "
        "least");
    to.add_option_function<std::vector<std::string>>(
          "--score-weight",
          [&how](const std::vector<std::string>& all) {
              for (const std::string& text : all) {
                  const std::size_t equals = text.find('=');
                  const std::string digits = equals == text.npos ? "" : text.substr(equals + 1);
                  const bool small = digits.size() == 1 && digits[0] >= '0' && digits[0] <= '9';
                  if (equals == 0 || !(small || digits == "10"))
                      throw CLI::ValidationError("--score-weight",
                                                 in_quotes(text) +
                                                     " is no weight of a resource (expected e.g. "
                                                     "nvidia.com/gpu=5, with 0 to 10)");
                  how.score_weights[text.substr(0, equals)] =
                      static_cast<std::uint8_t>(digits == "10" ? 10 : digits[0] - '0');
              }
          },
          "Weight of a resource in the scores that weigh resources, 0 to 10 "
          "(default: cpu=1 and memory=1, others 0); may be repeated")
        ->allow_extra_args(false)
        ->type_name("RESOURCE=N");
    add_choice(
        to, "--order", how.order,
        "Order of the groups in a queue (default: priority, then age). aging: one hour of waiting "
        "counts as one point of priority");
    add_choice(
        to, "--queue-order", how.queue_order,
        "Order of queues (default: priority). priority: by priority, then the smaller dominant "
        "share of the quota; weighted: the smaller share of the cluster for its weight; deserved: "
        "queues that use no more than they deserve first; fair-share: queues within their fair "
        "share first (KAI); due: by priority, then the smaller share of the amount due (Volcano); "
        "borrowing: queues whose next group needs no borrowing first (Kueue); next-group: the "
        "queue "
        "whose next group has the highest priority and is the oldest");
    to.add_option_function<std::string>(
          "--surplus",
          [place_surplus](const std::string& text) { place_surplus(surpluses.at(text)); },
          "Placement of members beyond a group's minima (default: at-once). at-once: directly "
          "after the minima; in-turn: one at a time after the minima of all groups of the same "
          "priority, role by role; level: the same, for the role with the fewest members")
        ->check(one_of(surpluses));
    add_choice(to, "--backfill", how.backfill, backfills,
               "Waiting groups whose start no other group may delay, planned from declared "
               "durations (default: none). easy: the first group; conservative: the first 16");
    add_choice(to, "--preempt", how.preempt, preemptions,
               "Pods that may be evicted for a waiting group (default: none). queues: those of "
               "preemptible queues of lower priority; queue: those of lower priority in the "
               "group's queue; both: both, but in the group's queue only if that is preemptible; "
               "fair-share: those of lower priority in the group's "
               "queue, and those of other queues beyond their fair share, also for members beyond "
               "the minima; deserved: the same, for queues beyond what they deserve; queues-say: "
               "as each queue says (Kueue)");
    to.add_flag("--consolidate,!--no-consolidate", how.consolidate,
                "Move preemptible pods to other nodes if a waiting group then starts (default: "
                "off)");
    to.add_option("--patience", how.bypasses,
                  "Number of groups that may start ahead of a waiting group before room is "
                  "reserved for it (default: no limit)")
        ->check([](const std::string& text) {
            return text.starts_with('-') ? in_quotes(text) + " is too small (expected at least 0)"
                                         : std::string();
        })
        ->type_name("N");
}

void add_topology(CLI::App& to, std::vector<std::string>& levels) {
    to.add_option_function<std::string>(
          "--topology",
          [&levels](const std::string& text) {
              levels.clear();
              for (std::size_t from = 0; from <= text.size();) {
                  const std::size_t comma = std::min(text.find(',', from), text.size());
                  const std::string label = text.substr(from, comma - from);
                  if (label.empty() ||
                      std::find(levels.begin(), levels.end(), label) != levels.end())
                      throw CLI::ValidationError(
                          "--topology",
                          in_quotes(label) +
                              " is no level or is there twice (expected e.g. "
                              "topology.example.com/block,topology.example.com/rack)");
                  levels.push_back(label);
                  from = comma + 1;
              }
          },
          "Node labels from coarse to fine, for groups whose annotations name a level but no "
          "Topology (default: none)")
        ->type_name("LABEL,LABEL,...");
}

/// Reads the default spread constraints of a file. Throws CLI::ValidationError with the first error
/// in it.
std::vector<muster::spread_term> default_spread_of(const std::string& file) {
    diagnostics found;
    const std::vector<document> documents = read_inputs(std::vector{file}, found);
    std::vector<muster::spread_term> read;
    if (documents.size() == 1)
        read = read_default_spread(documents.front(), found);
    else if (found.ok())
        found.error({file, 0, 0}, std::to_string(documents.size()) +
                                      " documents (expected one KubeSchedulerConfiguration)");
    if (!found.ok())
        throw CLI::ValidationError("--default-spread", to_text(found.findings().front()));
    return read;
}

void add_default_spread(CLI::App& to, reading_rules& rules) {
    to.add_option_function<std::string>(
          "--default-spread",
          [&rules](const std::string& text) {
              if (text == "none")
                  rules.default_spread.clear();
              else if (text == "system")
                  rules.default_spread = system_default_spread();
              else
                  rules.default_spread = default_spread_of(text);
          },
          "Spread constraints for pods that have none of their own and that a Service, "
          "ReplicaSet, StatefulSet or ReplicationController selects: none, "
          "kube-scheduler's defaults (system), or those of a KubeSchedulerConfiguration (FILE)")
        ->default_str("none")
        ->type_name("none|system|FILE");
}

void add_rules(CLI::App& to, reading_rules& rules) {
    to.add_option_function<std::string>(
          "--kubernetes",
          [&rules](const std::string& text) {
              const auto version = parse_kubernetes_version(text);
              if (!version)
                  throw CLI::ValidationError(
                      "--kubernetes",
                      in_quotes(text) + " is no version whose rules are known (expected 1." +
                          std::to_string(kubernetes_version::first_minor) + " to 1." +
                          std::to_string(kubernetes_version::last_minor) + ")");
              rules.kubernetes = *version;
          },
          "Version of Kubernetes whose rules apply to pods, 1.35 to 1.38. A spread constraint with "
          "an empty label selector counts all pods of its namespace from 1.38 on, and no pods "
          "before")
        ->default_str("1.37")
        ->type_name("VERSION");
}

void add_request(CLI::App& to, cli::request& asked) {
    to.add_option("-f,--filename", asked.files,
                  "A file, a directory, or - for stdin: YAML or JSON manifests; may be repeated")
        ->required()
        ->allow_extra_args(false)
        ->type_name("FILE|DIR|-");
    to.add_flag("--strict", asked.strict,
                "Treat unknown fields and kinds, and all other warnings, as errors");
    to.add_option("-n,--namespace", asked.default_namespace, "Namespace of objects without one")
        ->capture_default_str();
    to.add_option_function<std::string>(
          "--now",
          [&asked](const std::string& text) {
              asked.now = parse_timestamp(text);
              if (!asked.now)
                  throw CLI::ValidationError(
                      "--now",
                      in_quotes(text) +
                          (is_distant_time(text)
                               ? " is out of range (expected a time of the years 1678 to 2261)"
                               : " is not an RFC 3339 time (expected e.g. 2023-12-17T13:48:16Z)"));
          },
          "Current time in RFC 3339 (default: the newest time in the input)")
        ->type_name("TIME");
    to.add_option("--queue-namespace", asked.queue_namespace, "Namespace of T9k Queues")
        ->capture_default_str();
    add_topology(to, asked.topology);
    add_policy(to, asked.how);
    to.add_option("--budget", asked.budget, "Search steps for each group (default: 2097152)")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40U))
        ->type_name("N");
}

void add_selector(CLI::App& to, muster::label_selector& into, const char* help) {
    to.add_option_function<std::string>(
          "-l,--selector",
          [&into](const std::string& text) {
              read_selector read = parse_label_selector(text);
              if (!read.fault.empty())
                  throw CLI::ValidationError("--selector", in_quotes(text) + ": " + read.fault);
              into = std::move(read.selector);
          },
          help)
        ->type_name("SELECTOR");
}
void add_group_selector(CLI::App& to, cli::request& asked) {
    add_selector(to, asked.groups_with,
                 "Print only groups and pods with these labels, in kubectl's syntax: a=b, a!=b, "
                 "a in (b,c), a, !a, ... (default: all). A group without an object has the labels "
                 "of its pods. The plan always covers all groups");
}

void add_dialect(CLI::App& to, muster::translate::grove_dialect& into) {
    using muster::translate::grove_dialect;
    static const std::map<std::string, grove_dialect> dialects{
        {"seed", grove_dialect::seed}, {"upstream", grove_dialect::upstream}};
    add_choice(to, "--dialect", into, dialects,
               "Reading of Grove's API: as merged (upstream) or as in its complete example (seed) "
               "(default: upstream)");
}

void add_translation(CLI::App& to, cli::translate_request& asked) {
    using namespace muster::translate;
    using muster::codec::share_system;
    static const std::map<std::string, target> names = [] {
        std::map<std::string, target> all;
        for (const auto& [which, name] : targets)
            all.emplace(name, which);
        return all;
    }();
    static const std::map<std::string, kai_naming> namings{{"backend", kai_naming::backend},
                                                           {"podgrouper", kai_naming::podgrouper}};
    static const std::map<std::string, bool> formats{{"yaml", false}, {"json", true}};
    to.add_option("-f,--filename", asked.files,
                  "A file, a directory, or - for stdin: YAML or JSON manifests; may be repeated")
        ->required()
        ->allow_extra_args(false)
        ->type_name("FILE|DIR|-");
    static const std::map<std::string, share_system> systems{
        {"hami", share_system::hami},
        {"kai", share_system::kai},
        {"koordinator", share_system::koordinator},
        {"openb", share_system::openb},
        {"volcano", share_system::volcano}};
    add_optional_choice(to, "--to", asked.to, names,
                        "API of the objects to write (default with --shares: objects keep their "
                        "API)");
    add_optional_choice(
        to, "--shares", asked.shares, systems,
        "System in whose notation pods request shares of GPUs (default: the notation "
        "is kept)");
    to.parse_complete_callback([&asked] {
        if (!asked.to && !asked.shares)
            throw CLI::RequiredError("--to or --shares");
    });
    add_dialect(to, asked.how.dialect);
    add_choice(to, "-o,--output", asked.json, formats, "Output format (default: yaml)");
    to.add_flag("--strict", asked.strict, "Treat losses and all warnings as errors");
    to.add_option("-n,--namespace", asked.default_namespace, "Namespace of objects without one")
        ->capture_default_str();
    to.add_option_function<std::string>(
          "--kai-naming", [&](const std::string& text) { asked.how.naming = namings.at(text); },
          "Names of KAI's PodGroups: those of their gangs (backend), or those that KAI's "
          "podgrouper would choose (default: as the dialect of a PodGang does, else backend)")
        ->check(one_of(namings));
    to.add_option("--kai-topology", asked.how.kai_topology,
                  "Topology of gangs that require levels and name no Topology (default: none)")
        ->type_name("NAME");
}

void add_log_format(CLI::App& to, cli::log_format& into) {
    static const std::map<std::string, cli::log_format> formats{{"json", cli::log_format::json},
                                                                {"text", cli::log_format::text}};
    add_choice(to, "--log-format", into, formats,
               "Format of the log lines on stderr (default: text)");
}

void add_up(CLI::App& to, cli::up_request& asked) {
#ifdef MUSTER_HAS_LIVE
    asked.beside = {"schedule", "controller"};
#endif
    to.footer(
        "Objects of custom kinds need their definitions in one of the files; without one, the\n"
        "kinds that muster reads are served without a schema. Files may come from another cluster\n"
        "(muster snapshot, kubectl get -o yaml): an object that exists is changed, and nodes,\n"
        "claims, volumes and pods with a node keep their status.\n"
        "Annotations set how long a pod runs and its exit code: muster.dev/run-seconds,\n"
        "muster.dev/exit-code.\n"
        "A fault has a kind (delay, lose_answer, refuse, reset, truncate, half_line, end_watch,\n"
        "hold_watch, gone, gone_in_stream, compact), the requests that it affects (verb,\n"
        "resource, name), and how often it occurs (skip, times; 0 = always, percent):\n"
        "  --fault "
        "'{\"what\":\"refuse\",\"code\":429,\"verb\":\"create\",\"percent\":20,\"times\":0}'");
    to.add_option("-f,--filename", asked.files,
                  "Objects to load at the start: definitions, nodes, queues; may be repeated "
                  "(default: none)")
        ->allow_extra_args(false)
        ->type_name("FILE|DIR|-");
    to.add_option("--kubeconfig", asked.kubeconfig,
                  "Path of the kubeconfig to write; a file that muster up did not write is not "
                  "replaced")
        ->capture_default_str()
        ->type_name("FILE");
    to.add_option("--tokens", asked.tokens,
                  "File of further bearer tokens that are accepted, lines of token,user (default: "
                  "none)")
        ->type_name("FILE");
    to.add_option("--port", asked.port, "TCP port to listen on; 0 = any free port")
        ->check(CLI::Range(0, 65535))
        ->capture_default_str()
        ->type_name("PORT");
    to.add_flag("--plain", asked.plain, "Serve HTTP without TLS and tokens, like kubectl proxy");
    to.add_flag_function(
        "--only-server", [&](std::int64_t) { asked.beside.clear(); },
        "Do not start muster schedule and muster controller on the cluster");
    to.add_flag("--no-kubelets", asked.no_kubelets, "Do not run bound pods");
    to.add_flag("--no-provisioner", asked.no_provisioner,
                "Bind claims to existing volumes only; by default, volumes are provisioned for "
                "every storage class that names a provisioner");
    to.add_option("--pod-delay", asked.pod_milliseconds,
                  "Time in milliseconds until a bound pod runs, and until a deleted pod is gone")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{3'600'000}))
        ->capture_default_str();
    to.add_option("--fault", asked.faults,
                  "Fault to inject into requests; may be repeated, the first rule that matches a "
                  "request applies (default: none)")
        ->allow_extra_args(false)
        ->type_name("RULE");
    to.add_option("--seed", asked.seed,
                  "Seed of faults and uids: the same requests get the same faults")
        ->capture_default_str();
    add_log_format(to, asked.format);
}

void add_live(CLI::App& to, cli::live_request& asked) {
    to.add_option("--kubeconfig", asked.kubeconfig,
                  "Path to a kubeconfig (default: $KUBECONFIG, ~/.kube/config, in-cluster)")
        ->type_name("FILE");
    to.add_option("--context", asked.context,
                  "Context of the kubeconfig (default: its current context)")
        ->type_name("NAME");
    to.add_option("--server", asked.server,
                  "URL of an API server without authentication, such as kubectl proxy; replaces "
                  "the kubeconfig (default: none)")
        ->type_name("URL");
    to.add_option("--allow-exec-plugin", asked.allowed_plugins,
                  "Absolute path of a credential plugin that the kubeconfig may run; may be "
                  "repeated (default: none)")
        ->allow_extra_args(false)
        ->type_name("/PATH");
    to.add_option("--timeout", asked.patience, "Time limit of the first listing, in seconds")
        ->check(CLI::Range(1, 3600))
        ->capture_default_str()
        ->type_name("SECONDS");
    add_log_format(to, asked.format);
}

void add_queue_namespace(CLI::App& to, cli::live_request& asked) {
    to.add_option("--queue-namespace", asked.queue_namespace, "Namespace of T9k Queues")
        ->capture_default_str()
        ->type_name("NAMESPACE");
}

void add_scheduling(CLI::App& to, cli::live_request& asked) {
    add_live(to, asked);
    std::vector<std::string> names;
    for (const auto& each : muster::kube::dialects)
        names.emplace_back(each.name);
    to.add_option_function<std::vector<std::string>>(
          "--dialect",
          [&asked](const std::vector<std::string>& chosen) {
              asked.dialects.clear();
              for (const std::string& each : chosen)
                  asked.dialects.push_back(*muster::kube::find_dialect(each));
          },
          "API whose groups and queues are read and whose status is written; may be repeated")
        ->check(one_of(names))
        ->allow_extra_args(false)
        ->default_str("t9k");
    to.add_option("--scheduler-name", asked.scheduler_names,
                  "Scheduler name of the pods to schedule; may be repeated (default: the "
                  "schedulers of the dialects)")
        ->allow_extra_args(false)
        ->type_name("NAME");
    add_queue_namespace(to, asked);
    add_topology(to, asked.topology);
    add_rules(to, asked.rules);
    add_default_spread(to, asked.rules);
    add_policy(to, asked.how);
}

/// A time in whole seconds, of at most a day.
void add_seconds(CLI::App& to, const char* name, std::int64_t& seconds, const char* help) {
    to.add_option(name, seconds, help)
        ->check(CLI::Range(1, 86'400))
        ->capture_default_str()
        ->type_name("SECONDS");
}

void add_reservations(CLI::App& to, muster::kube::reservation_options& how) {
    to.add_option("--kai-reservation-image", how.image,
                  "Image of KAI's agent resource-reservation. With this image, pods with the "
                  "annotations gpu-fraction or gpu-memory share GPUs that reservation pods hold "
                  "(default: none, such pods wait)")
        ->type_name("IMAGE");
    to.add_option("--kai-reservation-namespace", how.name_space,
                  "Namespace of the reservation pods of KAI")
        ->capture_default_str()
        ->type_name("NAMESPACE");
    to.add_option("--kai-reservation-account", how.service_account,
                  "Service account of the reservation pods of KAI")
        ->capture_default_str()
        ->type_name("NAME");
    to.add_option("--kai-runtime-class", how.runtime_class,
                  "Runtime class of the reservation pods of KAI (default: none)")
        ->type_name("NAME");
}

void add_leading(CLI::App& to, cli::leading_request& asked) {
    to.add_flag("--dry-run", asked.dry_run, "Decide once, print the decisions, and write nothing");
    to.add_flag("--leader-elect,!--no-leader-elect", asked.elects,
                "Write only while holding a Lease (default: on)");
    to.add_option("--lease-namespace", asked.lease_namespace, "Namespace of the Lease")
        ->capture_default_str();
    to.add_option("--lease-name", asked.lease_name, "Name of the Lease")->capture_default_str();
    to.add_option("--lease-duration", asked.lease_seconds, "Duration of the Lease, in seconds")
        ->check(CLI::Range(2, 3600))
        ->capture_default_str()
        ->type_name("SECONDS");
    to.add_option("--address", asked.address,
                  "IP address of /metrics, /healthz and /readyz; empty = do not serve them")
        ->capture_default_str();
    to.add_option("--port", asked.port,
                  "TCP port of /metrics, /healthz and /readyz; 0 = any free port")
        ->check(CLI::Range(0, 65535))
        ->capture_default_str()
        ->type_name("PORT");
    to.add_flag("-v,--verbose", asked.verbose, "Log each write");
}

void add_controlling(CLI::App& to, cli::controller_request& asked) {
    using muster::translate::target;
    static const std::map<std::string, target> backends = [] {
        std::map<std::string, target> all;
        for (const auto& [which, name] : muster::translate::targets)
            if (name.starts_with("kai") || name.starts_with("workload") || name == "koordinator" ||
                name == "volcano")
                all.emplace(name, which);
        return all;
    }();
    add_live(to, asked);
    add_queue_namespace(to, asked);
    to.add_option("-n,--namespace", asked.name_space,
                  "Run only the jobs of this namespace (default: all)")
        ->type_name("NAMESPACE");
    to.add_option_function<std::vector<std::string>>(
          "--backend",
          [&](const std::vector<std::string>& names) {
              for (const std::string& each : names)
                  asked.backends.push_back(backends.at(each));
          },
          "API of the gangs written for Grove's sets; may be repeated. The first one is used for "
          "sets that name no scheduler (default: Kubernetes' own, and the newest of the others)")
        ->check(one_of(backends))
        ->allow_extra_args(false)
        ->type_name("BACKEND");
    add_dialect(to, asked.dialect);
    add_leading(to, asked);
}

void add_look(CLI::App& to, look& how, const std::vector<std::string>& formats) {
    to.add_option("-o,--output", how.format, "Output format")
        ->check(one_of(formats))
        ->capture_default_str();
    to.add_flag("--no-headers", how.no_headers, "Print tables without the header line");
}

/// Options of commands that print a table.
void add_columns(CLI::App& to, look& how) {
    to.add_option("--sort-by", how.sort_by,
                  "Column to sort tables and CSV by, numbers as numbers; the sort is stable "
                  "(default: the order of the plan)")
        ->type_name("COLUMN");
    to.add_option("--columns", how.columns,
                  "Columns of tables and CSV, in this order (default: all)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("COLUMN,COLUMN,...");
}

/// Describes a command for shell completion.
cli::known_command describe(const CLI::App& command) {
    cli::known_command made;
    made.name = command.get_name();
    made.help = command.get_description();
    for (const CLI::Option* each : command.get_options()) {
        std::vector<std::string> values;
        const std::string type = each->get_type_name();
        if (const std::size_t open = type.find(":{"); open != type.npos) {
            const std::size_t close = type.find('}', open);
            for (std::size_t from = open + 2; from < close;) {
                const std::size_t comma = std::min(type.find(',', from), close);
                values.push_back(type.substr(from, comma - from));
                from = comma + 1;
            }
        }
        if (each->get_positional()) {
            made.words = values;
            continue;
        }
        cli::known_option option;
        for (const std::string& name : each->get_snames())
            option.names.push_back("-" + name);
        for (const std::string& name : each->get_lnames())
            option.names.push_back("--" + name);
        option.help = each->get_description();
        option.takes_value = each->get_items_expected_max() > 0;
        option.is_file = type.starts_with("FILE");
        option.values = std::move(values);
        made.options.push_back(std::move(option));
    }
    return made;
}

/// Appends the exit codes of a command to its help.
void add_exit_codes(CLI::App& to, std::initializer_list<cli::exit_code> others) {
    const std::string before = to.get_footer();
    to.footer((before.empty() ? "" : before + "\n\n") + cli::exit_codes_text(others));
}

void add_edits(CLI::App& to, std::vector<cli::edit>& edits) {
    const auto add = [&](const char* name, cli::edit::kind what, const char* value,
                         const char* help) {
        to.add_option_function<std::string>(
              name,
              [&edits, what](const std::string& text) {
                  edits.push_back({what, text});
              },
              help)
            ->trigger_on_parse()
            ->type_name(value);
    };
    using kind = cli::edit::kind;
    add("--add-nodes", kind::add_nodes, "COUNTxNODE[,LABEL=VALUE...]",
        "Add copies of a node, e.g. 4xnode-a, not cordoned and without taints of conditions;\n"
        "labels that follow replace those of the node");
    add("--cordon", kind::cordon, "NODE", "Cordon the node: it takes no new pods");
    add("--uncordon", kind::uncordon, "NODE", "Uncordon the node: it takes pods again");
    add("--drain", kind::drain, "NODE", "Cordon the node, and make its pods wait for another node");
    add("--remove-gang", kind::remove_gang, "[NAMESPACE/]NAME",
        "Remove the group and all its pods");
    add("--remove-pod", kind::remove_pod, "[NAMESPACE/]NAME", "Remove the pod");
    add("--bind-claim", kind::bind_claim, "[NAMESPACE/]NAME",
        "Bind the PersistentVolumeClaim to a new volume that every node can use; a claim that\n"
        "does not exist is created first");
    add("--set", kind::set, "WHAT=VALUE",
        "Set a field of a queue or group:\n"
        "queue.NAME.quota.RESOURCE=QUANTITY (or none), .deserved.RESOURCE=QUANTITY,\n"
        ".priority=N, .closed=true,\n"
        ".preemptible=true, .weight=N,\n"
        "group.NAME.minMember=N, .roles.ROLE.minMember=N, .priority=N, .queue=NAME,\n"
        ".toleration=KEY[=VALUE]:EFFECT, .nodeSelector.LABEL=VALUE (empty: dropped),\n"
        "and fields that an empty value drops: .nodeAffinity=, .podAffinity=, .podAntiAffinity=,\n"
        ".topologySpread=, .topology= (of the group as a whole), .roles.ROLE.topology=");
}

/// Reports each option that the command does not have. Returns false if there is none.
bool tell_unknown_options(const CLI::App& app) {
    bool any = false;
    for (const CLI::App* command : app.get_subcommands())
        for (const std::string& word : command->remaining()) {
            const std::string name = word.substr(0, word.find('='));
            if (!name.starts_with('-') || name == "-" || name == "--")
                continue;
            std::vector<std::string> known;
            for (const CLI::Option* each : command->get_options())
                for (const std::string& one : each->get_lnames())
                    known.push_back("--" + one);
            any = true;
            complain(in_quotes(name) + " is no option of muster " + command->get_name() +
                     suggestion(name, known));
        }
    return any;
}

int fail_with(const CLI::App& app, const CLI::ParseError& error) {
    return app.exit(error) == 0 ? cli::fine : cli::usage;
}

int run(int argc, char** argv) {
    CLI::App app("Decides which gangs of pods start now and where, and why others wait.", "muster");
    app.require_subcommand(1);
    app.set_version_flag("--version", "muster " + version_text());
    cli::request asked;
    look how;
    std::string wanted;
    std::string schema;
    std::optional<std::int64_t> tries;

    CLI::App& planning = *app.add_subcommand("plan", "One scheduling cycle: what would start now");
    add_request(planning, asked);
    add_rules(planning, asked.rules);
    add_default_spread(planning, asked.rules);
    add_look(planning, how, {"table", "wide", "pods", "json", "yaml", "name", "csv", "svg"});
    add_columns(planning, how);
    add_group_selector(planning, asked);
    CLI::App& explaining = *app.add_subcommand("explain", "Why groups wait, all reasons of each");
    add_request(explaining, asked);
    add_rules(explaining, asked.rules);
    add_default_spread(explaining, asked.rules);
    add_look(explaining, how, {"table", "json", "yaml"});
    add_group_selector(explaining, asked);
    explaining.add_option("group", wanted, "Group to explain (default: all groups that wait)")
        ->type_name("NAME|NAMESPACE/NAME");
    explaining
        .add_option("--tries", tries,
                    "Maximum number of cycles to simulate for each group in search of changes "
                    "that would start it, and four times as many in total; 0 = do not search "
                    "(default: 20 to 500, fewer in a large cluster)")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 30U))
        ->type_name("N");
    CLI::App& changing = *app.add_subcommand("whatif", "");
    changing.description("The plan before and after changes to the cluster");
    changing.footer("Changes apply in the given order, and may be repeated:\n"
                    "  muster whatif -f cluster.yaml --add-nodes 2xnode-a --set "
                    "queue.a.quota.cpu=40");
    std::vector<cli::edit> edits;
    add_request(changing, asked);
    add_rules(changing, asked.rules);
    add_default_spread(changing, asked.rules);
    add_look(changing, how, {"table", "wide", "json", "yaml"});
    add_edits(changing, edits);
    add_group_selector(changing, asked);
    CLI::App& comparing = *app.add_subcommand("diff", "The differences of two plans (-o json)");
    std::vector<std::string> files;
    comparing.add_option("files", files, "The plans before and after")
        ->required()
        ->expected(2)
        ->type_name("A.json B.json");
    add_look(comparing, how, {"table", "wide", "json", "yaml"});
    CLI::App& ranking = *app.add_subcommand("prio", "The order in which groups are scheduled");
    ranking.footer("Queues go by their priority, then by their dominant share of their quota when\n"
                   "their turn comes (the smaller first); in a queue groups go by priority, then\n"
                   "by age.");
    add_request(ranking, asked);
    add_rules(ranking, asked.rules);
    add_default_spread(ranking, asked.rules);
    add_look(ranking, how, {"table", "json", "yaml", "csv"});
    add_columns(ranking, how);
    add_group_selector(ranking, asked);
    CLI::App& queueing =
        *app.add_subcommand("queues", "Queues with their quota, use and waiting groups");
    add_request(queueing, asked);
    add_rules(queueing, asked.rules);
    add_default_spread(queueing, asked.rules);
    add_look(queueing, how, {"table", "wide", "json", "yaml", "name", "csv", "svg"});
    add_columns(queueing, how);
    add_selector(queueing, asked.queues_with,
                 "Print only queues with these labels, in kubectl's syntax: a=b, a!=b, a in (b,c), "
                 "a, !a (default: all)");
    CLI::App& running = *app.add_subcommand(
        "run", "Runs jobs from creation to their end in virtual time, and prints the events");
    running.footer(
        "Annotations of a template set how its replicas end, with an entry per attempt:\n"
        "  muster.dev/run-seconds: \"600, 30\"   (absent: until an event ends it)\n"
        "  muster.dev/exit-code: \"1, 0\"        (absent: 0)\n"
        "Events are a list `events:` of {at: SECONDS, WHAT: [NAMESPACE/]NAME} with WHAT\n"
        "one of pause, resume, scale (with replicas), deleteJob, end (with exitCode),\n"
        "deletePod, loseNode, returnNode, and of PodCliqueSets setImage (with image, and clique\n"
        "unless all are meant). Jobs of other APIs than T9k's and Grove's run with the groups and\n"
        "pods that they create first; these are not restarted.");
    cli::run_request more;
    add_request(running, asked);
    add_look(running, how, {"table", "json", "yaml", "csv"});
    running.add_option("--events", more.events, "File of external events (default: none)")
        ->type_name("FILE");
    add_dialect(running, more.dialect);
    running.add_flag("--seed-conditions", more.sample_conditions,
                     "Write conditions as in T9k's sample status: Initializing, and Running and "
                     "ReplicaFailure as they were before the end");
    running.add_option("--until", more.until, "Maximum virtual time of the run, in seconds")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}))
        ->capture_default_str()
        ->type_name("SECONDS");
    CLI::App& translating = *app.add_subcommand(
        "translate", "Translates jobs and groups of any gang API to the objects of another");
    translating.footer(
        "Losses and warnings go to stderr. An object that the target would refuse, and\nwith "
        "--strict a loss, count as invalid input.\nTo translate only shares of GPUs, e.g. from KAI "
        "to HAMi:\n  muster translate -f fractions.yaml --shares hami");
    cli::translate_request translated;
    add_translation(translating, translated);
    CLI::App& serving = *app.add_subcommand(
        "up", "A cluster in memory, for kubectl: the API, kubelets, scheduler and controllers");
    cli::up_request served;
    add_up(serving, served);
    CLI::App& picturing = *app.add_subcommand(
        "snapshot", "Writes a live cluster to a file that plan, explain and whatif read");
    cli::snapshot_request pictured;
    add_live(picturing, pictured);
    picturing
        .add_option("--scheduler-name", pictured.scheduler_names,
                    "Keep only the waiting pods with this scheduler name; may be repeated "
                    "(default: keep all)")
        ->allow_extra_args(false)
        ->type_name("NAME");
    picturing.add_option("-o,--output", pictured.output, "Path of the output (default: stdout)")
        ->type_name("FILE");
    CLI::App& scheduling = *app.add_subcommand("schedule", "Schedules a live cluster");
    cli::schedule_request scheduled;
    add_scheduling(scheduling, scheduled);
    add_leading(scheduling, scheduled);
    add_seconds(scheduling, "--heal-after", scheduled.heal_seconds,
                "Time in seconds for which a group may be partly bound and impossible to "
                "complete before its bound pods are evicted");
    add_seconds(scheduling, "--volume-timeout", scheduled.volume_seconds,
                "Time in seconds for which the volumes of a pod may take to be bound. After that "
                "no pod of its group is bound, and the group is decided again");
    add_reservations(scheduling, scheduled.reservations);
    add_seconds(scheduling, "--compare-every", scheduled.compare_seconds,
                "Interval in seconds between comparisons of the cached state with a fresh "
                "listing");
    CLI::App& controlling = *app.add_subcommand(
        "controller", "Runs the jobs of a live cluster: creates their groups and pods, restarts "
                      "failed ones, and writes their status");
    cli::controller_request controlled;
    add_controlling(controlling, controlled);
    controlling.footer("With --dry-run, objects that would be written count as pending groups.");
    CLI::App& shadowing = *app.add_subcommand(
        "shadow", "Compares another scheduler's decisions with Muster's; writes nothing");
    cli::shadow_request shadowed;
    shadowed.scheduler_names = {"default-scheduler"};
    add_scheduling(shadowing, shadowed);
    shadowing
        .add_option("--for", shadowed.seconds,
                    "Time to run, in seconds; 0 = until a signal stops it")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str()
        ->type_name("SECONDS");
    CLI::App& describing = *app.add_subcommand("schema", "The JSON Schema of an output");
    describing.add_option("output", schema, "Command whose output to describe")
        ->required()
        ->check(one_of(std::vector<std::string>{"plan", "diff"}));
    CLI::App& version = *app.add_subcommand("version", "The version of muster");
    add_look(version, how, {"table", "json", "yaml"});
    static const std::map<std::string, cli::shell> shells{
        {"bash", cli::shell::bash}, {"zsh", cli::shell::zsh}, {"fish", cli::shell::fish}};
    cli::shell which = cli::shell::bash;
    CLI::App& completing = *app.add_subcommand("completion", "A completion script for a shell");
    completing.footer("  source <(muster completion bash)    # or zsh\n"
                      "  muster completion fish | source");
    add_choice(completing, "shell", which, shells, "Name of the shell");
    completing.get_option("shell")->required();

    for (CLI::App* const each : {&planning, &explaining, &changing})
        add_exit_codes(*each, {cli::invalid_input, cli::pending, cli::broken});
    for (CLI::App* const each : {&ranking, &queueing})
        add_exit_codes(*each, {cli::invalid_input, cli::broken});
    add_exit_codes(running, {cli::invalid_input, cli::pending});
    for (CLI::App* const each : {&comparing, &translating, &serving})
        add_exit_codes(*each, {cli::invalid_input});
    for (CLI::App* const each : {&scheduling, &controlling})
        add_exit_codes(*each, {cli::pending});
    for (CLI::App* const each : {&picturing, &shadowing, &describing, &version, &completing})
        add_exit_codes(*each, {});
    add_exit_codes(app, {cli::invalid_input, cli::pending, cli::broken});

    // Turns `help` and `help COMMAND` into --help.
    std::vector<char*> words(argv, argv + argc);
    std::string help = "--help";
    if (argc > 1 && std::string_view(argv[1]) == "help") {
        words.erase(words.begin() + 1);
        words.insert(words.begin() + std::min<std::ptrdiff_t>(2, std::ssize(words)), help.data());
        argv = words.data();
    }
    std::string all;
    std::vector<std::string> names;
    for (const CLI::App* each : app.get_subcommands(nullptr)) {
        all += (all.empty() ? "" : ", ") + each->get_name();
        names.push_back(each->get_name());
    }
    if (argc > 1 && *argv[1] != '-' && std::ranges::find(names, argv[1]) == names.end()) {
        complain(in_quotes(argv[1]) + " is no command (expected one of " + all + ")" +
                 suggestion(argv[1], names));
        return cli::usage;
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ExtrasError& error) {
        return tell_unknown_options(app) ? int{cli::usage} : fail_with(app, error);
    } catch (const CLI::ParseError& error) {
        // A required option may be missing because it is mistyped.
        if (error.get_exit_code() != 0)
            static_cast<void>(tell_unknown_options(app));
        return fail_with(app, error);
    }
    const bool tabular = how.format == "table" || how.format == "wide" || how.format == "pods" ||
                         how.format == "csv";
    if (!tabular && (!how.sort_by.empty() || !how.columns.empty())) {
        complain("-o " + how.format + " has no columns (expected table, wide, pods or csv with " +
                 "--sort-by and --columns)");
        return cli::usage;
    }
    if (completing) {
        std::vector<cli::known_command> commands;
        for (const CLI::App* each : app.get_subcommands(nullptr))
            commands.push_back(describe(*each));
        return finish(write(cli::completion_script(which, commands)), false);
    }
    if (planning)
        return plan(asked, how);
    if (explaining)
        asked.tries = tries;
    if (explaining)
        return explain(asked, how, wanted);
    if (ranking)
        return prio(asked, how);
    if (queueing)
        return queues(asked, how);
    if (changing)
        return whatif(asked, how, edits);
    if (translating)
        return translate(translated);
    if (comparing)
        return compare(files, how);
    if (running)
        return run_jobs(asked, more, how);
    if (serving) {
#ifdef MUSTER_HAS_UP
        return cli::up(served);
#else
        complain("muster up: built without OpenSSL (expected 3.0 or newer)");
        return cli::usage;
#endif
    }
    if (picturing || scheduling || controlling || shadowing) {
#ifdef MUSTER_HAS_LIVE
        return picturing     ? cli::snapshot(pictured)
               : scheduling  ? cli::schedule(scheduled)
               : controlling ? cli::control(controlled)
                             : cli::shadow(shadowed);
#else
        complain("muster was built without libcurl (expected 7.87 or newer)");
        return cli::usage;
#endif
    }
    if (describing)
        return finish(write(schema == "plan" ? cli::plan_schema() : cli::diff_schema), false);
    return print_version(how.format);
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        complain(std::string("muster: ") + error.what());
        return cli::usage;
    }
}
