// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/adapter/driver_context.hpp>
#include <muster/adapter/gang_start.hpp>
#include <muster/problem/members.hpp>
#include <muster/vocabulary/subtree_status.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// Carries out decisions: binds the placed members of gangs, gang by gang in the order of the
/// decisions. For each gang it binds the volumes of all members, then removes scheduling gates,
/// then binds the pods. If the volumes of one member cannot be bound, no pod of the gang is bound.
/// Before the first bind the whole decision is checked again, and given up as a whole if it no
/// longer holds. After that, each member ends either observed on its node or released. A pod stays
/// assumed as long as a bind of it may have succeeded.
template<class Traits>
class gang_starts {
public:
    using gang_key = typename Traits::gang_key;
    using pod_key = typename Traits::pod_key;
    using node_key = typename Traits::node_key;
    using start_type = gang_start<Traits>;
    using member_type = bind_of_member<Traits>;

    /// What became of the members of one gang that were placed.
    struct ended {
        gang_key gang{};
        object_uid uid;
        std::int64_t bound = 0;
        std::optional<bind_failure> failed;
    };

    explicit gang_starts(driver_context<Traits>& context) : at_(&context) {}

    /// Members of a gang were placed, by a decision that the state holds as assumed.
    template<class Placements>
    void add(const gang_key& gang, const Placements& placed) {
        const auto& known = at_->known();
        const auto* const facts = at_->view.find_gang(gang);
        const auto [number, fresh] = numbers_.try_emplace(gang, numbered_ + 1);
        if (fresh)
            ++numbered_;
        start_type& start = starts_[number->second];
        if (fresh) {
            start.gang = gang;
            start.uid = facts != nullptr ? facts->uid : object_uid{};
            start.checked = !at_->how.check_gangs || start.uid.empty();
            start.check_tries = backoff(at_->how.retries);
        }
        start.due = 0;
        const auto* const held = at_->held.find(gang);
        for (const auto& [pod, node] : placed) {
            const auto* const pod_facts = at_->view.find_pod(known.key(pod));
            member_type member;
            member.pod = known.key(pod);
            member.uid = pod_facts != nullptr ? pod_facts->uid : object_uid{};
            member.node = known.key(node);
            member.stage = pod_facts != nullptr && pod_facts->unbound_volumes
                               ? bind_stage::to_prepare
                               : after_volumes(pod_facts);
            member.suspect = held != nullptr && held->suspects.contains(member.pod);
            member.tries = backoff(at_->how.retries);
            start.members.push_back(std::move(member));
        }
    }

    /// Something was seen of the gang.
    void follow(const gang_key& gang) {
        const auto number = numbers_.find(gang);
        if (number == numbers_.end())
            return;
        start_type& start = starts_.at(number->second);
        start.due = 0;
        for (member_type& member : start.members) {
            if (member.stage == bind_stage::done)
                continue;
            const auto* const facts = at_->view.find_pod(member.pod, member.uid);
            if (facts == nullptr) {
                member.stage = bind_stage::done;
            } else if (facts->on) {
                if (*facts->on == member.node && member.stage != bind_stage::assigned)
                    ++start.bound;
                member.stage = bind_stage::done;
            } else if (!member.sent && !counts(member)) {
                drop(member);
            }
        }
        end_if_over(number->second);
    }

    /// True when the order was given here.
    bool take(const order_result<Traits>& result) {
        const auto order = orders_.find(result.of);
        if (order == orders_.end())
            return false;
        const order_place place = order->second;
        orders_.erase(order);
        under_way_ -= place.counted ? 1U : 0U;
        const auto found = starts_.find(place.start);
        if (found == starts_.end())
            return true;
        start_type& start = found->second;
        start.due = 0;
        if (place.member == of_gang)
            checked(start, result);
        else
            answered(start, start.members[place.member], result);
        end_if_over(place.start);
        return true;
    }

    /// Call when leadership was gained. Forgets orders that were not sent, and follows sent orders
    /// to their end.
    void new_term() {
        std::vector<std::uint64_t> numbers;
        for (auto& [number, start] : starts_) {
            for (member_type& member : start.members)
                if (!member.sent && member.stage != bind_stage::ungating)
                    drop(member);
            numbers.push_back(number);
        }
        for (const std::uint64_t number : numbers)
            end_if_over(number);
    }

    /// Gives the orders that are due. `fresh`: the view is good enough to act on; questions are
    /// asked all the same.
    void give(orders<Traits>& into, token_bucket& bucket, bool fresh) {
        next_ = never_comes;
        std::vector<std::uint64_t> over;
        std::size_t ahead = 0;
        for (auto& [number, start] : starts_) {
            // Those further behind are looked at when it is nearly their turn, as they are then.
            if (!start.begun && (!fresh || ahead >= at_->how.most_under_way))
                continue;
            if (start.due <= at_->now) {
                start.due = give(number, start, into, bucket, fresh);
                if (start.over())
                    over.push_back(number);
            }
            ahead += start.open();
            // What waits for others' answers, or for a better view, is not waited for here.
            if (start.due > at_->now)
                next_ = std::min(next_, start.due);
        }
        for (const std::uint64_t number : over)
            end_if_over(number);
    }
    [[nodiscard]] std::int64_t next() const noexcept { return next_; }

    /// Members of the gang are being bound.
    [[nodiscard]] bool busy(const gang_key& gang) const { return numbers_.contains(gang); }
    [[nodiscard]] bool is_binding(const gang_key& gang, const pod_key& pod) const {
        const auto number = numbers_.find(gang);
        return number != numbers_.end() &&
               std::ranges::any_of(starts_.at(number->second).members, [&](const auto& each) {
                   return each.pod == pod && each.stage != bind_stage::done;
               });
    }
    [[nodiscard]] std::size_t size() const noexcept { return starts_.size(); }
    [[nodiscard]] std::size_t under_way() const noexcept { return under_way_; }
    /// Those that ended since this was asked last.
    [[nodiscard]] std::vector<ended> take_ended() { return std::exchange(ended_, {}); }

private:
    static constexpr std::size_t of_gang = ~std::size_t{0};
    struct order_place {
        std::uint64_t start = 0;
        std::size_t member = of_gang;
        /// The order counts towards `under_way()`. Orders to bind volumes, which may take minutes,
        /// do not.
        bool counted = false;
    };

    template<class Facts>
    [[nodiscard]] static bind_stage after_volumes(const Facts* pod) {
        return pod != nullptr && pod->own_gate ? bind_stage::to_ungate : bind_stage::to_bind;
    }

    /// It is there and wants to go where it was to go.
    [[nodiscard]] bool counts(const member_type& member) const {
        const auto at = at_->known().find_pod(member.pod);
        if (!at)
            return false;
        const auto& record = at_->known()[at->index];
        return record.alive() && record.node.has_value();
    }

    void drop(member_type& member) {
        if (member.stage == bind_stage::done)
            return;
        member.stage = bind_stage::done;
        if (at_->view.find_pod(member.pod, member.uid) != nullptr)
            at_->view.release(member.pod);
    }
    void drop_unsent(start_type& start) {
        for (member_type& member : start.members)
            if (!member.sent)
                drop(member);
    }

    void end_if_over(std::uint64_t number) {
        const auto at = starts_.find(number);
        if (at == starts_.end() || !at->second.over())
            return;
        start_type& start = at->second;
        ended_.push_back({start.gang, start.uid, start.bound, std::move(start.failed)});
        numbers_.erase(start.gang);
        starts_.erase(at);
    }

    // ---- answers -------------------------------------------------------------------------------

    void checked(start_type& start, const order_result<Traits>& result) {
        start.checking = false;
        switch (result.what) {
        case outcome::applied:
            start.checked = true;
            return;
        case outcome::transient:
        case outcome::unknown:
            start.check_at = at_->again(start.check_tries, result);
            return;
        case outcome::conflict:
        case outcome::gone:
        case outcome::replaced:
            // The view is behind. It shows soon what the gang is now.
            at_->held.pause(at_->view, start.gang, result.what, at_->now + at_->how.catch_up,
                            at_->how);
            return drop_unsent(start);
        case outcome::refused:
        case outcome::gated:
            start.failed = bind_failure{result.what, result.message};
            at_->hold_back(start.gang, result.what, result.message);
            return drop_unsent(start);
        case outcome::not_started:
            return drop_unsent(start);
        }
    }

    void answered(start_type& start, member_type& member, const order_result<Traits>& result) {
        switch (member.stage) {
        case bind_stage::preparing:
            if (result.what == outcome::applied)
                member.deadline = never_comes;
            return readied(start, member, result, bind_stage::to_prepare,
                           after_volumes(at_->view.find_pod(member.pod, member.uid)));
        case bind_stage::ungating:
            return readied(start, member, result, bind_stage::to_ungate, bind_stage::to_bind);
        case bind_stage::binding:
            return bound(start, member, result);
        case bind_stage::asking:
            return located(start, member, result);
        default:
            // It was seen meanwhile.
            return;
        }
    }

    /// A step before the bind ended: the member goes on to `next`, or back to `retry`.
    void readied(start_type& start, member_type& member, const order_result<Traits>& result,
                 bind_stage retry, bind_stage next) {
        switch (result.what) {
        case outcome::applied:
            member.stage = next;
            member.next = 0;
            return;
        case outcome::gone:
        case outcome::replaced:
        case outcome::not_started:
            return drop(member);
        case outcome::refused:
            return fail(start, member, result);
        default:
            return again(start, member, result, retry);
        }
    }

    void bound(start_type& start, member_type& member, const order_result<Traits>& result) {
        switch (result.what) {
        case outcome::applied:
            return assigned(start, member);
        case outcome::conflict:
            return ask(member, at_->now);
        case outcome::unknown:
            return ask(member, at_->now + at_->how.ask_after);
        case outcome::gone:
        case outcome::replaced:
            return drop(member);
        case outcome::gated:
            if (const auto* const facts = at_->view.find_pod(member.pod, member.uid);
                facts != nullptr && facts->own_gate)
                return again(start, member, result, bind_stage::to_ungate);
            return fail(start, member, result);
        case outcome::refused:
            return fail(start, member, result);
        case outcome::transient:
            return again(start, member, result, bind_stage::to_bind);
        case outcome::not_started:
            return drop(member);
        }
    }

    void located(start_type& start, member_type& member, const order_result<Traits>& result) {
        switch (result.what) {
        case outcome::applied:
            if (!result.on)
                return again(start, member, result, bind_stage::to_bind);
            if (*result.on == member.node)
                return assigned(start, member);
            // Another scheduler placed the pod: that is final, and will be observed soon.
            member.stage = bind_stage::done;
            at_->view.release(member.pod);
            at_->view.told_of(member.pod, *result.on);
            return;
        case outcome::gone:
        case outcome::replaced:
            return drop(member);
        default:
            // The pod may be bound, so it keeps its room until the server answers.
            member.stage = bind_stage::to_ask;
            member.next = at_->again(member.tries, result);
        }
    }

    void assigned(start_type& start, member_type& member) {
        member.stage = bind_stage::assigned;
        ++start.bound;
    }
    void ask(member_type& member, std::int64_t when) {
        member.stage = bind_stage::to_ask;
        member.next = when;
    }
    void again(start_type& start, member_type& member, const order_result<Traits>& result,
               bind_stage stage) {
        if (at_->now >= member.deadline)
            return fail(start, member, result);
        member.stage = stage;
        member.next = at_->again(member.tries, result);
    }

    /// The bind of this member failed permanently. If the gang's minima need the member, holds the
    /// gang back and drops orders that were not sent yet.
    void fail(start_type& start, member_type& member, const order_result<Traits>& result) {
        if (!start.failed)
            start.failed = bind_failure{result.what, result.message};
        drop(member);
        const auto gang = at_->known().find_gang(start.gang);
        const bool enough =
            gang && start.begun && hold_level_of(at_->known(), gang->index) == hold_level::minima;
        at_->hold_back(start.gang, result.what, result.message);
        if (result.what == outcome::refused)
            at_->held.suspect(start.gang, member.pod);
        if (!enough)
            drop_unsent(start);
    }

    // ---- orders --------------------------------------------------------------------------------

    [[nodiscard]] ticket order(std::uint64_t number, std::size_t member, bool counted) {
        const ticket of = at_->new_ticket();
        orders_.emplace(of, order_place{number, member, counted});
        under_way_ += counted ? 1U : 0U;
        return of;
    }

    /// There is room for one more order.
    [[nodiscard]] bool may_give(token_bucket& bucket, std::int64_t& due) {
        if (under_way_ >= at_->how.most_under_way) {
            due = at_->now; // as soon as an answer has come
            return false;
        }
        if (bucket.take(at_->now))
            return true;
        due = std::min(due, bucket.ready(at_->now));
        return false;
    }

    /// Gives what is due of one gang's orders; returns when more is.
    std::int64_t give(std::uint64_t number, start_type& start, orders<Traits>& into,
                      token_bucket& bucket, bool fresh) {
        std::int64_t due = never_comes;
        if (!start.begun && !still_stands(at_->view, start)) {
            drop_unsent(start);
            return due;
        }
        if (!start.checked) {
            if (start.checking)
                return due;
            if (start.check_at > at_->now)
                return start.check_at;
            start.checking = true;
            into.gangs.push_back({order(number, of_gang, false), start.gang, start.uid});
            return due;
        }
        const bool volumes = start.any(bind_stage::to_prepare) || start.any(bind_stage::preparing);
        const bool gates =
            volumes || start.any(bind_stage::to_ungate) || start.any(bind_stage::ungating);
        const bool first = std::ranges::any_of(start.members, [](const member_type& each) {
            return each.suspect && each.stage != bind_stage::done &&
                   each.stage != bind_stage::assigned;
        });
        for (std::size_t at = 0; at < start.members.size(); ++at) {
            member_type& member = start.members[at];
            const bool ready = member.stage == bind_stage::to_prepare ||
                               (member.stage == bind_stage::to_ungate && !volumes) ||
                               member.stage == bind_stage::to_ask ||
                               (member.stage == bind_stage::to_bind && (!gates || member.sent) &&
                                (!first || member.suspect));
            if (!ready)
                continue;
            if (!fresh && member.stage != bind_stage::to_ask) {
                due = at_->now; // as soon as it is
                continue;
            }
            if (member.next > at_->now) {
                due = std::min(due, member.next);
                continue;
            }
            if (member.stage == bind_stage::to_bind && start.begun &&
                !still_stands(at_->view, member)) {
                drop(member);
                continue;
            }
            // Volumes and devices are chosen for all members together.
            if (member.stage != bind_stage::to_prepare && !may_give(bucket, due))
                break;
            send(number, start, at, into);
        }
        return due;
    }

    void send(std::uint64_t number, start_type& start, std::size_t at, orders<Traits>& into) {
        member_type& member = start.members[at];
        const bool prepares = member.stage == bind_stage::to_prepare;
        const ticket of = order(number, at, !prepares);
        if (member.deadline == never_comes)
            member.deadline = at_->now + at_->how.bind_deadline;
        if (prepares) {
            member.stage = bind_stage::preparing;
            into.prepares.push_back({of, member.pod, member.uid, member.node});
        } else if (member.stage == bind_stage::to_ungate) {
            member.stage = bind_stage::ungating;
            into.ungates.push_back({of, member.pod, member.uid});
        } else if (member.stage == bind_stage::to_ask) {
            member.stage = bind_stage::asking;
            into.pods.push_back({of, member.pod, member.uid});
        } else {
            member.stage = bind_stage::binding;
            member.sent = start.begun = true;
            into.binds.push_back({of, member.pod, member.uid, member.node});
        }
    }

    driver_context<Traits>* at_;
    std::map<std::uint64_t, start_type> starts_;
    std::map<gang_key, std::uint64_t, key_less<Traits>> numbers_;
    std::map<ticket, order_place> orders_;
    std::vector<ended> ended_;
    std::uint64_t numbered_ = 0;
    std::size_t under_way_ = 0;
    std::int64_t next_ = never_comes;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
