// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/core/each_object.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/grove/expansion.hpp>
#include <muster/apis/grove/names.hpp>
#include <muster/apis/grove/set.hpp>
#include <muster/apis/grove/set_reader.hpp>
#include <muster/apis/grove/topology_reader.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/document/json_text.hpp>
#include <muster/document/transition_id.hpp>
#include <muster/gangs/target.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {

/// A Grove PodCliqueSet of an input.
struct set_input {
    boost::json::object document; ///< with a namespace and a uid
    codec::object_place where;
    /// When it was created, or is to be.
    std::optional<codec::timestamp> created;
    /// Whose reading of Grove it is played by.
    translate::grove_dialect dialect = translate::grove_dialect::upstream;
    /// The topology that it asks for, if the input has it.
    std::optional<translate::grove_topology> within{};
};

/// Whether objects of a kind are read by read_sets().
[[nodiscard]] inline bool is_of_sets(std::string_view version, std::string_view kind) {
    return version == translate::grove::api_version &&
           (kind == "PodCliqueSet" || kind == "ClusterTopologyBinding" ||
            kind == "ClusterTopology");
}

/// The PodCliqueSets of an input, as Grove itself would take them; other objects are passed over.
/// O(input).
[[nodiscard]] inline std::vector<set_input>
read_sets(const std::vector<codec::document>& documents, codec::reading_context& context,
          codec::diagnostics& out,
          translate::grove_dialect dialect = translate::grove_dialect::upstream) {
    std::vector<set_input> made;
    std::vector<translate::grove_set> sets;
    std::vector<translate::grove_topology> topologies;
    codec::each_object(
        documents, out,
        [&](codec::object_reader& object, std::string_view version, std::string_view kind,
            codec::object_place where) {
            if (!is_of_sets(version, kind))
                return object.ignore_rest();
            if (kind != "PodCliqueSet") {
                topologies.push_back(codec::read_grove_topology(object, context));
                return;
            }
            set_input one{object.value()->get_object(), std::move(where), {}, dialect};
            const std::size_t errors = out.errors();
            sets.push_back(codec::read_pod_clique_set(object, dialect, context));
            const translate::grove_set& set = sets.back();
            boost::json::object& metadata = translate::child_at(one.document, "metadata");
            metadata["namespace"] = set.name_space;
            if (set.uid.empty())
                metadata["uid"] = lifecycle::transition_id(set.name_space, kind, set.name);
            if (const auto text = translate::find_text(&metadata, "creationTimestamp"))
                one.created = parse_timestamp(*text);
            if (set.terminating || out.errors() > errors)
                sets.pop_back();
            else
                made.push_back(std::move(one));
        });
    for (std::size_t at = 0; at < made.size(); ++at)
        if (const auto* within =
                codec::grove_topology_of(sets[at], topologies, made[at].where, out))
            made[at].within = *within;
    return made;
}

} // namespace sim
} // namespace v0_1
} // namespace muster
