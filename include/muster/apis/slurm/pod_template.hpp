// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/slurm/job_request.hpp>
#include <muster/apis/slurm/pod_shapes.hpp>
#include <muster/apis/slurm/script_options.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace slurm {

/// The labels of nodes and the resources by which Kubernetes knows what Slurm has names for.
struct node_names {
    std::string_view gpu_resource = "nvidia.com/gpu";
    /// A node with the Slurm feature F has the label `<prefix>F: "true"`: that of Node Feature
    /// Discovery.
    std::string_view feature_prefix = "feature.node.kubernetes.io/";
    /// A node with GPUs of type T has the label `<prefix>T: "true"`.
    std::string_view gpu_type_prefix = "feature.node.kubernetes.io/gpu-";
    std::string_view host_label = "kubernetes.io/hostname";
};

namespace detail {

/// Writes the PodTemplateSpec of pods of one shape.
class template_writer {
public:
    template_writer(const job_request& asked, const node_names& names)
        : asked_(&asked), names_(&names) {}

    [[nodiscard]] boost::json::object write(const pod_shape& shape) const {
        boost::json::object spec;
        if (!asked_->waits.empty()) {
            boost::json::array gates;
            for (const std::string& each : asked_->waits)
                gates.emplace_back(boost::json::object{{"name", "slurm.muster.dev/" + each}});
            spec["schedulingGates"] = std::move(gates);
        }
        add_selector(spec);
        add_affinity(shape, spec);
        if (asked_->seconds)
            spec["activeDeadlineSeconds"] = *asked_->seconds;
        spec["restartPolicy"] = "Never";
        spec["containers"] = boost::json::array{container(shape)};
        return {{"spec", std::move(spec)}};
    }

private:
    [[nodiscard]] std::string feature_label(std::string_view feature) const {
        return std::string(names_->feature_prefix) + std::string(feature);
    }

    void add_selector(boost::json::object& spec) const {
        boost::json::object selector;
        if (asked_->features.any_of.size() == 1)
            for (const std::string& feature : asked_->features.any_of.front())
                selector[feature_label(feature)] = "true";
        for (const auto* const each :
             {&asked_->gpus, &asked_->gpus_per_node, &asked_->gpus_per_task})
            if (*each && !(*each)->mixed && !(*each)->type.empty())
                selector[std::string(names_->gpu_type_prefix) + (*each)->type] = "true";
        if (!selector.empty())
            spec["nodeSelector"] = std::move(selector);
    }

    [[nodiscard]] static boost::json::object requirement(std::string_view key, std::string_view op,
                                                         boost::json::array values) {
        return {{"key", key}, {"operator", op}, {"values", std::move(values)}};
    }

    [[nodiscard]] boost::json::array
    requirements_of(const std::vector<std::string>& features) const {
        boost::json::array made;
        for (const std::string& feature : features)
            made.emplace_back(
                requirement(feature_label(feature), "In", boost::json::array{"true"}));
        return made;
    }

    /// What all alternatives require of the node's name.
    [[nodiscard]] boost::json::array host_requirements(const pod_shape& shape) const {
        boost::json::array made;
        const auto add = [&](std::string_view op, const std::vector<std::string>& hosts) {
            boost::json::array values;
            for (const std::string& each : hosts)
                values.emplace_back(each);
            if (!values.empty())
                made.emplace_back(requirement(names_->host_label, op, std::move(values)));
        };
        if (shape.hosts != host_rule::any)
            add(shape.hosts == host_rule::listed ? "In" : "NotIn", asked_->hosts);
        add("NotIn", asked_->excluded);
        return made;
    }

    void add_affinity(const pod_shape& shape, boost::json::object& spec) const {
        boost::json::object affinity;
        const boost::json::array hosts = host_requirements(shape);
        boost::json::array terms;
        if (asked_->features.any_of.size() > 1) {
            for (const auto& features : asked_->features.any_of) {
                boost::json::array all = requirements_of(features);
                all.insert(all.end(), hosts.begin(), hosts.end());
                terms.emplace_back(boost::json::object{{"matchExpressions", std::move(all)}});
            }
        } else if (!hosts.empty()) {
            terms.emplace_back(boost::json::object{{"matchExpressions", hosts}});
        }
        if (!terms.empty())
            affinity["requiredDuringSchedulingIgnoredDuringExecution"] =
                boost::json::object{{"nodeSelectorTerms", std::move(terms)}};
        boost::json::array preferred;
        for (const auto& features : asked_->preferred.any_of)
            preferred.emplace_back(boost::json::object{
                {"weight", 100},
                {"preference",
                 boost::json::object{{"matchExpressions", requirements_of(features)}}}});
        if (!preferred.empty())
            affinity["preferredDuringSchedulingIgnoredDuringExecution"] = std::move(preferred);
        if (!affinity.empty())
            spec["affinity"] = boost::json::object{{"nodeAffinity", std::move(affinity)}};
    }

    [[nodiscard]] boost::json::object container(const pod_shape& shape) const {
        boost::json::object requests{{"cpu", std::to_string(shape.cpus)}};
        const auto add_size = [&](std::string_view kind, std::int64_t mebibytes) {
            if (mebibytes > 0)
                requests[kind] = std::to_string(mebibytes) + "Mi";
        };
        add_size("memory", shape.mebibytes);
        add_size("ephemeral-storage", asked_->disk_mebibytes);
        boost::json::object resources;
        if (shape.gpus > 0) {
            requests[names_->gpu_resource] = std::to_string(shape.gpus);
            // Kubernetes accepts an extended resource only with an equal limit.
            resources["limits"] =
                boost::json::object{{names_->gpu_resource, std::to_string(shape.gpus)}};
        }
        resources["requests"] = std::move(requests);
        boost::json::object made{{"name", "tasks"}};
        if (!asked_->image.empty())
            made["image"] = asked_->image;
        made["resources"] = std::move(resources);
        return made;
    }

    const job_request* asked_;
    const node_names* names_;
};

} // namespace detail

/// Returns the PodTemplateSpec of pods of this shape.
[[nodiscard]] inline boost::json::object
write_pod_template(const job_request& asked, const pod_shape& shape, const node_names& names = {}) {
    return detail::template_writer(asked, names).write(shape);
}

} // namespace slurm
} // namespace codec
} // namespace v0_1
} // namespace muster
