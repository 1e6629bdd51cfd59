// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/input/read_inputs.hpp>

#include "../options/cluster.hpp"
#include "../options/look.hpp"
#include "../options/reading.hpp"
#include "../plan/read.hpp"
#include "../plan/run.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "terminal.hpp"
#include "with_report.hpp"

namespace cli {
namespace {

struct run_options {
    request asked;
    run_request more;
    look how;
};

std::string run_text(const muster::sim::run_record& made, const run_options& options) {
    const bool sample = options.more.sample_conditions;
    if (options.how.format == "json")
        return json_text(run_object(made, sample));
    if (options.how.format == "yaml")
        return yaml_text(run_object(made, sample));
    return run_table(made, options.how.form(), sample);
}

int run_jobs(const run_options& options) {
    const auto& [asked, more, how] = options;
    muster::codec::diagnostics found;
    std::vector<muster::codec::document> documents = read_objects(asked.files, found);
    std::vector<muster::codec::document> events;
    if (!more.events.empty())
        events = muster::codec::read_inputs(std::vector{more.events}, found);
    if (!found.ok()) {
        complain(found, asked.strict);
        return code_of_failure(found);
    }
    run_input input =
        read_run(std::move(documents), events, asked.default_namespace, more.dialect, found);
    for (const auto& loss : input.losses)
        complain("lost: " + std::string(to_text(loss.what)) + " of " + loss.object + ": " +
                 loss.detail);
    if (has_errors(input.objects, asked, found) ||
        (asked.strict && !skipped_lines(input.objects).empty()))
        return invalid_input;
    muster::codec::diagnostics of_run;
    const auto made = make_run(input.objects, std::move(input.jobs), std::move(input.sets),
                               input.script, asked, more, of_run);
    complain(of_run, asked.strict);
    if (!made || !of_run.ok() || (asked.strict && of_run.warnings() > 0))
        return invalid_input;
    if (made->cut_short)
        complain("the run was cut short after " + std::to_string(more.until) +
                 " seconds, or because it never came to rest (see --until)");
    return finish(write(run_text(*made, options)), made->pods_pending > 0);
}

} // namespace

runner declare_run(CLI::App& to) {
    const auto options = std::make_shared<run_options>();
    add_cluster(to, options->asked);
    add_look(to, options->how, {"table", "json", "yaml", "csv"});
    to.add_option("--events", options->more.events, "File of external events (default: none)")
        ->type_name("FILE");
    add_grove_dialect(to, options->more.dialect);
    to.add_flag("--seed-conditions", options->more.sample_conditions,
                "Write conditions as in T9k's sample status: Initializing, and Running and "
                "ReplicaFailure as they were before the end");
    to.add_option("--until", options->more.until, "Maximum virtual time of the run, in seconds")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}))
        ->capture_default_str()
        ->type_name("SECONDS");
    end_help(
        to,
        {.notes =
             "Annotations of a template set how its replicas end, with an entry per attempt:\n"
             "  muster.dev/run-seconds: \"600, 30\"   (absent: until an event ends it)\n"
             "  muster.dev/exit-code: \"1, 0\"        (absent: 0)\n"
             "Events are a list `events:` of {at: SECONDS, WHAT: [NAMESPACE/]NAME} with WHAT\n"
             "one of pause, resume, scale (with replicas), deleteJob, end (with exitCode),\n"
             "deletePod, loseNode, returnNode, and of PodCliqueSets setImage (with image, and "
             "clique\n"
             "unless all are meant). Jobs of other APIs than T9k's and Grove's run with the groups "
             "and\n"
             "pods that they create first; these are not restarted.",
         .examples = {"muster run -f cluster.yaml -f job.yaml --until 3600"},
         .codes = {invalid_input, pending}});
    return [options] { return run_jobs(*options); };
}

} // namespace cli
