// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/slurm/feature_text.hpp>
#include <muster/apis/slurm/host_list.hpp>
#include <muster/apis/slurm/node_count_text.hpp>
#include <muster/apis/slurm/resource_text.hpp>
#include <muster/apis/slurm/script_options.hpp>
#include <muster/apis/slurm/time_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace slurm {

enum class memory_unit : std::uint8_t { none, node, cpu, gpu };

/// What one component of a job asks for, in the units of sbatch.
struct job_request {
    std::optional<node_count> nodes;
    bool fewest_nodes = false; ///< --use-min-nodes
    std::optional<std::int64_t> tasks;
    std::optional<std::int64_t> tasks_per_node;
    std::optional<std::int64_t> tasks_per_gpu;
    std::optional<std::int64_t> cpus_per_task;
    std::optional<std::int64_t> cpus_per_gpu;
    std::int64_t cpus_per_node = 0; ///< --mincpus: at least
    bool overcommit = false;
    memory_unit memory_per = memory_unit::none;
    std::int64_t mebibytes = 0;      ///< 0 per node: all memory of the node
    std::int64_t disk_mebibytes = 0; ///< per node
    std::optional<gpu_request> gpus; ///< in all
    std::optional<gpu_request> gpus_per_node;
    std::optional<gpu_request> gpus_per_task;
    feature_request features;
    feature_request preferred;
    std::vector<std::string> hosts;    ///< sorted; empty: any
    std::vector<std::string> excluded; ///< sorted
    bool exclusive = false;
    std::optional<std::int64_t> seconds; ///< limit of the run time; absent: none
    std::string image;                   ///< --container-image of Pyxis; may be empty
    /// Names of options that are not modelled: the job waits. Sorted, each once.
    std::vector<std::string> waits;
};

namespace detail {

class request_reader {
public:
    request_reader(const job_component& component, const option_report& report)
        : component_(&component), report_(report.from(component.offset)) {}

    [[nodiscard]] job_request run() {
        for (const script_option& each : component_->options)
            if (each.spec->use == option_use::waits)
                wait(each);
        read_counts();
        read_memory();
        read_devices();
        read_nodes();
        read_words();
        std::ranges::sort(made_.waits);
        made_.waits.erase(std::unique(made_.waits.begin(), made_.waits.end()), made_.waits.end());
        return std::move(made_);
    }

private:
    /// The option makes the job wait.
    void wait(const script_option& option, std::string_view what = "the option") {
        const std::string gate(option.spec->name);
        report_.warning(option, std::string(what) +
                                    " bears on where or when the job may start and is not "
                                    "modelled, so the job waits (scheduling gate "
                                    "slurm.muster.dev/" +
                                    gate + ")");
        made_.waits.push_back(gate);
    }

    [[nodiscard]] const script_option* find(std::string_view name) const {
        return component_->find(name);
    }

    [[nodiscard]] std::optional<std::int64_t> count(std::string_view name) const {
        const script_option* const option = find(name);
        if (!option)
            return std::nullopt;
        const auto read = parse_number(option->value, 1);
        if (!read)
            report_.refuse(*option, "a count", "a whole number from 1 to 2147483647");
        return read;
    }

    void read_counts() {
        if (const script_option* const option = find("nodes")) {
            made_.nodes = parse_node_count(option->value);
            if (!made_.nodes)
                report_.refuse(*option, "a number of nodes", "e.g. 4, 2-4 or 1,2,4");
        }
        made_.fewest_nodes = find("use-min-nodes") != nullptr;
        made_.tasks = count("ntasks");
        made_.tasks_per_node = count("ntasks-per-node");
        made_.tasks_per_gpu = count("ntasks-per-gpu");
        made_.cpus_per_task = count("cpus-per-task");
        made_.cpus_per_gpu = count("cpus-per-gpu");
        made_.cpus_per_node = count("mincpus").value_or(0);
        made_.overcommit = find("overcommit") != nullptr;
        exclude_each_other("cpus-per-gpu", "cpus-per-task");
        exclude_each_other("ntasks-per-gpu", "ntasks-per-node");
        exclude_each_other("ntasks-per-gpu", "gpus-per-task");
    }

    void exclude_each_other(std::string_view one, std::string_view other) const {
        if (const script_option* const option = find(one); option && find(other))
            report_.error(*option, "it does not go with --" + std::string(other) +
                                       " (expected one of them)");
    }

    [[nodiscard]] std::int64_t size(const script_option& option) const {
        const auto read = parse_mebibytes(option.value);
        if (!read)
            report_.refuse(option, "a size", "a whole number, with K, M, G or T behind it");
        return read.value_or(0);
    }

    void read_memory() {
        exclude_each_other("mem-per-cpu", "mem-per-gpu");
        const script_option* const per_cpu = find("mem-per-cpu");
        const script_option* const per_gpu = find("mem-per-gpu");
        const script_option* per_node = find("mem");
        // The component before had it.
        if (per_node && per_node->offset < component_->offset && (per_cpu || per_gpu))
            per_node = nullptr;
        if (per_node && (per_cpu || per_gpu))
            report_.error(*per_node, "it does not go with --mem-per-cpu and --mem-per-gpu "
                                     "(expected one of them)");
        for (const auto& [option, unit] : {std::pair{per_node, memory_unit::node},
                                           {per_cpu, memory_unit::cpu},
                                           {per_gpu, memory_unit::gpu}})
            if (option) {
                made_.memory_per = unit;
                made_.mebibytes = size(*option);
            }
        if (const script_option* const option = find("tmp"))
            made_.disk_mebibytes = size(*option);
    }

    [[nodiscard]] std::optional<gpu_request> gpus(std::string_view name) {
        const script_option* const option = find(name);
        if (!option)
            return std::nullopt;
        const auto read = parse_gpus(option->value);
        if (!read)
            report_.refuse(*option, "a number of GPUs", "e.g. 4 or a100:4");
        else if (read->mixed)
            wait(*option, "a number of GPUs for each of several types");
        if (!read || read->count == 0)
            return std::nullopt;
        return read;
    }

    void read_devices() {
        made_.gpus = gpus("gpus");
        made_.gpus_per_node = gpus("gpus-per-node");
        made_.gpus_per_task = gpus("gpus-per-task");
        read_gres();
        read_tres();
        if (const script_option* const option = find("gres-flags");
            option && option->value.find("enforce-binding") != std::string::npos &&
            option->value.find("disable-binding") == std::string::npos)
            wait(*option);
        if (const script_option* const option = find("hint");
            option && option->value != "multithread")
            wait(*option);
    }

    void read_gres() {
        const script_option* const option = find("gres");
        if (!option)
            return;
        const auto read = parse_gres(option->value);
        if (!read)
            return report_.refuse(*option, "a list of generic resources", "e.g. gpu:a100:4");
        if (read->others)
            wait(*option, "a generic resource other than gpu");
        else if (read->gpus.mixed)
            wait(*option, "a number of GPUs for each of several types");
        if (read->gpus.count > 0 && find("gpus-per-node"))
            report_.error(*option, "it does not go with --gpus-per-node (expected one of them)");
        else if (read->gpus.count > 0)
            made_.gpus_per_node = read->gpus;
    }

    void read_tres() {
        const script_option* const option = find("tres-per-task");
        if (!option)
            return;
        const auto read = parse_tres(option->value);
        if (!read)
            return report_.refuse(*option, "a list of resources", "e.g. cpu=4,gres/gpu:a100=1");
        if (read->others)
            wait(*option, "a resource other than cpu and gres/gpu");
        else if (read->gpus.mixed)
            wait(*option, "a number of GPUs for each of several types");
        if ((read->gpus.count > 0 && find("gpus-per-task")) ||
            (read->cpus > 0 && find("cpus-per-task")))
            return report_.error(*option, "it does not go with --cpus-per-task and "
                                          "--gpus-per-task for the same resource (expected one "
                                          "of them)");
        if (read->gpus.count > 0)
            made_.gpus_per_task = read->gpus;
        if (read->cpus > 0)
            made_.cpus_per_task = read->cpus;
    }

    [[nodiscard]] std::vector<std::string> hosts(std::string_view name) {
        const script_option* const option = find(name);
        if (!option)
            return {};
        if (option->value.find('/') != std::string::npos) {
            wait(*option, "a file with the names of nodes");
            return {};
        }
        auto read = parse_host_list(option->value);
        if (!read) {
            report_.refuse(*option, "a list of at most 10000 nodes", "e.g. node[01-04,07],gpu2");
            return {};
        }
        return std::move(*read);
    }

    void read_nodes() {
        made_.hosts = hosts("nodelist");
        made_.excluded = hosts("exclude");
        made_.features = features("constraint", true);
        made_.preferred = features("prefer", false);
        if (const script_option* const option = find("exclusive")) {
            made_.exclusive = !option->has_value;
            if (option->has_value && option->value != "user" && option->value != "mcs" &&
                option->value != "topo")
                report_.refuse(*option, "a scope", "user, mcs or topo, or no value");
            else if (option->has_value)
                wait(*option, "a node that only some jobs may share");
        }
        if (made_.memory_per == memory_unit::node && made_.mebibytes == 0 && !made_.exclusive)
            if (const script_option* const option = find("mem");
                option && option->value.starts_with('0'))
                wait(*option, "all memory of a node that other jobs may share");
        for (const auto& [name, what] :
             {std::pair{"switches",
                        "a number of switches is a preference that Slurm gives up after "
                        "some minutes, and it names no level of the topology"},
              {"spread-job", "to spread the job is a preference"}})
            if (const script_option* const option = find(name))
                report_.warning(*option, std::string(what) + ", so it is ignored");
    }

    [[nodiscard]] feature_request features(std::string_view name, bool required) {
        const script_option* const option = find(name);
        if (!option)
            return {};
        feature_request read = parse_features(option->value);
        if (read.support == feature_support::malformed)
            report_.refuse(*option, "an expression of features", "e.g. intel&(ib|roce)");
        else if (read.support == feature_support::not_modelled && required)
            wait(*option, "a count of nodes with a feature, or a name that cannot be a label,");
        else if (read.support == feature_support::not_modelled)
            report_.warning(*option, "features are counted, or cannot be labels, so the "
                                     "preference is ignored");
        return read;
    }

    void read_words() {
        if (const script_option* const option = find("time")) {
            const auto read = parse_time_limit(option->value);
            if (!read)
                report_.refuse(*option, "a time",
                               "e.g. 90 (minutes), 01:30:00 or 2-12 (days-hours)");
            else
                made_.seconds = read->seconds;
        }
        if (const script_option* const option = find("begin"); option && option->value != "now")
            wait(*option);
        if (const script_option* const option = find("container-image")) {
            // Enroot separates the registry with a `#`.
            made_.image = option->value;
            if (const std::size_t at = made_.image.find('#'); at != std::string::npos)
                made_.image[at] = '/';
        }
    }

    const job_component* component_;
    option_report report_;
    job_request made_;
};

} // namespace detail

/// Reads the options of a component. Options that contradict each other and values that sbatch
/// would refuse are errors in `report`. O(options · table).
[[nodiscard]] inline job_request read_job_request(const job_component& component,
                                                  const option_report& report) {
    return detail::request_reader(component, report).run();
}

} // namespace slurm
} // namespace codec
} // namespace v0_1
} // namespace muster
