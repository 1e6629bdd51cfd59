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
#include <muster/kube/conversation.hpp>
#include <muster/kube/events.hpp>
#include <muster/kube/fresh_listing.hpp>
#include <muster/kube/gpu_binder.hpp>
#include <muster/kube/group_report.hpp>
#include <muster/kube/live_objects.hpp>
#include <muster/kube/order_requests.hpp>
#include <muster/kube/pod_conditions.hpp>
#include <muster/kube/reflector.hpp>
#include <muster/kube/transport.hpp>
#include <muster/kube/volume_binder.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

struct cluster_options : conversation_options {
    live_options live;
    volume_binder_options volumes;
    pod_condition_options conditions;
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
        : status_(std::move(status)),
          live_(std::move(how.live)),
          conditions_(how.conditions),
          binder_(how.volumes),
          gpus_(live_.options().reservations),
          with_(carrier, std::move(how)) {
        for (const collection& each : live_.collections())
            with_.follow(each.path(), [&](reflector_options& watch) {
                watch.may_be_absent = each.may_be_absent;
                watch.may_be_denied = each.may_be_denied;
            });
        told_lists_.resize(with_.followed().size());
    }
    cluster(const cluster&) = delete;
    cluster& operator=(const cluster&) = delete;

    // ---- for the program -----------------------------------------------------------------------

    /// Sends what is to be sent and takes in what has come; waits for that at most as long as it is
    /// told to, and until one of the handles is readable.
    void pump(std::int64_t patience, std::span<const int> others = {}) {
        send();
        for (const arrival& each : with_.wait(patience, wakes(), others))
            take(each);
        send();
    }

    /// When it has something to do by itself. Steady.
    [[nodiscard]] std::int64_t wakes() const {
        std::int64_t first = with_.wakes([&](std::size_t at) { return may_start(at); });
        if (may_write())
            first = std::min({first, conditions_.wakes(), binder_.wakes(), gpus_.wakes()});
        return listing_ ? std::min(first, listing_->wakes()) : first;
    }

    /// Starts no write any more, lets those end that are under way, and gives the lease up.
    void stop() {
        with_.stop();
        send();
    }
    [[nodiscard]] bool stopped() const { return with_.stopped(); }

    [[nodiscard]] const live_objects<Width>& objects() const noexcept { return live_; }
    /// See live_objects::copies().
    [[nodiscard]] codec::manifests copies() { return live_.copies(); }
    [[nodiscard]] bool synced() const noexcept { return synced_; }
    /// What goes wrong at the moment, a line each; empty when all is well.
    [[nodiscard]] std::vector<std::string> troubles() const { return with_.troubles(); }
    [[nodiscard]] std::uint64_t dropped_events() const noexcept { return with_.events().dropped(); }
    [[nodiscard]] std::size_t under_way() const noexcept { return with_.under_way(); }

    /// How many writes had each outcome.
    [[nodiscard]] const outcome_counts& outcomes() const noexcept { return with_.outcomes(); }

    // ---- adapter::cluster ----------------------------------------------------------------------

    [[nodiscard]] instant now() const { return with_.now(); }

    [[nodiscard]] bool may_write() const { return with_.may_write(); }

    adapter::view_status observe(adapter::cluster_view<traits>& view) {
        adapter::view_status made;
        made.term = with_.term();
        if (with_.begin_term()) {
            synced_ = false;
            conditions_.clear();
            binder_.clear();
            gpus_.clear();
        }
        if (with_.is_whole()) {
            typename live_objects<Width>::whole all;
            for (std::size_t at = 0; at < told_lists_.size(); ++at) {
                const std::uint64_t lists = with_.followed()[at].lists();
                if (std::exchange(told_lists_[at], lists) == lists)
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
            const auto node_of = [this](const std::string& name) { return live_.find_node(name); };
            const auto starts_on = [&](const object_key& pod) -> const std::string* {
                const auto at = view.known().find_pod(pod);
                const auto on = at ? view.known()[at->index].node : std::nullopt;
                return on ? &view.known().key(*on) : nullptr;
            };
            binder_.review(live_.storage().devices(), live_.gangs().pods(), starts_on,
                           now().steady);
            gpus_.choose(live_.storage(), live_.gangs().pods(), starts_on, now().steady);
            auto ended =
                binder_.settle(live_.storage(), live_.gangs().pods(), node_of, now().steady);
            for (auto& each : gpus_.settle(std::move(ended), live_.storage().devices(),
                                           live_.gangs().pods(), now().steady))
                results_.push_back({each.of, each.what, {}, {}, std::move(each.message)});
        }
        made.synced = synced_;
        made.as_of = with_.as_of(now().steady);
        return made;
    }

    void prepare(std::span<const adapter::prepare_order<traits>> all) {
        for (const auto& each : all) {
            const auto pod = live_.gangs().pods().find(each.pod);
            const bool is_known = pod != live_.gangs().pods().end();
            gpus_.want(each.pod, each.uid, each.node, live_.storage().plan(), now());
            binder_.want(each.of, each.pod, each.uid, each.node, now().steady,
                         is_known ? pod->second.told_in : group_key{});
            if (!is_known)
                continue;
            if (const std::string claims =
                    volume_binder::unbound_claims(pod->second.object, live_.storage());
                !claims.empty())
                conditions_.want(each.pod,
                                 {std::string(volume_not_ready),
                                  "node " + each.node +
                                      " is selected; waiting for volumes to be bound to claims " +
                                      claims},
                                 now().steady);
        }
    }
    void ungate(std::span<const adapter::ungate_order<traits>> all) {
        for (const auto& each : all)
            enqueue(pods_, each.of, each.uid, ungate_request(each.pod, each.uid));
    }
    void bind(std::span<const adapter::bind_order<traits>> all) {
        for (const auto& each : all) {
            conditions_.drop(each.pod);
            auto [marks, why] =
                gpus_.marks(each.pod, now().wall / adapter::second, live_.storage());
            if (!why.empty()) {
                results_.push_back({each.of, adapter::outcome::refused, {}, {}, std::move(why)});
                continue;
            }
            enqueue(pods_, each.of, each.uid, bind_request(each.pod, each.uid, each.node, marks));
        }
    }
    void evict(std::span<const adapter::evict_order<traits>> all) {
        for (const auto& each : all)
            enqueue(pods_, each.of, each.uid, evict_request(each.pod, each.uid));
    }
    void nominate(std::span<const adapter::nominate_order<traits>> all) {
        for (const auto& each : all)
            enqueue(pods_, each.of, each.uid, nominate_request(each.pod, each.uid, each.node));
    }
    void patch_status(std::span<const adapter::status_order<traits>> all) {
        for (const auto& each : all) {
            each_unsaid(each.gang, each.status, [&](const object_key& pod, pod_waiting what) {
                conditions_.want(pod, std::move(what), now().steady);
            });
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
            // Pods that wait alone say so themselves.
            if (const auto about = reference(each.gang);
                about && (about->kind != "Pod" || each.reason != adapter::event_reason::waiting)) {
                event_words words = words_of(each);
                with_.events().record(*about, words.type, words.reason, words.action,
                                      std::move(words.note), now());
            }
            results_.push_back({each.of, adapter::outcome::applied, {}, {}, {}});
        }
    }

    void where_is(std::span<const adapter::where_is_order<traits>> all) {
        for (const auto& each : all) {
            http_request request;
            request.path = pod_path(each.pod);
            request.patience = with_.options().write_patience;
            with_.ask({matter::where, 0, each.of, each.uid, {}}, std::move(request));
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
                request.patience = with_.options().write_patience;
                with_.ask({matter::current, 0, each.of,
                           objects.size() > 1 ? one->who.uid : each.uid, one->told},
                          std::move(request));
            }
        }
    }

    [[nodiscard]] bool would_change(const group_key& gang,
                                    const adapter::gang_status& status) const {
        bool differs = false;
        each_unsaid(gang, status, [&](const object_key&, const pod_waiting&) { differs = true; });
        return differs || !status_requests(gang, status).empty();
    }

    void take_results(std::vector<adapter::order_result<traits>>& into) {
        for (auto& each : results_)
            into.push_back(std::move(each));
        results_.clear();
    }

    void ask_listing() {
        if (!listing_)
            listing_.emplace(with_.options().watches, live_.collections(),
                             live_.options().scheduler_names);
    }
    bool take_listing(adapter::listing<traits>& into) {
        if (!listing_ || !listing_->complete())
            return false;
        into = listing_->template take<traits>(live_.gangs());
        listing_.reset();
        return true;
    }

    void relist() { with_.relist(); }

private:
    /// What a request is about.
    struct matter {
        enum kind : std::uint8_t { listing, write, condition, volume, where, current };
        kind what = write;
        std::uint64_t stream = 0; ///< of a listing
        adapter::ticket of = 0;
        adapter::object_uid uid;
        std::string mark; ///< of a group, as it was seen
        object_key pod{}; ///< of a condition; of volumes and GPUs, what is written
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
                status_(group_report{each, members, &status}, now().wall);
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

    /// Calls `say(pod, what)` for the gang's pods that wait and do not say so.
    template<class Say>
    void each_unsaid(const group_key& gang, const adapter::gang_status& status,
                     const Say& say) const {
        // Of what is on its way, or held back, the scheduler has not made up its mind.
        if (status.waiting == 0 || status.held_after ||
            (status.at == gate::none && !status.surplus_waits))
            return;
        const pod_waiting what{std::string(waiting_reason(status)), waiting_text(status)};
        for (const codec::pod_object* const each : live_.gangs().members(gang)) {
            const pod_record& pod = live_.gangs().pods().at(each->metadata.key);
            if (pod.waits() && !(pod.says == what))
                say(each->metadata.key, what);
        }
    }

    /// What is known of a pod that still waits.
    struct waiting_pod {
        const std::string* uid;
        const std::string* version;
        const pod_waiting* says;
    };
    void send_volumes() {
        const auto node_of = [this](const std::string& name) { return live_.find_node(name); };
        while (with_.may_begin_write()) {
            auto one = binder_.next(live_.storage(), live_.gangs().pods(), node_of, now());
            if (!one)
                one = gpus_.next(live_.storage().devices(), live_.gangs().pods(), now().steady);
            if (!one)
                return;
            with_.write({matter::volume, 0, 0, {}, {}, std::move(one->about)},
                        std::move(one->request));
        }
    }
    void send_conditions() {
        const auto seen = [&](const object_key& key) -> std::optional<waiting_pod> {
            const auto at = live_.gangs().pods().find(key);
            if (at == live_.gangs().pods().end() || !at->second.waits())
                return std::nullopt;
            return waiting_pod{&at->second.object.metadata.uid, &at->second.version,
                               &at->second.says};
        };
        while (with_.may_begin_write()) {
            auto one = conditions_.next(now(), seen);
            if (!one)
                return;
            matter about{matter::condition, 0, 0, {}, {}, std::move(one->first)};
            if (const auto pod = seen(about.pod))
                about.uid = *pod->uid;
            with_.write(std::move(about), std::move(one->second));
        }
    }
    void condition_written(const matter& of, adapter::outcome became) {
        const instant at = now();
        if (auto said = conditions_.done(of.pod, became, at.steady))
            with_.events().record({"v1", "Pod", of.pod, of.uid}, "Warning", "FailedScheduling",
                                  "Scheduling", std::move(said->message), at);
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
        into.push_back({of, uid, std::move(request)});
    }

    /// Pods are listed when all else was: what they refer to is known then.
    [[nodiscard]] bool may_start(std::size_t at) const {
        const std::vector<reflector>& all = with_.followed();
        return live_.collections()[at].holds != content::pod || all[at].synced() ||
               std::ranges::all_of(all.begin(), all.end() - 1,
                                   [](const reflector& each) { return each.synced(); });
    }

    void send() {
        with_.send_watches([&](std::size_t at) { return may_start(at); });
        if (listing_)
            listing_->next(now().steady, [&](std::size_t at, http_request request) {
                with_.ask({matter::listing, at, 0, {}, {}}, std::move(request));
            });
        send_writes(pods_);
        send_writes(reports_);
        send_volumes();
        send_conditions();
        with_.send_events_and_election();
    }

    void send_writes(std::deque<queued>& from) {
        while (!from.empty() && (with_.may_begin_write() || !may_write())) {
            queued one = std::move(from.front());
            from.pop_front();
            if (may_write())
                with_.write({matter::write, 0, one.of, std::move(one.uid), {}},
                            std::move(one.request));
            else
                conclude({one.of, adapter::outcome::not_started, {}, {}, {}});
        }
    }

    void take(const arrival& each) {
        with_.take(
            each,
            [&](std::size_t stream) {
                return sink{&live_, stream};
            },
            [&](const matter& of, judged_answer judged, const http_answer&) {
                if (of.what == matter::condition)
                    return condition_written(of, judged.what);
                if (of.what == matter::volume)
                    return gpus_.done(of.pod, judged.what, judged.message, now().steady)
                               ? void()
                               : binder_.done(of.pod, judged.what, std::move(judged.message),
                                              now().steady);
                conclude({of.of, judged.what, judged.retry_after, {}, std::move(judged.message)});
            },
            [&](const matter& of, const http_answer& answer) { answered(of, answer); });
    }

    void answered(const matter& asked, const http_answer& answer) {
        if (asked.what == matter::where)
            results_.push_back(where_it_is<traits>(asked.of, asked.uid, answer));
        else if (asked.what == matter::current)
            conclude(whether_current<traits>(asked.of, asked.uid, asked.mark, answer));
        else if (listing_)
            listing_->done(asked.stream, answer, now().steady);
    }

    Status status_;
    live_objects<Width> live_;
    pod_conditions conditions_;
    volume_binder binder_;
    gpu_binder gpus_;
    conversation<matter, Carrier> with_;
    std::vector<std::uint64_t> told_lists_;
    std::optional<fresh_listing> listing_;
    std::deque<queued> pods_;
    std::deque<queued> reports_;
    std::vector<adapter::order_result<traits>> results_;
    struct shared {
        std::size_t left = 0;
        std::optional<adapter::order_result<traits>> worst;
    };
    std::map<adapter::ticket, shared> shares_;
    bool synced_ = false;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
