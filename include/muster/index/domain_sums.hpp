// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// The free amounts of a domain, kind by kind: the sum over its nodes, with negative amounts
/// counted as 0.
template<std::size_t Width>
struct domain_sum {
    std::array<int128, Width> free{};

    void add(const resources<Width>& amount, int sign) noexcept {
        for (std::size_t column = 0; column < Width; ++column)
            free[column] += sign * static_cast<int128>(std::max<std::int64_t>(0, amount[column]));
    }
    [[nodiscard]] friend bool operator==(const domain_sum&, const domain_sum&) = default;
};

/// Computes the sum of a domain from its nodes. O(nodes of the domain × width).
template<class Traits>
[[nodiscard]] domain_sum<Traits::width> sum_of(const cluster_state<Traits>& cluster,
                                               topology_index within, domain_index domain) {
    domain_sum<Traits::width> sum;
    for (const node_index node : cluster.topologies()[within][domain].nodes)
        sum.add(cluster.accounts().free(node), 1);
    return sum;
}

namespace detail {

/// The sums of all domains. They follow the changes of nodes after the first query; before it,
/// nothing is stored.
template<class Traits>
class domain_sums {
    static constexpr std::size_t width = Traits::width;

public:
    /// Returns the sum of a domain as of the last `follow`. O(1), or O(nodes × levels) if the
    /// topologies have changed.
    [[nodiscard]] const domain_sum<width>& operator()(const cluster_state<Traits>& cluster,
                                                      topology_index within, domain_index domain) {
        if (!asked_ || changes_ != cluster.topologies().changes())
            rebuild(cluster);
        return sums_[within.value()][domain.value()];
    }

    /// Discards all sums. The next query computes them again.
    void clear() noexcept { asked_ = false; }

    /// Updates the sums after the free amounts of the node changed or, if `moved`, its domains.
    /// O(levels × width), and O(1) before the first query.
    void follow(const cluster_state<Traits>& cluster, node_index node, bool moved) {
        if (!asked_)
            return;
        if (changes_ != cluster.topologies().changes())
            return clear();
        if (node.value() >= counted_.size())
            counted_.resize(cluster.accounts().nodes());
        resources<width>& before = counted_[node.value()];
        const resources<width>& now = cluster.accounts().free(node);
        if (moved) {
            count(cluster, node, before, -1, true);
            count(cluster, node, now, 1, false);
        } else {
            for (std::size_t row = 0; row < sums_.size(); ++row)
                for (const std::uint32_t at : places_of(row, node, cluster))
                    if (at != nowhere) {
                        sums_[row][at].add(before, -1);
                        sums_[row][at].add(now, 1);
                    }
        }
        before = now;
    }

private:
    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

    void rebuild(const cluster_state<Traits>& cluster) {
        asked_ = true;
        changes_ = cluster.topologies().changes();
        const std::size_t rows = cluster.topologies().size();
        sums_.assign(rows, {});
        places_.assign(rows, {});
        counted_.assign(cluster.accounts().nodes(), {});
        for (const node_index node : cluster.node_order()) {
            counted_[node.value()] = cluster.accounts().free(node);
            count(cluster, node, counted_[node.value()], 1, false);
        }
    }

    /// Returns the domains whose sums contain the node, one per level.
    [[nodiscard]] std::span<std::uint32_t> places_of(std::size_t row, node_index node,
                                                     const cluster_state<Traits>& cluster) {
        const std::size_t levels = cluster.topologies()[topology_index{row}].levels();
        if (places_[row].size() < (node.value() + 1) * levels)
            places_[row].resize(cluster.accounts().nodes() * levels, nowhere);
        return {places_[row].data() + node.value() * levels, levels};
    }

    void count(const cluster_state<Traits>& cluster, node_index node,
               const resources<width>& amount, int sign, bool as_before) {
        for (std::size_t row = 0; row < sums_.size(); ++row) {
            const topology_domains& domains = cluster.topologies()[topology_index{row}];
            if (sums_[row].size() < domains.size())
                sums_[row].resize(domains.size());
            const std::span<std::uint32_t> places = places_of(row, node, cluster);
            for (std::size_t level = 0; level < places.size(); ++level) {
                if (!as_before) {
                    const auto now = domains.find(node, level);
                    places[level] = now ? static_cast<std::uint32_t>(now->value()) : nowhere;
                }
                if (places[level] != nowhere)
                    sums_[row][places[level]].add(amount, sign);
            }
        }
    }

    bool asked_ = false;
    std::uint64_t changes_ = 0;
    /// Per topology and domain.
    sequence<sequence<domain_sum<width>>> sums_;
    /// Per topology: nodes × levels.
    sequence<detail::sequence<std::uint32_t>> places_;
    /// Per node: the amounts that the sums contain.
    sequence<resources<width>> counted_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
