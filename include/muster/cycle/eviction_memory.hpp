// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/model/attachment.hpp>
#include <muster/model/cluster_state.hpp>
#include <muster/resource/resources.hpp>

namespace muster::inline v0_1::detail {

/// Which waiting gangs no eviction and no move helped, and since when nothing happened that could
/// help them: no pod left, came to stand for good or changed, and no node, queue, gang of which
/// members stand, budget or rule did. A gang that came to wait is none of that, so that it does
/// not make the others be tried again.
template<class Traits>
class eviction_memory {
    static constexpr std::size_t width = Traits::width;

public:
    /// A new pass, with those rules and fair shares. `standing_changed`: an event changed a gang of
    /// which members stand. True if nothing happened since the last one. O(queues × width).
    template<class Victims, class Moves>
    [[nodiscard]] bool begin(const cluster_state<Traits>& known, const Victims& victims,
                             const Moves& moves, const sequence<resources<width>>& due,
                             bool standing_changed) {
        const stamp now{known.release_epoch(), known.capability_epoch(), known.queue_epoch(),
                        known.settle_epoch(), known.population().epoch()};
        const bool same_policy = same_rules(victims, moves) && std::ranges::equal(due, due_);
        const bool same = same_policy && !standing_changed && now == seen_;
        seen_ = now;
        if (same)
            return true;
        due_ = due;
        something_happened();
        return false;
    }
    /// Everybody is to be tried again.
    void something_happened() noexcept { ++time_; }

    /// The gang was tried since, with as many steps as it may have, and time changed nothing.
    [[nodiscard]] bool holds(const cluster_state<Traits>& known, gang_index which,
                             std::int64_t steps, std::int64_t now) const noexcept {
        if (which.value() >= refused_.size())
            return false;
        const refusal& last = refused_[which.value()];
        return last.time == time_ && last.generation == known[which].generation &&
               last.steps >= steps && (!last.again || now < *last.again);
    }
    /// From when on time alone may change a refusal that holds.
    [[nodiscard]] std::optional<std::int64_t> again(gang_index which) const noexcept {
        return refused_[which.value()].again;
    }
    void refused(const cluster_state<Traits>& known, gang_index which, std::int64_t steps,
                 std::optional<std::int64_t> again) {
        if (which.value() >= refused_.size())
            refused_.resize(which.value() + 1);
        refused_[which.value()] = {time_, known[which].generation, steps, again};
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

    /// Moves when something happens; 0 = never.
    std::uint64_t time_ = 1;
    stamp seen_;
    attachment rules_;
    sequence<resources<width>> due_;
    /// By gang.
    sequence<refusal> refused_;
};

} // namespace muster::inline v0_1::detail
