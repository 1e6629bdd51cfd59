// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <muster/codec/diagnostic.hpp>
#include <muster/codec/document.hpp>
#include <muster/codec/field_reader.hpp>
#include <muster/codec/node_reader.hpp>
#include <muster/codec/objects.hpp>
#include <muster/codec/pod_reader.hpp>
#include <muster/codec/reading_context.hpp>
#include <muster/codec/t9k_reader.hpp>
#include <muster/codec/topology_reader.hpp>

namespace muster::inline v0_1 {
namespace codec {

struct manifest_options {
    /// For namespaced objects that name none.
    std::string default_namespace = "default";
};

namespace detail {

/// Reads objects of all kinds and lists of them.
class manifest_reader {
public:
    explicit manifest_reader(const manifest_options& options) {
        context_.default_namespace = options.default_namespace;
    }

    void read(const field& at) {
        object_reader object = at.as_object();
        if (is_object(at, object))
            read_object(object);
    }

    [[nodiscard]] manifests finish() && {
        made_.newest = context_.newest;
        return std::move(made_);
    }

private:
    /// What is absent was not reported when it was taken for an object.
    static bool is_object(const field& at, const object_reader& object) {
        if (!at.is_present())
            at.mismatch("an object");
        return object.is_present();
    }

    void read_object(object_reader& object) {
        const auto version = object.required("apiVersion").as_string();
        const auto kind = object.required("kind").as_string();
        if (!version || !kind) {
            object.ignore_rest();
            return;
        }
        if (kind->ends_with("List") && object.value()->get_object().contains("items")) {
            read_list(object, *version, *kind);
            return;
        }
        take(object, *version, *kind);
    }

    void read_list(object_reader& list, std::string_view version, std::string_view kind) {
        const field metadata_at = list.optional("metadata");
        object_reader metadata = metadata_at.as_object();
        const field more_at = metadata.optional("continue");
        if (!more_at.as_string().value_or("").empty())
            more_at.warning("the list goes on elsewhere (expected a whole list)");
        metadata.ignore_rest();
        const field items_at = list.optional("items");
        const array_reader items = items_at.as_array();
        for (std::size_t at = 0; at < items.size(); ++at) {
            items_.push_back(at);
            read_item(items[at], version, kind);
            items_.pop_back();
        }
        list.ignore_rest();
    }

    /// Items of a typed list may leave out what the list's own kind says.
    void read_item(const field& at, std::string_view version, std::string_view list) {
        object_reader object = at.as_object();
        if (!is_object(at, object))
            return;
        if (list == "List" || object.optional("kind").is_present())
            return read_object(object);
        take(object, version, list.substr(0, list.size() - 4));
    }

    void take(object_reader& object, std::string_view version, std::string_view kind) {
        const bool core = version == "v1";
        const bool t9k = version == "scheduler.tensorstack.dev/v1beta1";
        if (core && kind == "Node")
            keep(made_.nodes, object, kind, read_node(object, context_));
        else if (core && kind == "Pod")
            keep(made_.pods, object, kind, read_pod(object, context_));
        else if (core && kind == "Namespace")
            keep(made_.namespaces, object, kind, read_namespace(object));
        else if (version == "scheduling.k8s.io/v1" && kind == "PriorityClass")
            keep(made_.priority_classes, object, kind, read_priority_class(object));
        else if (version == "kai.scheduler/v1alpha1" && kind == "Topology")
            keep(made_.topologies, object, kind, read_topology(object, context_));
        else if (t9k && kind == "PodGroup")
            keep(made_.pod_groups, object, kind, read_pod_group(object, context_));
        else if (t9k && kind == "Queue")
            keep(made_.queues, object, kind, read_queue(object, context_));
        else {
            ++made_.skipped[std::string(version) + " " + std::string(kind)];
            object.ignore_rest();
        }
    }

    namespace_object read_namespace(object_reader& object) {
        namespace_object read;
        read.metadata = read_metadata(object, false, context_);
        object.ignore_rest();
        return read;
    }

    priority_class_object read_priority_class(object_reader& object) {
        priority_class_object read;
        read.metadata = read_metadata(object, false, context_);
        read.value = object.required("value").as_integer(-2147483648LL, 2147483647).value_or(0);
        read.global_default = object.optional("globalDefault").as_boolean().value_or(false);
        object.ignore({"apiVersion", "kind", "description", "preemptionPolicy"});
        object.finish();
        return read;
    }

    template<class Object>
    void keep(std::vector<Object>& to, const object_reader& object, std::string_view kind,
              Object read) {
        read.metadata.where = {&object.source(), items_};
        std::string name =
            std::string(kind) + ' ' + read.metadata.key.name_space + '/' + read.metadata.key.name;
        if (!names_.insert(std::move(name)).second) {
            object.error(std::string(kind) + " " + in_quotes(read.metadata.key.name) +
                         " is there twice (expected every object once)");
            return;
        }
        to.push_back(std::move(read));
    }

    reading_context context_;
    manifests made_;
    std::unordered_set<std::string> names_;
    /// The way to the object at hand, through the lists around it.
    std::vector<std::size_t> items_;
};

} // namespace detail

/// Reads Kubernetes objects and lists of them: Node, Pod, Namespace, PriorityClass, T9k's PodGroup
/// and Queue, and KAI's Topology. Objects of other kinds are counted. What is wrong goes to `out`
/// with its place; the objects are to be used only when there is no error, and while the documents
/// live. O(input).
[[nodiscard]] inline manifests read_manifests(const std::vector<document>& documents,
                                              const manifest_options& options, diagnostics& out) {
    detail::manifest_reader reader(options);
    for (const document& each : documents)
        reader.read(field(each, out));
    return std::move(reader).finish();
}

} // namespace codec
} // namespace muster::inline v0_1
