// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include <muster/adapter/driver_context.hpp>
#include <muster/adapter/gang_standing.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// What is written about gangs: their status, some time after something happened and only when it
/// would change something; and events.
template<class Traits>
class reports {
public:
    using gang_key = typename Traits::gang_key;

    explicit reports(driver_context<Traits>& context) : at_(&context) {}

    /// Something happened to the gang that its status may tell.
    void note(const gang_key& gang) {
        const std::int64_t when = at_->now + at_->how.status_delay;
        std::int64_t& due = due_.try_emplace(gang, when).first->second;
        // It may be due much later for its words alone.
        due = std::min(due, when);
        next_status_ = std::min(next_status_, due);
    }
    void tell(event_order<Traits> what) {
        what.of = 0;
        events_.push_back(std::move(what));
        if (events_.size() > at_->how.most_events) {
            events_.pop_front();
            ++dropped_;
        }
    }
    void forget(const gang_key& gang) {
        due_.erase(gang);
        said_.erase(gang);
    }
    /// Forgets what was written: another instance may have written other values since.
    void forget_all() {
        for (const auto& each : said_)
            note(each.first);
        said_.clear();
    }

    /// True when the order was given here.
    bool take(const order_result<Traits>& result) {
        if (told_.erase(result.of) > 0)
            return true; // told at most once
        const auto order = orders_.find(result.of);
        if (order == orders_.end())
            return false;
        const gang_key gang = order->second;
        orders_.erase(order);
        const auto at = said_.find(gang);
        if (at == said_.end() || at->second.of != result.of)
            return true;
        at->second.of = 0;
        switch (result.what) {
        case outcome::refused:
            if (at->second.said && !at->second.said->message.empty()) {
                // It may be the words that are too many (413), or not to the server's liking.
                at->second.is_wordless = true;
                say_again(at->second, gang, result);
                break;
            }
            [[fallthrough]];
        case outcome::applied:
        case outcome::gated:
            // Nothing else is said until there is something else to say.
            at->second.tries.reset();
            break;
        case outcome::gone:
            // If the object is gone, that will be observed soon; if not, the answer was wrong.
            if (at->second.tries.failures() < most_gone) {
                say_again(at->second, gang, result);
                break;
            }
            [[fallthrough]];
        case outcome::replaced:
        case outcome::not_started:
            said_.erase(at);
            break;
        case outcome::conflict:
        case outcome::transient:
        case outcome::unknown:
            say_again(at->second, gang, result);
            break;
        }
        return true;
    }

    /// Gives what is due. `busy(gang)`: it is in the middle of something, and its status waits;
    /// `would_change(gang, status)`, `words(known, gang)` as the cluster and the caller say.
    template<class Busy, class WouldChange, class Words>
    void give(orders<Traits>& into, token_bucket& bucket, const Busy& busy,
              const WouldChange& would_change, const Words& words) {
        if (next_status_ <= at_->now) {
            next_status_ = never_comes;
            std::size_t words_left = at_->how.most_words;
            for (auto at = due_.begin(); at != due_.end();) {
                if (at->second > at_->now || busy(at->first)) {
                    if (!busy(at->first))
                        next_status_ = std::min(next_status_, at->second);
                    ++at;
                    continue;
                }
                if (words_left == 0) {
                    next_status_ = at_->now;
                    break;
                }
                const auto again =
                    give_status(at->first, into, bucket, would_change, words, words_left);
                if (!again) {
                    next_status_ = std::min(next_status_, bucket.ready(at_->now));
                    break;
                }
                if (*again == never_comes) {
                    at = due_.erase(at);
                    continue;
                }
                at->second = *again;
                next_status_ = std::min(next_status_, at->second);
                ++at;
            }
        }
        while (!events_.empty() && bucket.take(at_->now)) {
            event_order<Traits>& first = events_.front();
            first.of = at_->new_ticket();
            told_.emplace(first.of, true);
            into.events.push_back(std::move(first));
            events_.pop_front();
        }
    }
    /// The gang's status waited for it to come to rest.
    void came_to_rest(const gang_key& gang) {
        if (const auto at = due_.find(gang); at != due_.end())
            next_status_ = std::min(next_status_, at->second);
    }

    [[nodiscard]] std::int64_t next(const token_bucket& bucket) const noexcept {
        return events_.empty() ? next_status_ : std::min(next_status_, bucket.ready(at_->now));
    }
    /// Events that were not told because there were too many.
    [[nodiscard]] std::size_t dropped() const noexcept { return dropped_; }
    [[nodiscard]] std::size_t under_way() const noexcept { return orders_.size() + told_.size(); }

private:
    /// How often a status is written again of which the server says that it has no such object.
    static constexpr std::int64_t most_gone = 3;

    struct last_word {
        std::optional<gang_status> said;
        /// The gate at which it waited when people were told so last.
        gate told_at = gate::none;
        ticket of = 0;
        backoff tries{};
        /// It failed, and is not tried again before.
        std::int64_t not_before = 0;
        /// Before then it is not asked again what is to be said of it.
        std::int64_t words_from = 0;
        /// Before then it is not written again for its counts alone.
        std::int64_t counts_from = 0;
        /// The server does not take what is said: it is said without words.
        bool is_wordless = false;
    };

    /// When it is to be looked at again; nothing when there is no room for it in the bucket.
    template<class WouldChange, class Words>
    std::optional<std::int64_t> give_status(const gang_key& gang, orders<Traits>& into,
                                            token_bucket& bucket, const WouldChange& would_change,
                                            const Words& words, std::size_t& words_left) {
        const auto& known = at_->known();
        const auto which = known.find_gang(gang);
        const auto* const facts = at_->view.find_gang(gang);
        if (!which || facts == nullptr) {
            said_.erase(gang);
            return never_comes;
        }
        gang_status status = standing_of(at_->view, which->index).status;
        last_word& last =
            said_.try_emplace(gang, last_word{{}, gate::none, 0, backoff(at_->how.retries)})
                .first->second;
        if (const auto* const hold = at_->held.find(gang); hold != nullptr && hold->held) {
            status.held_after = hold->why;
            // The last cycle left out the members of a held-back gang, so its verdict says nothing.
            status.verdict.reset();
            status.at = gate::none;
            status.surplus_waits = status.lacks_volumes = false;
            if (!last.is_wordless)
                status.message = hold->message;
        }
        if (last.of != 0)
            return never_comes;
        if (at_->now < last.not_before)
            return last.not_before;
        std::int64_t again = never_comes;
        const bool waits = status.at != gate::none || status.surplus_waits;
        if (status.waiting > 0 && waits && !last.is_wordless) {
            if (last.said && last.said->at == status.at && last.said->verdict == status.verdict &&
                last.said->surplus_waits == status.surplus_waits &&
                last.said->lacks_volumes == status.lacks_volumes && !last.said->message.empty() &&
                at_->now < last.words_from) {
                status.message = last.said->message;
                again = last.words_from;
            } else {
                --words_left;
                status.message = words(known, which->index);
            }
        }
        if (last.said == status)
            return again;
        if (last.said && at_->now < last.counts_from && differs_in_counts(*last.said, status))
            return last.counts_from;
        if (would_change(gang, status)) {
            if (!bucket.take(at_->now))
                return std::nullopt;
            last.of = at_->new_ticket();
            orders_.emplace(last.of, gang);
            into.statuses.push_back({last.of, gang, facts->uid, status});
            last.counts_from = at_->now + at_->how.counts_every;
        }
        if (again == never_comes)
            last.words_from = at_->now + at_->how.words_every;
        tell_waiting(gang, facts->uid, status, last);
        last.said = std::move(status);
        return again;
    }

    /// True if only counts differ, so that the write is not urgent.
    [[nodiscard]] static bool differs_in_counts(const gang_status& one, gang_status other) {
        other.alive = one.alive;
        other.holding = one.holding;
        other.running = one.running;
        other.succeeded = one.succeeded;
        other.failed = one.failed;
        other.waiting = one.waiting;
        return one == other;
    }

    void say_again(last_word& last, const gang_key& gang, const order_result<Traits>& failure) {
        last.said.reset();
        last.not_before = at_->again(last.tries, failure);
        due_[gang] = last.not_before;
        next_status_ = std::min(next_status_, last.not_before);
    }

    void tell_waiting(const gang_key& gang, const object_uid& uid, const gang_status& status,
                      last_word& last) {
        const gate now = status.held_after ? last.told_at : status.at;
        if (status.waiting > 0 && now != gate::none && now != last.told_at)
            tell({0, gang, uid, event_reason::waiting, status.waiting, now, {}, status.message});
        last.told_at = now;
    }

    driver_context<Traits>* at_;
    /// When the status of a gang is to be looked at.
    std::map<gang_key, std::int64_t, key_less<Traits>> due_;
    std::map<gang_key, last_word, key_less<Traits>> said_;
    std::deque<event_order<Traits>> events_;
    std::map<ticket, gang_key> orders_;
    std::map<ticket, bool> told_;
    std::int64_t next_status_ = never_comes;
    std::size_t dropped_ = 0;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
