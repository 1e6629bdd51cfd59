// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "cluster.hpp"

namespace bench {

/// "A2", a tuned flat scan for one pod: one column per kind, filter and argmin fused in lanes of
/// vectors, columns that the pod does not ask for left out, keys kept up to date instead of
/// computed. It looks at every node all the same.
template<std::size_t Width>
class flat_nodes {
public:
    flat_nodes(const std::vector<node_spec<Width>>& specs, const std::vector<amounts<Width>>& free,
               placement_rule rule)
        : weights_(weights_of(specs)), rule_(rule), size_(specs.size()) {
        // Lanes beyond the last node have less than nothing free, so that nothing fits there.
        const std::size_t blocks = (size_ + lane_count - 1) / lane_count;
        block nothing;
        nothing.fill(-1);
        for (auto& column : free_)
            column.assign(blocks, nothing);
        keys_.assign(blocks, nothing);
        pools_.assign(blocks, nothing);
        for (std::size_t node = 0; node < size_; ++node) {
            for (std::size_t column = 0; column < Width; ++column)
                at(free_[column], node) = free[node][column];
            at(pools_, node) = specs[node].pool;
            at(keys_, node) = key(free[node]);
        }
    }

    [[nodiscard]] std::optional<std::uint32_t> choose(const amounts<Width>& request,
                                                      std::int32_t pool) noexcept {
        scanned_ += size_;
        query what;
        for (std::size_t column = 0; column < Width; ++column)
            if (request[column] > 0)
                what.ask(free_[column], request[column]);
        what.pool = pool;
        // The first node that fits ends a first-fit scan; a stretch at a time keeps the loop tight.
        const std::size_t stretch = rule_ == placement_rule::first_fit ? 16 : keys_.size();
        for (std::size_t begin = 0; begin < keys_.size(); begin += stretch) {
            const std::size_t end = begin + stretch < keys_.size() ? begin + stretch : keys_.size();
            if (const auto found = scan(what, begin, end))
                return found;
        }
        return std::nullopt;
    }

    void take(std::uint32_t node, const amounts<Width>& request) noexcept {
        move(node, request, -1);
    }
    void give(std::uint32_t node, const amounts<Width>& request) noexcept {
        move(node, request, 1);
    }

    [[nodiscard]] std::uint64_t scanned() const noexcept { return scanned_; }

private:
    /// As many as a register of the machine holds: compilers take wider vectors through memory.
#ifdef __AVX512F__
    static constexpr std::size_t lane_count = 8;
#else
    static constexpr std::size_t lane_count = 4;
#endif
    using lanes [[gnu::vector_size(lane_count * sizeof(std::int64_t))]] = std::int64_t;

    struct alignas(lane_count * sizeof(std::int64_t)) block {
        std::array<std::int64_t, lane_count> lane;
        void fill(std::int64_t value) noexcept { lane.fill(value); }
    };
    using block_column = std::vector<block>;

    /// The columns that count and what is asked of each.
    struct query {
        std::array<const block*, Width> columns{};
        std::array<std::int64_t, Width> needed{};
        std::size_t count = 0;
        std::int32_t pool = no_pool;

        void ask(const block_column& column, std::int64_t amount) noexcept {
            columns[count] = column.data();
            needed[count] = amount;
            ++count;
        }
    };

    static lanes load(const block& from) noexcept {
        lanes loaded;
        std::memcpy(&loaded, &from, sizeof loaded);
        return loaded;
    }
    static lanes all(std::int64_t value) noexcept {
        return lanes{} + value;
    }
    static std::int64_t& at(block_column& column, std::size_t node) noexcept {
        return column[node / lane_count].lane[node % lane_count];
    }

    /// What is minimised.
    [[nodiscard]] std::int64_t key(const amounts<Width>& free) const noexcept {
        std::int64_t sum = 0;
        for (std::size_t column = 0; column < Width; ++column)
            sum += free[column] * weights_[column];
        return rule_ == placement_rule::best_fit    ? sum
               : rule_ == placement_rule::worst_fit ? -sum
                                                    : 0;
    }

    void move(std::uint32_t node, const amounts<Width>& request, std::int64_t sign) noexcept {
        for (std::size_t column = 0; column < Width; ++column)
            at(free_[column], node) += sign * request[column];
        at(keys_, node) += sign * key(request);
    }

    template<std::size_t Asked, bool Pooled>
    [[nodiscard]] std::optional<std::uint32_t> scan_asked(const query& what, std::size_t begin,
                                                          std::size_t end) const noexcept {
        constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
        std::array<lanes, Asked> needed;
        for (std::size_t column = 0; column < Asked; ++column)
            needed[column] = all(what.needed[column]);
        const lanes pool = all(what.pool);
        lanes best = all(none);
        lanes best_at = lanes{};
        for (std::size_t each = begin; each < end; ++each) {
            const lanes value = load(keys_[each]);
            auto better = value < best;
            for (std::size_t column = 0; column < Asked; ++column)
                better &= needed[column] <= load(what.columns[column][each]);
            if constexpr (Pooled)
                better &= pool == load(pools_[each]);
            best = better ? value : best;
            best_at = better ? all(static_cast<std::int64_t>(each)) : best_at;
        }
        std::int64_t least = none;
        std::int64_t found = -1;
        for (std::size_t lane = 0; lane < lane_count; ++lane) {
            const std::int64_t node = best_at[lane] * static_cast<std::int64_t>(lane_count) +
                                      static_cast<std::int64_t>(lane);
            if (best[lane] == none || best[lane] > least || (best[lane] == least && node > found))
                continue;
            least = best[lane];
            found = node;
        }
        return found < 0 ? std::nullopt : std::optional(static_cast<std::uint32_t>(found));
    }

    using scanner = std::optional<std::uint32_t> (flat_nodes::*)(const query&, std::size_t,
                                                                 std::size_t) const noexcept;
    template<bool Pooled, std::size_t... Asked>
    static constexpr std::array<scanner, Width + 1> scanners(std::index_sequence<Asked...>) {
        return {&flat_nodes::template scan_asked<Asked, Pooled>...};
    }

    [[nodiscard]] std::optional<std::uint32_t> scan(const query& what, std::size_t begin,
                                                    std::size_t end) const noexcept {
        static constexpr auto counts = std::make_index_sequence<Width + 1>();
        static constexpr auto anywhere = scanners<false>(counts);
        static constexpr auto pooled = scanners<true>(counts);
        const scanner chosen = (what.pool == no_pool ? anywhere : pooled)[what.count];
        return (this->*chosen)(what, begin, end);
    }

    amounts<Width> weights_;
    placement_rule rule_;
    std::size_t size_;
    std::array<block_column, Width> free_;
    block_column keys_;
    block_column pools_;
    std::uint64_t scanned_ = 0;
};

} // namespace bench
