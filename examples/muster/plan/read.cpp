// SPDX-License-Identifier: Apache-2.0
#include "read.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <utility>

#include <muster/input/isolate_faults.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_inputs.hpp>
#include <muster/sim/foreign_jobs.hpp>
#include <muster/sim/read_jobs.hpp>

namespace cli {

using namespace muster::codec;

namespace {

/// True unless the document is empty, an empty object, or a list without items.
bool holds_objects(const document& of) {
    const boost::json::object* const root = of.root().if_object();
    if (!root)
        return !of.root().is_null();
    const boost::json::value* const items = root->if_contains("items");
    return items && items->is_array() ? !items->get_array().empty() : !root->empty();
}

} // namespace

std::vector<document> read_objects(const std::vector<std::string>& files, diagnostics& found,
                                   on_unread unread) {
    std::vector<document> documents = read_inputs(files, found, stdin, unread);
    if (!found.ok() || std::ranges::any_of(documents, holds_objects))
        return documents;
    std::string names;
    for (const std::string& each : files)
        names += (names.empty() ? "" : ", ") + (each == "-" ? std::string("<stdin>") : each);
    found.error(
        {names, 1, 1},
        "no objects (expected Kubernetes objects in YAML or JSON, e.g. those of kubectl get "
        "nodes,pods -A -o json)");
    return documents;
}

manifests read_cluster(std::vector<document>& documents, const gang_options& options,
                       diagnostics& found) {
    return read_cluster_isolated(documents, options, found);
}

std::vector<std::string> skipped_lines(const manifests& objects) {
    std::vector<std::string> lines;
    const auto append_line = [&](skip_reason reason, const char* one, const char* several) {
        std::size_t all = 0;
        std::string kinds;
        for (const auto& [kind, count] : objects.skipped) {
            if (reason_to_skip(kind) != reason)
                continue;
            all += count;
            kinds += (kinds.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
        }
        if (all > 0)
            lines.push_back("skipped " + std::to_string(all) + (all == 1 ? one : several) + kinds);
    };
    append_line(skip_reason::not_understood, " object of a kind that is not understood: ",
                " objects of kinds that are not understood: ");
    append_line(skip_reason::makes_none_now,
                " workload that makes no pods now, or whose pods are not in the input: ",
                " workloads that make no pods now, or whose pods are not in the input: ");
    return lines;
}

gangs read_gangs(const std::vector<document>& documents, const gang_options& options,
                 diagnostics& found) {
    return muster::codec::read_gangs(documents, options, found);
}

run_input read_run(std::vector<document> documents, const std::vector<document>& events,
                   const std::string& default_namespace, muster::translate::grove_dialect dialect,
                   diagnostics& found) {
    run_input read;
    read.documents = std::move(documents);
    gang_options of_gangs;
    of_gangs.default_namespace = default_namespace;
    muster::sim::foreign_jobs others =
        muster::sim::read_foreign_jobs(read.documents, of_gangs, found);
    read.losses = std::move(others.losses);
    // All that refers to documents comes after this.
    std::ranges::move(others.documents, std::back_inserter(read.documents));
    reading_context context;
    context.default_namespace = default_namespace;
    read.jobs = muster::sim::read_jobs(read.documents, context, found);
    read.sets = muster::sim::read_sets(read.documents, context, found, dialect);
    manifest_options options;
    options.default_namespace = default_namespace;
    read.objects = read_manifests(read.documents, options, found);
    std::erase_if(read.objects.skipped, [](const auto& each) {
        const std::size_t space = each.first.find(' ');
        const auto version = std::string_view(each.first).substr(0, space);
        const auto kind = std::string_view(each.first).substr(space + 1);
        return t9k_job_kind(version, kind) || muster::sim::is_of_sets(version, kind) ||
               muster::sim::is_foreign_job(version, kind);
    });
    read.script = muster::sim::read_script(events, default_namespace, found);
    return read;
}

} // namespace cli
