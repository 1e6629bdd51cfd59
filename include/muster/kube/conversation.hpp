// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <muster/kube/answers.hpp>
#include <muster/kube/events.hpp>
#include <muster/kube/lease.hpp>
#include <muster/kube/reflector.hpp>
#include <muster/kube/transport.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

struct conversation_options {
    /// Absent: it leads without asking anybody.
    std::optional<lease_options> election;
    event_options events;
    /// Of all watches; each gets a path and a spread of its own.
    reflector_options watches;
    /// What takes longer is given up, and nobody knows whether it was done.
    std::int64_t write_patience = 10 * second;
    std::size_t most_under_way = 48;
};

/// What everybody does who follows collections of a server and writes to it under a lease: watches,
/// the election, Events, and the account of what was asked and not yet answered. What is followed,
/// what is written and what answers mean is its owner's affair; `About` is the owner's note of what
/// a request is about.
template<class About, class Carrier = transport>
class conversation {
public:
    /// The carrier outlives it.
    conversation(Carrier& carrier, conversation_options how)
        : carrier_(&carrier), how_(std::move(how)), events_(how_.events) {
        if (!how_.election)
            return;
        // What is begun at the last moment ends before another may lead.
        how_.write_patience =
            std::min(how_.write_patience, how_.election->duration - how_.election->renew_deadline);
        lease_.emplace(*how_.election);
    }

    /// Streams are numbered in the order in which they are begun.
    void follow(std::string path, const auto& adjust) {
        reflector_options watch = how_.watches;
        watch.path = std::move(path);
        watch.seed += followed_.size();
        adjust(watch);
        followed_.emplace_back(std::move(watch));
    }

    // ---- how it stands -------------------------------------------------------------------------

    [[nodiscard]] instant now() const { return carrier_->now(); }
    [[nodiscard]] bool leads() const { return !lease_ || lease_->leads(now().steady); }
    [[nodiscard]] bool may_write() const { return !stopping_ && leads(); }
    [[nodiscard]] bool may_begin_write() const {
        return may_write() && writes_ < how_.most_under_way;
    }
    [[nodiscard]] std::uint64_t term() const { return lease_ ? lease_->term() : 1; }
    [[nodiscard]] const std::vector<reflector>& followed() const noexcept { return followed_; }
    [[nodiscard]] std::size_t writes() const noexcept { return writes_; }
    [[nodiscard]] std::size_t under_way() const noexcept { return asked_.size(); }
    [[nodiscard]] const outcome_counts& outcomes() const noexcept { return outcomes_; }
    [[nodiscard]] event_recorder& events() noexcept { return events_; }
    [[nodiscard]] const event_recorder& events() const noexcept { return events_; }
    [[nodiscard]] const conversation_options& options() const noexcept { return how_; }

    /// What is known of each collection is no half of a list.
    [[nodiscard]] bool is_whole() const {
        return std::ranges::all_of(followed_,
                                   [](const reflector& each) { return each.is_whole(); });
    }
    /// When all that is known was last known to be all there is. Steady.
    [[nodiscard]] std::int64_t as_of(std::int64_t now) const {
        std::int64_t oldest = now;
        for (const reflector& each : followed_)
            oldest = std::min(oldest, each.as_of(now));
        return oldest;
    }
    /// What goes wrong at the moment, a line each; empty when all is well.
    [[nodiscard]] std::vector<std::string> troubles() const {
        std::vector<std::string> found;
        for (const reflector& each : followed_)
            if (!each.trouble().empty())
                found.push_back(each.trouble());
        if (lease_ && !lease_->trouble().empty())
            found.push_back("lease: " + lease_->trouble());
        return found;
    }

    /// When it has something to do by itself. Steady. `may_start(stream)`: whether that stream may
    /// be listed already.
    template<class MayStart>
    [[nodiscard]] std::int64_t wakes(const MayStart& may_start) const {
        std::int64_t first = lease_ ? lease_->wakes() : never_comes;
        if (may_write())
            first = std::min(first, events_.wakes());
        for (std::size_t at = 0; at < followed_.size(); ++at)
            if (may_start(at))
                first = std::min(first, followed_[at].wakes());
        return first;
    }

    // ---- what is done --------------------------------------------------------------------------

    /// Whether a new term has begun: then all is listed anew.
    bool begin_term() {
        if (std::exchange(term_, term()) == term())
            return false;
        for (reflector& each : followed_)
            each.distrust();
        return true;
    }
    void relist() {
        for (reflector& each : followed_)
            each.relist();
    }
    void stop() { stopping_ = true; }
    [[nodiscard]] bool stopped() const {
        return stopping_ && writes_ == 0 && (!lease_ || lease_->released());
    }

    template<class MayStart>
    void send_watches(const MayStart& may_start) {
        for (std::size_t at = 0; at < followed_.size(); ++at) {
            if (!may_start(at))
                continue;
            reflector::wish wanted = followed_[at].next(now().steady);
            if (wanted.cancel)
                cancel_watch(at);
            if (wanted.start)
                send(task::watch, at, {}, std::move(*wanted.start));
        }
    }
    void send_events_and_election() {
        const instant at = now();
        if (may_write())
            while (auto one = events_.next(at))
                send(task::event, one->first, {}, std::move(one->second));
        if (!lease_)
            return;
        if (stopping_ && writes_ == 0)
            lease_->release();
        if (auto request = lease_->next(at))
            send(task::election, 0, {}, std::move(*request));
    }
    void write(About about, http_request request) {
        ++writes_;
        request.patience = how_.write_patience;
        send(task::order, 0, std::move(about), std::move(request));
    }
    /// Asks for something that is no write.
    void ask(About about, http_request request) {
        send(task::question, 0, std::move(about), std::move(request));
    }

    /// What has come after at most `patience`, before it `wakes`, and until one of the handles is
    /// readable.
    auto wait(std::int64_t patience, std::int64_t wakes, std::span<const int> others) {
        const std::int64_t longest =
            wakes == never_comes ? patience : std::max<std::int64_t>(wakes - now().steady, 0);
        return carrier_->poll(std::min(patience, longest), others);
    }
    /// Passes what has come to whom it is for: objects of a stream to `sink_of(stream)`, the answer
    /// of a write to `written(about, judged, answer)`, and that of a question to `answered(about,
    /// answer)`.
    template<class SinkOf, class Written, class Answered>
    void take(const arrival& each, const SinkOf& sink_of, const Written& written,
              const Answered& answered) {
        const auto at = asked_.find(each.of);
        if (at == asked_.end())
            return;
        const instant when = now();
        if (each.is_part) {
            if (const std::size_t stream = at->second.number; at->second.what == task::watch)
                followed_[stream].bytes(each.part, when.steady, sink_of(stream));
            return;
        }
        task of = std::move(at->second);
        asked_.erase(at);
        switch (of.what) {
        case task::watch:
            return followed_[of.number].done(each.answer, when.steady, sink_of(of.number));
        case task::election:
            return lease_->done(each.answer, when);
        case task::event:
            return events_.done(of.number, each.answer, when);
        case task::order: {
            --writes_;
            judged_answer judged = judge(each.answer);
            ++outcomes_[static_cast<std::size_t>(judged.what)];
            return written(of.about, std::move(judged), each.answer);
        }
        case task::question:
            return answered(of.about, each.answer);
        }
    }

private:
    struct task {
        enum kind : std::uint8_t { watch, election, event, order, question };
        kind what = watch;
        std::uint64_t number = 0; ///< of the stream, or the event's own
        About about;
    };

    void send(typename task::kind what, std::uint64_t number, About about, http_request request) {
        asked_.emplace(carrier_->start(std::move(request)), task{what, number, std::move(about)});
    }
    void cancel_watch(std::uint64_t number) {
        for (auto at = asked_.begin(); at != asked_.end(); ++at)
            if (at->second.what == task::watch && at->second.number == number) {
                carrier_->cancel(at->first);
                asked_.erase(at);
                return;
            }
    }

    Carrier* carrier_;
    conversation_options how_;
    std::vector<reflector> followed_;
    std::optional<lease> lease_;
    event_recorder events_;
    std::map<std::uint64_t, task> asked_;
    outcome_counts outcomes_{};
    std::size_t writes_ = 0;
    std::uint64_t term_ = 0;
    bool stopping_ = false;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
