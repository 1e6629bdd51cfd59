// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <muster/advice/what_helps.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/input/broken_objects.hpp>
#include <muster/input/cluster.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/words/amount_text.hpp>
#include <muster/words/label_text.hpp>

#include "report.hpp"

namespace cli {

/// Returns how options spell an object: NAME in the default namespace, else NAMESPACE/NAME.
[[nodiscard]] inline std::string short_name(const std::string& name_space, const std::string& name,
                                            const std::string& default_namespace) {
    return name_space == default_namespace ? name : name_space + "/" + name;
}

/// Returns "this claim is bound: a" or "these 2 claims are bound: a, b".
[[nodiscard]] inline std::string counted_text(const std::set<std::string>& names, const char* noun,
                                              const char* state) {
    std::string text = names.size() == 1 ? "this " + std::string(noun) + " is " + state + ": "
                                         : "these " + std::to_string(names.size()) + " " + noun +
                                               "s are " + state + ": ";
    for (const std::string& name : names)
        text += (name == *names.begin() ? "" : ", ") + name;
    return text;
}

/// Appends counted_text() of the names to a change, if there are any.
inline void add_counted(change_line& to, const std::set<std::string>& names, const char* noun,
                        const char* state) {
    if (!names.empty())
        to.text += (to.text.empty() ? "" : ", and ") + counted_text(names, noun, state);
}

/// These PersistentVolumeClaims are bound, and those of them in `absent` are created before.
[[nodiscard]] inline change_line bound_claims(const std::set<std::string>& names,
                                              const std::set<std::string>& absent) {
    change_line line;
    std::set<std::string> bound;
    std::set<std::string> created;
    for (const std::string& claim : names)
        (absent.contains(claim) ? created : bound).insert(claim);
    add_counted(line, created, "claim", "created and bound");
    add_counted(line, bound, "claim", "bound");
    for (const std::string& claim : names)
        line.options.push_back("--bind-claim " + claim);
    line.details = {{"kind", "BindClaims"},
                    {"claims", boost::json::array(names.begin(), names.end())}};
    if (!created.empty())
        line.details["toCreate"] = boost::json::array(created.begin(), created.end());
    return line;
}

/// That many copies of a node exist, with these labels instead of the node's own.
[[nodiscard]] inline change_line added_nodes(const std::string& like, std::int64_t count,
                                             const std::map<std::string, std::string>& labels) {
    const std::string number = std::to_string(count);
    change_line line;
    line.text = number + (count == 1 ? " node more like " : " nodes more like ") + like;
    line.options = {"--add-nodes " + number + "x" + like};
    line.details = {{"kind", "AddNodes"}, {"like", like}, {"count", count}};
    boost::json::object set;
    for (const auto& [key, value] : labels) {
        line.text += (set.empty() ? " with " : ", ") + key + "=" + value;
        line.options.front() += "," + key + "=" + value;
        set[key] = value;
    }
    if (!set.empty())
        line.details["labels"] = std::move(set);
    line.text += count == 1 ? " is there" : " are there";
    return line;
}

/// The minimum of the group, or of its role, is `to`.
[[nodiscard]] inline change_line lowered_minimum(const std::string& group, const std::string& role,
                                                 std::int64_t from, std::int64_t to) {
    const std::string number = std::to_string(to);
    change_line line;
    line.text = (role.empty() ? "its minimum is " : "the minimum of role " + role + " is ") +
                number + " instead of " + std::to_string(from);
    line.options = {"--set group." + group + (role.empty() ? "" : ".roles." + role) +
                    ".minMember=" + number};
    line.details = {{"kind", "LowerMinimum"},
                    {"role", role.empty() ? boost::json::value(nullptr) : boost::json::value(role)},
                    {"from", from},
                    {"to", to}};
    return line;
}

/// Names the copies of nodes, and takes from them the storage that belongs to a zone: it does not
/// grow with the number of nodes.
struct node_copies : muster::numbered_nodes {
    node_copies(const muster::kind_table* of_kinds, const muster::codec::volume_plan* of_volumes)
        : kinds(of_kinds), volumes(of_volumes) {}

    template<std::size_t Width>
    void prepare(muster::node<Width>& fresh, const std::string& like) const {
        for (const auto& [name, supply] : volumes->kinds)
            if (const auto amount = supply.not_of_node.find(like);
                amount != supply.not_of_node.end())
                if (const auto column = kinds->find(name))
                    fresh.allocatable[*column] -= amount->second;
    }

    /// A node that cannot be read is not known well enough.
    template<std::size_t Width>
    [[nodiscard]] bool can_copy(const muster::node<Width>& like) const {
        return !muster::codec::is_closed_unread(like);
    }

    const muster::kind_table* kinds;
    const muster::codec::volume_plan* volumes;
};

/// Says what a change is: for people, for machines, and as options of `muster whatif`.
template<std::size_t Width>
class change_teller {
    using traits = muster::codec::kubernetes_traits<Width>;
    using object = boost::json::object;

public:
    change_teller(const muster::state<traits>& known, const muster::kind_table& kinds,
                  const muster::codec::volume_plan& volumes, muster::gang_index which,
                  std::string default_namespace)
        : known_(&known),
          kinds_(&kinds),
          volumes_(&volumes),
          which_(which),
          default_namespace_(std::move(default_namespace)) {}

    [[nodiscard]] change_line operator()(const muster::free_pods& what) const {
        change_line line;
        boost::json::array pods;
        for (const muster::pod_index index : what.pods) {
            const auto& pod = (*known_)[index];
            const auto& key = known_->key(index);
            const std::string name = short_name(key.name_space, key.name);
            line.text += (line.text.empty() ? "" : ", ") + name;
            line.options.push_back("--remove-pod " + name);
            pods.push_back(object{{"namespace", key.name_space},
                                  {"name", key.name},
                                  {"group", known_->key(pod.gang).name},
                                  {"node", known_->key(*pod.node)}});
        }
        line.text = (what.pods.size() == 1
                         ? "this pod is gone: "
                         : "these " + std::to_string(what.pods.size()) + " pods are gone: ") +
                    line.text;
        line.details = {{"kind", "FreePods"}, {"pods", std::move(pods)}};
        return line;
    }

    [[nodiscard]] change_line operator()(const muster::add_nodes& what) const {
        return added_nodes(known_->key(what.like), what.count,
                           {what.labels.begin(), what.labels.end()});
    }

    [[nodiscard]] change_line operator()(const muster::uncordon_nodes& what) const {
        change_line line;
        boost::json::array nodes;
        for (const muster::node_index node : what.nodes) {
            const std::string& name = known_->key(node);
            line.text += (line.text.empty() ? "" : ", ") + name;
            line.options.push_back("--uncordon " + name);
            nodes.emplace_back(name);
        }
        line.text = (what.nodes.size() == 1 ? "node " : "nodes ") + line.text +
                    (what.nodes.size() == 1 ? " takes" : " take") + " pods again";
        line.details = {{"kind", "UncordonNodes"}, {"nodes", std::move(nodes)}};
        return line;
    }

    [[nodiscard]] change_line operator()(const muster::raise_quota& what) const {
        const std::string& queue = known_->key(what.queue);
        const std::string& kind = kinds_->name(what.kind);
        const auto& spec = (*known_)[what.queue].spec;
        const auto& ceilings = what.non_preemptible ? spec.non_preemptible_quota : spec.quota;
        const std::string from = muster::words::amount_text(kind, ceilings[what.kind].value_or(0));
        const std::string to = muster::words::amount_text(kind, what.to);
        change_line line;
        line.text = (what.non_preemptible ? "what is deserved by queue " : "the quota of queue ") +
                    queue + " for " + kind + " is " + to + " instead of " + from;
        line.options = {"--set queue." + queue + (what.non_preemptible ? ".deserved." : ".quota.") +
                        kind + "=" + to};
        line.details = {{"kind", what.non_preemptible ? "RaiseDeserved" : "RaiseQuota"},
                        {"queue", queue},
                        {"resource", kind},
                        {"from", from},
                        {"to", to}};
        return line;
    }

    [[nodiscard]] change_line operator()(const muster::open_queue& what) const {
        const std::string& queue = known_->key(what.queue);
        return {"queue " + queue + " is open",
                {"--set queue." + queue + ".closed=false"},
                {{"kind", "OpenQueue"}, {"queue", queue}}};
    }

    [[nodiscard]] change_line operator()(const muster::tolerate_taint& what) const {
        const std::string taint = muster::words::taint_text(what.what);
        return {"its pods tolerate the taint " + taint,
                {"--set group." + group() + ".toleration=" + taint},
                {{"kind", "TolerateTaint"}, {"taint", taint}}};
    }

    [[nodiscard]] change_line operator()(const muster::drop_label& what) const {
        const bool of_system = what.key == "kubernetes.io/os";
        return {"its pods do not ask for the node label " + what.key +
                    (of_system ? " (by nodeSelector or spec.os)" : ""),
                {"--set group." + group() + ".nodeSelector." + what.key + "="},
                {{"kind", "DropNodeSelector"}, {"label", what.key}}};
    }

    [[nodiscard]] change_line operator()(const muster::drop_affinity&) const {
        return {"its pods have no required node affinity",
                {"--set group." + group() + ".nodeAffinity="},
                {{"kind", "DropNodeAffinity"}}};
    }

    [[nodiscard]] change_line operator()(const muster::drop_pod_terms& what) const {
        switch (what.which) {
        case muster::pod_term_kind::affinity:
            return dropped("pod affinity", "podAffinity", "DropPodAffinity");
        case muster::pod_term_kind::anti_affinity:
            return dropped("pod anti-affinity", "podAntiAffinity", "DropPodAntiAffinity");
        case muster::pod_term_kind::spread:
            break;
        }
        return dropped("topology spread", "topologySpread", "DropTopologySpread");
    }

    [[nodiscard]] change_line operator()(const muster::drop_domain& what) const {
        const auto& vertex = (*known_)[which_].spec.tree[what.at];
        const std::string& level = vertex.together->within.levels[*vertex.together->required];
        const bool whole = what.at.value() == 0;
        boost::json::value role;
        if (!whole && !vertex.name.empty())
            role = vertex.name;
        return {(whole ? "its pods" : "the pods of role " + vertex.name) +
                    " need not stand in one domain of " + level,
                {"--set group." + group() + (whole ? "" : ".roles." + vertex.name) + ".topology="},
                {{"kind", "DropTopology"}, {"role", std::move(role)}, {"level", level}}};
    }

    [[nodiscard]] change_line operator()(const muster::ready_volumes&) const {
        std::set<std::string> claims;
        std::set<std::string> absent;
        std::set<std::string> devices;
        std::set<std::string> unmade;
        for (const muster::pod_index member : (*known_)[which_].members) {
            const auto& pod = (*known_)[member];
            const auto& key = known_->key(member);
            const auto* const volumes = volumes_->find(key);
            if (!volumes || volumes->unusable || !pod.placeable())
                continue;
            for (const std::string& claim : volumes->missing)
                claims.insert(short_name(key.name_space, claim));
            for (const std::string& claim : volumes->absent)
                absent.insert(short_name(key.name_space, claim));
            for (const std::string& claim : volumes->missing_devices)
                devices.insert(short_name(key.name_space, claim));
            unmade.insert(volumes->unmade_devices.begin(), volumes->unmade_devices.end());
        }
        change_line line = bound_claims(claims, absent);
        add_counted(line, devices, "resource claim", "allocated and usable by its pods");
        add_counted(line, unmade, "resource claim", "made for each pod and allocated");
        // No option of `muster whatif` allocates a ResourceClaim.
        if (!devices.empty() || !unmade.empty())
            line.options.clear();
        if (!devices.empty())
            line.details["resourceClaims"] = boost::json::array(devices.begin(), devices.end());
        if (!unmade.empty())
            line.details["resourceClaimEntries"] = boost::json::array(unmade.begin(), unmade.end());
        return line;
    }

    [[nodiscard]] change_line operator()(const muster::lower_minimum& what) const {
        const auto& tree = (*known_)[which_].spec.tree;
        return lowered_minimum(group(), what.at.value() == 0 ? "" : tree[what.at].name,
                               tree[what.at].min_member, what.to);
    }

private:
    [[nodiscard]] change_line dropped(const std::string& what, const std::string& field,
                                      const char* kind) const {
        return {"its pods have no required " + what,
                {"--set group." + group() + "." + field + "="},
                {{"kind", kind}}};
    }
    [[nodiscard]] std::string short_name(const std::string& home, const std::string& name) const {
        return cli::short_name(home, name, default_namespace_);
    }
    [[nodiscard]] std::string group() const {
        const auto& key = known_->key(which_);
        return short_name(key.name_space, key.name);
    }

    const muster::state<traits>* known_;
    const muster::kind_table* kinds_;
    const muster::codec::volume_plan* volumes_;
    muster::gang_index which_;
    std::string default_namespace_;
};

/// Searches for changes that would start the gang, and adds them to its line. Returns the number of
/// cycles that were tried. The state is read only.
template<class Traits>
std::int64_t add_changes(const muster::state<Traits>& known, muster::gang_index which,
                         std::int64_t now, const muster::any_policy<muster::core_of<Traits>>& how,
                         const muster::what_helps_options& options,
                         const change_teller<Traits::width>& tell, const node_copies& copies,
                         group_line& line) {
    const auto found = muster::what_helps(known, which, now, how, options, copies);
    line.changes_sought = true;
    line.changes_complete = found.complete;
    for (const muster::remedy& each : found.remedies) {
        std::vector<change_line> changes;
        for (const muster::change& one : each)
            changes.push_back(std::visit(tell, one));
        // A request that is malformed or not modelled is ready after no change of the cluster.
        if (std::ranges::none_of(changes, [](const auto& change) { return change.text.empty(); }))
            line.remedies.push_back(std::move(changes));
    }
    return found.probes;
}

} // namespace cli
