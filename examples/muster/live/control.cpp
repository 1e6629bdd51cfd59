// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/serialize.hpp>

#include <muster/kube/controllers.hpp>
#include <muster/kube/job_controllers.hpp>
#include <muster/kube/metrics.hpp>

#include "../plan/report.hpp"
#include "live_connect.hpp"
#include "live_presence.hpp"

namespace cli {

namespace {

namespace adapter = muster::adapter;
namespace kube = muster::kube;

using live_controllers = kube::controllers<kube::job_controllers>;

std::string outcome_text(adapter::outcome what) {
    return kube::outcome_names[static_cast<std::size_t>(what)];
}

kube::controller_options options_of(const controller_request& asked) {
    kube::controller_options how;
    how.name_space = asked.name_space;
    how.events.controller = "muster.dev/controller";
    how.watches.seed = static_cast<std::uint64_t>(getpid());
    return how;
}

kube::job_controllers jobs_of(const controller_request& asked) {
    using muster::translate::target;
    kube::job_controllers made;
    made.t9k.queue_namespace = asked.queue_namespace;
    kube::grove_controller& grove = made.grove;
    grove.options.dialect = asked.dialect;
    for (const target each : asked.backends) {
        using muster::translate::workload_version;
        if (each == target::kai_0_14 || each == target::kai_0_15)
            grove.kai = each == target::kai_0_14 ? muster::translate::kai_version::v0_14
                                                 : muster::translate::kai_version::v0_15;
        else if (each == target::workload_1_35)
            grove.workloads = workload_version::v1_35;
        else if (each == target::workload_1_36)
            grove.workloads = workload_version::v1_36;
        else if (each == target::workload_1_37)
            grove.workloads = workload_version::v1_37;
        else if (each != target::koordinator && each != target::volcano)
            continue; // No other is offered.
        std::string scheduler(muster::translate::usual_scheduler(each));
        if (scheduler.empty())
            scheduler = "default-scheduler";
        if (grove.scheduler.empty())
            grove.scheduler = std::move(scheduler);
    }
    return made;
}

int look_once(const controller_request& asked, kube::transport& by) {
    live_controllers runs(by, options_of(asked), jobs_of(asked));
    // It must not write while it lists.
    runs.stop();
    const std::int64_t until = runs.now().steady + asked.patience * kube::second;
    complaints wrong;
    while (!runs.synced()) {
        const std::int64_t now = runs.now().steady;
        wrong.say_new(runs.troubles());
        if (told_to_stop() || now >= until) {
            say_not_listed();
            return usage;
        }
        runs.pump(std::min(until - now, kube::second));
    }
    runs.ask_by_name();
    while (runs.is_asking() && !told_to_stop() && runs.now().steady < until)
        runs.pump(std::min(until - runs.now().steady, kube::second));
    wrong.say_new(runs.troubles());
    wrong.say_new(runs.denials());
    bool any = false;
    runs.for_each_step([&](const kube::object_id& id, const muster::lifecycle::object_step& step) {
        for (const auto& note : step.notes)
            log_info(runs.name_of(id) + ": " + std::string(note.reason) + ": " + note.message,
                     {{"object", runs.name_of(id)}, {"reason", std::string(note.reason)}});
        for (const auto& each : step.writes) {
            any = true;
            std::printf("%s\t%s\n", std::string(kube::to_text(each.what)).c_str(),
                        boost::json::serialize(each.object).c_str());
        }
    });
    return any ? pending : fine;
}

std::string metrics_of(const live_controllers& runs, std::size_t troubles) {
    kube::metrics_writer out;
    const auto one = [&](const char* name, const char* type, const char* help,
                         std::uint64_t value) {
        out.family(name, type, help);
        out.sample(value);
    };
    one("muster_controller_leader", "gauge", "1 if this replica leads, else 0.",
        runs.leads() ? 1 : 0);
    one("muster_controller_synced", "gauge", "1 if all objects are listed, else 0.",
        runs.synced() ? 1 : 0);
    one("muster_controller_objects", "gauge", "Objects in the cache.", runs.objects().size());
    one("muster_controller_troubles", "gauge", "Current faults, see the log.", troubles);
    one("muster_controller_looks_total", "counter", "Reconciliations of jobs.", runs.looks());
    out.family("muster_controller_writes_total", "counter", "Writes, by outcome.");
    for (std::size_t at = 0; at < kube::outcome_names.size(); ++at)
        out.sample(runs.outcomes()[at], {{"outcome", kube::outcome_names[at]}});
    one("muster_controller_events_dropped_total", "counter", "Events that were not written.",
        runs.dropped_events());
    return out.text();
}

int run_controllers(const controller_request& asked, kube::transport& by) {
    kube::controller_options how = options_of(asked);
    const std::string identity = own_identity();
    how.events.instance = identity;
    how.election = election_of(asked, identity, how.watches.seed);
    auto shown = live_presence::open(asked);
    if (!shown)
        return usage;
    live_controllers runs(by, std::move(how), jobs_of(asked));
    if (asked.verbose)
        runs.watch_writes = [&](const kube::object_change& change,
                                std::optional<adapter::outcome> became) {
            if (became)
                log_info(std::string(kube::to_text(change.what)) + " " + runs.name_of(change.of) +
                             ": " + outcome_text(*became),
                         {{"object", runs.name_of(change.of)}, {"outcome", outcome_text(*became)}});
        };
    for (;;) {
        const std::int64_t now = runs.now().steady;
        shown->progress.turned(now);
        shown->progress.sees(runs.is_fresh());
        shown->tell_lead(runs.leads());
        shown->tell_synced(runs.synced(), [&] {
            return listed_counts{{"objects", runs.objects().size()}};
        });
        std::vector<std::string> troubles = runs.troubles();
        const std::size_t count = troubles.size();
        // To go without is a choice: it is said, and no trouble.
        std::ranges::move(runs.denials(), std::back_inserter(troubles));
        shown->tell_troubles(std::move(troubles));
        shown->serve(now, [&] { return metrics_of(runs, count); });
        if (const auto ended = shown->ended(runs, now))
            return *ended;
        runs.pump(shown->longest_wait(), shown->handles());
    }
}

} // namespace

int control(const controller_request& asked) {
    process_log() = {asked.format, "controller"};
    const auto by = connect(asked);
    if (!by)
        return usage;
    static_cast<void>(told_to_stop());
    return asked.dry_run ? look_once(asked, *by) : run_controllers(asked, *by);
}

} // namespace cli
