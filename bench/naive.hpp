// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cluster.hpp"

namespace bench {

/// A node as schedulers of this kind keep it.
template<std::size_t Width>
struct naive_machine {
    amounts<Width> allocatable{};
    amounts<Width> used{};
    std::int32_t pool = no_pool;
};

/// The two questions that such a scheduler leaves to its plugins.
template<std::size_t Width>
struct filter_plugin {
    virtual ~filter_plugin() = default;
    [[nodiscard]] virtual bool passes(const naive_machine<Width>& on, const amounts<Width>& request,
                                      std::int32_t pool) const noexcept = 0;
};
template<std::size_t Width>
struct score_plugin {
    virtual ~score_plugin() = default;
    [[nodiscard]] virtual std::int64_t score(const naive_machine<Width>& of) const noexcept = 0;
};

template<std::size_t Width>
struct resources_fit final : filter_plugin<Width> {
    [[nodiscard]] bool passes(const naive_machine<Width>& on, const amounts<Width>& request,
                              std::int32_t) const noexcept override {
        bool fits = true;
        for (std::size_t column = 0; column < Width; ++column)
            fits &= request[column] <= on.allocatable[column] - on.used[column];
        return fits;
    }
};
template<std::size_t Width>
struct pool_selector final : filter_plugin<Width> {
    [[nodiscard]] bool passes(const naive_machine<Width>& on, const amounts<Width>&,
                              std::int32_t pool) const noexcept override {
        return pool == no_pool || pool == on.pool;
    }
};
template<std::size_t Width>
struct weighted_free final : score_plugin<Width> {
    weighted_free(const amounts<Width>& per_unit, placement_rule by)
        : weights(per_unit),
          sign(by == placement_rule::best_fit    ? -1
               : by == placement_rule::worst_fit ? 1
                                                 : 0) {}

    [[nodiscard]] std::int64_t score(const naive_machine<Width>& of) const noexcept override {
        std::int64_t key = 0;
        for (std::size_t column = 0; column < Width; ++column)
            key += (of.allocatable[column] - of.used[column]) * weights[column];
        return sign * key;
    }

    amounts<Width> weights;
    std::int64_t sign;
};

/// "A", the classical loop, for one pod: filter all nodes into a list, score the list, pick the
/// best of it; filters and scores are plugins. Nodes stand next to one another in memory, so that A
/// is not slow for a reason that is none of its method. Without `Plugins` the same with the calls
/// inlined, to know what they cost.
template<std::size_t Width, bool Plugins = true>
class naive_nodes {
public:
    naive_nodes(const std::vector<node_spec<Width>>& specs, const std::vector<amounts<Width>>& free,
                placement_rule rule)
        : machines_(specs.size()),
          feasible_(specs.size()),
          scores_(specs.size()),
          weighted_(weights_of(specs), rule) {
        filters_.push_back(std::make_unique<pool_selector<Width>>());
        filters_.push_back(std::make_unique<resources_fit<Width>>());
        scorers_.push_back(std::make_unique<weighted_free<Width>>(weighted_));
        for (std::size_t at = 0; at < specs.size(); ++at) {
            machines_[at] = {specs[at].allocatable, {}, specs[at].pool};
            for (std::size_t column = 0; column < Width; ++column)
                machines_[at].used[column] = specs[at].allocatable[column] - free[at][column];
        }
    }

    [[nodiscard]] std::optional<std::uint32_t> choose(const amounts<Width>& request,
                                                      std::int32_t pool) noexcept {
        scanned_ += machines_.size();
        std::size_t count = 0;
        for (std::size_t at = 0; at < machines_.size(); ++at) {
            feasible_[count] = static_cast<std::uint32_t>(at);
            count += passes(machines_[at], request, pool) ? 1U : 0U;
        }
        for (std::size_t at = 0; at < count; ++at)
            scores_[at] = score(machines_[feasible_[at]]);
        std::size_t best = 0;
        for (std::size_t at = 1; at < count; ++at)
            best = scores_[at] > scores_[best] ? at : best;
        return count == 0 ? std::nullopt : std::optional(feasible_[best]);
    }

    void take(std::uint32_t node, const amounts<Width>& request) noexcept {
        for (std::size_t column = 0; column < Width; ++column)
            machines_[node].used[column] += request[column];
    }
    void give(std::uint32_t node, const amounts<Width>& request) noexcept {
        for (std::size_t column = 0; column < Width; ++column)
            machines_[node].used[column] -= request[column];
    }

    /// Nodes looked at so far, once per pod.
    [[nodiscard]] std::uint64_t scanned() const noexcept { return scanned_; }

private:
    [[nodiscard]] bool passes(const naive_machine<Width>& on, const amounts<Width>& request,
                              std::int32_t pool) const noexcept {
        if constexpr (!Plugins)
            return (pool == no_pool || pool == on.pool) &&
                   resources_fit<Width>().passes(on, request, pool);
        for (const auto& each : filters_)
            if (!each->passes(on, request, pool))
                return false;
        return true;
    }

    [[nodiscard]] std::int64_t score(const naive_machine<Width>& of) const noexcept {
        if constexpr (!Plugins)
            return weighted_.score(of);
        std::int64_t sum = 0;
        for (const auto& each : scorers_)
            sum += each->score(of);
        return sum;
    }

    std::vector<naive_machine<Width>> machines_;
    std::vector<std::uint32_t> feasible_;
    std::vector<std::int64_t> scores_;
    weighted_free<Width> weighted_;
    std::vector<std::unique_ptr<filter_plugin<Width>>> filters_;
    std::vector<std::unique_ptr<score_plugin<Width>>> scorers_;
    std::uint64_t scanned_ = 0;
};

} // namespace bench
