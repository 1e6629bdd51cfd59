// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/kube/answers.hpp>
#include <muster/kube/controller_work.hpp>
#include <muster/kube/conversation.hpp>
#include <muster/kube/named_objects.hpp>
#include <muster/kube/needed_streams.hpp>
#include <muster/kube/object_cache.hpp>
#include <muster/kube/object_requests.hpp>
#include <muster/kube/reflector.hpp>
#include <muster/kube/sent_objects.hpp>
#include <muster/kube/transport.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

struct controller_options : conversation_options {
    /// Only objects of this namespace; empty: of all.
    std::string name_space;
    adapter::rate pace{500, 500};
    /// What is known is older than that: nothing is decided.
    std::int64_t stale_after = 5 * second;
    /// How long it is waited for that what was written is seen.
    std::int64_t settles_in = 5 * second;
    std::size_t looks_at_once = 64;
};

/// Runs the job controllers: functions that reconcile an owner and the objects that it owns, and
/// return the writes to make. Watches the kinds that `Logic` names. Reconciles an owner when an
/// object around it changes and at the time that `Logic` asks for. Kinds with `by_name` are not
/// watched: their objects are fetched by name before a write would create them. The writes of an
/// owner are sent in order. The next reconciliation waits until they are observed, or until
/// `settles_in` has passed. Reconciliation keeps no state, so the process may end at any time.
///
/// A write carries the resourceVersion that the decision was based on, so the server refuses a
/// write that is based on an older state, and the owner is reconciled again. If an owner or an
/// object of it cannot be read, the owner is left alone and an Event says so. Nothing is written
/// without the lease, or before all kinds were listed in this term. Failed writes are retried with
/// increasing delay and reported as Events.
///
/// `Logic` has two const functions: `kinds()` returns a `std::vector<followed_kind>`, and
/// `look(kind, owner, seen, wall)` returns a `lifecycle::object_step`. `owner` is a JSON object,
/// `seen` a `std::span<const boost::json::object* const>` and `wall` an `int64_t`. `pump` does the
/// I/O, all of it.
template<class Logic, class Carrier = transport>
class controllers {
public:
    /// The carrier outlives it.
    controllers(Carrier& carrier, controller_options how, Logic logic = {})
        : how_(std::move(how)),
          logic_(std::move(logic)),
          cache_(logic_.kinds()),
          with_(carrier, how_),
          bucket_(how_.pace),
          spread_(how_.watches.seed) {
        for (const followed_kind& kind : cache_.kinds())
            with_.follow(kind.path(kind.as == followed_kind::role::shared ? "" : how_.name_space),
                         [&](reflector_options& watch) {
                             watch.query = kind.query;
                             watch.may_be_absent = !kind.built_in;
                             watch.may_be_denied = kind.may_be_denied;
                         });
    }
    controllers(const controllers&) = delete;
    controllers& operator=(const controllers&) = delete;

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
        return std::min(wakes_,
                        with_.wakes([&](std::size_t at) { return streams().may_start(at); }));
    }

    /// Starts no write any more, lets those end that are under way, and gives the lease up.
    void stop() {
        with_.stop();
        send();
    }
    [[nodiscard]] bool stopped() const { return with_.stopped(); }

    [[nodiscard]] instant now() const { return with_.now(); }
    [[nodiscard]] bool synced() const noexcept { return synced_; }
    /// All is listed, and what is known is fresh enough to act on.
    [[nodiscard]] bool is_fresh() const {
        const std::int64_t at = now().steady;
        return synced_ && streams().is_whole() && at - streams().as_of(at) <= how_.stale_after;
    }
    [[nodiscard]] bool leads() const { return with_.leads(); }
    [[nodiscard]] const object_cache& objects() const noexcept { return cache_; }
    [[nodiscard]] std::uint64_t looks() const noexcept { return looks_; }
    /// How many writes had each outcome.
    [[nodiscard]] const outcome_counts& outcomes() const noexcept { return with_.outcomes(); }
    [[nodiscard]] std::uint64_t dropped_events() const noexcept { return with_.events().dropped(); }

    /// Nothing is under way or to be done now.
    [[nodiscard]] bool is_quiet() const {
        return synced_ && with_.writes() == 0 &&
               std::ranges::all_of(works_, [](const auto& each) { return each.second.is_idle(); });
    }

    /// What goes wrong at the moment, a line each; empty when all is well.
    [[nodiscard]] std::vector<std::string> troubles() const {
        std::vector<std::string> found = with_.troubles();
        for (std::size_t at = 0; at < with_.followed().size(); ++at)
            if (const reflector& each = with_.followed()[at];
                each.is_denied() || !streams().is_needed(at))
                std::erase(found, each.trouble());
        for (const auto& [id, each] : works_)
            for (const std::string& trouble : each.troubles)
                found.push_back(name_of(id) + ": " + trouble);
        return found;
    }

    /// What may not be read and is done without, a line each.
    [[nodiscard]] std::vector<std::string> denials() const {
        std::vector<std::string> found;
        for (const reflector& each : with_.followed())
            if (each.is_denied())
                found.push_back(each.trouble());
        return found;
    }

    /// `visit(const object_change&, std::optional<adapter::outcome>)` gets each write when it is
    /// sent, and when it is answered.
    std::function<void(const object_change&, std::optional<adapter::outcome>)> watch_writes;

    /// What would be written now, of each owner: `visit(const object_id&, const object_step&)`.
    template<class Visit>
    void for_each_step(const Visit& visit) const {
        cache_.for_each_owner([&](const object_id& id) {
            const object_cache::entry* const own = cache_.find(id);
            visit(id, look_at(id, *own));
        });
    }

    /// Fetches the `by_name` objects that the owners' writes would create. Once they have arrived,
    /// `for_each_step` takes them into account.
    void ask_by_name() {
        cache_.for_each_owner([&](const object_id& id) {
            const object_cache::entry* const own = cache_.find(id);
            static_cast<void>(
                asks_first(id, look_at(id, *own), works_.try_emplace(id, own->uid).first->second));
        });
    }
    [[nodiscard]] bool is_asking() const {
        return std::ranges::any_of(works_, [](const auto& each) { return each.second.asks > 0; });
    }

    /// `Kind namespace/name`.
    [[nodiscard]] std::string name_of(const object_id& id) const {
        return cache_.kinds()[id.kind].kind + " " + id.key.name_space + "/" + id.key.name;
    }

private:
    using verb = lifecycle::object_write::verb;

    /// What a request is about.
    struct matter {
        object_id owner;
        object_change change;
    };

    struct sink {
        object_cache* to;
        std::size_t kind;

        void upsert(const arrived& object) { to->take(kind, object); }
        void gone(const listed_object& who) { to->lose(kind, who); }
    };

    [[nodiscard]] needed_streams streams() const { return {cache_.kinds(), with_.followed()}; }

    void send() {
        if (with_.begin_term()) {
            synced_ = false;
            for (auto& [id, each] : works_) {
                lose(named_.forget(id));
                each.forget();
            }
        }
        with_.send_watches([&](std::size_t at) { return streams().may_start(at); });
        synced_ |= streams().is_whole();
        wakes_ = never_comes;
        if (with_.may_write() && is_fresh())
            look_around(now());
        send_writes(now().steady);
        with_.send_events_and_election();
    }

    void wake_at(std::int64_t when) { wakes_ = std::min(wakes_, when); }

    void look_around(instant now) {
        for (const object_id& id : cache_.take_touched())
            works_[id].dirty = true;
        std::size_t left = how_.looks_at_once;
        for (auto at = works_.begin(); at != works_.end();) {
            controller_work& work = at->second;
            const object_cache::entry* const own = cache_.find(at->first);
            if (own == nullptr || own->uid != work.uid)
                work.todo.clear();
            if (work.is_busy() || !work.todo.empty()) {
                ++at;
                continue;
            }
            if (own == nullptr || own->uid != work.uid)
                lose(named_.forget(at->first));
            if (own == nullptr) {
                at = works_.erase(at);
                continue;
            }
            if (own->uid != work.uid)
                work = controller_work(own->uid);
            if (const std::int64_t due = work.due(now, cache_); due > now.steady) {
                wake_at(due);
            } else if (left == 0) {
                wake_at(now.steady);
                return;
            } else {
                --left;
                look(at->first, *own, work, now);
            }
            ++at;
        }
    }

    [[nodiscard]] lifecycle::object_step look_at(const object_id& id,
                                                 const object_cache::entry& own) const {
        if (std::string unread = cache_.unread_around(id); !unread.empty()) {
            lifecycle::object_step step;
            step.notes.push_back({true, "Unreadable", std::move(unread)});
            return step;
        }
        const std::vector<const boost::json::object*> seen = cache_.around(id);
        // Times in objects are whole seconds.
        const std::int64_t wall = now().wall;
        return logic_.look(cache_.kinds()[id.kind], own.object, seen, wall - wall % second);
    }

    void look(const object_id& id, const object_cache::entry& own, controller_work& work,
              instant now) {
        ++looks_;
        lose(named_.expire(id, now.steady));
        lifecycle::object_step step = look_at(id, own);
        if (asks_first(id, step, work))
            return;
        work.looked(step.wake);
        for (lifecycle::object_note& note : step.notes) {
            if (note.warns)
                work.troubles.push_back(std::string(note.reason) + ": " + note.message);
            tell(id, own.uid, note.warns, note.reason, std::move(note.message), now);
        }
        std::size_t asked = 0;
        for (lifecycle::object_write& each : step.writes) {
            const std::size_t kind =
                cache_.kind_of(lifecycle::detail::text_at(each.object, "apiVersion"),
                               lifecycle::detail::text_at(each.object, "kind"));
            if (kind == cache_.kinds().size()) {
                work.troubles.push_back("a kind is written that is not followed");
                continue;
            }
            const auto& metadata = each.object.at("metadata").as_object();
            object_id of{
                kind,
                {detail::string_in(metadata, "namespace"), detail::string_in(metadata, "name")}};
            const object_cache::entry* const seen = cache_.find(of);
            if (seen)
                work.versions[of] = seen->version;
            asked = asked * 31 + std::hash<std::string>{}(boost::json::serialize(each.object));
            work.todo.push_back(change_of(std::move(each), std::move(of), seen));
        }
        work.asked_for(asked);
        if (work.todo.empty())
            work.came_to_rest();
        if (work.wake)
            wake_at(now.steady + std::max<std::int64_t>(*work.wake - now.wall, 0));
    }

    void lose(const std::vector<object_id>& all) {
        for (const object_id& each : all)
            cache_.lose(each.kind, {each.key, {}, {}});
    }

    /// Fetches the `by_name` objects that the step would create and that are not known yet. Returns
    /// true if there are any: then the step must wait for the answers.
    bool asks_first(const object_id& id, const lifecycle::object_step& step,
                    controller_work& work) {
        bool asks = false;
        for (const lifecycle::object_write& each : step.writes) {
            if (each.what != verb::create)
                continue;
            const std::size_t kind =
                cache_.kind_of(lifecycle::detail::text_at(each.object, "apiVersion"),
                               lifecycle::detail::text_at(each.object, "kind"));
            if (kind == cache_.kinds().size() || !cache_.kinds()[kind].by_name)
                continue;
            const auto& metadata = each.object.at("metadata").as_object();
            const object_id of{
                kind,
                {detail::string_in(metadata, "namespace"), detail::string_in(metadata, "name")}};
            if (named_.is_known(id, of))
                continue;
            if (!asks)
                work.troubles.clear();
            asks = true;
            ask(id, of, work);
        }
        return asks;
    }
    void ask(const object_id& owner, const object_id& of, controller_work& work) {
        http_request request;
        request.path = cache_.kinds()[of.kind].path(of.key.name_space) + "/" + escape(of.key.name);
        request.patience = how_.write_patience;
        matter about{owner, {}};
        about.change.of = of;
        work.asked();
        with_.ask(std::move(about), std::move(request));
    }
    void answered(const matter& about, const http_answer& answer, instant now) {
        const auto at = works_.find(about.owner);
        if (at == works_.end())
            return;
        const judged_answer judged = judge(answer);
        const object_id& of = about.change.of;
        bool well = take_named(about.owner, of, answer, now);
        if (judged.what == adapter::outcome::gone) {
            cache_.lose(of.kind, {of.key, {}, {}});
            named_.put(about.owner, of, false, now.steady);
            well = true;
        }
        if (!well)
            at->second.troubles.push_back(
                "get " + name_of(of) + ": " +
                (judged.message.empty() ? "the answer is no object" : judged.message));
        at->second.answered(well, now.steady, judged.retry_after.value_or(0), spread_);
    }
    /// Caches the object in the answer. Returns false if the answer holds no such object.
    bool take_named(const object_id& owner, const object_id& of, const http_answer& answer,
                    instant now) {
        const auto read =
            answer.is_success() ? read_sent_object("answer", answer.body) : std::nullopt;
        auto who = read ? detail::identify(read->document.root()) : std::nullopt;
        if (!who || who->key != of.key)
            return false;
        cache_.take(of.kind, arrived(std::move(*who), read->document, read->faults));
        named_.put(owner, of, true, now.steady);
        return true;
    }

    void tell(const object_id& id, const std::string& uid, bool warns, std::string_view reason,
              std::string message, instant now) {
        const followed_kind& kind = cache_.kinds()[id.kind];
        with_.events().record({kind.api_version, kind.kind, id.key, uid},
                              warns ? "Warning" : "Normal", reason, "Reconciling",
                              std::move(message), now);
    }

    void send_writes(std::int64_t now) {
        for (auto& [owner, work] : works_) {
            if (!with_.may_write() && !work.todo.empty()) {
                work.todo.clear();
                work.dirty = true;
            }
            while (work.may_send() && with_.may_begin_write()) {
                if (!bucket_.take(now))
                    return wake_at(bucket_.ready(now));
                object_change change = work.take_next();
                const auto version = work.versions.find(change.of);
                http_request request =
                    request_of(change, cache_.kinds()[change.of.kind],
                               version == work.versions.end() ? std::string{} : version->second);
                if (watch_writes)
                    watch_writes(change, std::nullopt);
                with_.write({owner, std::move(change)}, std::move(request));
            }
        }
    }

    void take(const arrival& each) {
        with_.take(
            each,
            [&](std::size_t stream) {
                return sink{&cache_, stream};
            },
            [&](const matter& about, const judged_answer& judged, const http_answer& answer) {
                written(about, judged, answer, now());
            },
            [&](const matter& about, const http_answer& answer) {
                answered(about, answer, now());
            });
    }

    void written(const matter& about, const judged_answer& judged, const http_answer& answer,
                 instant now) {
        if (watch_writes)
            watch_writes(about.change, judged.what);
        const auto at = works_.find(about.owner);
        if (at == works_.end())
            return;
        controller_work& work = at->second;
        const object_change& change = about.change;
        if (is_done(change.what, judged.what)) {
            std::optional<listed_object> now_is;
            if (judged.what == adapter::outcome::applied)
                if (const auto read = read_sent_object("answer", answer.body))
                    now_is = detail::identify(read->document.root());
            work.done(change, now_is ? &*now_is : nullptr);
            if (change.what == verb::create && cache_.kinds()[change.of.kind].by_name &&
                !take_named(about.owner, change.of, answer, now))
                ask(about.owner, change.of, work);
        } else {
            work.failed(judged.retry_after.value_or(0));
            // What is created and not found is of a kind that is not served, or has no namespace.
            if (judged.what == adapter::outcome::refused ||
                (change.what == verb::create && judged.what == adapter::outcome::gone)) {
                std::string text = std::string(to_text(change.what)) + " " + name_of(change.of) +
                                   ": " + judged.message;
                tell(about.owner, work.uid, true, failure_of(change.what), text, now);
                work.troubles.push_back(std::move(text));
            }
        }
        work.ended(now.steady, how_.settles_in, spread_);
    }

    /// What is there already need not be created, and what is gone not be deleted.
    static bool is_done(verb what, adapter::outcome became) {
        using adapter::outcome;
        return became == outcome::applied ||
               (what == verb::create && became == outcome::conflict) ||
               (what == verb::remove && (became == outcome::gone || became == outcome::replaced));
    }

    static std::string_view failure_of(verb what) {
        return what == verb::create   ? "FailedCreate"
               : what == verb::remove ? "FailedDelete"
                                      : "FailedUpdate";
    }

    controller_options how_;
    Logic logic_;
    object_cache cache_;
    conversation<matter, Carrier> with_;
    token_bucket bucket_;
    jitter spread_;
    std::map<object_id, controller_work> works_;
    named_objects named_;
    std::uint64_t looks_ = 0;
    std::int64_t wakes_ = never_comes;
    bool synced_ = false;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
