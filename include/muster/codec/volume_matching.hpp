// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/codec/claim_effects.hpp>
#include <muster/codec/diagnostic.hpp>
#include <muster/codec/storage_catalog.hpp>
#include <muster/codec/storage_objects.hpp>
#include <muster/codec/volume_assignment.hpp>
#include <muster/codec/volume_counts.hpp>
#include <muster/codec/volume_demand.hpp>
#include <muster/codec/volume_mismatch.hpp>
#include <muster/codec/volume_plan.hpp>
#include <muster/codec/volume_provisioning.hpp>
#include <muster/model/node.hpp>
#include <muster/resource/quantity.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Matches the claims of one class that wait for their first consumers with the class's free
/// volumes and storage pools, all together: no two claims get one volume, and claims on one pool
/// add up.
///
/// Volumes and pools that one node reaches become amounts, which the core counts exactly. Of those
/// that several nodes reach, claims get what they would like when there is enough for all that
/// wait; otherwise volumes and pools are handed out before nodes are chosen (volume_handout). Gangs
/// that were handed the same are kept apart by terms between their pods, so that none is taken
/// twice. A gang may wait where another way of handing them out would have let it start.
class volume_matcher {
public:
    volume_matcher(const storage_catalog& catalog, std::string_view storage_class,
                   claim_effects& out)
        : class_(storage_class), making_(catalog, storage_class, out), out_(&out) {
        for (const auto& [name, volume] : catalog.volumes)
            if (volume->storage_class == class_)
                volumes_.push_back(volume);
    }

    void match(std::vector<volume_demand> demands) {
        std::vector<volume_demand> fixed;
        std::vector<volume_demand> made;
        for (volume_demand& each : demands) {
            const auto candidates = candidates_for(each, volumes_, class_);
            if (candidates.size() == 1 && is_kept_for(*candidates.front(), each)) {
                // It is for no other claim.
                reach_any(each);
            } else if (making_.provisions() && (candidates.empty() || making_.can_make(each))) {
                made.push_back(std::move(each));
            } else if (candidates.empty()) {
                out_->wait(each, mismatch_text(each, volumes_, class_));
            } else {
                fixed.push_back(std::move(each));
            }
        }
        match_volumes(fixed);
        making_.provision(made);
    }

private:
    void match_volumes(std::vector<volume_demand>& demands) {
        if (demands.empty() || count_by_node(demands))
            return;
        std::set<std::size_t> contended = contended_among(demands);
        std::vector<volume_demand> rest;
        for (std::size_t at = 0; at < demands.size(); ++at)
            if (contended.contains(at))
                rest.push_back(std::move(demands[at]));
            else
                reach_any(demands[at]);
        assign(rest);
    }

    /// What the claim may get, wherever that is.
    void reach_any(const volume_demand& of) {
        term_list terms;
        for (const volume_object* const each : candidates_for(of, volumes_, class_)) {
            if (!each->nodes)
                return;
            terms.insert(terms.end(), each->nodes->begin(), each->nodes->end());
        }
        out_->reach(of, std::move(terms), "free volumes of class " + class_);
    }

    /// False when some volume is reached from several nodes, or claims differ too much.
    bool count_by_node(const std::vector<volume_demand>& demands) {
        std::vector<claim_request> shapes;
        std::vector<std::size_t> shape_of;
        for (const volume_demand& each : demands) {
            if (each.is_shared())
                return false;
            const auto known = std::ranges::find(shapes, *each.asks);
            shape_of.push_back(static_cast<std::size_t>(known - shapes.begin()));
            if (known == shapes.end())
                shapes.push_back(*each.asks);
        }
        if (shapes.size() > volume_counts::most_shapes)
            return false;
        using counts_on = std::map<std::string, std::map<volume_counts::shape_set, std::int64_t>>;
        counts_on on;
        counts_on not_of_node;
        std::set<volume_counts::shape_set> suits;
        for (const volume_object* const volume : volumes_) {
            volume_counts::shape_set set = 0;
            for (std::size_t at = 0; at < shapes.size(); ++at) {
                const volume_demand asking{{}, &shapes[at], {}, {}};
                if (!volume->claim && satisfies(*volume, asking, class_))
                    set |= volume_counts::shape_set{1} << at;
            }
            if (set == 0)
                continue;
            const auto where = out_->nodes_of(volume->nodes, 1);
            if (where.size() > 1)
                return false;
            if (where.empty())
                continue;
            const std::string& name = out_->nodes()[where.front()].name;
            ++on[name][set];
            if (!out_->are_of_node(volume->nodes, where.front()))
                ++not_of_node[name][set];
            suits.insert(set);
        }
        // No node reaches any: the terms of the volumes say which one would.
        if (on.empty())
            return false;
        const auto counts = volume_counts::make(shapes.size(), {suits.begin(), suits.end()});
        if (!counts)
            return false;
        for (std::size_t at = 0; at < counts->sets().size(); ++at) {
            const auto set = counts->sets()[at];
            const std::string kind =
                storage_catalog::volumes_of(class_) + (at > 0 ? "-" + std::to_string(at + 1) : "");
            volume_supply& supply = out_->plan().kinds[kind];
            const auto sum = [set](const counts_on& from, std::map<std::string, std::int64_t>& to) {
                for (const auto& [name, volumes] : from)
                    for (const auto& [suited, count] : volumes)
                        to[name] += (suited & set) != 0 ? count : 0;
            };
            sum(on, supply.on);
            sum(not_of_node, supply.not_of_node);
            for (std::size_t of = 0; of < demands.size(); ++of)
                if ((set >> shape_of[of] & 1U) != 0)
                    out_->take(demands[of], kind, 1);
        }
        return true;
    }

    /// Volumes that the same claims could get, at the same nodes.
    struct volume_group {
        std::vector<std::size_t> claims;
        std::size_t volumes = 0;
    };

    [[nodiscard]] std::vector<volume_group>
    group_volumes(const std::vector<volume_demand>& demands) const {
        std::map<claim_request, std::vector<std::size_t>> shapes;
        for (std::size_t at = 0; at < demands.size(); ++at)
            shapes[*demands[at].asks].push_back(at);
        std::map<std::pair<std::vector<std::size_t>, std::optional<term_list>>, std::size_t> found;
        for (const volume_object* const volume : volumes_) {
            std::vector<std::size_t> suited;
            for (const auto& [asks, of] : shapes)
                if (!volume->claim && satisfies(*volume, demands[of.front()], class_))
                    suited.insert(suited.end(), of.begin(), of.end());
            if (!suited.empty())
                ++found[{std::move(suited), volume->nodes}];
        }
        std::vector<volume_group> groups;
        for (const auto& [group, count] : found)
            groups.push_back({group.first, count});
        return groups;
    }

    /// Claims that may not all get what they would like: of some volumes that are alike there are
    /// fewer than claims that could have one. Pods that share a claim must not get two volumes.
    [[nodiscard]] std::set<std::size_t>
    contended_among(const std::vector<volume_demand>& demands) const {
        const std::vector<volume_group> groups = group_volumes(demands);
        std::set<std::size_t> found;
        for (const volume_group& each : groups)
            for (const std::size_t claim : each.claims)
                if (each.claims.size() > each.volumes || demands[claim].is_shared())
                    found.insert(claim);
        // A claim that has a choice in common with one of them takes part in sharing out.
        for (bool grew = !found.empty(); grew;) {
            grew = false;
            for (const volume_group& each : groups)
                if (std::ranges::any_of(each.claims,
                                        [&](std::size_t claim) { return found.contains(claim); }))
                    for (const std::size_t claim : each.claims)
                        grew |= found.insert(claim).second;
        }
        return found;
    }

    void assign(const std::vector<volume_demand>& demands) {
        if (demands.empty())
            return;
        std::vector<std::vector<std::size_t>> candidates;
        for (const volume_demand& each : demands) {
            auto& of = candidates.emplace_back();
            for (const volume_object* const volume : candidates_for(each, volumes_, class_))
                of.push_back(static_cast<std::size_t>(std::ranges::find(volumes_, volume) -
                                                      volumes_.begin()));
        }
        std::vector<std::vector<char>> reaches;
        for (const volume_object* const each : volumes_)
            reaches.push_back(out_->reached_from(each->nodes));
        const auto make = [&](const std::vector<std::size_t>&, auto lists) {
            return volume_assignment(std::move(lists), volumes_.size());
        };
        const auto why = [&](const std::vector<std::size_t>& claims) {
            std::set<const volume_object*> matching;
            for (const std::size_t claim : claims)
                for (const volume_object* const each :
                     candidates_for(demands[claim], volumes_, class_))
                    matching.insert(each);
            return std::to_string(claims.size()) +
                   (claims.size() == 1 ? " claim of the gang matches "
                                       : " claims of the gang match ") +
                   std::to_string(matching.size()) +
                   (matching.size() == 1 ? " free volume" : " free volumes") + " of class " +
                   in_quotes(class_);
        };
        const auto given =
            out_->hand_out(demands, std::move(candidates), std::move(reaches), make, false, why);
        std::map<std::size_t, std::size_t> users;
        for (const auto& volume : given.given)
            if (volume)
                ++users[*volume];
        for (std::size_t at = 0; at < demands.size(); ++at)
            if (const auto volume = given.given[at]) {
                const volume_object& of = *volumes_[*volume];
                const std::size_t matching = candidates_for(demands[at], volumes_, class_).size();
                if (of.nodes)
                    out_->reach(demands[at], *of.nodes,
                                "free volume " + of.metadata.key.name +
                                    (matching > 1 ? ", one of " + std::to_string(matching) : ""));
                if (users.at(*volume) > 1)
                    out_->keep_gangs_apart(demands, at, "volume:" + of.metadata.key.name,
                                           given.beside[at] == 0);
            }
    }

    std::string class_;
    volume_provisioner making_;
    claim_effects* out_;
    std::vector<const volume_object*> volumes_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
