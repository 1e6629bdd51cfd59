// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <muster/base/result.hpp>
#include <muster/policy/shared_gpus.hpp>

namespace bench::openb {

/// Why a file is not a trace.
struct trace_error {
    /// From 1.
    std::size_t line = 0;
    std::string message;
};

/// Numbers for the names of GPU models, shared by all files of a run.
class model_names {
public:
    /// Absent when there are too many names.
    std::optional<std::uint32_t> number(std::string_view name) {
        const auto next = static_cast<std::uint32_t>(numbers_.size());
        const auto [found, added] = numbers_.emplace(std::string(name), next);
        if (found->second < muster::max_gpu_models)
            return found->second;
        return std::nullopt;
    }

private:
    std::map<std::string, std::uint32_t, std::less<>> numbers_;
};

struct trace_node {
    muster::shared_gpu_node left{};
    std::int64_t memory_mib = 0;
};

struct trace_task {
    muster::shared_gpu_task request{};
    std::int64_t memory_mib = 0;

    [[nodiscard]] friend auto operator<=>(const trace_task&, const trace_task&) = default;
};

namespace detail {

[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const auto end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos)
            return parts;
        text.remove_prefix(end + 1);
    }
}

/// The columns of a CSV file without quotes, found by the names in its first line.
class table {
public:
    explicit table(std::string_view text) : lines_(split(text, '\n')) {
        for (std::string_view& line : lines_)
            if (line.ends_with('\r'))
                line.remove_suffix(1);
        columns_ = split(lines_.front(), ',');
    }

    /// Moves to the next line that is not empty; false at the end.
    [[nodiscard]] bool next() {
        while (++line_ < lines_.size())
            if (!lines_[line_].empty()) {
                cells_ = split(lines_[line_], ',');
                return true;
            }
        return false;
    }
    [[nodiscard]] bool complete() const { return cells_.size() == columns_.size(); }
    [[nodiscard]] bool has(std::string_view name) const { return index(name) < columns_.size(); }
    /// Empty if the table has no such column.
    [[nodiscard]] std::string_view cell(std::string_view name) const {
        return has(name) ? cells_[index(name)] : std::string_view{};
    }
    [[nodiscard]] std::optional<std::int64_t> number(std::string_view name,
                                                     std::int64_t most) const {
        const std::string_view text = cell(name);
        std::int64_t value = 0;
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
        if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() || value < 0 ||
            value > most)
            return std::nullopt;
        return value;
    }
    [[nodiscard]] muster::failure<trace_error> error(std::string message) const {
        return muster::failure<trace_error>{{line_ + 1, std::move(message)}};
    }
    /// What is wrong with the cell that should be a number.
    [[nodiscard]] muster::failure<trace_error> bad_number(std::string_view name,
                                                          std::int64_t most) const {
        return error(std::string(name) + " must be an integer from 0 to " + std::to_string(most) +
                     ", found '" + std::string(cell(name)) + "'");
    }

private:
    [[nodiscard]] std::size_t index(std::string_view name) const {
        std::size_t found = 0;
        while (found < columns_.size() && columns_[found] != name)
            ++found;
        return found;
    }

    std::vector<std::string_view> lines_;
    std::vector<std::string_view> columns_;
    std::vector<std::string_view> cells_;
    std::size_t line_ = 0;
};

inline constexpr std::int64_t most_amount = std::int64_t{1} << 40;

} // namespace detail

/// Parses openb_node_list_*.csv: sn, cpu_milli, memory_mib, gpu, model, in any order. Nodes keep
/// the order of the file; those without GPUs are included.
[[nodiscard]] inline muster::result<std::vector<trace_node>, trace_error>
read_nodes(std::string_view text, model_names& models) {
    constexpr std::int64_t most_gpus = muster::max_node_gpus;
    detail::table rows(text);
    for (const char* name : {"cpu_milli", "memory_mib", "gpu", "model"})
        if (!rows.has(name))
            return rows.error(std::string("no column ") + name);
    std::vector<trace_node> nodes;
    while (rows.next()) {
        if (!rows.complete())
            return rows.error("the number of cells differs from that of columns");
        const auto cpu = rows.number("cpu_milli", detail::most_amount);
        if (!cpu)
            return rows.bad_number("cpu_milli", detail::most_amount);
        const auto memory = rows.number("memory_mib", detail::most_amount);
        if (!memory)
            return rows.bad_number("memory_mib", detail::most_amount);
        const auto gpus = rows.number("gpu", most_gpus);
        if (!gpus)
            return rows.bad_number("gpu", most_gpus);
        trace_node node;
        node.left.cpu = *cpu;
        node.memory_mib = *memory;
        node.left.gpus = static_cast<std::uint32_t>(*gpus);
        for (std::uint32_t gpu = 0; gpu < node.left.gpus; ++gpu)
            node.left.left[gpu] = muster::whole_gpu_milli;
        if (node.left.gpus > 0) {
            if (rows.cell("model").empty())
                return rows.error("a node with GPUs needs a model");
            const auto model = models.number(rows.cell("model"));
            if (!model)
                return rows.error("more than 64 models of GPUs");
            node.left.model = *model;
        }
        nodes.push_back(node);
    }
    return nodes;
}

/// Parses openb_pod_list_*.csv: cpu_milli, memory_mib, num_gpu, gpu_milli and, if there is such a
/// column, gpu_spec (allowed models, separated by '|'; empty = any). Other columns are ignored.
[[nodiscard]] inline muster::result<std::vector<trace_task>, trace_error>
read_tasks(std::string_view text, model_names& models) {
    constexpr std::int64_t most_gpus = muster::max_node_gpus;
    constexpr std::int64_t most_milli = muster::whole_gpu_milli;
    detail::table rows(text);
    for (const char* name : {"cpu_milli", "memory_mib", "num_gpu", "gpu_milli"})
        if (!rows.has(name))
            return rows.error(std::string("no column ") + name);
    std::vector<trace_task> tasks;
    while (rows.next()) {
        if (!rows.complete())
            return rows.error("the number of cells differs from that of columns");
        const auto cpu = rows.number("cpu_milli", detail::most_amount);
        if (!cpu)
            return rows.bad_number("cpu_milli", detail::most_amount);
        const auto memory = rows.number("memory_mib", detail::most_amount);
        if (!memory)
            return rows.bad_number("memory_mib", detail::most_amount);
        const auto gpus = rows.number("num_gpu", most_gpus);
        if (!gpus)
            return rows.bad_number("num_gpu", most_gpus);
        const auto milli = rows.number("gpu_milli", most_milli);
        if (!milli)
            return rows.bad_number("gpu_milli", most_milli);
        if ((*gpus == 0) != (*milli == 0))
            return rows.error("num_gpu and gpu_milli must both be 0, or neither");
        if (*gpus > 1 && *milli != most_milli)
            return rows.error("a task with several GPUs must request whole ones");
        trace_task task;
        task.request.cpu = *cpu;
        task.request.gpus = static_cast<std::int32_t>(*gpus);
        task.request.milli = static_cast<std::int32_t>(*milli);
        task.memory_mib = *memory;
        if (!rows.cell("gpu_spec").empty()) {
            task.request.models = 0;
            for (const std::string_view name : detail::split(rows.cell("gpu_spec"), '|')) {
                const auto model = models.number(name);
                if (!model)
                    return rows.error("more than 64 models of GPUs");
                task.request.models |= std::uint64_t{1} << *model;
            }
        }
        tasks.push_back(task);
    }
    return tasks;
}

} // namespace bench::openb
