// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <muster/policy/fragmentation.hpp>
#include <muster/policy/gpu_places.hpp>
#include <muster/policy/shared_gpus.hpp>

#include "openb.hpp"
#include "random.hpp"

namespace bench::gpu_sharing {

enum class placement_rule : std::uint8_t {
    random,
    dot_product,
    gpu_clustering,
    gpu_packing,
    best_fit,
    fgd,
    fewest_places_lost,
};

/// One trace: its distinct tasks, and what FGD and our rule know of it.
struct workload {
    std::vector<openb::trace_task> kinds;
    /// Indices of `kinds`, in the order of the file.
    std::vector<std::size_t> tasks;
    muster::task_mix mix;
};

/// `percent` of the tasks are typical.
[[nodiscard]] inline workload make_workload(const std::vector<openb::trace_task>& tasks,
                                            std::int64_t percent) {
    workload made;
    std::map<openb::trace_task, std::size_t> known;
    std::map<muster::shared_gpu_task, std::int64_t> shares;
    for (const openb::trace_task& task : tasks) {
        const auto [found, added] = known.emplace(task, made.kinds.size());
        if (added)
            made.kinds.push_back(task);
        made.tasks.push_back(found->second);
        ++shares[task.request];
    }
    std::vector<muster::typical_task> counted;
    for (const auto& [task, share] : shares)
        counted.push_back({task, share});
    made.mix = muster::task_mix(std::move(counted), percent);
    return made;
}

[[nodiscard]] inline std::int64_t gpu_capacity(const std::vector<openb::trace_node>& nodes) {
    std::int64_t sum = 0;
    for (const openb::trace_node& node : nodes)
        sum += node.left.idle_milli();
    return sum;
}

/// The order in which tasks arrive and in which nodes are listed; the same for all rules.
struct arrival_order {
    std::vector<std::size_t> tasks;
    std::vector<openb::trace_node> nodes;
};

/// Shuffles both by the seed, and appends tasks drawn with replacement until they request 1.3 times
/// the GPUs of all nodes.
[[nodiscard]] inline arrival_order
arrive(const workload& load, const std::vector<openb::trace_node>& nodes, std::uint64_t seed) {
    random_numbers draw(seed);
    const auto below = [&](std::size_t count) {
        return static_cast<std::size_t>(draw.between(0, static_cast<std::int64_t>(count) - 1));
    };
    const auto shuffle = [&](auto& items) {
        for (std::size_t left = items.size(); left > 1; --left)
            std::swap(items[left - 1], items[below(left)]);
    };
    arrival_order made{load.tasks, nodes};
    shuffle(made.tasks);
    std::int64_t requested = 0;
    for (const std::size_t kind : made.tasks)
        requested += load.kinds[kind].request.gpu_milli();
    const std::int64_t wanted = gpu_capacity(nodes) * 13;
    while (requested > 0 && requested * 10 < wanted) {
        made.tasks.push_back(load.tasks[below(load.tasks.size())]);
        requested += load.kinds[made.tasks.back()].request.gpu_milli();
    }
    shuffle(made.nodes);
    return made;
}

/// What GpuClustering knows of the tasks on a node: how many request part of a GPU, how many one
/// GPU, two, and so on; and how many of these numbers are not 0.
struct affinity_counts {
    std::array<std::int32_t, muster::max_node_gpus + 1> count{};
    std::int32_t groups = 0;

    [[nodiscard]] static std::size_t group(const muster::shared_gpu_task& task) {
        return task.shares_gpu() ? 0 : static_cast<std::size_t>(task.gpus);
    }
    void add(const muster::shared_gpu_task& task) {
        if (task.gpus > 0 && count[group(task)]++ == 0)
            ++groups;
    }
};

/// The integer scores of the rules that the FGD paper compares. All of them round down; `gpu` is
/// the tightest.
namespace baseline {

inline constexpr std::int64_t most_cpu = 128'000;
inline constexpr std::int64_t most_gpu = 8'000;

/// 100 (1 - (cpu left × cpu / 128000² + GPU left × GPU / 8000²) / 2).
[[nodiscard]] inline std::int64_t dot_product(const muster::shared_gpu_node& node,
                                              const muster::shared_gpu_task& task) {
    // Both squares divide the denominator: 128000 = 16 × 8000.
    constexpr std::int64_t whole = 2 * most_cpu * most_cpu;
    const std::int64_t product = node.cpu * task.cpu + node.idle_milli() * task.gpu_milli() *
                                                           (most_cpu / most_gpu) *
                                                           (most_cpu / most_gpu);
    return 100 * (whole - product) / whole;
}

/// 100 (1 - (cpu left after / 128000 + GPU left after / 8000) / 2).
[[nodiscard]] inline std::int64_t best_fit(const muster::shared_gpu_node& node,
                                           const muster::shared_gpu_task& task) {
    constexpr std::int64_t whole = 2 * most_cpu;
    const std::int64_t left =
        node.cpu - task.cpu + (node.idle_milli() - task.gpu_milli()) * (most_cpu / most_gpu);
    return 100 * (whole - left) / whole;
}

[[nodiscard]] inline std::int64_t gpu_clustering(const muster::shared_gpu_node& node,
                                                 const affinity_counts& present,
                                                 const muster::shared_gpu_task& task) {
    if (task.gpus == 0)
        return 0;
    const std::int64_t fullness = 25 * (most_gpu - node.idle_milli()) / most_gpu;
    if (present.count[affinity_counts::group(task)] > 0)
        return fullness + (present.groups == 1 ? 75 : 50);
    return fullness + (present.groups == 0 ? 25 : 0);
}

[[nodiscard]] inline std::int64_t gpu_packing(const muster::shared_gpu_node& node,
                                              const muster::shared_gpu_task& task) {
    if (task.gpus == 0)
        return 0;
    const std::int64_t free = node.gpus_with(muster::whole_gpu_milli);
    if (free == std::int64_t{node.gpus})
        return std::max(33 - free, free);
    muster::shared_gpu_node rest = node;
    std::int64_t free_taken = 0;
    std::int64_t left = 0;
    for (std::int32_t count = 0; count < task.gpus; ++count) {
        const std::uint32_t gpu = muster::tightest_gpu(rest, task.milli);
        free_taken += rest.left[gpu] == muster::whole_gpu_milli ? 1 : 0;
        left += rest.left[gpu] * 100 / muster::whole_gpu_milli;
        rest.left[gpu] = 0;
    }
    return free_taken > 0 ? std::max<std::int64_t>(50 - free_taken, 33)
                          : std::max<std::int64_t>(100 - left / 10, 50);
}

} // namespace baseline

/// Allocated GPUs in percent of all, by percent of arrived ones: entry c when c% is first reached.
using allocation_curve = std::vector<double>;

/// One run of one rule. Tasks never leave, and one that does not fit when it arrives is dropped. Of
/// nodes that tie the first one is chosen.
class replay {
public:
    replay(const workload& load, const arrival_order& order, placement_rule rule,
           std::uint64_t seed)
        : load_(load), order_(order), rule_(rule), draw_(~seed), nodes_(order.nodes) {
        affinities_.resize(nodes_.size());
        values_.resize(nodes_.size());
        scored_.resize(load.kinds.size());
        stamps_.resize(nodes_.size());
        if (rule == placement_rule::fewest_places_lost) {
            std::vector<muster::shared_gpu_node> empty;
            for (const openb::trace_node& node : nodes_)
                empty.push_back(node.left);
            kinds_with_places_ = muster::kinds_with_places(load.mix, empty);
        }
    }

    [[nodiscard]] allocation_curve run() {
        const std::int64_t capacity = gpu_capacity(nodes_);
        std::int64_t arrived = 0;
        std::int64_t allocated = 0;
        allocation_curve curve;
        for (std::size_t count = 0; count < order_.tasks.size(); ++count) {
            if (rule_ == placement_rule::fewest_places_lost && count % price_period == 0)
                set_prices();
            const std::size_t kind = order_.tasks[count];
            const muster::shared_gpu_task& task = load_.kinds[kind].request;
            if (place(kind))
                allocated += task.gpu_milli();
            arrived += task.gpu_milli();
            while (capacity * static_cast<std::int64_t>(curve.size()) <= arrived * 100)
                curve.push_back(100.0 * static_cast<double>(allocated) /
                                static_cast<double>(capacity));
        }
        return curve;
    }

private:
    static constexpr std::int64_t infeasible = std::numeric_limits<std::int64_t>::min();
    /// Arrivals after which prices are set anew.
    static constexpr std::size_t price_period = 512;

    /// The scores of all nodes for one kind, up to date with the first `seen` entries of
    /// `changed_`.
    struct kind_scores {
        std::vector<std::int64_t> score;
        std::vector<std::uint32_t> gpu;
        std::size_t seen = 0;
    };

    void set_prices() {
        std::vector<std::int64_t> places;
        for (const muster::typical_task& kind : kinds_with_places_) {
            places.push_back(0);
            for (const openb::trace_node& node : nodes_)
                places.back() += muster::gpu_places(node.left, kind.task);
        }
        prices_ = muster::place_prices(kinds_with_places_, places);
        for (std::size_t index = 0; index < nodes_.size(); ++index)
            values_[index] = prices_.value(nodes_[index].left);
        for (kind_scores& scores : scored_)
            scores = {};
        changed_.clear();
    }

    void score(std::size_t kind, std::size_t index) {
        const openb::trace_task& task = load_.kinds[kind];
        const openb::trace_node& node = nodes_[index];
        const bool feasible = node.memory_mib >= task.memory_mib && fits(node.left, task.request);
        const muster::gpu_choice choice =
            feasible ? choose(index, task.request) : muster::gpu_choice{infeasible, 0};
        scored_[kind].score[index] = choice.score;
        scored_[kind].gpu[index] = choice.gpu;
    }

    [[nodiscard]] muster::gpu_choice choose(std::size_t index,
                                            const muster::shared_gpu_task& task) const {
        const muster::shared_gpu_node& node = nodes_[index].left;
        const std::uint32_t tightest =
            task.shares_gpu() ? muster::tightest_gpu(node, task.milli) : 0;
        switch (rule_) {
        case placement_rule::random:
            return {0, tightest};
        case placement_rule::dot_product:
            return {baseline::dot_product(node, task), tightest};
        case placement_rule::gpu_clustering:
            return {baseline::gpu_clustering(node, affinities_[index], task), tightest};
        case placement_rule::gpu_packing:
            return {baseline::gpu_packing(node, task), tightest};
        case placement_rule::best_fit:
            return {baseline::best_fit(node, task), tightest};
        case placement_rule::fgd:
            return muster::fragmentation_score(load_.mix, node, task);
        case placement_rule::fewest_places_lost:
            return muster::places_lost_score(prices_, node, values_[index], task);
        }
        return {infeasible, 0};
    }

    void bring_up_to_date(std::size_t kind) {
        kind_scores& scores = scored_[kind];
        if (scores.score.empty()) {
            scores.score.resize(nodes_.size());
            scores.gpu.resize(nodes_.size());
            for (std::size_t index = 0; index < nodes_.size(); ++index)
                score(kind, index);
        }
        ++stamp_;
        for (; scores.seen < changed_.size(); ++scores.seen) {
            const std::size_t index = changed_[scores.seen];
            if (std::exchange(stamps_[index], stamp_) != stamp_)
                score(kind, index);
        }
        scores.seen = changed_.size();
    }

    /// The first node with the highest score, or any feasible one for `random`; the number of nodes
    /// if none is feasible.
    [[nodiscard]] std::size_t pick(const std::vector<std::int64_t>& scores) {
        if (rule_ != placement_rule::random) {
            const auto best = std::max_element(scores.begin(), scores.end());
            return *best == infeasible ? scores.size()
                                       : static_cast<std::size_t>(best - scores.begin());
        }
        std::vector<std::size_t> feasible;
        for (std::size_t index = 0; index < scores.size(); ++index)
            if (scores[index] != infeasible)
                feasible.push_back(index);
        return feasible.empty() ? scores.size() : any_of(feasible);
    }

    template<class T>
    [[nodiscard]] T any_of(const std::vector<T>& items) {
        return items[static_cast<std::size_t>(
            draw_.between(0, static_cast<std::int64_t>(items.size()) - 1))];
    }

    [[nodiscard]] bool place(std::size_t kind) {
        bring_up_to_date(kind);
        const std::size_t index = pick(scored_[kind].score);
        if (index == nodes_.size())
            return false;
        const openb::trace_task& task = load_.kinds[kind];
        openb::trace_node& node = nodes_[index];
        std::uint32_t gpu = scored_[kind].gpu[index];
        if (rule_ == placement_rule::random && task.request.shares_gpu()) {
            std::vector<std::uint32_t> large_enough;
            for (std::uint32_t each = 0; each < node.left.gpus; ++each)
                if (node.left.left[each] >= task.request.milli)
                    large_enough.push_back(each);
            gpu = any_of(large_enough);
        }
        node.left = muster::with_task(node.left, task.request, gpu);
        node.memory_mib -= task.memory_mib;
        affinities_[index].add(task.request);
        if (rule_ == placement_rule::fewest_places_lost)
            values_[index] = prices_.value(node.left);
        changed_.push_back(index);
        return true;
    }

    const workload& load_;
    const arrival_order& order_;
    placement_rule rule_;
    random_numbers draw_;
    std::vector<openb::trace_node> nodes_;
    std::vector<affinity_counts> affinities_;
    std::vector<muster::typical_task> kinds_with_places_;
    muster::place_prices prices_;
    /// What the places of each node are worth.
    std::vector<std::int64_t> values_;
    std::vector<kind_scores> scored_;
    /// Every node that a task went to, in that order.
    std::vector<std::size_t> changed_;
    /// The call of `bring_up_to_date` that scored the node last.
    std::vector<std::uint64_t> stamps_;
    std::uint64_t stamp_ = 0;
};

} // namespace bench::gpu_sharing
