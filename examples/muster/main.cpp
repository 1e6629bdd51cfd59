// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <muster/base/version.hpp>
#include <muster/codec/input.hpp>
#include <muster/codec/manifests.hpp>

#include "output.hpp"
#include "report.hpp"

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

void print_skipped(const manifests& objects) {
    std::size_t all = 0;
    std::string kinds;
    for (const auto& [kind, count] : objects.skipped) {
        all += count;
        kinds += (kinds.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
    }
    if (all > 0)
        complain("skipped " + std::to_string(all) +
                 (all == 1 ? " object of a kind" : " objects of kinds") +
                 (all == 1 ? " that is" : " that are") + " not understood: " + kinds);
}

/// What cannot be read is not the input's fault: it has no line.
bool unreadable(const diagnostics& found) {
    for (const diagnostic& each : found.findings())
        if (each.level == severity::error && each.where.line == 0)
            return true;
    return false;
}

/// Reads, plans, and hands the report to `show`, which prints it and answers with the exit code.
template<class Show>
int with_report(const cli::request& asked, const Show& show) {
    diagnostics found;
    const std::vector<document> documents = read_inputs(asked.files, found);
    if (!found.ok()) {
        print(found, asked.strict);
        return unreadable(found) ? cli::usage : cli::invalid_input;
    }
    manifest_options options;
    options.default_namespace = asked.default_namespace;
    const manifests objects = read_manifests(documents, options, found);
    const bool refused =
        !found.ok() || (asked.strict && (found.warnings() > 0 || !objects.skipped.empty()));
    if (refused) {
        print(found, asked.strict);
        print_skipped(objects);
        return cli::invalid_input;
    }
    const cli::report made = cli::make_report(objects, asked, found);
    print(found, asked.strict);
    print_skipped(objects);
    if (!found.ok() || (asked.strict && found.warnings() > 0))
        return cli::invalid_input;
    const int code = show(made);
    for (const std::string& each : made.violations)
        complain("a bug in muster: " + each);
    return made.violations.empty() ? code : int{cli::broken};
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
};

int plan(cli::request asked, const look& how) {
    asked.reasons = how.format != "pods" && how.format != "name";
    return with_report(asked, [&](const cli::report& made) {
        std::string out;
        if (how.format == "json")
            out = cli::json_text(cli::plan_object(made));
        else if (how.format == "yaml")
            out = cli::yaml_text(cli::plan_object(made));
        else if (how.format == "name")
            out = cli::names(made);
        else if (how.format == "pods")
            out = cli::pods_table(made, !how.no_headers);
        else
            out = cli::plan_table(made, !how.no_headers);
        if (how.format == "wide")
            out += "\n" + cli::members_table(made, !how.no_headers);
        return finish(write(out), made.pods_pending > 0);
    });
}

int explain(cli::request asked, const look& how, const std::string& wanted) {
    asked.headlines = how.format == "table";
    return with_report(asked, [&](const cli::report& made) {
        boost::json::array objects;
        std::string out;
        bool found = false;
        bool waits = false;
        for (const cli::group_line& group : made.groups) {
            const bool named =
                wanted == group.name || wanted == group.name_space + "/" + group.name;
            if (wanted.empty() ? group.starts() : !named)
                continue;
            found = true;
            waits = waits || group.waits > 0;
            objects.push_back(cli::group_object(group));
            out += (out.empty() ? "" : "\n") + cli::explanation(group, asked, !how.no_headers);
        }
        if (!wanted.empty() && !found) {
            complain("there is no group " + in_quotes(wanted) +
                     " with something to decide (expected NAME or NAMESPACE/NAME)");
            return int{cli::usage};
        }
        if (how.format == "json")
            out = cli::json_text(objects);
        else if (how.format == "yaml")
            out = cli::yaml_text(objects);
        return finish(write(out), waits);
    });
}

int print_version(const std::string& format) {
    const auto [major, minor, patch] = muster::library_version;
    const std::string text =
        std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
    if (format == "table")
        return finish(write("muster " + text + "\n"), false);
    boost::json::object out;
    out["apiVersion"] = "muster.dev/v1alpha1";
    out["kind"] = "Version";
    out["version"] = text;
    return finish(write(format == "json" ? cli::json_text(out) : cli::yaml_text(out)), false);
}

void add_request(CLI::App& to, cli::request& asked) {
    to.add_option("-f,--filename", asked.files,
                  "A file, a directory, or - for stdin: YAML or JSON manifests; may be repeated")
        ->required()
        ->allow_extra_args(false)
        ->type_name("FILE|DIR|-");
    to.add_flag("--strict", asked.strict,
                "Unknown fields and kinds, and all other warnings, are errors");
    to.add_option("-n,--namespace", asked.default_namespace,
                  "The namespace of objects that name none")
        ->capture_default_str();
    to.add_option_function<std::string>(
          "--now",
          [&asked](const std::string& text) {
              asked.now = parse_timestamp(text);
              if (!asked.now)
                  throw CLI::ValidationError(
                      "--now", in_quotes(text) +
                                   " is not an RFC 3339 time (expected e.g. 2023-12-17T13:48:16Z)");
          },
          "When it is; the newest time that the input names without")
        ->type_name("TIME");
    to.add_option("--queue-namespace", asked.queue_namespace, "Where T9k Queues live")
        ->capture_default_str();
    to.add_option("--score", asked.score, "Which node a pod gets of those that it fits")
        ->check(CLI::IsMember({"best-fit", "worst-fit", "first-fit"}))
        ->capture_default_str();
    to.add_option("--budget", asked.budget, "Search steps for each gang")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40U))
        ->type_name("N");
}

void add_look(CLI::App& to, look& how, const std::vector<std::string>& formats) {
    to.add_option("-o,--output", how.format, "How to print")
        ->check(CLI::IsMember(formats))
        ->capture_default_str();
    to.add_flag("--no-headers", how.no_headers, "Tables without their first line");
}

int run(int argc, char** argv) {
    CLI::App app("Says which gangs of pods start now, where, and why not the others.", "muster");
    app.require_subcommand(1);
    app.footer("Exit codes: 0 fine, 1 usage or input that cannot be read, 2 invalid input,\n"
               "3 something stays pending, 4 the plan is broken (a bug).");
    cli::request asked;
    look how;
    std::string wanted;
    std::string schema;

    CLI::App& planning = *app.add_subcommand("plan", "One scheduling cycle: what would start now");
    add_request(planning, asked);
    add_look(planning, how, {"table", "wide", "pods", "json", "yaml", "name"});
    CLI::App& explaining = *app.add_subcommand("explain", "Why groups wait, all reasons of each");
    add_request(explaining, asked);
    add_look(explaining, how, {"table", "json", "yaml"});
    explaining.add_option("group", wanted, "Only this one; every group that waits without")
        ->type_name("NAME|NAMESPACE/NAME");
    CLI::App& describing = *app.add_subcommand("schema", "The JSON Schema of an output");
    describing.add_option("output", schema, "Of which command")
        ->required()
        ->check(CLI::IsMember({"plan"}));
    CLI::App& version = *app.add_subcommand("version", "Which version this is");
    add_look(version, how, {"table", "json", "yaml"});

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? cli::fine : cli::usage;
    }
    if (planning)
        return plan(asked, how);
    if (explaining)
        return explain(asked, how, wanted);
    if (describing)
        return finish(write(cli::plan_schema), false);
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
