// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <muster/advice/change.hpp>
#include <muster/advice/least_change.hpp>
#include <muster/advice/trial.hpp>
#include <muster/cluster/state.hpp>
#include <muster/problem/members.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Finds the quotas to raise for a gang, each to the least amount that is enough with the others.
/// The quotas are those of its queue and of the queues above.
template<class Traits, class Namer>
class quota_finder {
    static constexpr std::size_t width = Traits::width;

public:
    quota_finder(trial<Traits, Namer>& tries, const gang_members<width>& members)
        : tries_(&tries), cluster_(&tries.before()), members_(&members) {}

    /// Returns the changes that lift all limits that apply to the gang.
    [[nodiscard]] remedy lifted() const { return unlimited(limits_in_force()); }

    /// Returns the fewest quotas to raise together with the changes `with`, each to the least
    /// amount that is enough with the others. Returns nullopt if quotas do not stop the gang, or if
    /// something else stops it as well.
    [[nodiscard]] std::optional<remedy> least(const remedy& with) {
        const std::vector<limit> limits = limits_in_force();
        const auto choose = [&](const std::vector<std::size_t>& chosen) {
            std::vector<limit> some;
            for (const std::size_t index : chosen)
                some.push_back(limits[index]);
            return unlimited(some);
        };
        if (limits.empty())
            return std::nullopt;
        const auto least = least_subset(limits.size(), [&](const auto& chosen) {
            return tries_->starts(joined(choose(chosen), with));
        });
        if (!least)
            return std::nullopt;
        remedy raised = choose(*least);
        for (change& raise : raised)
            if (!lower_ceiling(raised, raise, with))
                return std::nullopt;
        return settle(std::move(raised), with);
    }

    /// Lowers quotas that are enough together, until each is as low as the others allow. This is
    /// needed because a quota may be higher than necessary once others have been lowered.
    [[nodiscard]] remedy settle(remedy raised, const remedy& with) {
        for (bool least_of_all = false; !least_of_all && tries_->complete();) {
            least_of_all = true;
            for (change& raise : raised) {
                auto& ceiling = std::get<raise_quota>(raise);
                const std::int64_t to = ceiling.to;
                const auto enough = [&](std::int64_t less) {
                    ceiling.to = less;
                    return tries_->starts(joined(raised, with));
                };
                const auto less = least_number(ceiling_of(ceiling) - 1, to - 1, enough);
                least_of_all = least_of_all && !less;
                ceiling.to = less.value_or(to);
            }
        }
        std::erase_if(raised, [&](const change& raise) {
            const auto& ceiling = std::get<raise_quota>(raise);
            return ceiling.to <= ceiling_of(ceiling);
        });
        return raised;
    }

private:
    struct limit {
        queue_index queue;
        kind_id kind;
        bool non_preemptible = false;
    };

    /// Returns the limits that apply to the gang, in the order of kinds. Limits of non-preemptible
    /// gangs are among them if a strict queue lets such a gang block the gangs after it.
    [[nodiscard]] std::vector<limit> limits_in_force() const {
        std::vector<limit> found;
        if (!members_->queue)
            return found;
        const bool non_preemptible_matters =
            members_->queue->non_preemptible || non_preemptible_gang_waits();
        for (const bool non_preemptible : {false, true})
            for (std::optional<queue_index> at = members_->queue->queue;
                 at && (!non_preemptible || non_preemptible_matters); at = (*cluster_)[*at].parent)
                for (std::size_t column = 0; column < width; ++column)
                    if (ceilings_of(*at, non_preemptible).limited(kind_id{column}))
                        found.push_back({*at, kind_id{column}, non_preemptible});
        return found;
    }

    [[nodiscard]] bool non_preemptible_gang_waits() const {
        return std::ranges::any_of(cluster_->gang_order(), [&](gang_index candidate) {
            const auto& gang = (*cluster_)[candidate];
            return gang.queue && !gang.spec.preemptible && gang.placeable > 0;
        });
    }

    [[nodiscard]] const limits<width>& ceilings_of(queue_index queue, bool non_preemptible) const {
        const auto& spec = (*cluster_)[queue].spec;
        return non_preemptible ? spec.non_preemptible_quota : spec.quota;
    }

    /// Returns the use that counts against the quota.
    [[nodiscard]] static std::int64_t counted(const state<Traits>& from, const raise_quota& raise) {
        const auto& queues = from.accounts().queues();
        return raise.non_preemptible ? queues.present().non_preemptible(raise.queue)[raise.kind]
                                     : queues.claimed(raise.queue)[raise.kind];
    }

    [[nodiscard]] static remedy unlimited(const std::vector<limit>& which) {
        remedy made;
        for (const limit& ceiling : which)
            made.push_back(raise_quota{ceiling.queue, ceiling.kind,
                                       std::numeric_limits<std::int64_t>::max(),
                                       ceiling.non_preemptible});
        return made;
    }

    [[nodiscard]] std::int64_t ceiling_of(const raise_quota& raise) const {
        return ceilings_of(raise.queue, raise.non_preemptible)[raise.kind].value_or(0);
    }

    /// Makes one of the quotas as low as the others allow. Returns false if no amount is enough, or
    /// if the tries are used up.
    [[nodiscard]] bool lower_ceiling(const remedy& raised, change& raise, const remedy& with) {
        auto& ceiling = std::get<raise_quota>(raise);
        const std::int64_t before = ceiling_of(ceiling);
        const auto enough = [&](std::int64_t to) {
            ceiling.to = to;
            return tries_->starts(joined(raised, with));
        };
        // A quota equal to the use in a cycle without this quota allows the same cycle.
        if (!enough(std::numeric_limits<std::int64_t>::max()))
            return false;
        const std::int64_t used = counted(tries_->after(), ceiling);
        std::int64_t most = std::numeric_limits<std::int64_t>::max();
        if (used > before && enough(used))
            most = used;
        // The least quota is often the current use plus the request of the gang.
        std::int64_t own = counted(*cluster_, ceiling);
        for (const auto& waiting_class : members_->classes)
            static_cast<void>(
                checked_add(own,
                            saturate(static_cast<int128>(waiting_class.request[ceiling.kind]) *
                                     waiting_class.waiting()),
                            own));
        if (own > before && own < most && enough(own))
            most = own;
        const auto least = most - 1 > before && !enough(most - 1)
                               ? most
                               : least_number(before, most, enough).value_or(most);
        ceiling.to = least;
        return tries_->complete();
    }

    trial<Traits, Namer>* tries_;
    const state<Traits>* cluster_;
    const gang_members<width>* members_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
