// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include <muster/adapter/driver_context.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// Pods that the state holds as told to go, until the server has been told, or refuses: then they
/// stay.
template<class Traits>
class evictions {
public:
    using pod_key = typename Traits::pod_key;

    explicit evictions(driver_context<Traits>& context) : at_(&context) {}

    /// The state has the pod as evicted already. `whose`: the gang that is to come in its place; it
    /// is held back when the pod stays, so that it does not ask for the same again at once.
    void add(const pod_key& pod, eviction_cause why,
             std::optional<typename Traits::gang_key> whose = std::nullopt) {
        const auto* const facts = at_->view.find_pod(pod);
        if (facts == nullptr)
            return;
        entry made;
        made.uid = facts->uid;
        made.why = why;
        made.whose = std::move(whose);
        made.deadline = at_->now + at_->how.eviction_deadline;
        made.tries = backoff(at_->how.retries);
        all_.insert_or_assign(pod, std::move(made));
    }

    /// True when the order was given here.
    bool take(const order_result<Traits>& result) {
        const auto order = orders_.find(result.of);
        if (order == orders_.end())
            return false;
        const pod_key pod = order->second;
        orders_.erase(order);
        const auto at = all_.find(pod);
        if (at == all_.end() || at->second.of != result.of)
            return true;
        entry& of = at->second;
        of.of = 0;
        switch (result.what) {
        case outcome::applied:
        case outcome::gone:
        case outcome::replaced:
            all_.erase(at);
            return true;
        case outcome::refused:
        case outcome::gated:
            stays(pod, result.what);
            return true;
        case outcome::not_started:
            stays(pod);
            return true;
        case outcome::conflict:
        case outcome::transient:
        case outcome::unknown:
            of.next = at_->again(of.tries, result);
            if (of.next >= of.deadline)
                stays(pod, result.what);
            return true;
        }
        return true;
    }

    /// Leadership was gained anew: what was decided before counts no more.
    void new_term() {
        while (!all_.empty())
            stays(pod_key(all_.begin()->first));
    }

    void give(orders<Traits>& into, token_bucket& bucket) {
        next_ = never_comes;
        for (auto at = all_.begin(); at != all_.end();) {
            entry& of = at->second;
            if (at_->view.find_pod(at->first, of.uid) == nullptr) {
                at = all_.erase(at);
                continue;
            }
            if (of.of == 0 && of.next <= at_->now && bucket.take(at_->now)) {
                of.of = at_->new_ticket();
                orders_.emplace(of.of, at->first);
                into.evictions.push_back({of.of, at->first, of.uid, of.why});
            } else if (of.of == 0) {
                next_ = std::min(next_, std::max(of.next, bucket.ready(at_->now)));
            }
            ++at;
        }
    }
    [[nodiscard]] std::int64_t next() const noexcept { return next_; }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

private:
    struct entry {
        object_uid uid;
        eviction_cause why{};
        std::optional<typename Traits::gang_key> whose;
        ticket of = 0;
        std::int64_t next = 0;
        std::int64_t deadline = 0;
        backoff tries{};
    };

    void stays(const pod_key& pod, std::optional<outcome> failure = std::nullopt) {
        const auto at = all_.find(pod);
        if (failure && at->second.whose)
            at_->hold_back(*at->second.whose, *failure);
        all_.erase(at);
        static_cast<void>(at_->view.known().keep(pod));
        if (const auto* const facts = at_->view.find_pod(pod))
            at_->view.touch(facts->gang);
    }

    driver_context<Traits>* at_;
    std::map<pod_key, entry, key_less<Traits>> all_;
    std::map<ticket, pod_key> orders_;
    std::int64_t next_ = never_comes;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
