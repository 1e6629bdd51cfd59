// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/kube/api_status.hpp>
#include <muster/kube/arrived.hpp>
#include <muster/kube/http.hpp>
#include <muster/kube/sent_objects.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

struct reflector_options {
    std::string path;  ///< of the collection, such as /api/v1/pods
    std::string query; ///< selectors, escaped
    std::int64_t page = 500;
    backoff_options pauses;
    /// How long the server is asked to hold a watch.
    std::int64_t watch_least = 5 * minute;
    std::int64_t watch_most = 10 * minute;
    /// A watch that sends nothing for so long, not even bookmarks, is taken for dead.
    std::int64_t silence = 150 * second;
    /// Between the starts of two watches, however well the first ended.
    std::int64_t watch_gap = 1 * second;
    /// Interval between full lists, in case an event was missed.
    std::int64_t relist_least = 30 * minute;
    std::int64_t relist_most = 60 * minute;
    /// One event of a watch.
    std::size_t longest_line = 8U << 20U;
    /// A kind that the server does not serve counts as an empty list (its CRD may come later).
    bool may_be_absent = false;
    /// So does a kind that may not be read; its trouble says so.
    bool may_be_denied = false;
    std::uint64_t seed = 0;
};

/// Mirrors one collection of objects: lists it page by page, then watches it. Does no I/O: it
/// returns the request that it wants and is fed the answer, with the time (steady clock).
///
/// Changes go to a sink: `upsert(const arrived&)` for an object that is new or changed,
/// `gone(const listed_object&)` for one that no longer exists. If the uid of a name changed, the
/// old object is gone before the new one is upserted. A list replaces everything: objects that it
/// lacks are gone, reported after all objects that it holds. An unchanged object is not reported
/// again. An object that cannot be read affects no other: `arrived::faults` names its missing
/// parts, and `trouble` names an object that is left out.
class reflector {
public:
    struct wish {
        bool cancel = false; ///< the request under way
        std::optional<http_request> start;
    };

    explicit reflector(reflector_options how)
        : how_(std::move(how)), jitter_(how_.seed), backoff_(how_.pauses), page_(how_.page) {}

    /// What it wants now. At most one request is under way; a cancelled one gets no done().
    [[nodiscard]] wish next(std::int64_t now) {
        wish wanted;
        if (phase_ == phase::watching) {
            if (now - heard_ >= how_.silence) {
                trouble_ = how_.path + ": the watch fell silent";
                well_ = heard_;
                wanted.cancel = true;
                rest(phase::to_watch, watch_started_ + how_.watch_gap);
            } else if (now >= relist_at_) {
                well_ = as_of(now);
                relist();
            }
        }
        wanted.cancel |= std::exchange(cancel_, false);
        if (now < not_before_)
            return wanted;
        if (phase_ == phase::to_list)
            wanted.start = start_list();
        else if (phase_ == phase::to_watch)
            wanted.start = start_watch(now);
        return wanted;
    }

    /// When next() is to be asked again if nothing comes in before.
    [[nodiscard]] std::int64_t wakes() const noexcept {
        if (cancel_)
            return 0;
        switch (phase_) {
        case phase::to_list:
        case phase::to_watch:
            return not_before_;
        case phase::watching:
            return std::min(heard_ + how_.silence, relist_at_);
        case phase::listing:
            break;
        }
        return never_comes;
    }

    /// A part of the watch's answer; an empty one says that it has begun.
    template<class Sink>
    void bytes(std::string_view part, std::int64_t now, Sink&& sink) {
        heard_ = well_ = now;
        opened_ = true;
        watch_spoke_ |= !part.empty();
        while (phase_ == phase::watching && !part.empty()) {
            const std::size_t end = part.find('\n');
            const std::string_view piece = part.substr(0, end);
            if (line_.size() + piece.size() > how_.longest_line)
                return broken("an event of the watch is too large", now);
            line_ += piece;
            if (end == std::string_view::npos)
                return;
            part.remove_prefix(end + 1);
            if (!line_.empty())
                take_event(std::exchange(line_, {}), now, sink);
        }
    }

    /// The request under way has ended: a page of a list, or the end of a watch.
    template<class Sink>
    void done(const http_answer& answer, std::int64_t now, Sink&& sink) {
        well_ = as_of(now);
        if (phase_ == phase::listing)
            page_done(answer, now, sink);
        else if (phase_ == phase::watching)
            watch_done(answer, now);
    }

    /// Starts a new list, whatever is under way. Not synced until the list is complete.
    void relist() {
        cancel_ = phase_ == phase::watching || phase_ == phase::listing;
        begin_list(0);
    }
    void distrust() {
        synced_ = false;
        relist();
    }

    /// All objects have been told once.
    [[nodiscard]] bool synced() const noexcept { return synced_; }
    /// What was told is no half of a list.
    [[nodiscard]] bool is_whole() const noexcept { return synced_ && !partial_; }
    /// The last list was none: the kind is not served, or may not be read.
    [[nodiscard]] bool is_absent() const noexcept { return absent_; }
    /// It may not be read, and nothing else is wrong.
    [[nodiscard]] bool is_denied() const noexcept { return denied_; }
    /// When what is known was last known to be all there is: now while a watch is open.
    [[nodiscard]] std::int64_t as_of(std::int64_t now) const noexcept {
        const bool open = phase_ == phase::watching && opened_ && now - heard_ < how_.silence;
        const bool absent = absent_ && now - well_ < 2 * how_.pauses.most;
        return open || absent ? now : well_;
    }
    /// How many lists were completed.
    [[nodiscard]] std::uint64_t lists() const noexcept { return lists_; }
    /// The last failure, or the object that is left out; empty if there is neither.
    [[nodiscard]] const std::string& trouble() const noexcept {
        return trouble_.empty() ? unnamed_ : trouble_;
    }
    [[nodiscard]] const std::string& path() const noexcept { return how_.path; }
    [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }
    /// The objects as they are known, in the order of keys: `visit(const listed_object&)`.
    template<class Visit>
    void for_each(Visit&& visit) const {
        for (const auto& [key, known] : known_)
            visit(listed_object{key, known.uid, known.version});
    }

private:
    enum class phase : std::uint8_t { to_list, listing, to_watch, watching };

    struct entry {
        std::string uid;
        std::string version;
        std::uint64_t pass = 0; ///< the list that last held it
    };

    void rest(phase then, std::int64_t until) {
        phase_ = then;
        not_before_ = until;
        line_.clear();
    }

    void begin_list(std::int64_t not_before) {
        continue_.clear();
        rest(phase::to_list, not_before);
    }

    void failed(phase then, std::string what, std::int64_t now,
                std::optional<std::int64_t> retry_after = {}) {
        denied_ = false;
        trouble_ = how_.path + ": " + std::move(what);
        const std::int64_t wait = std::max(backoff_.failed(now, jitter_), retry_after.value_or(0));
        if (then == phase::to_list)
            begin_list(now + wait);
        else
            rest(then, now + wait);
    }

    /// The stream can no longer be read; what it would have told is listed.
    void broken(std::string what, std::int64_t now) {
        cancel_ = true;
        failed(phase::to_list, std::move(what), now);
    }

    [[nodiscard]] http_request start_list() {
        if (continue_.empty()) {
            ++pass_;
            unnamed_.clear();
        }
        http_request request;
        request.path = how_.path;
        request.query = how_.query;
        add_to_query(request.query, "limit", std::to_string(page_));
        if (!continue_.empty())
            add_to_query(request.query, "continue", continue_);
        request.patience = minute;
        phase_ = phase::listing;
        return request;
    }

    [[nodiscard]] http_request start_watch(std::int64_t now) {
        http_request request;
        request.path = how_.path;
        request.query = how_.query;
        const std::int64_t span = jitter_.between(how_.watch_least, how_.watch_most) / second;
        add_to_query(request.query, "watch", "true");
        add_to_query(request.query, "allowWatchBookmarks", "true");
        add_to_query(request.query, "resourceVersion", version_);
        add_to_query(request.query, "timeoutSeconds", std::to_string(span));
        request.stream = true;
        phase_ = phase::watching;
        watch_started_ = now;
        heard_ = now;
        opened_ = false;
        watch_spoke_ = false;
        line_.clear();
        return request;
    }

    template<class Sink>
    void page_done(const http_answer& answer, std::int64_t now, Sink& sink) {
        const bool denied = answer.status == 403 && how_.may_be_denied;
        if (answer.fault == http_fault::none &&
            (denied || (answer.status == 404 && how_.may_be_absent))) {
            well_ = now;
            absent_ = true;
            sweep(sink, ++pass_);
            begin_list(now + how_.pauses.most);
            denied_ = denied;
            if (denied)
                trouble_ = how_.path + ": " + describe(answer);
            return;
        }
        if (!answer.is_success()) {
            // An expired continuation (410) starts over, as any failure does; a busy server (429)
            // is asked for the same page again.
            std::string page = answer.status == 429 ? continue_ : std::string{};
            // The page was too large, so ask for a page with fewer objects.
            if (answer.fault == http_fault::too_large && page_ > 1) {
                page = continue_;
                page_ = std::max<std::int64_t>(page_ / 8, 1);
            }
            failed(phase::to_list, describe(answer), now, status_of(answer).retry_after);
            continue_ = std::move(page);
            return;
        }
        std::string wrong;
        const auto page = sent_page::read(how_.path, answer.body, wrong);
        if (!page)
            return failed(phase::to_list, wrong, now);
        partial_ = true;
        absent_ = false;
        page->for_each([&](const arrived& object) { take(object, sink); },
                       [&](const boost::json::value* object, std::string place) {
                           keep_unnamed(object, std::move(place));
                       });
        continue_ = page->next_page();
        if (!continue_.empty())
            return rest(phase::to_list, 0);
        version_ = page->version();
        page_ = how_.page;
        well_ = now;
        sweep(sink, pass_);
        relist_at_ = now + jitter_.between(how_.relist_least, how_.relist_most);
        rest(phase::to_watch, 0);
    }

    /// The list is complete: what it did not hold is gone.
    template<class Sink>
    void sweep(Sink& sink, std::uint64_t pass) {
        for (auto at = known_.begin(); at != known_.end();) {
            if (at->second.pass == pass) {
                ++at;
                continue;
            }
            const listed_object lost{at->first, at->second.uid, at->second.version};
            at = known_.erase(at);
            sink.gone(lost);
        }
        ++lists_;
        synced_ = true;
        partial_ = false;
        denied_ = false;
        trouble_.clear();
    }

    template<class Sink>
    void take(const arrived& object, Sink& sink) {
        const listed_object& who = object.who();
        const auto [at, is_new] = known_.try_emplace(who.key);
        entry& known = at->second;
        known.pass = pass_;
        if (!is_new && known.uid == who.uid && known.version == who.version)
            return;
        if (!is_new && known.uid != who.uid)
            sink.gone({who.key, known.uid, known.version});
        known.uid = who.uid;
        known.version = who.version;
        sink.upsert(object);
    }

    /// Handles an object without a complete identity. If its name is known, the known object stays.
    void keep_unnamed(const boost::json::value* object, std::string place) {
        const boost::json::object* const top = object ? object->if_object() : nullptr;
        const boost::json::object* const metadata =
            top ? detail::object_in(*top, "metadata") : nullptr;
        if (metadata) {
            const codec::object_key key{detail::string_in(*metadata, "namespace"),
                                        detail::string_in(*metadata, "name")};
            if (const auto at = known_.find(key); at != known_.end())
                at->second.pass = pass_;
            if (!key.name.empty())
                place += " " + codec::in_quotes(key.name_space + "/" + key.name, 256);
        }
        unnamed_ = how_.path + ": " + place +
                   " is left out (expected metadata with name, uid and resourceVersion)";
    }

    template<class Sink>
    void take_event(std::string line, std::int64_t now, Sink& sink) {
        std::string wrong;
        const auto event = sent_event::read(how_.path, std::move(line), wrong);
        if (!event)
            return broken(wrong, now);
        const std::string& type = event->type();
        const boost::json::object* const object = event->object().if_object();
        if (type == "ERROR")
            return take_error(object ? read_status(*object) : api_status{}, now);
        if (type == "BOOKMARK") {
            const boost::json::object* const metadata =
                object ? detail::object_in(*object, "metadata") : nullptr;
            std::string version =
                metadata ? detail::string_in(*metadata, "resourceVersion") : std::string{};
            if (version.empty())
                return broken("a bookmark has no version", now);
            version_ = std::move(version);
        } else if (type == "ADDED" || type == "MODIFIED" || type == "DELETED") {
            auto who = detail::identify(event->object());
            if (!who)
                return keep_unnamed(&event->object(), "an object of the watch");
            std::string version = who->version;
            if (type == "DELETED")
                take_deleted(*who, sink);
            else
                take(event->as(std::move(*who)), sink);
            version_ = std::move(version);
        } else {
            return broken("an event of the watch is of the type " + codec::in_quotes(type), now);
        }
        trouble_.clear();
    }

    template<class Sink>
    void take_deleted(const listed_object& who, Sink& sink) {
        const auto at = known_.find(who.key);
        if (at == known_.end() || at->second.uid != who.uid)
            return;
        known_.erase(at);
        sink.gone(who);
    }

    void take_error(const api_status& status, std::int64_t now) {
        cancel_ = true;
        const std::string what = "the watch ended with " + std::to_string(status.code) + " " +
                                 codec::in_quotes(status.message, 256);
        // 504 is what a server says that has not yet seen so new a version.
        if (status.code == 410 || status.code == 504)
            expired(what, now);
        else
            failed(phase::to_watch, what, now, status.retry_after);
    }

    void expired(std::string what, std::int64_t now) {
        trouble_ = how_.path + ": " + std::move(what);
        // The first list comes at once; a server that keeps expiring is given time.
        const bool again = backoff_.failures() > 0;
        const std::int64_t wait = backoff_.failed(now, jitter_);
        begin_list(again ? now + wait : std::max(now, watch_started_ + how_.watch_gap));
    }

    void watch_done(const http_answer& answer, std::int64_t now) {
        const bool opened = answer.status >= 200 && answer.status < 300;
        if (opened && answer.fault == http_fault::none) {
            if (!watch_spoke_ && now - watch_started_ < how_.watch_least / 2)
                return failed(phase::to_watch, "the watch ended without a word", now);
            return rest(phase::to_watch, std::max(now, watch_started_ + how_.watch_gap));
        }
        const api_status status = status_of(answer);
        if (answer.fault == http_fault::none && answer.status == 410)
            return expired(describe(answer), now);
        // Too large a body is an object that can only be listed; other refusals may be of the
        // version that was asked for.
        const bool refused = answer.fault == http_fault::too_large ||
                             (answer.fault == http_fault::none && answer.status >= 400 &&
                              answer.status < 500 && answer.status != 429);
        failed(refused ? phase::to_list : phase::to_watch, describe(answer), now,
               status.retry_after);
    }

    reflector_options how_;
    jitter jitter_;
    backoff backoff_;
    phase phase_ = phase::to_list;
    std::int64_t not_before_ = 0;
    bool cancel_ = false;
    std::string continue_; ///< the next page of the list under way
    std::int64_t page_;    ///< limit of objects in a page
    std::uint64_t pass_ = 0;
    std::string version_; ///< where the next watch goes on
    std::string line_;    ///< of the watch, as far as it has come
    std::int64_t watch_started_ = 0;
    bool opened_ = false;
    bool watch_spoke_ = false;
    std::int64_t heard_ = 0; ///< or began to listen
    std::int64_t well_ = 0;
    bool partial_ = false; ///< a list has told some of its objects
    bool absent_ = false;
    bool denied_ = false;
    std::int64_t relist_at_ = never_comes;
    std::map<codec::object_key, entry> known_;
    bool synced_ = false;
    std::uint64_t lists_ = 0;
    std::string trouble_;
    std::string unnamed_; ///< the last object that was left out since the last list began
};

} // namespace kube
} // namespace v0_1
} // namespace muster
