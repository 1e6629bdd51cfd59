// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/slurm/array_text.hpp>
#include <muster/apis/slurm/job_request.hpp>
#include <muster/apis/slurm/pod_shapes.hpp>
#include <muster/apis/slurm/pod_template.hpp>
#include <muster/apis/slurm/script_lines.hpp>
#include <muster/apis/slurm/script_options.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/document/source_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace slurm {

/// The object that stands for a batch script: what its options ask for, as roles of pods. Only
/// Muster knows the kind.
inline constexpr std::string_view script_api = "slurm.muster.dev/v1";
inline constexpr std::string_view script_kind = "BatchScript";
/// By these annotations slurm-bridge reads options of Slurm from pods.
inline constexpr std::string_view bridge_prefix = "slurmjob.slinky.slurm.net/";

/// Returns a name for Kubernetes: lower case, and dashes for what no name may have. At most 40
/// bytes, so that indices have room behind it.
[[nodiscard]] inline std::string object_name(std::string_view text) {
    std::string made;
    for (const char each : text) {
        const char lower = each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
        const bool kept = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
        if (kept)
            made += lower;
        else if (!made.empty() && made.back() != '-' && made.back() != '.')
            made += lower == '.' ? '.' : '-';
        if (made.size() == 40)
            break;
    }
    while (!made.empty() && (made.back() == '-' || made.back() == '.'))
        made.pop_back();
    return made.empty() ? "job" : made;
}

namespace detail {

/// All of an object that was made from a script stands at the beginning of the script.
class script_index final : public codec::detail::document_index {
public:
    static std::unique_ptr<codec::detail::document_index> make(std::string_view) {
        return std::make_unique<script_index>();
    }
    spot find(const boost::json::value&, path_view) const override { return {}; }
    std::string scalar(spot) const override { return {}; }
};

class script_reader {
public:
    script_reader(const source_text& source, const node_names& names, diagnostics& out)
        : source_(&source), names_(&names), report_(source, out) {}

    /// nullopt if there is an error.
    [[nodiscard]] std::optional<boost::json::object> run() {
        const std::size_t errors = report_.errors();
        check_text();
        const script_lines lines = find_directives(source_->text(), source_->start());
        check_lines(lines);
        if (report_.errors() != errors)
            return std::nullopt;
        components_ = read_script_options(lines.directives, report_);
        if (report_.errors() != errors)
            return std::nullopt;
        boost::json::object made{{"apiVersion", script_api}, {"kind", script_kind}};
        made["metadata"] = boost::json::object{{"name", object_name(name())}};
        made["spec"] = spec();
        warn_of_lines(lines);
        if (report_.errors() != errors)
            return std::nullopt;
        return made;
    }

private:
    void check_text() const {
        const std::string_view text = source_->text();
        if (!text.substr(source_->start()).starts_with("#!"))
            report_.add_at(severity::error, source_->start(),
                           "the first line names no interpreter (expected e.g. #!/bin/bash, "
                           "without which sbatch refuses the script)");
        if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
            report_.add_at(severity::error, zero, "a zero byte (expected text, as sbatch does)");
    }

    void check_lines(const script_lines& lines) const {
        for (const directive_line& each : lines.directives)
            if (each.text.size() > limits::scalar_bytes)
                report_.add_at(severity::error, each.offset,
                               "the line is too long (expected at most 4 MiB)");
            else if (const std::size_t at = codec::detail::find_unprintable(each.text);
                     at != std::string_view::npos)
                report_.add_at(severity::error, each.offset + at,
                               "not UTF-8, or a control character (expected text)");
    }

    void warn_of_lines(const script_lines& lines) const {
        const auto dos = std::ranges::find_if(
            lines.directives, [](const directive_line& each) { return each.text.ends_with('\r'); });
        if (dos != lines.directives.end())
            report_.add_at(severity::warning, dos->offset,
                           "the script has DOS line breaks, with which sbatch refuses it");
        if (lines.late > 0)
            report_.add_at(severity::warning, lines.first_late,
                           "ignored as by sbatch, since it is behind the first command" +
                               more_text(lines.late - 1, "line"));
        if (lines.first_foreign != std::string_view::npos)
            report_.add_at(severity::warning, lines.first_foreign,
                           "options of other systems are not read, though sbatch may translate "
                           "them");
    }

    [[nodiscard]] const script_option* find(std::string_view name) const {
        return components_.front().find(name);
    }

    /// As sbatch: the name of the file, or `sbatch` for standard input.
    [[nodiscard]] std::string name() const {
        if (const script_option* const option = find("job-name"))
            return option->value;
        const std::string& file = source_->name();
        return file.starts_with('<') ? "sbatch" : file.substr(file.find_last_of('/') + 1);
    }

    [[nodiscard]] boost::json::object spec() {
        boost::json::object made;
        read_partition(made);
        read_priority(made);
        if (find("switches"))
            made["switches"] = find("switches")->value;
        made["roles"] = roles();
        read_job_array(made);
        return made;
    }

    void read_partition(boost::json::object& to) const {
        const script_option* const first = find("partition");
        if (first) {
            const std::string partition = first->value.substr(0, first->value.find(','));
            if (partition.size() < first->value.size())
                report_.warning(*first, "Slurm chooses one of several partitions; " +
                                            in_quotes(partition) + " stands for them");
            to["queue"] = partition;
        }
        for (const job_component& each : components_)
            if (const script_option* const other = each.find("partition");
                other && (!first || other->value != first->value))
                report_.warning(*other, "a gang has one queue, here that of the first component");
    }

    void read_priority(boost::json::object& to) const {
        constexpr std::int64_t largest = 4'294'967'295;
        std::optional<std::int64_t> priority;
        if (const script_option* const qos = find("qos")) {
            priority = parse_number(qos->value);
            if (!priority)
                report_.warning(*qos, "which priority and limits " + in_quotes(qos->value) +
                                          " has is known to Slurm alone, so the job has none of "
                                          "them (--priority gives a number)");
        }
        if (const script_option* const option = find("priority")) {
            if (equal_in_any_case(option->value, "top"))
                report_.warning(*option, "the highest priority is known to Slurm alone, so the job "
                                         "has none (expected a number)");
            else if (priority = parse_number(option->value, 1, largest); !priority)
                report_.refuse(
                    *option, "a priority",
                    "a whole number from 1 to 4294967295, or TOP; a held job has --hold");
        }
        if (const script_option* const nice = find("nice")) {
            const std::string_view text = nice->has_value ? nice->value : std::string_view("100");
            const bool negative = text.starts_with('-');
            const auto read = parse_number(text.substr(negative ? 1 : 0), 0, 2'147'483'645);
            if (!read)
                report_.refuse(*nice, "an adjustment",
                               "a whole number from -2147483645 to 2147483645");
            else
                priority = priority.value_or(0) + (negative ? *read : -*read);
        }
        if (priority)
            to["priority"] = std::clamp<std::int64_t>(*priority, -largest_count, largest_count);
    }

    [[nodiscard]] boost::json::array roles() const {
        boost::json::array made;
        for (std::size_t at = 0; at < components_.size(); ++at)
            made.emplace_back(role(components_[at], at));
        return made;
    }

    [[nodiscard]] boost::json::object role(const job_component& component, std::size_t at) const {
        boost::json::object made;
        if (components_.size() > 1)
            made["name"] = "het-" + std::to_string(at);
        const std::size_t errors = report_.errors();
        job_request asked = read_job_request(component, report_);
        if (report_.errors() != errors)
            return made;
        const auto shape = shape_of(asked);
        if (!shape) {
            report_.add_at(severity::error, offset_of(component, shape.error().option),
                           shape.error().message, "--" + std::string(shape.error().option));
            return made;
        }
        if (!shape->remark.empty())
            report_.add_at(severity::warning, component.offset, shape->remark);
        const bool one_node = shape->pods.size() == 1 && shape->pods.front().count == 1;
        check_features(component, asked, one_node);
        made["minimum"] = shape->minimum;
        made["ownNodes"] = shape->one_per_node && !one_node;
        made["exclusive"] = asked.exclusive;
        boost::json::array pods;
        for (const pod_shape& each : shape->pods) {
            boost::json::object pod_template = write_pod_template(asked, each, *names_);
            if (boost::json::object marks = annotations(component, asked); !marks.empty())
                pod_template["metadata"] = boost::json::object{{"annotations", std::move(marks)}};
            pods.emplace_back(
                boost::json::object{{"count", each.count}, {"template", std::move(pod_template)}});
        }
        made["pods"] = std::move(pods);
        return made;
    }

    /// Alternatives of which all nodes must have the same one are modelled for one node.
    void check_features(const job_component& component, job_request& asked, bool one_node) const {
        const script_option* const option = component.find("constraint");
        if (!option || !asked.features.same_for_all || asked.features.any_of.size() < 2 || one_node)
            return;
        asked.features = {};
        asked.waits.emplace_back("constraint");
        report_.warning(*option, "one feature for all nodes is not modelled, so the job waits "
                                 "(scheduling gate slurm.muster.dev/constraint)");
    }

    [[nodiscard]] static std::size_t offset_of(const job_component& component,
                                               std::string_view name) {
        const script_option* const option = component.find(name);
        return option ? option->offset : component.offset;
    }

    /// What no field of a pod says, for Slurm's own scheduler of pods.
    [[nodiscard]] boost::json::object annotations(const job_component& component,
                                                  const job_request& asked) const {
        boost::json::object made;
        for (const std::string_view name :
             {"account", "job-name", "licenses", "partition", "qos", "reservation"})
            if (const script_option* const option = component.find(name))
                made[std::string(bridge_prefix) + std::string(name)] = option->value;
        if (asked.seconds)
            made[std::string(bridge_prefix) + "timelimit"] = std::to_string(*asked.seconds / 60);
        return made;
    }

    void read_job_array(boost::json::object& to) const {
        const script_option* const option = find("array");
        if (!option)
            return;
        const auto read = parse_array(option->value);
        if (!read)
            return report_.refuse(*option, "a list of at most 100000 indices", "e.g. 0-15:4,20%2");
        if (components_.size() > 1)
            return report_.error(*option, "a job array has one component (expected no hetjob)");
        to["indices"] = boost::json::array(read->indices.begin(), read->indices.end());
        if (read->at_once && *read->at_once < static_cast<std::int64_t>(read->indices.size())) {
            to["atOnce"] = *read->at_once;
            report_.warning(*option, "how many of its jobs run at a time is not modelled, so those "
                                     "behind the first " +
                                         std::to_string(*read->at_once) +
                                         " wait (scheduling gate slurm.muster.dev/array)");
        }
    }

    const source_text* source_;
    const node_names* names_;
    option_report report_;
    std::vector<job_component> components_;
};

} // namespace detail

/// Reads a batch script as a document with one object, which read_batch_script() reads as a gang.
/// With an error in `out` there is no document. Precondition: is_batch_script(). O(text · options).
[[nodiscard]] inline std::vector<document>
read_script(const std::shared_ptr<const source_text>& source, diagnostics& out,
            const node_names& names = {}) {
    std::vector<document> documents;
    if (auto object = detail::script_reader(*source, names, out).run())
        documents.emplace_back(source, source->start(), source->text().size(),
                               boost::json::value(std::move(*object)), detail::script_index::make);
    return documents;
}

} // namespace slurm
} // namespace codec
} // namespace v0_1
} // namespace muster
