// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/codec/diagnostic.hpp>
#include <muster/model/constraints.hpp>
#include <muster/model/labels.hpp>
#include <muster/model/pod.hpp>
#include <muster/model/taints.hpp>
#include <muster/resource/quantity.hpp>

namespace muster::inline v0_1 {
namespace codec {

/// Nanoseconds since 1970-01-01T00:00:00Z.
using timestamp = std::int64_t;

/// The name of a namespaced object.
struct object_key {
    std::string name_space;
    std::string name;

    [[nodiscard]] friend auto operator<=>(const object_key&, const object_key&) = default;
};

struct object_metadata {
    object_key key;
    std::string uid;
    label_set labels;
    label_set annotations;
    /// Absent for an object that was never created: it counts as created now.
    std::optional<timestamp> created;
    bool terminating = false;
    /// Where the object stands in the input.
    location where;
};

/// An amount of one kind in thousandths, wide enough for sums, with the way it was written.
struct named_amount {
    int128 milli = 0;
    quantity_format format = quantity_format::decimal_si;
};

/// Amounts by the name of their kind.
using named_amounts = std::map<std::string, named_amount>;

struct node_object {
    object_metadata metadata;
    /// Rounded down to what the core counts in: thousandths of cpu, units of all else.
    std::map<std::string, std::int64_t> allocatable;
    std::vector<taint> taints;
    bool unschedulable = false;
};

struct pod_object {
    object_metadata metadata;
    named_amounts requests;
    constraints where;
    /// What of it is not modelled, in the fields' own words; the pod waits for as long as any is.
    std::vector<std::string> unsupported;
    pod_phase phase = pod_phase::pending;
    /// As the API server has it, for counts: Pending, Running, Succeeded, Failed or Unknown.
    std::string api_phase = "Pending";
    std::string node;
    std::string scheduler_name;
    std::optional<std::int64_t> priority;
    std::string priority_class;
    /// When it became PodScheduled=True.
    std::optional<timestamp> scheduled;
    /// Required anti-affinity of a pod that stands somewhere: others must keep away from it.
    struct repulsion {
        label_selector pods;
        std::vector<std::string> namespaces;
        std::optional<label_selector> namespace_selector;
    };
    std::vector<repulsion> repels;
};

struct role_minimum {
    std::string name;
    std::int64_t min_member = 0;
};

/// A condition as T9k writes it.
struct condition {
    std::string type;
    bool is_true = false;
    std::string reason;
    std::string message;
    std::string transition_id;
    std::optional<timestamp> changed;
};

/// scheduler.tensorstack.dev/v1beta1 PodGroup.
struct pod_group_object {
    object_metadata metadata;
    std::int64_t min_member = 0;
    std::vector<role_minimum> roles;
    std::string queue = "default";
    std::int64_t priority = 0;
    std::vector<condition> conditions;
};

/// scheduler.tensorstack.dev/v1beta1 Queue.
struct queue_object {
    object_metadata metadata;
    std::map<std::string, std::int64_t> quota;
    std::int64_t priority = 0;
    bool closed = false;
    std::optional<label_selector> namespaces;
    label_selector nodes;
};

struct namespace_object {
    object_metadata metadata;
};

struct priority_class_object {
    object_metadata metadata;
    std::int64_t value = 0;
    bool global_default = false;
};

/// What an input holds, as far as it is understood.
struct manifests {
    std::vector<node_object> nodes;
    std::vector<pod_object> pods;
    std::vector<pod_group_object> pod_groups;
    std::vector<queue_object> queues;
    std::vector<namespace_object> namespaces;
    std::vector<priority_class_object> priority_classes;
    /// Objects of kinds that are not understood, by `apiVersion kind`.
    std::map<std::string, std::size_t> skipped;
    /// The newest time that the input names.
    std::optional<timestamp> newest;
};

} // namespace codec
} // namespace muster::inline v0_1
