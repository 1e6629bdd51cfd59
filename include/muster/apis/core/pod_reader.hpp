// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/extended_requests.hpp>
#include <muster/apis/core/node_affinity_reader.hpp>
#include <muster/apis/core/node_reader.hpp>
#include <muster/apis/core/numa/aligned_requests.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_claim_reader.hpp>
#include <muster/apis/core/pod_field_types.hpp>
#include <muster/apis/core/pod_terms_reader.hpp>
#include <muster/apis/core/pod_volume_reader.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/core/request_reader.hpp>
#include <muster/apis/gang_facts.hpp>
#include <muster/apis/shares/device_shares.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Reads `spec.os` as a node requirement: the label kubernetes.io/os names the same system or is
/// absent. kube-scheduler ignores the field, but the kubelet of another system rejects the pod.
inline void read_os(const field& at, pod_object& pod) {
    object_reader object = at.as_object();
    const field name_at = object.optional("name");
    const auto name = name_at.as_string();
    finish(object, pod_tables::os, pod.unsupported);
    if (!name || name->empty())
        return;
    if (*name != "linux" && *name != "windows")
        return name_at.error(in_quotes(*name) +
                             " is not an operating system (expected linux or windows)");
    label_requirement other;
    other.key = "kubernetes.io/os";
    other.op = label_operator::not_in;
    other.values = {*name == "linux" ? "windows" : "linux"};
    pod.where.selector.requirements.push_back(std::move(other));
}

inline void read_tolerations(const field& at, std::vector<toleration>& tolerations,
                             std::vector<std::string>& unsupported) {
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) {
        toleration one;
        const auto key = each.optional("key").as_string();
        const field op_at = each.optional("operator");
        const auto op = op_at.as_string().value_or("Equal");
        const field value_at = each.optional("value");
        const auto value = value_at.as_string();
        const field effect_at = each.optional("effect");
        if (!effect_at.as_string().value_or("").empty())
            one.effect = read_effect(effect_at);
        finish(each, pod_tables::toleration, unsupported);
        if (key && !key->empty())
            one.key = std::string(*key);
        const bool orders = op == "Gt" || op == "Lt";
        if (orders || op == "Equal" || op.empty())
            one.value = std::string(value.value_or(""));
        else if (op != "Exists")
            op_at.error(in_quotes(op) + " is not an operator (expected Exists, Equal, Gt or Lt)");
        if (orders) {
            one.comparison = op == "Gt" ? taint_comparison::greater : taint_comparison::less;
            if (!taint_number(*one.value))
                value_at.error(in_quotes(*one.value) + " is not a number that " + std::string(op) +
                               " compares (expected a decimal integer of 64 bits)");
        }
        if (!one.key && one.value)
            op_at.error("the operator is " + std::string(op.empty() ? "Equal" : op) +
                        " without a key (expected Exists)");
        tolerations.push_back(std::move(one));
    });
}

inline void read_ports(const field& at, bool host_network, constraints& where) {
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) {
        host_port one;
        const field own_at = each.optional("containerPort");
        const auto own = own_at.as_integer(0, 65535);
        auto port = each.optional("hostPort").as_integer(0, 65535);
        if (host_network && port.value_or(0) == 0)
            port = own;
        if (const auto protocol = each.optional("protocol").as_string())
            one.protocol = *protocol;
        if (const auto address = each.optional("hostIP").as_string();
            address && *address != "0.0.0.0" && *address != "::")
            one.address = *address;
        each.ignore({"name"});
        each.finish();
        if (port && *port > 0) {
            one.port = static_cast<std::int32_t>(*port);
            where.claims.ports.push_back(std::move(one));
        }
    });
}

inline void finish_container(object_reader& container) {
    check_container_types(container);
    container.finish();
}

/// Per container: what the kubelet has set aside, which may differ from the spec while a pod is
/// resized in place; the greater counts (KEP-1287).
[[nodiscard]] inline std::map<std::string, named_amounts, std::less<>>
read_set_aside(object_reader& status) {
    std::map<std::string, named_amounts, std::less<>> read;
    for (const std::string_view list : {"containerStatuses", "initContainerStatuses"}) {
        const field at = status.optional(list);
        const array_reader containers = at.as_array();
        containers.for_each_object([&](object_reader& each) {
            const auto name = each.optional("name").as_string();
            named_amounts amounts = read_amounts(each.optional("allocatedResources"));
            const field resources_at = each.optional("resources");
            object_reader resources = resources_at.as_object();
            raise(amounts, read_amounts(resources.optional("requests")));
            resources.ignore_rest();
            each.ignore_rest();
            if (name && !amounts.empty())
                read.emplace(std::string(*name), std::move(amounts));
        });
    }
    return read;
}

/// A mark by which a pod names its gang: unless that gang is read too, the pod must not be taken
/// for one of its own.
inline void note_gang_mark(std::string mark, pod_object& pod) {
    pod.unsupported.push_back(mark);
    pod.gang_marks.push_back(std::move(mark));
}

/// Reads the fields of the spec that name a gang of Kubernetes.
inline void read_gang_fields(object_reader& spec, pod_object& pod) {
    const field group_at = spec.optional("schedulingGroup");
    object_reader group = group_at.as_object();
    pod.pod_group = string_or_empty(group.optional("podGroupName"));
    finish(group, pod_tables::scheduling_group, pod.unsupported);
    const field workload_at = spec.optional("workloadRef");
    object_reader workload = workload_at.as_object();
    // The gang reader uses the values.
    check_types(workload, pod_tables::workload_reference);
    finish(workload, pod_tables::workload_reference, pod.unsupported);
    for (const field* const each : {&group_at, &workload_at})
        if (each->is_present())
            note_gang_mark(each->path(), pod);
}

/// Makes the paths of unsupported fields relative to the pod, also for pod templates.
inline void begin_at_pod(pod_object& pod, const field& spec) {
    if (pod.unsupported.empty())
        return;
    std::string before = spec.path();
    before.resize(before.size() - std::string_view("spec").size());
    for (std::vector<std::string>* const paths :
         {&pod.unsupported, &pod.gang_marks, &pod.share_marks})
        for (std::string& each : *paths)
            if (each.starts_with(before))
                each.erase(0, before.size());
}

/// The marks of gang APIs other than T9k's and ACK's names.
inline void read_foreign_gangs(const object_metadata& metadata, pod_object& pod) {
    namespace keys = translate::keys;
    const auto note = [&](const translate::gang_mark& mark) {
        const bool label = mark.at == translate::mark_place::label;
        if (label ? metadata.labels.find(mark.key) : metadata.annotations.find(mark.key))
            note_gang_mark((label ? "metadata.labels[" : "metadata.annotations[") +
                               std::string(mark.key) + "]",
                           pod);
    };
    for (const translate::api_facts& api : translate::gang_facts)
        for (const translate::gang_mark& each : api.marks)
            if (each.use == translate::mark_use::membership &&
                (each.at == translate::mark_place::label ||
                 each.at == translate::mark_place::annotation) &&
                each.key != keys::t9k_group && each.key != keys::sigs_name &&
                each.key != keys::sigs_minimum)
                note(each);
    note({translate::mark_place::annotation, keys::kueue_total});
}

inline constexpr std::string_view run_seconds_annotation = "muster.dev/run-seconds";
/// Of the work that it declares, what earlier attempts have done already.
inline constexpr std::string_view ran_seconds_annotation = "muster.dev/ran-seconds";
inline constexpr std::int64_t longest_seconds = std::numeric_limits<std::int32_t>::max();

/// A whole number of seconds; of a list with an entry for each attempt, the first.
[[nodiscard]] inline std::optional<std::int64_t>
read_seconds(const field& object, const pod_object& pod, std::string_view key, std::int64_t least) {
    const std::string* declared = pod.metadata.annotations.find(key);
    if (!declared)
        return std::nullopt;
    const std::string_view first = std::string_view(*declared).substr(0, declared->find(','));
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), value);
    if (error == std::errc{} && end == first.data() + first.size() && value >= least &&
        value <= longest_seconds)
        return value;
    object.warning("annotation " + std::string(key) + ": " + in_quotes(*declared) +
                   " is no number of seconds, and says nothing (expected " + std::to_string(least) +
                   " to " + std::to_string(longest_seconds) + ")");
    return std::nullopt;
}

[[nodiscard]] inline std::optional<std::int64_t>
read_run_time(const field& deadline, const field& object, const pod_object& pod) {
    constexpr std::int64_t second = 1'000'000'000;
    std::optional<std::int64_t> seconds = deadline.as_integer(1, longest_seconds);
    const auto ran = read_seconds(object, pod, ran_seconds_annotation, 0);
    if (const auto declared = read_seconds(object, pod, run_seconds_annotation, 1)) {
        const std::int64_t rest = std::max<std::int64_t>(0, *declared - ran.value_or(0));
        seconds = std::min(rest, seconds.value_or(rest));
    }
    return seconds ? std::optional(*seconds * second) : std::nullopt;
}

/// Returns the names of scheduling gates, without checks: the API server checks the names.
[[nodiscard]] inline std::vector<std::string> gate_names(const array_reader& gates) {
    std::vector<std::string> names;
    gates.for_each([&](const field& each) {
        const auto* const gate = each.value() ? each.value()->if_object() : nullptr;
        const boost::json::value* const name = gate ? gate->if_contains("name") : nullptr;
        names.emplace_back(name && name->is_string() ? std::string_view(name->get_string()) : "");
    });
    return names;
}

} // namespace detail

/// A v1 Pod.
[[nodiscard]] inline pod_object read_pod(object_reader& object, reading_context& context) {
    pod_object read;
    read.metadata = read_metadata(object, true, context);
    detail::read_foreign_gangs(read.metadata, read);
    detail::note_share_annotations(read.metadata, read);

    const field status_at = object.optional("status");
    object_reader status = status_at.as_object();
    const field phase_at = status.optional("phase");
    const auto phase = phase_at.as_string();
    const auto set_aside = detail::read_set_aside(status);
    const field conditions_at = status.optional("conditions");
    const array_reader conditions = conditions_at.as_array();
    conditions.for_each_object([&](object_reader& each) {
        const auto type = each.optional("type").as_string();
        const auto is = each.optional("status").as_string();
        const auto since = context.time(each.optional("lastTransitionTime"));
        each.ignore_rest();
        if (type == "PodScheduled" && is == "True")
            read.scheduled = since;
        if (type == "Ready" && is)
            read.ready = *is == "True";
    });
    read.started = context.time(status.optional("startTime"));
    if (const auto name = status.optional("nominatedNodeName").as_string())
        read.nominated_node = *name;
    const field claims_at = status.optional("resourceClaimStatuses");
    const field extended_at = status.optional("extendedResourceClaimStatus");
    object_reader extended = extended_at.as_object();
    read.extended_claim = detail::string_or_empty(extended.optional("resourceClaimName"));
    extended.ignore_rest();
    status.ignore_rest();

    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    const bool host_network = spec.optional("hostNetwork").as_boolean().value_or(false);
    pod_request request;
    std::size_t position = 0;
    const auto with_set_aside = [&](object_reader& container, bool is_init, bool is_sidecar) {
        const field resources = container.optional("resources");
        resource_lists lists = read_resources(resources, read.unsupported);
        named_amounts amounts = with_defaults(lists);
        detail::note_share_resources(amounts, resources, read);
        const auto name = container.optional("name").as_string();
        read.share_containers.push_back(
            {std::string(name.value_or("")), std::move(lists), is_init, is_sidecar});
        detail::read_extended_requests(resources, name.value_or(""), position++, is_init,
                                       read.extended);
        if (const auto known = set_aside.find(name.value_or("")); known != set_aside.end())
            raise(amounts, known->second);
        detail::read_ports(container.optional("ports"), host_network, read.where);
        return amounts;
    };
    const field init_at = spec.optional("initContainers");
    const array_reader init = init_at.as_array();
    init.for_each_object([&](object_reader& each) {
        const auto ports = read.where.claims.ports.size();
        const auto restart = each.optional("restartPolicy").as_string();
        const bool sidecar = restart && *restart == "Always";
        const named_amounts amounts = with_set_aside(each, !sidecar, sidecar);
        if (!sidecar)
            read.where.claims.ports.resize(ports);
        request.add_init_container(amounts, sidecar);
        detail::finish_container(each);
    });
    const field containers_at = spec.required("containers");
    const array_reader containers = containers_at.as_array();
    if (containers.is_present() && containers.size() == 0)
        containers_at.error("no container is there (expected at least one)");
    containers.for_each_object([&](object_reader& each) {
        request.add_container(with_set_aside(each, false, false));
        detail::finish_container(each);
    });
    const resource_lists pod_level =
        read_pod_level_resources(spec.optional("resources"), read.unsupported);
    const field overhead_at = spec.optional("overhead");
    read.has_overhead = overhead_at.is_present();
    read.requests = request.total(pod_level, read_amounts(overhead_at));
    read.aligned = aligned_requests(read.share_containers,
                                    !pod_level.requests.empty() || !pod_level.limits.empty());
    if (read.share_marks.empty() && std::ranges::none_of(read.requests, [](const auto& each) {
            return is_gpu_resource(each.first);
        }))
        read.share_containers.clear();
    // Every pod takes one of `pods`, whatever it writes.
    if (const auto own = read.requests.find("pods"); own != read.requests.end())
        read.requests.erase(own);

    read.where.selector.requirements = require_equal(read_labels(spec.optional("nodeSelector")));
    detail::read_os(spec.optional("os"), read);
    const field affinity_at = spec.optional("affinity");
    object_reader affinity = affinity_at.as_object();
    detail::read_node_affinity(affinity.optional("nodeAffinity"), read);
    pod_terms terms;
    detail::read_pod_affinity(affinity.optional("podAffinity"), read.metadata, 1, terms,
                              read.unsupported);
    detail::read_pod_affinity(affinity.optional("podAntiAffinity"), read.metadata, -1, terms,
                              read.unsupported);
    detail::finish(affinity, detail::pod_tables::affinity, read.unsupported);
    detail::read_spread(spec.optional("topologySpreadConstraints"), read.metadata, context.rules,
                        terms, read.unsupported);
    if (terms.any())
        read.where.pods = std::move(terms);
    detail::read_tolerations(spec.optional("tolerations"), read.where.tolerations,
                             read.unsupported);
    detail::read_volumes(spec.optional("volumes"), read);
    read.claims =
        detail::read_pod_claims(spec.optional("resourceClaims"), claims_at, read.unsupported);
    detail::read_gang_fields(spec, read);
    const field gates_at = spec.optional("schedulingGates");
    const array_reader gates = gates_at.as_array();
    read.run_time = detail::read_run_time(spec.optional("activeDeadlineSeconds"), object, read);
    read.priority = spec.optional("priority").as_integer();
    if (const auto name = spec.optional("priorityClassName").as_string())
        read.priority_class = *name;
    read.never_preempts = read_never_preempts(spec.optional("preemptionPolicy"));
    if (const auto name = spec.optional("schedulerName").as_string())
        read.scheduler_name = *name;
    read.runtime_class = detail::string_or_empty(spec.optional("runtimeClassName"));
    if (const auto name = spec.optional("nodeName").as_string())
        read.node = *name;
    detail::drop_container_fields(spec);
    detail::finish(spec, detail::pod_tables::spec, read.unsupported);
    detail::begin_at_pod(read, spec_at);
    object.ignore({"apiVersion", "kind"});
    object.finish();

    if (phase && !phase->empty())
        read.api_phase = *phase;
    if (read.api_phase == "Succeeded")
        read.phase = pod_phase::succeeded;
    else if (read.api_phase == "Failed")
        read.phase = pod_phase::failed;
    else if (read.api_phase == "Running")
        read.phase = pod_phase::running;
    else if (read.api_phase == "Unknown")
        read.phase = pod_phase::unknown;
    else if (read.api_phase != "Pending")
        phase_at.error(in_quotes(read.api_phase) +
                       " is not a phase (expected Pending, Running, Succeeded, Failed or Unknown)");
    else if (!read.node.empty())
        read.phase = pod_phase::bound;
    else if (gates.size() > 0) {
        read.phase = pod_phase::gated;
        read.gates = detail::gate_names(gates);
        read.schedulers_gate = read.gates == std::vector{std::string(translate::keys::grove_gate)};
    }
    if (read.node.empty() && read.phase == pod_phase::running)
        phase_at.error("the pod runs without spec.nodeName (expected the name of its node)");
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
