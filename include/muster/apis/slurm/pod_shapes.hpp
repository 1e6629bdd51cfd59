// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/slurm/job_request.hpp>
#include <muster/base/checked.hpp>
#include <muster/base/result.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace slurm {

/// Which nodes of --nodelist a pod may use.
enum class host_rule : std::uint8_t { any, listed, unlisted };

/// Pods that are equal.
struct pod_shape {
    std::int64_t count = 0;
    std::int64_t tasks = 0;
    std::int64_t gpus = 0;
    std::int64_t cpus = 0;
    std::int64_t mebibytes = 0; ///< 0: no memory is asked for
    host_rule hosts = host_rule::any;

    friend bool operator==(const pod_shape&, const pod_shape&) = default;
};

/// The pods of a component.
struct component_shape {
    std::int64_t minimum = 0; ///< how many must start
    /// Each pod stands on a node of its own: it is the component's part of one node.
    bool one_per_node = true;
    std::vector<pod_shape> pods;
    /// A freedom that Slurm has and the pods do not; empty: none.
    std::string remark;

    friend bool operator==(const component_shape&, const component_shape&) = default;
};

/// Why an option cannot be met; the option is named without its dashes.
struct shape_error {
    std::string_view option;
    std::string message;
};

namespace detail {

/// Divides a job into pods. All of them are allocations that Slurm may choose, too: where Slurm is
/// free, the parts are as equal as possible.
class shape_maker {
public:
    explicit shape_maker(const job_request& asked) : asked_(&asked) {}

    [[nodiscard]] result<component_shape, shape_error> run() {
        find_tasks();
        if (!error_.message.empty())
            return failure<shape_error>{std::move(error_)};
        if (const auto nodes = number_of_nodes())
            divide_by_nodes(*nodes);
        else
            divide_by_tasks();
        give_resources();
        if (!error_.message.empty())
            return failure<shape_error>{std::move(error_)};
        return std::move(made_);
    }

private:
    void fail(std::string_view option, std::string message) {
        if (error_.message.empty())
            error_ = {option, std::move(message)};
    }
    void remark(std::string text) {
        if (made_.remark.empty())
            made_.remark = std::move(text);
    }

    /// Options that follow from others: tasks from GPUs, and GPUs from tasks.
    void find_tasks() {
        tasks_ = asked_->tasks;
        total_gpus_ = asked_->gpus ? asked_->gpus->count : 0;
        node_gpus_ = asked_->gpus_per_node ? asked_->gpus_per_node->count : 0;
        per_node_ = asked_->tasks_per_node;
        task_gpus_ = asked_->gpus_per_task ? asked_->gpus_per_task->count : 0;
        if (asked_->overcommit) {
            per_node_ = 1;
            tasks_.reset();
        }
        if (const auto per_gpu = asked_->tasks_per_gpu) {
            if (node_gpus_ > 0)
                per_node_ = node_gpus_ * *per_gpu;
            else if (total_gpus_ > 0 && !tasks_)
                tasks_ = total_gpus_ * *per_gpu;
            else if (total_gpus_ == 0 && tasks_ && *tasks_ % *per_gpu == 0)
                total_gpus_ = *tasks_ / *per_gpu;
            else if (total_gpus_ == 0)
                fail("ntasks-per-gpu", tasks_ ? "--ntasks is no multiple of it (expected one)"
                                              : "it needs --ntasks, --gpus, --gpus-per-node or "
                                                "--gres=gpu (expected one of them)");
        }
        if (task_gpus_ > 0 && total_gpus_ > 0) {
            if (total_gpus_ % task_gpus_ != 0 || (tasks_ && *tasks_ * task_gpus_ != total_gpus_))
                return fail("gpus-per-task", "--gpus is not the number of tasks times it (expected "
                                             "one of both options)");
            tasks_ = total_gpus_ / task_gpus_;
            total_gpus_ = 0;
        }
        if (total_gpus_ > 0 && node_gpus_ > 0) {
            if (total_gpus_ % node_gpus_ != 0)
                return fail("gpus", "it is no multiple of the GPUs per node (expected one)");
            gpu_nodes_ = total_gpus_ / node_gpus_;
            total_gpus_ = 0;
        }
        if (tasks_.value_or(0) > largest_count || per_node_.value_or(0) > largest_count)
            fail("ntasks-per-gpu", "there would be more than 2147483647 tasks (expected at most "
                                   "that many)");
    }

    /// How many nodes the job has, if it says so: then each pod is the part of one node.
    [[nodiscard]] std::optional<node_count> number_of_nodes() {
        const auto same = [](std::int64_t count) { return node_count{count, count, false}; };
        if (asked_->nodes) {
            node_count nodes = *asked_->nodes;
            if (asked_->fewest_nodes)
                nodes.most = nodes.least;
            // As sbatch: no node without a task.
            if (tasks_ && *tasks_ < nodes.most) {
                nodes.most = *tasks_;
                nodes.least = std::min(nodes.least, nodes.most);
            }
            return nodes;
        }
        if (gpu_nodes_ > 0)
            return same(gpu_nodes_);
        const auto listed = static_cast<std::int64_t>(asked_->hosts.size());
        if (listed > 0)
            return same(tasks_ ? std::min(listed, *tasks_) : listed);
        if (tasks_ && per_node_)
            return same((*tasks_ - 1) / *per_node_ + 1);
        if (per_node_ || (tasks_.value_or(1) == 1 && (tasks_ || total_gpus_ < 2)))
            return same(1);
        if (node_gpus_ == 0 && asked_->memory_per != memory_unit::node &&
            asked_->cpus_per_node == 0 && asked_->disk_mebibytes == 0 &&
            (tasks_ || !asked_->cpus_per_task))
            return std::nullopt;
        remark("the number of nodes is open, so one pod on one node stands for the job, which asks "
               "for amounts per node (expected --nodes)");
        return same(1);
    }

    void divide_by_nodes(node_count nodes) {
        const auto listed = static_cast<std::int64_t>(asked_->hosts.size());
        const bool divided = tasks_ || total_gpus_ > 0;
        const bool pinned = listed > 0 && listed < nodes.most;
        if (nodes.most > nodes.least && (divided || nodes.gaps || pinned)) {
            remark("Slurm chooses from " + std::to_string(nodes.least) + " to " +
                   std::to_string(nodes.most) + " nodes; what is divided among them makes " +
                   std::to_string(nodes.least) + " stand for the number");
            nodes.most = nodes.least;
        }
        made_.minimum = nodes.least;
        const std::int64_t count = nodes.most;
        const std::int64_t tasks = tasks_.value_or(count * per_node_.value_or(1));
        if (tasks_ && per_node_ && *tasks_ > count * *per_node_)
            return fail("ntasks", std::to_string(*tasks_) + " tasks are more than " +
                                      std::to_string(count) + " nodes with at most " +
                                      std::to_string(*per_node_) + " each have (expected at most " +
                                      std::to_string(count * *per_node_) + ")");
        if (total_gpus_ > 0 && total_gpus_ < count)
            return fail("gpus", std::to_string(total_gpus_) + " GPUs are too few for " +
                                    std::to_string(count) + " nodes (expected at least one each)");
        // The first ones get one more where a number does not divide.
        std::array<std::int64_t, 5> cuts{0, tasks % count, total_gpus_ % count,
                                         std::min(listed, count), count};
        std::ranges::sort(cuts);
        for (std::size_t at = 1; at < cuts.size(); ++at) {
            const std::int64_t first = cuts[at - 1];
            if (first == cuts[at])
                continue;
            pod_shape one;
            one.count = cuts[at] - first;
            one.tasks = tasks / count + (first < tasks % count ? 1 : 0);
            one.gpus = total_gpus_ / count + (first < total_gpus_ % count ? 1 : 0) + node_gpus_ +
                       one.tasks * task_gpus_;
            if (listed > 0)
                one.hosts = first < listed ? host_rule::listed : host_rule::unlisted;
            made_.pods.push_back(one);
        }
    }

    /// Pods of equal numbers of tasks and GPUs, on any nodes.
    void divide_by_tasks() {
        // A job of GPUs alone: a task for each.
        const std::int64_t tasks = tasks_.value_or(total_gpus_);
        made_.one_per_node = false;
        pod_shape one;
        one.count = std::gcd(tasks, total_gpus_);
        one.tasks = tasks / one.count;
        one.gpus = total_gpus_ / one.count + one.tasks * task_gpus_;
        made_.minimum = one.count;
        made_.pods.push_back(one);
    }

    void give_resources() {
        for (pod_shape& each : made_.pods) {
            const int128 by_tasks =
                static_cast<int128>(each.tasks) * asked_->cpus_per_task.value_or(1);
            const int128 by_gpus =
                static_cast<int128>(each.gpus) * asked_->cpus_per_gpu.value_or(0);
            const int128 cpus =
                std::max({by_tasks, by_gpus, static_cast<int128>(asked_->cpus_per_node)});
            int128 memory = asked_->mebibytes;
            if (asked_->memory_per == memory_unit::cpu)
                memory *= cpus;
            else if (asked_->memory_per == memory_unit::gpu)
                memory *= each.gpus;
            if (each.gpus > largest_count)
                return fail("gpus-per-task", "a node would have more than 2147483647 GPUs "
                                             "(expected at most that many)");
            if (memory > largest_mebibytes)
                return fail(asked_->memory_per == memory_unit::cpu ? "mem-per-cpu" : "mem-per-gpu",
                            "a node would have more than 8 EiB (expected at most that much)");
            each.cpus = static_cast<std::int64_t>(cpus);
            each.mebibytes = static_cast<std::int64_t>(memory);
        }
    }

    const job_request* asked_;
    component_shape made_;
    shape_error error_;
    std::optional<std::int64_t> tasks_;
    std::optional<std::int64_t> per_node_;
    std::int64_t total_gpus_ = 0;
    std::int64_t node_gpus_ = 0;
    std::int64_t task_gpus_ = 0;
    std::int64_t gpu_nodes_ = 0;
};

} // namespace detail

/// Divides what a component asks for into pods: one per node if the number of nodes follows from
/// the options, otherwise one per task, or one per as many tasks as share a whole number of GPUs.
/// O(1).
[[nodiscard]] inline result<component_shape, shape_error> shape_of(const job_request& asked) {
    return detail::shape_maker(asked).run();
}

} // namespace slurm
} // namespace codec
} // namespace v0_1
} // namespace muster
