// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/base/id.hpp>
#include <muster/cluster/cluster_state.hpp>

namespace muster {
inline namespace v0_1 {

/// Changes of the cluster since the last cycle that can change the answers of gangs without an
/// event of their own.
struct cluster_changes {
    /// Something was released, so a gang that waits for room may fit.
    bool released = false;
    /// The capacity of the empty cluster changed, up or down.
    bool capable = false;
    /// The capacity of the empty cluster may have shrunk.
    bool lost = false;
    /// A queue object changed.
    bool queues_changed = false;
};

/// The condition under which the last answer to a gang holds: what proved the answer, and what else
/// affects it. Every phase that answers a gang sets a condition, and only `ended` evaluates it. An
/// event of the gang or of a member ends every condition.
class wait_condition {
public:
    /// The gang is asked in the next cycle in any case.
    [[nodiscard]] static wait_condition asked_again() noexcept { return {}; }
    /// The answer holds until an event of the gang, or until a queue object changes.
    [[nodiscard]] static wait_condition own_event() noexcept { return of(proven_by::gate); }
    /// The answer holds until something is released.
    [[nodiscard]] static wait_condition any_release() noexcept { return of(proven_by::nothing); }
    /// The gang needs `need` pods of one shape, and there is room for fewer. The answer holds as
    /// long as the finder's room for `watch` is below `need`. `only_class`: the gang needs only
    /// these pods.
    [[nodiscard]] static wait_condition room(std::uint32_t watch, std::int64_t need,
                                             bool only_class) noexcept {
        wait_condition made = of(proven_by::room);
        made.watch_ = watch;
        made.need_ = need;
        made.only_class_ = only_class;
        return made;
    }
    /// The answer holds as long as the gang's refusal in `refusal_watches` holds.
    [[nodiscard]] static wait_condition leaf() noexcept { return of(proven_by::leaf); }

    /// Records whether the answer is `answer::never`.
    void set_never(bool never) noexcept { never_ = never; }
    /// Drops the proof of the answer, because it no longer holds: any release may then change the
    /// answer.
    void drop_proof() noexcept {
        if (!is_open())
            replace_proof(any_release());
    }
    /// Replaces the proof of the answer; keeps what else affects the answer.
    void replace_proof(const wait_condition& proof) noexcept {
        proven_ = proof.proven_;
        watch_ = proof.watch_;
        need_ = proof.need_;
        only_class_ = proof.only_class_;
    }
    /// The answer also ends when pods get a node. `epoch` is the current epoch of the pod
    /// population.
    void wait_for_pods(std::uint64_t epoch) noexcept { population_epoch_ = epoch; }
    /// The answer also ends when the gang's queue uses more: with less quota left, an undecided
    /// gang may be proven not to fit.
    void wait_for_quota(std::uint64_t use_epoch) noexcept { use_epoch_ = use_epoch; }

    /// True if the gang is asked in the next cycle in any case.
    [[nodiscard]] bool is_open() const noexcept { return proven_ == proven_by::open; }
    /// True if pods got a node and that may change the answer. O(1).
    template<class Traits>
    [[nodiscard]] bool has_new_pods(const cluster_state<Traits>& cluster) const noexcept {
        return population_epoch_ && *population_epoch_ != cluster.population().epoch();
    }

    /// True if the answer to the gang may have changed. Precondition: `finder` and `leaves` have
    /// processed all releases. O(1).
    template<class Traits, class Finder, class Leaves>
    [[nodiscard]] bool ended(const cluster_state<Traits>& cluster, gang_index which,
                             const cluster_changes& changes, Finder& finder,
                             const Leaves& leaves) const {
        if (is_open() || changes.queues_changed || has_new_pods(cluster) ||
            (use_epoch_ && *use_epoch_ != cluster.use_epoch(*cluster[which].queue)))
            return true;
        if (!changes.released || proven_ == proven_by::gate)
            return false;
        if (proven_ == proven_by::nothing || (proven_ == proven_by::leaf && !leaves.holds(which)) ||
            (proven_ == proven_by::room && finder.room_seen(watch_) >= need_))
            return true;
        // A gang that could start in the empty cluster still can if no capacity was lost.
        if (!changes.capable || (!changes.lost && cluster[which].last.could_start))
            return false;
        // Node capacities changed. Whether the gang could ever start is checked again, unless the
        // room last seen in the empty cluster still decides it.
        return proven_ == proven_by::leaf || !only_class_ ||
               !(never_ ? finder.known_too_small(watch_, need_)
                        : finder.known_to_fit(watch_, need_));
    }

private:
    enum class proven_by : std::uint8_t { open, gate, nothing, room, leaf };

    [[nodiscard]] static wait_condition of(proven_by proof) noexcept {
        wait_condition made;
        made.proven_ = proof;
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
