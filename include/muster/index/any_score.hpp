// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <muster/base/any_value.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/ledger.hpp>
#include <muster/index/flat_scan.hpp>
#include <muster/index/placement_order.hpp>
#include <muster/index/placement_score.hpp>
#include <muster/index/weights.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// A score of any type, stored by value. Code that takes an any_score is compiled once for all
/// scores. If the score is an order of nodes, the index serves it, as it serves the score's own
/// type.
template<std::size_t Width>
class any_score {
    using weights = placement_weights<Width>;

public:
    template<class Score>
        requires(!std::same_as<Score, any_score> && placement_score<Score, Width>)
    any_score(const Score& score)
        : order_(muster::kept_order(score)),
          value_(score),
          // A scan of all nodes calls the score directly, not through a pointer for each node.
          calls_(order_ ? &calls_of<Score, false> : &calls_of<Score, true>) {}

    [[nodiscard]] std::int64_t operator()(const offered_node<Width>& offered) const noexcept {
        return calls_->call(value_, offered);
    }
    [[nodiscard]] std::optional<placement_order> kept_order() const noexcept { return order_; }

    /// Returns the best node, as muster::best_node does for a score of known type.
    [[nodiscard]] friend std::optional<node_index> best_node(const ledger<Width>& accounts,
                                                             const std::vector<node_index>& order,
                                                             const node_query<Width>& query,
                                                             const weights& weights_in_use,
                                                             const any_score& score) {
        return score.calls_->scan
                   ? score.calls_->scan(score.value_, accounts, order, query, weights_in_use)
                   : muster::best_node<Width, any_score>(accounts, order, query, weights_in_use,
                                                         score);
    }

    /// Rates nodes, as muster::node_scores does for a score of known type.
    friend void node_scores(const ledger<Width>& accounts, std::span<const node_index> nodes,
                            const node_query<Width>& query, const weights& weights_in_use,
                            const any_score& score, detail::sequence<std::int64_t>& scores) {
        score.calls_->rate(score.value_, accounts, nodes, query, weights_in_use, scores);
    }

    [[nodiscard]] friend bool operator==(const any_score& lhs, const any_score& rhs) {
        return lhs.value_ == rhs.value_;
    }

private:
    template<class Score>
    static std::int64_t call(const detail::any_value& value,
                             const offered_node<Width>& offered) noexcept {
        return node_score(value.as<Score>(), offered);
    }
    template<class Score>
    static std::optional<node_index>
    scan(const detail::any_value& value, const ledger<Width>& accounts,
         const std::vector<node_index>& order, const node_query<Width>& query,
         const weights& weights_in_use) {
        return muster::best_node<Width, Score>(accounts, order, query, weights_in_use,
                                               value.as<Score>());
    }

    template<class Score>
    static void rate(const detail::any_value& value, const ledger<Width>& accounts,
                     std::span<const node_index> nodes, const node_query<Width>& query,
                     const weights& weights_in_use, detail::sequence<std::int64_t>& scores) {
        muster::node_scores<Width, Score>(accounts, nodes, query, weights_in_use, value.as<Score>(),
                                          scores);
    }

    struct calls {
        std::int64_t (*call)(const detail::any_value&, const offered_node<Width>&) noexcept;
        std::optional<node_index> (*scan)(const detail::any_value&, const ledger<Width>&,
                                          const std::vector<node_index>&, const node_query<Width>&,
                                          const weights&);
        void (*rate)(const detail::any_value&, const ledger<Width>&, std::span<const node_index>,
                     const node_query<Width>&, const weights&, detail::sequence<std::int64_t>&);
    };
    template<class Score, bool Scans>
    static constexpr calls calls_of{&call<Score>, Scans ? &scan<Score> : nullptr, &rate<Score>};

    std::optional<placement_order> order_;
    detail::any_value value_;
    const calls* calls_;
};

} // namespace v0_1
} // namespace muster
