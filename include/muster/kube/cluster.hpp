// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/adapter/cluster_concept.hpp>
#include <muster/kube/answers.hpp>
#include <muster/kube/events.hpp>
#include <muster/kube/fresh_listing.hpp>
#include <muster/kube/group_report.hpp>
#include <muster/kube/lease.hpp>
#include <muster/kube/live_objects.hpp>
#include <muster/kube/order_requests.hpp>
#include <muster/kube/reflector.hpp>
#include <muster/kube/transport.hpp>

namespace muster::inline v0_1 {
namespace kube {

struct cluster_options {
    live_options live;
    /// Absent: it leads without asking anybody.
    std::optional<lease_options> election;
    event_options events;
    /// Of all watches; each gets a path and a spread of its own.
    reflector_options watches;
    /// What takes longer is given up, and nobody knows whether it was done.
    std::int64_t write_patience = 10 * second;
    std::size_t most_under_way = 48;
};

/// The Kubernetes model of `adapter::cluster`: the groups and queues of its dialects, groups by
/// ACK's labels, and pods of their own. `pump` does the I/O, all of it; the calls of the concept
/// only look at what has come and queue what is to go.
///
/// `Carrier` is `transport`, or what carries requests in its stead. `Status` makes the status of a
/// group's object from how the group stands and the wall clock; an empty one writes nothing.
template<std::size_t Width, class Carrier = transport, class Status = no_status>
class cluster {
public:
    using traits = codec::kubernetes_traits<Width>;
    using group_key = codec::group_key;
    using object_key = codec::object_key;

    /// The carrier outlives it.
    cluster(Carrier& carrier, cluster_options how, Status status = {})
        : carrier_(&carrier),
          how_(std::move(how)),
          status_(std::move(status)),
          live_(how_.live),
          events_(how_.events) {
        for (const collection& each : live_.collections()) {
            reflector_options watch = how_.watches;
            watch.path = each.path();
            watch.seed += reflectors_.size();
            watch.may_be_absent = each.may_be_absent;
            watch.may_be_denied = each.may_be_denied;
            reflectors_.emplace_back(std::move(watch));
        }
        told_lists_.resize(reflectors_.size());
        if (!how_.election)
            return;
        // What is begun at the last moment ends before another may lead.
        how_.write_patience =
            std::min(how_.write_patience, how_.election->duration - how_.election->renew_deadline);
        lease_.emplace(*how_.election);
    }
    cluster(const cluster&) = delete;
    cluster& operator=(const cluster&) = delete;

    // ---- for the program -----------------------------------------------------------------------

    /// Sends what is to be sent and takes in what has come; waits for that at most as long as it is
    /// told to, and until one of the handles is readable.
    void pump(std::int64_t patience, std::span<const int> others = {}) {
        send();
        const std::int64_t now = carrier_->now().steady;
        const std::int64_t wake = wakes();
        const std::int64_t longest =
            wake == never_comes ? patience : std::max<std::int64_t>(wake - now, 0);
        for (arrival& each : carrier_->poll(std::min(patience, longest), others))
            take(each);
        send();
    }

    /// When it has something to do by itself. Steady.
    [[nodiscard]] std::int64_t wakes() const {
        std::int64_t first = lease_ ? lease_->wakes() : never_comes;
        if (may_write())
            first = std::min(first, events_.wakes());
        for (std::size_t at = 0; at < reflectors_.size(); ++at)
            if (may_start(at))
                first = std::min(first, reflectors_[at].wakes());
        if (listing_)
            first = std::min(first, listing_->wakes());
        return first;
    }

    /// Starts no write any more, lets those end that are under way, and gives the lease up.
    void stop() {
        stopping_ = true;
        send();
    }
    [[nodiscard]] bool stopped() const {
        return stopping_ && writes_ == 0 && (!lease_ || lease_->released());
    }

    [[nodiscard]] const live_objects<Width>& objects() const noexcept { return live_; }
    [[nodiscard]] bool synced() const noexcept { return synced_; }
    /// What goes wrong at the moment, a line each; empty when all is well.
    [[nodiscard]] std::vector<std::string> troubles() const {
        std::vector<std::string> found;
        for (const reflector& each : reflectors_)
            if (!each.trouble().empty())
                found.push_back(each.trouble());
        if (lease_ && !lease_->trouble().empty())
            found.push_back("lease: " + lease_->trouble());
        return found;
    }
    [[nodiscard]] std::uint64_t dropped_events() const noexcept { return events_.dropped(); }
    [[nodiscard]] std::size_t under_way() const noexcept { return asked_.size(); }

    /// How many writes had each outcome.
    [[nodiscard]] const outcome_counts& outcomes() const noexcept { return outcomes_; }

    // ---- adapter::cluster ----------------------------------------------------------------------

    [[nodiscard]] instant now() const { return carrier_->now(); }

    [[nodiscard]] bool may_write() const {
        return !stopping_ && (!lease_ || lease_->leads(carrier_->now().steady));
    }

    adapter::view_status observe(adapter::cluster_view<traits>& view) {
        adapter::view_status made;
        const std::int64_t now = carrier_->now().steady;
        made.term = lease_ ? lease_->term() : 1;
        if (made.term != term_) {
            term_ = made.term;
            synced_ = false;
            for (reflector& each : reflectors_)
                each.distrust();
        }
        const bool whole =
            std::ranges::all_of(reflectors_, [](const reflector& each) { return each.is_whole(); });
        if (whole) {
            typename live_objects<Width>::whole all;
            for (std::size_t at = 0; at < reflectors_.size(); ++at) {
                if (std::exchange(told_lists_[at], reflectors_[at].lists()) ==
                    reflectors_[at].lists())
                    continue;
                const content holds = live_.collections()[at].holds;
                all.nodes |= holds == content::node;
                all.queues |= holds == content::queue;
                all.gangs |= holds == content::group;
                all.pods |= holds == content::pod;
            }
            // Where no API has queues there is no listing of them, but the default queue.
            all.queues |=
                !synced_ && std::ranges::none_of(live_.collections(), [](const auto& each) {
                    return each.holds == content::queue;
                });
            made.changed = live_.tell(view, all);
            synced_ = true;
        }
        made.synced = synced_;
        made.as_of = now;
        for (const reflector& each : reflectors_)
            made.as_of = std::min(made.as_of, each.as_of(now));
        return made;
    }

    void ungate(std::span<const adapter::ungate_order<traits>> all) {
        for (const auto& each : all)
            enqueue(pods_, each.of, each.uid, ungate_request(each.pod, each.uid));
    }
    void bind(std::span<const adapter::bind_order<traits>> all) {
        for (const auto& each : all)
            enqueue(pods_, each.of, each.uid, bind_request(each.pod, each.uid, each.node));
    }
    void evict(std::span<const adapter::evict_order<traits>> all) {
        for (const auto& each : all)
            enqueue(pods_, each.of, each.uid, evict_request(each.pod, each.uid));
    }
    void patch_status(std::span<const adapter::status_order<traits>> all) {
        for (const auto& each : all) {
            std::vector<http_request> wanted = status_requests(each.gang, each.status);
            if (wanted.empty())
                results_.push_back({each.of, adapter::outcome::applied, {}, {}, {}});
            share(each.of, wanted.size());
            for (http_request& one : wanted)
                enqueue(reports_, each.of, each.uid, std::move(one));
        }
    }
    void record_event(std::span<const adapter::event_order<traits>> all) {
        for (const auto& each : all) {
            if (const auto about = reference(each.gang)) {
                event_words words = words_of(each);
                events_.record(*about, words.type, words.reason, words.action,
                               std::move(words.note), carrier_->now());
            }
            results_.push_back({each.of, adapter::outcome::applied, {}, {}, {}});
        }
    }

    void where_is(std::span<const adapter::where_is_order<traits>> all) {
        for (const auto& each : all) {
            http_request request;
            request.path = pod_path(each.pod);
            request.patience = how_.write_patience;
            start({task::where, 0, each.of, each.uid, {}}, std::move(request));
        }
    }
    void is_current(std::span<const adapter::is_current_order<traits>> all) {
        for (const auto& each : all) {
            const auto objects = live_.gangs().objects_of(each.gang);
            if (objects.empty()) {
                // Only pods speak of it; or its object is gone.
                const bool gone = !each.uid.empty();
                results_.push_back({each.of,
                                    gone ? adapter::outcome::gone : adapter::outcome::applied,
                                    {},
                                    {},
                                    {}});
                continue;
            }
            share(each.of, objects.size());
            for (const group_record* const one : objects) {
                http_request request;
                request.path = one->of.path_of(one->who.key);
                request.patience = how_.write_patience;
                start({task::current, 0, each.of, objects.size() > 1 ? one->who.uid : each.uid,
                       one->told},
                      std::move(request));
            }
        }
    }

    [[nodiscard]] bool would_change(const group_key& gang,
                                    const adapter::gang_status& status) const {
        return !status_requests(gang, status).empty();
    }

    void take_results(std::vector<adapter::order_result<traits>>& into) {
        for (auto& each : results_)
            into.push_back(std::move(each));
        results_.clear();
    }

    void ask_listing() {
        if (!listing_)
            listing_.emplace(how_.watches, live_.collections(), how_.live.scheduler_names);
    }
    bool take_listing(adapter::listing<traits>& into) {
        if (!listing_ || !listing_->complete())
            return false;
        into = listing_->template take<traits>(live_.gangs());
        listing_.reset();
        return true;
    }

    void relist() {
        for (reflector& each : reflectors_)
            each.relist();
    }

private:
    /// What a request is about.
    struct task {
        enum kind : std::uint8_t { watch, listing, election, event, write, where, current };
        kind what = watch;
        std::uint64_t number = 0; ///< of the stream, or the event's own
        adapter::ticket of = 0;
        adapter::object_uid uid;
        std::string mark; ///< of a group, as it was seen
    };

    struct queued {
        adapter::ticket of = 0;
        adapter::object_uid uid;
        http_request request;
    };

    struct sink {
        live_objects<Width>* to;
        std::size_t stream;

        void upsert(const arrived& object) { to->take(stream, object); }
        void gone(const listed_object& who) { to->lose(stream, who); }
    };

    /// What is to be written so that all objects of a gang say how it stands.
    [[nodiscard]] std::vector<http_request>
    status_requests(const group_key& gang, const adapter::gang_status& status) const {
        std::vector<http_request> made;
        for (const group_record* const each : live_.gangs().objects_of(gang)) {
            if (each->is_broken)
                continue;
            const auto members = live_.gangs().members(gang, *each);
            const boost::json::object wanted =
                status_(group_report{each, members, &status}, carrier_->now().wall);
            if (wanted.empty())
                continue;
            const boost::json::object* const seen = each->status.if_object();
            boost::json::object patch = seen ? merge_patch(*seen, wanted) : wanted;
            if (!patch.empty())
                made.push_back(status_request(each->of.path_of(each->who.key), each->who.uid,
                                              std::move(patch)));
        }
        return made;
    }

    [[nodiscard]] std::optional<object_reference> reference(const group_key& gang) const {
        if (const auto objects = live_.gangs().objects_of(gang); !objects.empty()) {
            const group_record& first = *objects.front();
            return object_reference{std::string(first.of.version), std::string(first.of.kind),
                                    first.who.key, first.who.uid};
        }
        const auto members = live_.gangs().members(gang);
        if (members.empty())
            return std::nullopt;
        return object_reference{"v1", "Pod", members.front()->metadata.key,
                                members.front()->metadata.uid};
    }

    /// Several requests answer one order: with the first of their outcomes that is not `applied`.
    void share(adapter::ticket of, std::size_t among) {
        if (among > 1)
            shares_.emplace(of, shared{among, std::nullopt});
    }
    void conclude(adapter::order_result<traits> result) {
        const auto at = shares_.find(result.of);
        if (at == shares_.end())
            return results_.push_back(std::move(result));
        if (!at->second.worst || at->second.worst->what == adapter::outcome::applied)
            at->second.worst = std::move(result);
        if (--at->second.left > 0)
            return;
        results_.push_back(std::move(*at->second.worst));
        shares_.erase(at);
    }

    void enqueue(std::deque<queued>& into, adapter::ticket of, const adapter::object_uid& uid,
                 http_request request) {
        request.patience = how_.write_patience;
        into.push_back({of, uid, std::move(request)});
    }

    void start(task about, http_request request) {
        writes_ += about.what == task::write ? 1 : 0;
        asked_.emplace(carrier_->start(std::move(request)), std::move(about));
    }

    /// Pods are listed when all else was: what they refer to is known then.
    [[nodiscard]] bool may_start(std::size_t at) const {
        return live_.collections()[at].holds != content::pod || reflectors_[at].synced() ||
               std::ranges::all_of(reflectors_.begin(), reflectors_.end() - 1,
                                   [](const reflector& each) { return each.synced(); });
    }

    void send() {
        const instant now = carrier_->now();
        for (std::size_t at = 0; at < reflectors_.size(); ++at) {
            if (!may_start(at))
                continue;
            reflector::wish wanted = reflectors_[at].next(now.steady);
            if (wanted.cancel)
                cancel(task::watch, at);
            if (wanted.start)
                start({task::watch, at, 0, {}, {}}, std::move(*wanted.start));
        }
        if (listing_)
            listing_->next(now.steady, [&](std::size_t at, http_request request) {
                start({task::listing, at, 0, {}, {}}, std::move(request));
            });
        send_writes(pods_);
        send_writes(reports_);
        if (may_write())
            while (auto one = events_.next(now))
                start({task::event, one->first, 0, {}, {}}, std::move(one->second));
        if (!lease_)
            return;
        if (stopping_ && writes_ == 0)
            lease_->release();
        if (auto request = lease_->next(now))
            start({task::election, 0, 0, {}, {}}, std::move(*request));
    }

    void send_writes(std::deque<queued>& from) {
        while (!from.empty() && writes_ < how_.most_under_way) {
            queued one = std::move(from.front());
            from.pop_front();
            if (may_write())
                start({task::write, 0, one.of, std::move(one.uid), {}}, std::move(one.request));
            else
                conclude({one.of, adapter::outcome::not_started, {}, {}, {}});
        }
    }

    void cancel(typename task::kind what, std::uint64_t number) {
        for (auto at = asked_.begin(); at != asked_.end(); ++at)
            if (at->second.what == what && at->second.number == number) {
                carrier_->cancel(at->first);
                asked_.erase(at);
                return;
            }
    }

    void take(const arrival& each) {
        const auto at = asked_.find(each.of);
        if (at == asked_.end())
            return;
        const instant now = carrier_->now();
        if (each.is_part) {
            if (at->second.what == task::watch) {
                const std::size_t stream = at->second.number;
                reflectors_[stream].bytes(each.part, now.steady, sink{&live_, stream});
            }
            return;
        }
        const task about = std::move(at->second);
        asked_.erase(at);
        switch (about.what) {
        case task::watch:
            return reflectors_[about.number].done(each.answer, now.steady,
                                                  sink{&live_, about.number});
        case task::listing:
            if (listing_)
                listing_->done(about.number, each.answer, now.steady);
            return;
        case task::election:
            return lease_->done(each.answer, now);
        case task::event:
            return events_.done(about.number, each.answer, now);
        case task::write: {
            --writes_;
            judged_answer judged = judge(each.answer);
            ++outcomes_[static_cast<std::size_t>(judged.what)];
            return conclude(
                {about.of, judged.what, judged.retry_after, {}, std::move(judged.message)});
        }
        case task::where:
            return results_.push_back(where_it_is<traits>(about.of, about.uid, each.answer));
        case task::current:
            return conclude(whether_current<traits>(about.of, about.uid, about.mark, each.answer));
        }
    }

    Carrier* carrier_;
    cluster_options how_;
    Status status_;
    live_objects<Width> live_;
    std::vector<reflector> reflectors_;
    std::vector<std::uint64_t> told_lists_;
    std::optional<lease> lease_;
    event_recorder events_;
    std::optional<fresh_listing> listing_;
    std::map<std::uint64_t, task> asked_;
    std::deque<queued> pods_;
    std::deque<queued> reports_;
    std::vector<adapter::order_result<traits>> results_;
    struct shared {
        std::size_t left = 0;
        std::optional<adapter::order_result<traits>> worst;
    };
    std::map<adapter::ticket, shared> shares_;
    outcome_counts outcomes_{};
    std::size_t writes_ = 0;
    std::uint64_t term_ = 0;
    bool synced_ = false;
    bool stopping_ = false;
};

} // namespace kube
} // namespace muster::inline v0_1
