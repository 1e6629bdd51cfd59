// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/attachment.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Remembers for which waiting gangs no eviction and no move made room. A refusal holds until
/// something happens that could change it: a pod leaves or is bound, or a node, queue, budget,
/// running gang or rule changes. A new waiting gang changes no refusal.
template<class Traits>
class eviction_memory {
    static constexpr std::size_t width = Traits::width;

public:
    /// Starts a phase with these rules and fair shares. `placeable_changed`: an event changed a
    /// gang that has running members. Returns true if nothing happened since the last phase.
    /// O(queues × width).
    template<class Victims, class Moves>
    [[nodiscard]] bool begin(const cluster_state<Traits>& cluster, const Victims& victims,
                             const Moves& moves, const sequence<resources<width>>& due,
                             bool placeable_changed) {
        const stamp now{cluster.release_epoch(), cluster.capability_epoch(), cluster.queue_epoch(),
                        cluster.settle_epoch(), cluster.population().epoch()};
        const bool same_policy = same_rules(victims, moves) && due == due_;
        const bool same = same_policy && !placeable_changed && now == seen_;
        seen_ = now;
        if (same)
            return true;
        due_ = due;
        advance();
        return false;
    }
    /// Ends all refusals.
    void advance() noexcept { ++time_; }

    /// Returns true if the gang was refused with at least `steps` steps, and the refusal still
    /// holds at time `now`.
    [[nodiscard]] bool holds(const cluster_state<Traits>& cluster, gang_index which,
                             std::int64_t steps, std::int64_t now) const noexcept {
        if (which.value() >= refused_.size())
            return false;
        const refusal& last = refused_[which.value()];
        return last.time == time_ && last.generation == cluster[which].generation &&
               last.steps >= steps && (!last.again || now < *last.again);
    }
    /// Returns the time at which the refusal ends by itself, if it does. Precondition: it holds.
    [[nodiscard]] std::optional<std::int64_t> again(gang_index which) const noexcept {
        return refused_[which.value()].again;
    }
    void refused(const cluster_state<Traits>& cluster, gang_index which, std::int64_t steps,
                 std::optional<std::int64_t> again) {
        if (which.value() >= refused_.size())
            refused_.resize(which.value() + 1);
        refused_[which.value()] = {time_, cluster[which].generation, steps, again};
    }

private:
    struct stamp {
        std::uint64_t released = 0;
        std::uint64_t capable = 0;
        std::uint64_t queues = 0;
        std::uint64_t settled = 0;
        std::uint64_t population = 0;

        [[nodiscard]] friend bool operator==(const stamp&, const stamp&) = default;
    };
    struct refusal {
        std::uint64_t time = 0;
        std::uint32_t generation = 0;
        std::int64_t steps = 0;
        std::optional<std::int64_t> again;
    };

    template<class Victims, class Moves>
    [[nodiscard]] bool same_rules(const Victims& victims, const Moves& moves) {
        using rules = std::pair<Victims, Moves>;
        const rules* last = rules_.template find<rules>();
        if (last && last->first == victims && last->second == moves)
            return true;
        rules_.template emplace<rules>(victims, moves);
        return false;
    }

    /// The number of times that all refusals ended; 0 is before the first.
    std::uint64_t time_ = 1;
    stamp seen_;
    attachment rules_;
    sequence<resources<width>> due_;
    /// The last refusal of each gang.
    sequence<refusal> refused_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
