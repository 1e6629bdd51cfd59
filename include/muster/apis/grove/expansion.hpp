// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/gang_facts.hpp>
#include <muster/apis/grove/claims.hpp>
#include <muster/apis/grove/gangs.hpp>
#include <muster/apis/grove/pods.hpp>
#include <muster/apis/grove/set.hpp>
#include <muster/apis/grove/topology_check.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/transition_id.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/target.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// The topology that a PodCliqueSet asks for; null where it asks for none, or for one that is not
/// there, which is a warning. Levels that it does not have are errors at `where`.
[[nodiscard]] inline const translate::grove_topology*
grove_topology_of(const translate::grove_set& set,
                  const std::vector<translate::grove_topology>& topologies,
                  const object_place& where, diagnostics& out) {
    const std::string_view name = translate::grove_topology_name(set);
    for (const translate::grove_topology& each : topologies)
        if (each.name == name) {
            for (const translate::grove_topology_fault& fault :
                 translate::grove_topology_faults(set, each))
                report(out, severity::error, where, {"spec", "template"},
                       fault.field + ": " + fault.message);
            return &each;
        }
    if (!name.empty())
        report(out, severity::warning, where, {"spec", "template"},
               "the input does not hold the ClusterTopologyBinding " + in_quotes(name) +
                   ", so that domains stand for node labels (expected it as well)");
    return nullptr;
}

/// The gangs that Grove makes of a PodCliqueSet first, with their pods; what else it makes goes to
/// `companions`. Levels that its topology does not have are errors at `where`.
[[nodiscard]] inline std::vector<translate::gang_bundle>
expand_grove_set(const translate::grove_set& set, translate::grove_dialect dialect,
                 const std::vector<translate::grove_topology>& topologies,
                 const object_place& where, std::vector<boost::json::object>& companions,
                 diagnostics& out) {
    using translate::grove_dialect;
    std::vector<translate::gang_bundle> gangs;
    const bool seed = dialect == grove_dialect::seed;
    const std::size_t errors = out.errors();
    const translate::grove_topology* const within = grove_topology_of(set, topologies, where, out);
    if (out.errors() > errors)
        return gangs;
    const std::string_view mark =
        !seed ? (set.scheduler.empty() ? "default-scheduler" : set.scheduler)
        : set.scheduler == translate::schedulers::kai         ? "kai"
        : set.scheduler == translate::schedulers::koordinator ? "koordinator"
                                                              : "default";
    translate::grove_options options;
    options.dialect = dialect;
    // The walk-through's names hold uids. Of objects that do not exist yet they are made up
    // from what names them.
    if (seed)
        report(out, severity::warning, where, {"metadata"},
               "the uids of its PodGangs are made up until they exist (names of PodGroups hold "
               "them in the dialect seed)");
    const auto uid_of = [&](std::string_view kind, std::string_view name) {
        return lifecycle::transition_id(set.name_space, kind, name);
    };
    translate::grove_claims claims(set);
    for (std::int64_t replica = 0; replica < set.replicas; ++replica) {
        companions.push_back(translate::grove_service(set, replica, options));
        translate::drop_absent_owners(companions.back());
        for (const translate::grove_gang& gang : translate::grove_gangs_of(set, replica)) {
            translate::gang_bundle made;
            made.gang = translate::grove_gang_object(set, gang, dialect, mark, within,
                                                     [&](const translate::grove_member& member) {
                                                         return set.cliques[member.clique].replicas;
                                                     });
            for (std::size_t at = 0; at < gang.members.size(); ++at) {
                const auto& member = gang.members[at];
                for (std::int64_t index = 0; index < set.cliques[member.clique].replicas; ++index) {
                    translate::gang_pod pod;
                    pod.leaf = made.gang.sizes[at].leaf;
                    pod.document =
                        translate::grove_pod(set, gang, member, index,
                                             translate::grove_pod_name(member, index), {}, options);
                    claims.share(gang, member, index, pod.document);
                    translate::strip_marks(pod, translate::gang_api::grove);
                    made.pods.push_back(std::move(pod));
                }
            }
            if (seed) {
                made.gang.uid = uid_of("PodGang", gang.name);
                if (set.uid.empty())
                    made.gang.owners.front().uid = uid_of("PodCliqueSet", set.name);
            }
            gangs.push_back(std::move(made));
        }
    }
    std::ranges::copy(claims.made(), std::back_inserter(companions));
    for (const std::string& from : claims.elsewhere())
        report(out, severity::warning, where, {"spec", "template"},
               "the claims of the ResourceClaimTemplate " + in_quotes(from) +
                   ", which its pods share, are Grove's to make");
    return gangs;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
