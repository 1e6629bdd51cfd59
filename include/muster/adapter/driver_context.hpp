// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/adapter/backoff.hpp>
#include <muster/adapter/cluster_view.hpp>
#include <muster/adapter/driver_options.hpp>
#include <muster/adapter/instant.hpp>
#include <muster/adapter/writes.hpp>
#include <muster/vocabulary/traits.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// Orders that are to be given together.
template<class Traits>
struct orders {
    std::vector<prepare_order<Traits>> prepares;
    std::vector<ungate_order<Traits>> ungates;
    std::vector<bind_order<Traits>> binds;
    std::vector<evict_order<Traits>> evictions;
    std::vector<nominate_order<Traits>> nominations;
    std::vector<status_order<Traits>> statuses;
    std::vector<event_order<Traits>> events;
    std::vector<where_is_order<Traits>> pods;
    std::vector<is_current_order<Traits>> gangs;

    void clear() noexcept {
        prepares.clear();
        ungates.clear();
        binds.clear();
        evictions.clear();
        nominations.clear();
        statuses.clear();
        events.clear();
        pods.clear();
        gangs.clear();
    }
};

/// Gangs that are kept out of decisions for a while because something of theirs failed, longer each
/// time.
template<class Traits>
class held_gangs {
public:
    using gang_key = typename Traits::gang_key;
    using pod_key = typename Traits::pod_key;

    struct hold {
        std::int64_t until = 0;
        bool held = false;
        outcome why = outcome::unknown;
        /// Message of the failure; may be empty.
        std::string message;
        backoff failures;
        /// The members whose binds failed for good.
        std::set<pod_key, key_less<Traits>> suspects;
    };

    void hold_back(cluster_view<Traits>& view, const gang_key& key, outcome why,
                   std::string message, std::int64_t now, const driver_options& how,
                   jitter& spread) {
        hold& of =
            all_.try_emplace(key, hold{0, false, why, {}, backoff(how.holds), {}}).first->second;
        of.why = why;
        of.message = std::move(message);
        hold_until(view, key, of, now + of.failures.failed(now, spread));
    }
    /// The same for a moment, without counting it as a failure.
    void pause(cluster_view<Traits>& view, const gang_key& key, outcome why, std::int64_t until,
               const driver_options& how) {
        hold& of =
            all_.try_emplace(key, hold{0, false, why, {}, backoff(how.holds), {}}).first->second;
        of.why = why;
        of.message.clear();
        hold_until(view, key, of, until);
    }
    void suspect(const gang_key& key, const pod_key& pod) {
        if (const auto at = all_.find(key); at != all_.end())
            at->second.suspects.insert(pod);
    }

    /// All is well with it, or it is gone.
    void forget(cluster_view<Traits>& view, const gang_key& key) {
        if (all_.erase(key) > 0)
            view.let_go_gang(key);
    }
    /// Those whose time is over take part again.
    void let_go(cluster_view<Traits>& view, std::int64_t now) {
        next_ = never_comes;
        for (auto& [key, of] : all_) {
            if (of.held && of.until <= now) {
                of.held = false;
                view.let_go_gang(key);
            }
            if (of.held)
                next_ = std::min(next_, of.until);
        }
    }
    [[nodiscard]] std::int64_t next() const noexcept { return next_; }

    [[nodiscard]] const hold* find(const gang_key& key) const {
        const auto at = all_.find(key);
        return at == all_.end() ? nullptr : &at->second;
    }
    [[nodiscard]] const auto& all() const noexcept { return all_; }

private:
    void hold_until(cluster_view<Traits>& view, const gang_key& key, hold& of, std::int64_t until) {
        of.until = of.held ? std::max(of.until, until) : until;
        of.held = true;
        next_ = std::min(next_, of.until);
        view.hold_gang(key);
    }

    std::map<gang_key, hold, key_less<Traits>> all_;
    std::int64_t next_ = never_comes;
};

/// What the parts of a driver share.
template<class Traits>
struct driver_context {
    driver_context(state<Traits>& known, const driver_options& options)
        : view(known), how(options), spread(options.seed) {}

    cluster_view<Traits> view;
    driver_options how;
    jitter spread;
    held_gangs<Traits> held;
    /// Steady.
    std::int64_t now = 0;

    [[nodiscard]] const state<Traits>& known() const noexcept { return view.known(); }
    [[nodiscard]] ticket new_ticket() noexcept { return ++tickets_; }

    /// When to try again after a failure.
    [[nodiscard]] std::int64_t again(backoff& tries, const order_result<Traits>& failure) {
        const std::int64_t wait = tries.failed(now, spread);
        return now + std::max(wait, failure.retry_after.value_or(0));
    }
    void hold_back(const typename Traits::gang_key& gang, outcome why, std::string message = {}) {
        held.hold_back(view, gang, why, std::move(message), now, how, spread);
    }

private:
    ticket tickets_ = 0;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
