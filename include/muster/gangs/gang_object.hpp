// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/gangs/gang_api.hpp>
#include <muster/gangs/loss.hpp>
#include <muster/gangs/target.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// An object as an ownerReference names it.
struct object_reference {
    std::string api_version;
    std::string kind;
    std::string name;
    std::string uid;
    bool controller = true;

    [[nodiscard]] friend bool operator==(const object_reference&,
                                         const object_reference&) = default;
};

/// How important a gang is, in the words of its API: a number, the name of a PriorityClass, both or
/// neither.
struct gang_priority {
    std::optional<std::int64_t> number;
    std::string class_name;

    [[nodiscard]] friend bool operator==(const gang_priority&, const gang_priority&) = default;
};

/// Something that only the API it comes from has a word for, verbatim. A writer for the same API
/// puts it back where it stood, every other one names its loss.
struct own_word {
    gang_api api = gang_api::none;
    loss_kind what = loss_kind::lifecycle;
    /// A field of the group's spec; or an annotation of the group, when it holds a '/'.
    std::string field;
    boost::json::value value;

    [[nodiscard]] friend bool operator==(const own_word&, const own_word&) = default;
};

/// What an object that stands for a part of a gang says for itself: a gang of a gang group.
struct part_words {
    boost::json::object labels;
    boost::json::object annotations;
    std::vector<own_word> own_words;
    std::optional<boost::json::object> min_resources;
    std::optional<std::int64_t> wait_seconds;
    std::vector<object_reference> owners;

    [[nodiscard]] friend bool operator==(const part_words&, const part_words&) = default;
};

/// How many pods there are to be below a leaf of the gang's tree, and what else is its own.
struct leaf_size {
    vertex_index leaf;
    std::int64_t replicas = 0;
    /// Where its members live; empty: in the gang's namespace.
    std::string name_space{};
    /// The object that stands for this leaf alone in its API, where there is one: a gang of a gang
    /// group, a PodGroup of a Workload.
    std::string object{};
    /// Nobody says how many there are to be: so many pods were seen, and there may be others. No
    /// minimum follows from it.
    bool only_seen = false;
    /// What that object says, where it is not what the gang says.
    std::optional<part_words> own{};

    [[nodiscard]] friend bool operator==(const leaf_size&, const leaf_size&) = default;
};

/// Of the levels that one vertex of a tree asks for: the name of the object that lists them.
struct vertex_topology {
    vertex_index of;
    std::string name;

    [[nodiscard]] friend bool operator==(const vertex_topology&, const vertex_topology&) = default;
};

/// The object that stands for a vertex below the root in Kubernetes' Workload API.
struct vertex_object {
    vertex_index of;
    std::string name;
    std::string follows; ///< the template in the Workload; empty: none

    [[nodiscard]] friend bool operator==(const vertex_object&, const vertex_object&) = default;
};

/// Kubernetes' Workload API: which template of which Workload a group follows.
struct group_template {
    std::string workload; ///< empty: the group follows none
    std::string name;     ///< in the Workload
    std::size_t at = 0;   ///< its place there
    std::string copy;     ///< 1.35: the replica key by which its pods name it
    /// Its members start one by one (policy `basic`).
    bool basic = false;
    /// Nobody has made a group of it yet (1.36 and later).
    bool unused = false;
    boost::json::object labels; ///< of the Workload
    boost::json::object annotations;
};

/// A gang as any gang API describes it: what all readers give and all writers take. What an API has
/// no word for stays absent, so that a writer can tell what was asked for from what was not.
struct gang_object {
    /// The kind that it was read from, such as PodGroup or PyTorchJob, for those who report.
    std::string kind;
    std::string name_space;
    std::string name;
    std::string uid;
    /// Of the gang's own object; marks by which an API ties pods to gangs are not among them.
    boost::json::object labels;
    boost::json::object annotations;
    std::vector<object_reference> owners;
    /// Minima and topology. Leaves are roles and named as such; a gang of one role is a root alone.
    /// Absent `min_subgroups` stands for all children, also where an API writes their number. A
    /// leaf without a minimum is a role whose members are all surplus.
    gang_tree tree;
    std::vector<leaf_size> sizes; ///< in the order of the tree's leaves
    std::optional<std::string> queue;
    gang_priority priority;
    std::optional<bool> preemptible;
    /// How long its members may wait for each other, in seconds.
    std::optional<std::int64_t> wait_seconds;
    /// What must be free at least, as the API has it: amounts by the name of their kind.
    std::optional<boost::json::object> min_resources;
    /// Of the levels in the tree: the name of the object that lists them.
    std::string topology_name;
    std::vector<vertex_topology> other_topologies; ///< of vertices that name another one
    std::vector<own_word> own_words;
    std::vector<vertex_object> objects; ///< in the tree's order; of a gang of several objects
    std::optional<group_template> follows;
    /// Whose object it is read from, or whose marks its pods would get from their job's controller;
    /// absent: of no gang API.
    std::optional<target> origin;
};

/// A pod of a gang, whole but for the marks that tie it to the gang.
struct gang_pod {
    vertex_index leaf;            ///< of the gang's tree
    boost::json::object document; ///< apiVersion, kind, metadata, spec
    /// What its own API marked it with, as a JSON merge patch on the document; empty for a pod that
    /// a job would create.
    boost::json::object marks{};
};

/// One gang with its pods; they may be absent where somebody else creates them.
struct gang_bundle {
    gang_object gang;
    std::vector<gang_pod> pods;
};

} // namespace translate
} // namespace v0_1
} // namespace muster
