// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/adapter/driver.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/kube/metrics.hpp>
#include <muster/words/gate_text.hpp>

#include "../plan/group_lines.hpp"
#include "../plan/report.hpp"
#include "live_cluster.hpp"
#include "live_connect.hpp"
#include "live_explain.hpp"
#include "live_presence.hpp"
#include "live_words.hpp"
#include "log.hpp"
#include "schedule_metrics.hpp"

namespace cli {

namespace {

namespace adapter = muster::adapter;
namespace codec = muster::codec;
namespace kube = muster::kube;

std::string name_of(const codec::object_key& key) {
    return key.name_space + "/" + key.name;
}

/// Says why a dry run prints no line, or which pods it does not find.
void log_dry_run(const live_cluster& cluster, const std::vector<std::string>& schedulers,
                 bool is_empty) {
    std::string names;
    for (const std::string& each : schedulers)
        names += (names.empty() ? "" : " or ") + each;
    const auto count = std::ranges::count_if(cluster.objects().gangs().pods(),
                                             [](const auto& each) { return each.second.ours; });
    if (count == 0)
        log_info("no pod names the scheduler " + names +
                     " (expected pods with spec.schedulerName " + names +
                     "; --scheduler-name changes the name)",
                 {{"scheduler", names}});
    else if (is_empty)
        log_info("nothing to start or evict: pods that name the scheduler " + names + ": " +
                     std::to_string(count),
                 {{"scheduler", names}, {"pods", std::to_string(count)}});
}

int decide_once(const schedule_request& asked, kube::transport& by) {
    live_cluster cluster(by, options_of(asked));
    live_state known(cluster.objects().pods_kind());
    live_view view(known);
    if (!sync(cluster, view, asked.patience))
        return usage;
    complaints().say_new(troubles_of(cluster));
    policy_options how = asked.how;
    const muster::cycle_result made =
        decide(known, cluster.now().wall, live_policy_source{&cluster, &known, &how}());
    bool waits = false;
    bool starts_or_evicts = false;
    for (const muster::decision& each : made.decisions) {
        const auto& key = known.key(each.gang);
        for (const muster::placement& one : each.placements)
            std::printf("start\t%s\t%s\t%s\n", (key.name_space + "/" + key.name).c_str(),
                        name_of(known.key(one.pod)).c_str(), known.key(one.node).c_str());
        for (const muster::pod_index pod : each.evictions)
            std::printf("evict\t%s\t%s\n", (key.name_space + "/" + key.name).c_str(),
                        name_of(known.key(pod)).c_str());
        starts_or_evicts = starts_or_evicts || !each.placements.empty() || !each.evictions.empty();
        // An admitted gang without placements runs already.
        if (!each.placements.empty() || each.outcome.kind == muster::answer::admitted ||
            only_holds(known, each.gang))
            continue;
        waits = true;
        std::printf("wait\t%s\t%s\n", (key.name_space + "/" + key.name).c_str(),
                    std::string(muster::words::gate_text(each.outcome.at)).c_str());
    }
    log_dry_run(cluster, options_of(asked).live.scheduler_names, !waits && !starts_or_evicts);
    return waits ? pending : fine;
}

/// Writes the metrics of the scheduler.
struct status_text {
    kube::span_histogram<6> steps{{kube::millisecond, 5 * kube::millisecond, 25 * kube::millisecond,
                                   100 * kube::millisecond, 500 * kube::millisecond,
                                   2 * kube::second}};

    template<class Driver>
    [[nodiscard]] std::string metrics(const Driver& driver, const live_cluster& cluster,
                                      bool leads) const {
        kube::metrics_writer out;
        const adapter::driver_counters& count = driver.counters();
        const auto total = [&](const char* name, const char* help, std::size_t value) {
            out.family(name, "counter", help);
            out.sample(static_cast<std::uint64_t>(value));
        };
        const auto gauge = [&](const char* name, const char* help, std::size_t value) {
            out.family(name, "gauge", help);
            out.sample(static_cast<std::uint64_t>(value));
        };
        gauge("muster_leader", "1 if this replica leads, else 0.", leads ? 1 : 0);
        gauge("muster_synced", "1 if all objects are listed, else 0.", cluster.synced() ? 1 : 0);
        gauge("muster_pods", "Pods in the cache.", cluster.objects().pods());
        total("muster_cycles_total", "Scheduling cycles.", count.cycles);
        out.family("muster_decision_seconds_total", "counter",
                   "Time spent in scheduling cycles, in seconds.");
        out.seconds(count.deciding);
        total("muster_gangs_started_total", "Gangs with placed members.", count.decided);
        total("muster_pods_bound_total", "Pods bound.", count.bound);
        total("muster_gangs_failed_total", "Gangs with a bind that failed permanently.",
              count.failed);
        total("muster_gangs_evicted_incomplete_total",
              "Gangs evicted because they could not be completed.", count.healed);
        total("muster_pods_evicted_total", "Pods evicted.", count.evicted);
        out.family("muster_writes_total", "counter", "Writes, by outcome.");
        for (std::size_t at = 0; at < kube::outcome_names.size(); ++at)
            out.sample(static_cast<std::uint64_t>(cluster.outcomes()[at]),
                       {{"outcome", kube::outcome_names[at]}});
        total("muster_cache_comparisons_total", "Comparisons with a fresh listing.",
              driver.comparisons().compared());
        total("muster_cache_mismatch_total", "Cache errors that comparisons found.",
              driver.comparisons().mistakes());
        gauge("muster_gangs_partial", "Gangs below minima that they never reached.",
              driver.partial().size());
        std::int64_t longest = 0;
        for (const auto& [key, each] : driver.partial())
            longest = std::max(longest, cluster.now().steady - each.since);
        out.family("muster_gang_partial_seconds", "gauge",
                   "Longest time that a gang has been partial, in seconds.");
        out.seconds(longest);
        total("muster_events_dropped_total", "Events that were not written.",
              cluster.dropped_events());
        write_attempts(count, out);
        out.family("muster_gang_scheduling_seconds", "histogram",
                   "Time from the first observation of a waiting gang until its binds are done.");
        out.histogram(driver.waits());
        if (cluster.synced() && leads) {
            write_pending_gangs(
                driver.known(),
                [&](const auto& key) {
                    const auto* const hold = driver.held().find(key);
                    return hold != nullptr && hold->held;
                },
                out);
            write_queues(driver.known(), cluster.objects().kinds(), out);
        }
        out.family("muster_step_seconds", "histogram",
                   "Duration of the scheduler's steps, without waiting.");
        out.histogram(steps);
        return out.text();
    }
};

/// Returns the exit code, or nullopt if the scheduler must restart: some of its resource kinds are
/// no longer requested, and it has no room for new ones.
std::optional<int> run_scheduler(const schedule_request& asked, kube::transport& by) {
    kube::cluster_options how = options_of(asked);
    const std::string identity = own_identity();
    how.events.instance = identity;
    how.election = election_of(asked, identity, how.watches.seed);
    how.volumes.patience = asked.volume_seconds * kube::second;
    auto shown = live_presence::open(asked);
    if (!shown)
        return usage;
    live_cluster cluster(by, std::move(how));
    live_state known(cluster.objects().pods_kind());
    adapter::driver_options options;
    options.compare_every = asked.compare_seconds * kube::second;
    options.heal_after = asked.heal_seconds * kube::second;
    options.compare_again = std::min(options.compare_again, options.compare_every);
    policy_options how_to_place = asked.how;
    const live_words words{&cluster, &how_to_place};
    adapter::driver<live_cluster, live_policy_source, live_words> driver(
        cluster, known, {&cluster, &known, &how_to_place}, options, words);
    status_text status;
    std::size_t bound = 0;
    std::int64_t looks_at_kinds = 0;
    bool ends = false;
    for (;;) {
        const std::int64_t began = cluster.now().steady;
        const adapter::step_report made = driver.step();
        const std::int64_t now = cluster.now().steady;
        status.steps.observe(now - began);
        shown->progress.turned(now);
        const bool fresh = made.view.synced && began - made.view.as_of <= options.stale_after;
        shown->progress.sees(fresh);
        shown->progress.owes_cycle(made.leads && fresh && !made.decided, now);
        if (made.decided)
            shown->progress.cycled(now);
        shown->tell_lead(made.leads);
        shown->tell_synced(made.view.synced, [&] {
            return listed_counts{{"nodes", driver.view().nodes().size()},
                                 {"pods", cluster.objects().pods()}};
        });
        if (asked.verbose && driver.counters().bound != bound)
            log_info(std::to_string(driver.counters().bound) + " pods bound",
                     {{"bound", std::to_string(driver.counters().bound)},
                      {"new", std::to_string(driver.counters().bound - bound)}});
        bound = driver.counters().bound;
        shown->tell_troubles(troubles_of(cluster));
        live_explainer explain(cluster, driver.known(), how_to_place);
        shown->serve(
            now, [&] { return status.metrics(driver, cluster, made.leads); },
            [&](const std::string& group) { return explain(group); });
        if (const auto ended = shown->ended(cluster, now))
            return ended;
        if (now >= looks_at_kinds) {
            looks_at_kinds = now + 5 * kube::second;
            if (!ends && cluster.objects().has_stale_kinds()) {
                log_info("restarting: resource kinds changed");
                cluster.stop();
                ends = true;
            }
        }
        if (ends && cluster.stopped())
            return std::nullopt;
        const std::int64_t longest = shown->longest_wait();
        cluster.pump(made.next == adapter::never_comes
                         ? longest
                         : std::clamp<std::int64_t>(made.next - now, 0, longest),
                     shown->handles());
    }
}

} // namespace

muster::cycle_result decide(live_state& known, std::int64_t wall, const live_policy& how) {
    return muster::cycle(known, wall, how);
}

std::vector<std::string> troubles_of(const live_cluster& of) {
    std::vector<std::string> found = of.troubles();
    for (const auto& [name, wrong] : of.objects().broken())
        found.push_back(name + ": " + wrong.front());
    for (const std::string& warning : of.objects().storage().devices().warnings())
        found.push_back(warning);
    for (const std::string& kind : of.objects().lost_kinds())
        found.push_back("pods wait that request " + too_many_kinds(kind));
    return found;
}

bool sync(live_cluster& cluster, live_view& view, std::int64_t seconds) {
    const std::int64_t until = cluster.now().steady + seconds * kube::second;
    complaints wrong;
    while (!cluster.observe(view).synced) {
        const std::int64_t now = cluster.now().steady;
        wrong.say_new(troubles_of(cluster));
        if (told_to_stop() || now >= until) {
            say_not_listed();
            return false;
        }
        cluster.pump(std::min(until - now, kube::second));
    }
    return true;
}

int schedule(const schedule_request& asked) {
    process_log() = {asked.format, "schedule"};
    if (options_of(asked).live.scheduler_names.empty()) {
        log_error("--dialect workload: kube-scheduler schedules these pods by default (expected "
                  "--scheduler-name default-scheduler to replace it, or another name)");
        return usage;
    }
    static_cast<void>(told_to_stop());
    for (;;) {
        const auto by = connect(asked);
        if (!by)
            return usage;
        if (asked.dry_run)
            return decide_once(asked, *by);
        if (const auto ended = run_scheduler(asked, *by))
            return *ended;
    }
}

} // namespace cli
