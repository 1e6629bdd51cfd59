// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <type_traits>
#include <utility>
#include <vector>

#include "books.hpp"
#include "churn.hpp"
#include "flat_simd.hpp"
#include "muster_engine.hpp"
#include "naive.hpp"
#include "statistics.hpp"
#include "stopwatch.hpp"
#include "trace.hpp"

namespace bench {

/// One run of Muster over a churning cluster, timed gang by gang.
template<std::size_t Width, class Score, class Traits = engine_traits<Width>>
class churn_run {
public:
    explicit churn_run(std::vector<node_spec<Width>> nodes)
        : engine_(nodes), books_(std::move(nodes)) {}

    [[nodiscard]] const books<Width>& accounts() const noexcept { return books_; }
    [[nodiscard]] muster_engine<Width, Score, Traits>& engine() noexcept { return engine_; }

    /// Asks one gang; it is forgotten when it does not start, and so are members that wait for more
    /// room when it does.
    const trace_event<Width>& ask(gang_spec<Width> gang) {
        std::uint32_t number = 0;
        submit_ns_ += stopwatch::time([&] { number = engine_.submit(gang); });
        submitted_ += static_cast<std::size_t>(gang.members());
        last_ = {};
        last_.nanoseconds = stopwatch::time([&] { last_.admitted = engine_.start(number); });
        last_.members = engine_.placements();
        last_.gang = std::move(gang);
        undecided_ += engine_.undecided() ? 1U : 0U;
        if (last_.admitted) {
            books_.start(last_.gang, last_.members);
            if (last_.members.size() < static_cast<std::size_t>(last_.gang.members()))
                engine_.withdraw_surplus(number);
            alive_.push_back({number, last_.gang, last_.members});
        } else {
            engine_.forget(number);
        }
        return last_;
    }

    /// What was done last.
    [[nodiscard]] const trace_event<Width>& last() const noexcept { return last_; }
    [[nodiscard]] bool empty() const noexcept { return alive_.empty(); }

    /// The oldest gang goes.
    const trace_event<Width>& release_oldest() {
        running oldest = std::move(alive_.front());
        alive_.pop_front();
        last_ = {};
        last_.release = true;
        last_.nanoseconds = stopwatch::time([&] { engine_.release(oldest.number); });
        release_ns_ += last_.nanoseconds;
        released_ += oldest.members.size();
        engine_.forget(oldest.number);
        books_.release(oldest.gang, oldest.members);
        last_.gang = std::move(oldest.gang);
        last_.members = std::move(oldest.members);
        return last_;
    }

    /// Asks gangs until so much is in use, or most of those asked are refused.
    void fill(gang_stream<Width>& arriving, double utilisation) {
        constexpr std::size_t stretch = 400;
        for (std::size_t refused = 0; refused * 10 < stretch * 7;) {
            refused = 0;
            for (std::size_t asked = 0; asked < stretch; ++asked) {
                if (books_.utilisation() >= utilisation)
                    return;
                refused += ask(arriving.next()).admitted ? 0U : 1U;
            }
        }
    }

    [[nodiscard]] double submit_ns_per_pod() const noexcept {
        return submitted_ == 0 ? 0.0 : submit_ns_ / static_cast<double>(submitted_);
    }
    [[nodiscard]] double release_ns_per_pod() const noexcept {
        return released_ == 0 ? 0.0 : release_ns_ / static_cast<double>(released_);
    }
    [[nodiscard]] std::size_t undecided() const noexcept { return undecided_; }

private:
    struct running {
        std::uint32_t number;
        gang_spec<Width> gang;
        std::vector<placed> members;
    };

    muster_engine<Width, Score, Traits> engine_;
    books<Width> books_;
    std::deque<running> alive_;
    trace_event<Width> last_;
    double submit_ns_ = 0.0;
    std::size_t submitted_ = 0;
    double release_ns_ = 0.0;
    std::size_t released_ = 0;
    std::size_t undecided_ = 0;
};

/// Collects repeats of one run into a trace and a report.
template<std::size_t Width>
class churn_record {
public:
    /// The run is at its steady state: what follows is kept.
    void begin(const books<Width>& accounts) {
        if (events_.times.empty()) {
            events_.nodes = accounts.nodes();
            events_.free = accounts.free();
        }
        events_.times.emplace_back();
    }

    void add(const trace_event<Width>& event) {
        const std::size_t at = events_.times.back().size();
        events_.times.back().push_back(event.nanoseconds);
        if (events_.times.size() == 1) {
            events_.events.push_back(event);
            return;
        }
        const trace_event<Width>& known = events_.events[at];
        if (known.release != event.release || known.admitted != event.admitted ||
            known.members != event.members)
            fail("two runs of the same events decide differently");
    }

    template<class Run>
    void end(const Run& run) {
        submits_.push_back(run.submit_ns_per_pod());
        releases_.push_back(run.release_ns_per_pod());
        undecided_ = run.undecided();
    }

    [[nodiscard]] churn_report report(const churn_options& options, placement_rule rule) const {
        churn_report made;
        made.asked = options;
        made.rule = rule;
        std::vector<double> all;
        std::vector<double> usual;
        std::vector<double> refused;
        for (std::size_t at = 0; at < events_.events.size(); ++at) {
            const trace_event<Width>& event = events_.events[at];
            const double nanoseconds = events_.least(at);
            if (event.release)
                continue;
            ++made.gangs;
            made.pods += event.members.size();
            all.push_back(nanoseconds);
            if (!event.admitted)
                refused.push_back(nanoseconds);
            else if (event.members.size() >= 7 && event.members.size() <= 10)
                usual.push_back(nanoseconds);
        }
        made.refused = refused.size();
        made.undecided = undecided_;
        made.total_ns = events_.total(events_.events.size());
        made.ns_per_pod = made.pods == 0 ? 0.0 : made.total_ns / static_cast<double>(made.pods);
        made.gang_p50_ns = percentile(all, 0.5);
        made.gang_p99_ns = percentile(all, 0.99);
        made.usual_gang_p50_ns = percentile(usual, 0.5);
        made.gang_longest_ns = percentile(all, 1.0);
        made.refused_mean_ns = mean(refused);
        made.submit_ns_per_pod = median(submits_);
        made.release_ns_per_pod = median(releases_);
        if (options.naive_gangs > 0)
            made.naive = replay<naive_nodes<Width>>(events_, rule, options.naive_gangs, "A",
                                                    options.repeats);
        if (options.flat_gangs > 0)
            made.flat =
                replay<flat_nodes<Width>>(events_, rule, options.flat_gangs, "A2", options.repeats);
        if (options.inlined_gangs > 0)
            made.inlined = replay<naive_nodes<Width, false>>(events_, rule, options.inlined_gangs,
                                                             "A inlined", options.repeats);
        return made;
    }

private:
    trace<Width> events_;
    std::vector<double> submits_;
    std::vector<double> releases_;
    std::size_t undecided_ = 0;
};

template<placement_rule Rule>
using score_of_rule = std::conditional_t<
    Rule == placement_rule::worst_fit, muster::worst_fit,
    std::conditional_t<Rule == placement_rule::first_fit, muster::first_fit, muster::best_fit>>;

template<std::size_t Width, placement_rule Rule>
churn_report run_churn(const churn_options& options) {
    churn_record<Width> record;
    double in_use = 0.0;
    for (std::size_t round = 0; round < options.repeats; ++round) {
        churn_run<Width, score_of_rule<Rule>> run(make_nodes<Width>(options.work));
        gang_stream<Width> arriving(options.work);
        run.fill(arriving, options.utilisation);
        // The gangs timed are the same whatever the size of the cluster.
        workload_options timed = options.work;
        timed.seed += 1000;
        gang_stream<Width> asking(timed);
        record.begin(run.accounts());
        in_use = 0.0;
        bool refused = false;
        for (std::size_t asked = 0; asked < options.gangs; ++asked) {
            // A cluster that never gets that full makes room for whoever was refused.
            if (refused && !run.empty())
                record.add(run.release_oldest());
            while (run.accounts().utilisation() >= options.utilisation && !run.empty())
                record.add(run.release_oldest());
            in_use += run.accounts().utilisation() / static_cast<double>(options.gangs);
            refused = !run.ask(asking.next()).admitted;
            record.add(run.last());
        }
        record.end(run);
    }
    churn_report report = record.report(options, Rule);
    report.utilisation = in_use;
    return report;
}

} // namespace bench
