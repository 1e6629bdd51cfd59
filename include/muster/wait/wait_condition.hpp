// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/base/id.hpp>
#include <muster/cluster/cluster_state.hpp>

namespace muster {
inline namespace v0_1 {

/// What happened to the cluster since the last cycle, as far as it can change answers to gangs that
/// no event named.
struct cluster_changes {
    /// Something was given back: a gang that waits for room may fit.
    bool released = false;
    /// What the cluster without pods could hold changed, up or down.
    bool capable = false;
    /// It may have become less.
    bool lost = false;
    /// A queue object changed.
    bool queues_moved = false;
};

/// How long the last answer to a gang holds: what it was proven by, and what else affects it. Each
/// answer in a cycle gives one, whatever phase gives the answer, and `ended` alone reads it. An
/// event of the gang or of a member ends every condition.
class wait_condition {
public:
    /// The gang is asked in the next cycle, whatever happens.
    [[nodiscard]] static wait_condition asked_again() noexcept { return {}; }
    /// The answer holds until an event of the gang, or until a queue object changes.
    [[nodiscard]] static wait_condition own_event() noexcept { return of(proven_by::gate); }
    /// The answer holds until something is given back.
    [[nodiscard]] static wait_condition any_release() noexcept { return of(proven_by::nothing); }
    /// The gang needs `need` pods of a shape, and there is room for fewer: the answer holds as long
    /// as the finder sees less for `watch`. With `only_class` these pods are all that it needs.
    [[nodiscard]] static wait_condition room(std::uint32_t watch, std::int64_t need,
                                             bool only_class) noexcept {
        wait_condition made = of(proven_by::room);
        made.watch_ = watch;
        made.need_ = need;
        made.only_class_ = only_class;
        return made;
    }
    /// A proof of one leaf of weights, which `leaf_watches` has.
    [[nodiscard]] static wait_condition leaf() noexcept { return of(proven_by::leaf); }

    /// The gang could never start, as far as the answer says.
    void set_never(bool never) noexcept { never_ = never; }
    /// What proved the answer proves it no more: anything that is given back may change it.
    void drop_proof() noexcept {
        if (!is_open())
            replace_proof(any_release());
    }
    /// Replaces what proved the answer; what else affects it stays.
    void replace_proof(const wait_condition& by) noexcept {
        proven_ = by.proven_;
        watch_ = by.watch_;
        need_ = by.need_;
        only_class_ = by.only_class_;
    }
    /// Pods that get a node may also change the answer; `epoch` is that of the population now.
    void until_pods_come(std::uint64_t epoch) noexcept { population_epoch_ = epoch; }
    /// What the gang's queue uses may also change the answer: with less quota left, a gang that was
    /// undecided may be proven not to fit.
    void until_quota_moves(std::uint64_t use_epoch) noexcept { use_epoch_ = use_epoch; }

    /// The gang is asked in the next cycle, whatever happens.
    [[nodiscard]] bool is_open() const noexcept { return proven_ == proven_by::open; }
    /// Pods got a node, and that may change the answer. O(1).
    template<class Traits>
    [[nodiscard]] bool pods_came(const cluster_state<Traits>& cluster) const noexcept {
        return population_epoch_ && *population_epoch_ != cluster.population().epoch();
    }

    /// The answer to the gang may be another one now. `finder` and `leaves` have followed what was
    /// given back. O(1), or O(nodes) if it must be seen whether the gang could ever start.
    template<class Traits, class Finder, class Leaves>
    [[nodiscard]] bool ended(const cluster_state<Traits>& cluster, gang_index which,
                             const cluster_changes& changes, Finder& finder,
                             const Leaves& leaves) const {
        if (is_open() || changes.queues_moved || pods_came(cluster) ||
            (use_epoch_ && *use_epoch_ != cluster.use_epoch(*cluster[which].queue)))
            return true;
        if (!changes.released || proven_ == proven_by::gate)
            return false;
        if (proven_ == proven_by::nothing || (proven_ == proven_by::leaf && !leaves.holds(which)) ||
            (proven_ == proven_by::room && finder.room_seen(watch_) >= need_))
            return true;
        // What could ever start still could while nothing was lost.
        if (!changes.capable || (!changes.lost && cluster[which].last.could_start))
            return false;
        // Nodes changed in what they could hold: whether the gang could ever start is asked again,
        // unless what was seen still tells.
        return proven_ == proven_by::leaf || !only_class_ ||
               !(never_ ? finder.still_too_small(watch_, need_)
                        : finder.still_holds(watch_, need_));
    }

private:
    enum class proven_by : std::uint8_t { open, gate, nothing, room, leaf };

    [[nodiscard]] static wait_condition of(proven_by what) noexcept {
        wait_condition made;
        made.proven_ = what;
        return made;
    }

    proven_by proven_ = proven_by::open;
    bool only_class_ = false;
    bool never_ = false;
    std::uint32_t watch_ = 0;
    std::int64_t need_ = 0;
    std::optional<std::uint64_t> population_epoch_;
    std::optional<std::uint64_t> use_epoch_;
};

} // namespace v0_1
} // namespace muster
