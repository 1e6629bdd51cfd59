// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/volumes/storage_catalog.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/core/volumes/volume_zones.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/resource/storage_kinds.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/labels.hpp>
#include <muster/vocabulary/node.hpp>
#include <muster/vocabulary/node_names.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// The volume effects of waiting pods, each with the name of its pod.
using volumes_of_pods = std::vector<std::pair<std::string, const volume_effects*>>;

namespace detail {

/// A list that names at most three.
[[nodiscard]] inline std::string few_names(const std::vector<std::string>& names,
                                           std::string_view noun) {
    constexpr std::size_t most = 3;
    std::string text;
    for (std::size_t at = 0; at < std::min(most, names.size()); ++at)
        text += (at > 0 ? ", " : "") + names[at];
    return text + more_text(names.size() - std::min(most, names.size()), noun);
}

/// Claims that are not ready for the same cause, and the pods that use them.
struct waiting_claims {
    std::string noun; ///< "claim" or "resource claim"; empty = `cause` is the whole text
    std::string cause;
    std::vector<std::string> names;
    std::vector<std::string> pods;

    /// Parses an entry of volume_effects::waits: "claim NAME is ...".
    [[nodiscard]] static waiting_claims parse(const std::string& entry) {
        for (const std::string_view noun : {"claim", "resource claim"}) {
            const std::size_t name = noun.size() + 1;
            const std::size_t end = entry.find(' ', name);
            if (entry.starts_with(std::string(noun) + " ") && end != std::string::npos)
                return {
                    std::string(noun), entry.substr(end + 1), {entry.substr(name, end - name)}, {}};
        }
        return {{}, entry, {entry}, {}};
    }

    void add(const std::string& name, const std::string& pod) {
        if (std::ranges::find(names, name) == names.end())
            names.push_back(name);
        if (pods.empty() || pods.back() != pod)
            pods.push_back(pod);
    }

    /// Names at most `most` of the claims.
    [[nodiscard]] std::string text(std::size_t most) const {
        if (noun.empty())
            return cause;
        if (names.size() == 1)
            return noun + " " + names.front() + " " + cause;
        std::string all;
        for (std::size_t at = 0; at < std::min(most, names.size()); ++at)
            all += (at > 0 ? ", " : " ") + names[at];
        for (const auto& [one, several] :
             {std::pair("is ", "are "), std::pair("has ", "have "), std::pair("was ", "were ")})
            if (cause.starts_with(one))
                return noun + "s" + all + " " + several +
                       cause.substr(std::string_view(one).size());
        return noun + "s" + all + " " + cause;
    }
};

} // namespace detail

/// Describes the volumes that are not ready: "pod a: claim c is being deleted (...); pods b, d:
/// claims e, f are not bound: ...". Names at most three claims, and the number of further ones.
/// Empty if all volumes are ready. O(claims × causes).
[[nodiscard]] inline std::string waiting_volumes_text(const volumes_of_pods& pods) {
    std::vector<detail::waiting_claims> causes;
    for (const auto& [pod, volumes] : pods)
        for (const std::string& entry : volumes->waits) {
            detail::waiting_claims one = detail::waiting_claims::parse(entry);
            const std::string name = one.names.front();
            const auto known =
                std::ranges::find_if(causes, [&](const detail::waiting_claims& each) {
                    return each.noun == one.noun && each.cause == one.cause;
                });
            detail::waiting_claims& to =
                known == causes.end() ? causes.emplace_back(std::move(one)) : *known;
            to.add(name, pod);
        }
    constexpr std::size_t most = 3;
    std::string text;
    std::size_t listed = 0;
    std::size_t others = 0;
    const std::vector<std::string>* same = nullptr;
    for (const detail::waiting_claims& each : causes) {
        const std::size_t count = std::min(most - listed, each.names.size());
        others += each.names.size() - count;
        if (count == 0)
            continue;
        listed += count;
        if (same && *same == each.pods)
            text += ", ";
        else
            text += (same ? "; pod" : "pod") + std::string(each.pods.size() == 1 ? " " : "s ") +
                    detail::few_names(each.pods, "pod") + ": ";
        text += each.text(count);
        same = &each.pods;
    }
    return text + more_text(others, "claim");
}

/// Returns the names of unbound claims of the class whose storage `kind` counts, for pods that use
/// an amount of the kind. At most three, and the number of further claims. Empty for other kinds.
[[nodiscard]] inline std::string unbound_claims_text(const volumes_of_pods& pods,
                                                     const std::string& kind) {
    if (!storage_kinds::counts_storage(kind))
        return {};
    const std::string storage_class(storage_kinds::class_in(kind));
    std::set<std::string> found;
    for (const auto& [name, volumes] : pods) {
        const auto claims = volumes->unbound.find(storage_class);
        if (claims != volumes->unbound.end() && volumes->amounts.contains(kind))
            found.insert(claims->second.begin(), claims->second.end());
    }
    return detail::few_names({found.begin(), found.end()}, "claim");
}

/// Returns the unbound or unallocated claims for which the pods must be placed in one domain of the
/// node label: "claim a (not bound)", "claims a, b (not bound)" or "resource claim c (not
/// allocated)".
[[nodiscard]] inline std::string shared_claims_text(const volumes_of_pods& pods,
                                                    std::string_view label) {
    std::set<std::string> volume_claims;
    std::set<std::string> resource_claims;
    for (const auto& [name, volumes] : pods)
        for (const affinity_term& term : volumes->near)
            if (term.topology == label)
                for (const label_requirement& mark : term.pods.labels.requirements)
                    // The mark is claim:NAMESPACE/NAME or resource-claim:NAMESPACE/NAME.
                    (mark.key.starts_with(shared_claim_mark) ? resource_claims : volume_claims)
                        .insert(mark.key.substr(mark.key.find('/') + 1));
    const auto list = [](const std::set<std::string>& names, const std::string& noun,
                         const std::string& state) {
        std::string text;
        for (const std::string& claim : names)
            text += (text.empty() ? "" : ", ") + claim;
        return names.empty() ? text : noun + (names.size() == 1 ? " " : "s ") + text + state;
    };
    const std::string volumes = list(volume_claims, "claim", " (not bound)");
    const std::string devices = list(resource_claims, "resource claim", " (not allocated)");
    return volumes + (volumes.empty() || devices.empty() ? "" : " and ") + devices;
}

/// Says which pod uses each ReadWriteOncePod claim that the pods share with others: "pod x uses
/// claim c". `holds` returns true for the key of a pod that has a node. If no such pod uses any of
/// the claims, pods without a node do, and are not named. O(claims × pods with volumes in the
/// claim's namespace).
template<class Holds>
[[nodiscard]] std::string lone_claims_text(const volumes_of_pods& pods, const volume_plan& plan,
                                           const Holds& holds) {
    std::set<std::string> marks;
    for (const auto& [name, volumes] : pods)
        for (const auto& [mark, value] : volumes->labels)
            if (value == lone_claim)
                marks.insert(mark);
    std::string in_use;
    std::string shared;
    for (const std::string& mark : marks) {
        // The mark is claim:NAMESPACE/NAME.
        const std::size_t colon = mark.find(':');
        const std::size_t slash = mark.find('/', colon);
        const std::string name_space = mark.substr(colon + 1, slash - colon - 1);
        const std::string claim = " uses claim " + mark.substr(slash + 1);
        shared += (shared.empty() ? "another pod" : ", another pod") + claim;
        for (auto user = plan.pods.lower_bound({name_space, ""});
             user != plan.pods.end() && user->first.name_space == name_space; ++user)
            if (user->second.labels.find(mark) && holds(user->first)) {
                in_use += (in_use.empty() ? "pod " : ", pod ") + user->first.name + claim;
                break;
            }
    }
    return in_use.empty() ? shared : in_use;
}

/// Names the disks that the pods may not share with another pod on one node, and for each the pods
/// with a node that use it: "disk d of pd.csi.storage.gke.io is used by pod a/x". `holds` returns
/// true for the key of a pod that has a node. Names at most three disks and three pods of each.
/// O(disks × pods with volumes).
template<class Holds>
[[nodiscard]] std::string disks_text(const volumes_of_pods& pods, const volume_plan& plan,
                                     const Holds& holds) {
    std::set<std::string> marks;
    for (const auto& [name, volumes] : pods)
        for (const affinity_term& term : volumes->apart)
            if (term.topology == volume_node_label && !term.pods.labels.requirements.empty())
                marks.insert(term.pods.labels.requirements.front().key);
    std::vector<std::string> in_use;
    std::vector<std::string> shared;
    for (const std::string& mark : marks) {
        std::vector<std::string> users;
        for (const auto& [key, volumes] : plan.pods)
            if (volumes.labels.find(mark) && holds(key))
                users.push_back(key.name_space + "/" + key.name);
        // The mark is disk:DRIVER/HANDLE or disk-writer:DRIVER/HANDLE.
        const std::size_t driver = mark.find(':') + 1;
        const std::size_t handle = mark.find('/', driver) + 1;
        const std::string disk =
            "disk " + mark.substr(handle) + " of " + mark.substr(driver, handle - 1 - driver);
        if (users.empty())
            shared.push_back(disk);
        else
            in_use.push_back(disk + " is used by " + (users.size() == 1 ? "pod " : "pods ") +
                             detail::few_names(users, "pod"));
    }
    return detail::few_names(in_use.empty() ? shared : in_use, "disk");
}

/// Says which gang got each free volume or storage pool that claims of the pods were to get: "claim
/// c was to get free volume v, which gang a/g got". `holder` returns "gang NAMESPACE/NAME" for the
/// key of a pod that has a node, and an empty text for other pods. If no pod with a node has any of
/// the supplies, none of the gangs is named. Names at most three supplies. O(supplies × pods with
/// volumes).
template<class Holder>
[[nodiscard]] std::string taken_supplies_text(const volumes_of_pods& pods, const volume_plan& plan,
                                              const Holder& holder) {
    std::map<std::string, std::set<std::string>> claims;
    std::map<std::string, std::string> own;
    for (const auto& [name, volumes] : pods)
        for (const affinity_term& term : volumes->apart) {
            if (term.topology != volume_supply_label || term.pods.labels.requirements.empty())
                continue;
            const std::string& mark = term.pods.labels.requirements.front().key;
            if (const auto got = volumes->handed.find(mark); got != volumes->handed.end())
                claims[mark].insert(got->second.begin(), got->second.end());
            if (const std::string* const value = volumes->labels.find(mark))
                own[mark] = *value;
        }
    std::vector<std::string> known;
    std::vector<std::string> unknown;
    for (const auto& [mark, names] : claims) {
        std::string other;
        for (auto user = plan.pods.begin(); user != plan.pods.end() && other.empty(); ++user)
            if (const std::string* const value = user->second.labels.find(mark);
                value && *value != own[mark])
                other = holder(user->first);
        // The mark is volume:NAME or pool:CLASS/NAME.
        const std::size_t colon = mark.find(':') + 1;
        const std::size_t slash = mark.rfind('/');
        const std::string what = mark.starts_with("pool:")
                                     ? "storage of pool " + mark.substr(slash + 1) + " (class " +
                                           mark.substr(colon, slash - colon) + ")"
                                     : "free volume " + mark.substr(colon);
        const std::string text = (names.size() == 1 ? "claim " : "claims ") +
                                 detail::few_names({names.begin(), names.end()}, "claim") +
                                 (names.size() == 1 ? " was" : " were") + " to get " + what +
                                 ", which ";
        (other.empty() ? unknown : known)
            .push_back(text + (other.empty() ? "another gang" : other) + " got");
    }
    const std::vector<std::string>& all = known.empty() ? unknown : known;
    constexpr std::size_t most = 3;
    std::string text;
    for (std::size_t at = 0; at < std::min(most, all.size()); ++at)
        text += (at > 0 ? "; " : "") + all[at];
    return text + more_text(all.size() - std::min(most, all.size()), "other");
}

namespace detail {

/// Returns "zone a" or "zones a, b": at most three values, and the number of further ones.
[[nodiscard]] inline std::string values_text(std::string_view noun,
                                             const std::set<std::string>& values) {
    constexpr std::size_t most = 3;
    std::string text;
    std::size_t listed = 0;
    for (const std::string& value : values)
        if (listed++ < most)
            text += (text.empty() ? "" : ", ") + value;
    return std::string(noun) + (values.size() == 1 ? " " : "s ") + text +
           more_text(values.size() - std::min(most, values.size()), noun);
}

/// Returns the values that the terms require of some keys, or of their absence; empty unless every
/// term says something of them.
template<class IsKey>
[[nodiscard]] std::set<std::string> required_values(const std::vector<node_term>& terms,
                                                    const IsKey& is_key) {
    std::set<std::string> found;
    for (const node_term& term : terms) {
        bool says = false;
        const auto look_at = [&](const label_requirement& each) {
            if (!is_key(each.key))
                return;
            says = says || each.op == label_operator::does_not_exist;
            if (each.op != label_operator::in)
                return;
            says = true;
            found.insert(each.values.begin(), each.values.end());
        };
        for (const label_requirement& each : term.labels.requirements)
            look_at(each);
        for (const label_requirement& each : term.name)
            look_at(each);
        if (!says)
            return {};
    }
    return found;
}

/// Returns " in zone a", " in region r" or " in zone a of region r" if every term requires a zone,
/// a region or both, or a node without them, as zone_terms() adds it. Empty otherwise.
[[nodiscard]] inline std::string zone_text(const std::vector<node_term>& terms) {
    const auto values = [&](std::size_t level) {
        return required_values(terms, [&](std::string_view key) {
            return key == zone_labels[level].first || key == zone_labels[level].second;
        });
    };
    const auto zones = values(0);
    const auto regions = values(1);
    std::string text = zones.empty() ? "" : " in " + values_text("zone", zones);
    if (!regions.empty())
        text += (zones.empty() ? " in " : " of ") + values_text("region", regions);
    return text;
}
/// Returns zone_text(), or " on node h" if every term names nodes. Empty otherwise.
[[nodiscard]] inline std::string place_text(const std::vector<node_term>& terms) {
    const std::string zone = zone_text(terms);
    const auto hosts = required_values(terms, [](std::string_view key) {
        return key == hostname_label || key == "metadata.name";
    });
    return !zone.empty() || hosts.empty() ? zone : " on " + values_text("node", hosts);
}

/// Returns ": 1 of 2 nodes".
[[nodiscard]] inline std::string count_text(const std::vector<std::string>& nodes,
                                            std::size_t all) {
    return ": " + std::to_string(nodes.size()) + " of " + std::to_string(all) + " nodes";
}

/// Returns " is available on 1 of 2 nodes (a)", or " is in zone a and available on 5 of 9 nodes".
[[nodiscard]] inline std::string device_text(const std::vector<std::string>& nodes, std::size_t all,
                                             const std::string& zone) {
    if (nodes.empty())
        return " is available on none of the " + std::to_string(all) + " nodes";
    std::string text = (zone.empty() ? " is" : " is" + zone + " and") + " available on " +
                       std::to_string(nodes.size()) + " of " + std::to_string(all) + " nodes";
    constexpr std::size_t most = 3;
    for (std::size_t at = 0; at < nodes.size() && nodes.size() <= most; ++at)
        text += (at == 0 ? " (" : ", ") + nodes[at];
    return nodes.size() <= most ? text + ")" : text;
}

} // namespace detail

/// True if only ResourceClaims restrict the nodes of the pods, and no volumes.
[[nodiscard]] inline bool only_devices_restrict(const volumes_of_pods& pods) {
    return std::ranges::all_of(pods, [](const auto& each) {
        return std::ranges::all_of(each.second->reach, &volume_reach::of_devices);
    });
}

/// Returns for each volume its zone, region or node, if any, and the number of nodes that can use
/// the volume, fewest first. At most three volumes, and the number of further ones. ResourceClaims
/// likewise, with the names of up to three nodes. Empty if every node can use every volume.
/// O(volumes × nodes).
template<std::size_t Width>
[[nodiscard]] std::string volume_reach_text(const volumes_of_pods& pods,
                                            const std::vector<const node<Width>*>& nodes) {
    std::set<std::pair<std::size_t, std::string>> found;
    for (const auto& [name, volumes] : pods)
        for (std::size_t at = 0; at < volumes->reach.size(); ++at) {
            const auto& terms = volumes->reach[at].any_of;
            std::vector<std::string> names;
            for (const node<Width>* const each : nodes)
                if (std::ranges::any_of(terms,
                                        [&](const node_term& term) { return term.matches(*each); }))
                    names.push_back(each->name);
            if (names.size() == nodes.size())
                continue;
            const std::string place = detail::place_text(terms);
            const std::string where =
                volumes->reach[at].of_devices
                    ? detail::device_text(names, nodes.size(), detail::zone_text(terms))
                    : (place.empty() ? "" : " " + volumes->verb_at(at) + place) +
                          detail::count_text(names, nodes.size());
            found.emplace(names.size(), volumes->reach_of[at] + where);
        }
    constexpr std::size_t most = 3;
    std::string text;
    std::size_t listed = 0;
    for (const auto& [count, what] : found) {
        if (listed++ == most)
            break;
        text += (text.empty() ? "" : ", ") + what;
    }
    return text + more_text(found.size() - std::min(most, found.size()), "volume");
}

} // namespace codec
} // namespace v0_1
} // namespace muster
