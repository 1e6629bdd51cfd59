// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/index/any_score.hpp>
#include <muster/index/domain_sums.hpp>
#include <muster/index/flat_finder.hpp>
#include <muster/index/indexed_finder.hpp>
#include <muster/index/placement_order.hpp>
#include <muster/index/weights.hpp>

namespace muster {
inline namespace v0_1 {

/// Finds nodes for pods: with the index if the score is an order of nodes, otherwise by a scan of
/// all nodes. The score's value decides, and the choice holds for the lifetime of the finder.
template<class Traits>
class node_finder {
    static constexpr std::size_t width = Traits::width;

public:
    explicit node_finder(const any_score<width>& score)
        : ordered_(score.kept_order().has_value()),
          indexed_(score.kept_order().value_or(placement_order::by_key)),
          flat_(score) {}
    /// Scans all nodes, regardless of the score. For a state whose changes are not followed.
    node_finder(const placement_weights<width>& weights, const any_score<width>& score)
        : ordered_(false), indexed_(placement_order::by_key), flat_(weights, score) {}

    /// Returns true if a result below what was wanted means that there is no more room.
    [[nodiscard]] bool exhaustive() const noexcept { return ordered_; }
    [[nodiscard]] const any_score<width>& score() const noexcept { return flat_.score(); }
    [[nodiscard]] const placement_weights<width>& weights() const noexcept {
        return ordered_ ? indexed_.weights() : flat_.weights();
    }

    /// Returns the bytes of the index with its map of nodes; 0 if every search scans all nodes.
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return ordered_ ? indexed_.memory_bytes() : 0;
    }

    void catch_up(cluster_state<Traits>& cluster) {
        if (ordered_)
            indexed_.catch_up(cluster);
        else
            flat_.catch_up(cluster);
    }
    void follow() {
        if (ordered_)
            indexed_.follow();
    }
    /// Sets the gang of the pods that `find` is called for from now on.
    void serve(const gang<queue_index>* pods_gang) noexcept { flat_.serve(pods_gang); }

    std::int64_t find(const cluster_state<Traits>& cluster, shape_index shape,
                      std::optional<constraint_index> queue_nodes, std::int64_t want,
                      detail::sequence<node_run>& into) {
        return ordered_ ? indexed_.find(cluster, shape, queue_nodes, want, into)
                        : flat_.find(cluster, shape, queue_nodes, want, into);
    }
    [[nodiscard]] domain_sum<width> free_in(const cluster_state<Traits>& cluster,
                                            topology_index within, domain_index domain) {
        if (!ordered_)
            return flat_.free_in(cluster, within, domain);
        return indexed_.free_in(cluster, within, domain);
    }
    std::int64_t room(const cluster_state<Traits>& cluster, shape_index shape,
                      std::optional<constraint_index> queue_nodes, std::int64_t want) {
        return ordered_ ? indexed_.room(cluster, shape, queue_nodes, want)
                        : flat_.room(cluster, shape, queue_nodes, want);
    }

    /// Returns 0 and watches nothing if every search scans all nodes.
    [[nodiscard]] std::uint32_t
    watch(shape_index shape, std::optional<constraint_index> queue_nodes, std::int64_t room) {
        return ordered_ ? indexed_.watch(shape, queue_nodes, room) : 0;
    }
    [[nodiscard]] std::int64_t room_seen(std::uint32_t watched) const noexcept {
        return ordered_ ? indexed_.room_seen(watched) : std::numeric_limits<std::int64_t>::max();
    }
    /// Precondition: `exhaustive()`.
    [[nodiscard]] bool holds(shape_index shape, std::optional<constraint_index> queue_nodes,
                             std::uint8_t filters, std::int64_t need) {
        return indexed_.holds(shape, queue_nodes, filters, need);
    }
    [[nodiscard]] bool known_to_fit(std::uint32_t watched, std::int64_t need) const noexcept {
        return ordered_ && indexed_.known_to_fit(watched, need);
    }
    [[nodiscard]] bool known_too_small(std::uint32_t watched, std::int64_t need) const noexcept {
        return ordered_ && indexed_.known_too_small(watched, need);
    }
    [[nodiscard]] bool take_rebuilt() noexcept { return ordered_ && indexed_.take_rebuilt(); }
    template<class Use>
    void refresh_rooms(const Use& use) {
        if (ordered_)
            indexed_.refresh_rooms(use);
    }

private:
    bool ordered_;
    indexed_finder<Traits, Traits::index_fanout, Traits::index_thresholds> indexed_;
    flat_finder<width> flat_;
};

} // namespace v0_1
} // namespace muster
