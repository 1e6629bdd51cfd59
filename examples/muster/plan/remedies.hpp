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

#include <muster/advice/change.hpp>
#include <muster/advice/what_helps.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/input/broken_objects.hpp>
#include <muster/input/cluster.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/words/amount_text.hpp>
#include <muster/words/change_name.hpp>
#include <muster/words/change_text.hpp>
#include <muster/words/label_text.hpp>

#include "report.hpp"

namespace cli {

/// Returns how options spell an object: NAME in the default namespace, else NAMESPACE/NAME.
[[nodiscard]] inline std::string short_name(const std::string& name_space, const std::string& name,
                                            const std::string& default_namespace) {
    return name_space == default_namespace ? name : name_space + "/" + name;
}

/// The details of a change, for programs, begin with its stable name.
[[nodiscard]] inline boost::json::object details_of(muster::words::change_code code) {
    return {{"kind", name_of(code)}};
}

/// These PersistentVolumeClaims are bound, and those of them in `absent` are created before.
[[nodiscard]] inline change_line bound_claims(const std::set<std::string>& names,
                                              const std::set<std::string>& absent,
                                              muster::words::unready_claims others = {}) {
    change_line line;
    for (const std::string& claim : names)
        (absent.contains(claim) ? others.to_create : others.to_bind).insert(claim);
    if (!others.empty())
        line.text = ready_claims_text(others);
    for (const std::string& claim : names)
        line.options.push_back("--bind-claim " + claim);
    line.details = details_of(muster::words::change_code::bind_claims);
    line.details["claims"] = boost::json::array(names.begin(), names.end());
    const auto add = [&](const char* field, const std::set<std::string>& claims) {
        if (!claims.empty())
            line.details[field] = boost::json::array(claims.begin(), claims.end());
    };
    add("toCreate", others.to_create);
    // No option of `muster whatif` allocates a ResourceClaim.
    if (!others.to_allocate.empty() || !others.to_make.empty())
        line.options.clear();
    add("resourceClaims", others.to_allocate);
    add("resourceClaimEntries", others.to_make);
    return line;
}

/// That many copies of a node exist, with these labels instead of the node's own.
[[nodiscard]] inline change_line added_nodes(const std::string& like, std::int64_t count,
                                             const std::map<std::string, std::string>& labels) {
    change_line line;
    line.text = muster::words::added_nodes_text(like, count, labels);
    line.options = {"--add-nodes " + std::to_string(count) + "x" + like};
    line.details = details_of(muster::words::change_code::add_nodes);
    line.details["like"] = like;
    line.details["count"] = count;
    boost::json::object set;
    for (const auto& [key, value] : labels) {
        line.options.front() += "," + key + "=" + value;
        set[key] = value;
    }
    if (!set.empty())
        line.details["labels"] = std::move(set);
    return line;
}

/// The minimum of the group, or of its role, is `to`.
[[nodiscard]] inline change_line lowered_minimum(const std::string& group, const std::string& role,
                                                 std::int64_t from, std::int64_t to) {
    change_line line;
    line.text = muster::words::lowered_minimum_text(role, from, to);
    line.options = {"--set group." + group + (role.empty() ? "" : ".roles." + role) +
                    ".minMember=" + std::to_string(to)};
    line.details = details_of(muster::words::change_code::lower_minimum);
    line.details["role"] = role.empty() ? boost::json::value(nullptr) : boost::json::value(role);
    line.details["from"] = from;
    line.details["to"] = to;
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

/// Names objects as options spell them: NAME in the default namespace, else NAMESPACE/NAME.
template<class Traits>
class short_names {
public:
    short_names(const muster::state<Traits>& known, std::string default_namespace)
        : known_(&known), default_namespace_(std::move(default_namespace)) {}

    [[nodiscard]] const std::string& operator()(muster::node_index node) const {
        return known_->key(node);
    }
    [[nodiscard]] const std::string& operator()(muster::queue_index queue) const {
        return known_->key(queue);
    }
    [[nodiscard]] std::string operator()(muster::pod_index pod) const {
        const auto& key = known_->key(pod);
        return short_name(key.name_space, key.name, default_namespace_);
    }
    [[nodiscard]] std::string operator()(muster::gang_index gang) const {
        const auto& key = known_->key(gang);
        return short_name(key.name_space, key.name, default_namespace_);
    }
    [[nodiscard]] const std::string& default_namespace() const { return default_namespace_; }

private:
    const muster::state<Traits>* known_;
    std::string default_namespace_;
};

/// Writes a change as text, as data for programs, and as options of `muster whatif`.
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
          names_(known, std::move(default_namespace)) {}

    /// The text is empty if no change of the cluster makes the request ready: it is malformed or
    /// not modelled.
    [[nodiscard]] change_line operator()(const muster::change& what) const {
        if (std::holds_alternative<muster::ready_volumes>(what))
            return ready_volumes();
        change_line line;
        line.text = muster::words::change_writer(*known_, *kinds_, which_, names_)(what);
        line.details = details_of(muster::words::code_of(what));
        std::visit([&](const auto& each) { add(each, line); }, what);
        return line;
    }

private:
    void add(const muster::free_pods& what, change_line& to) const {
        boost::json::array pods;
        for (const muster::pod_index index : what.pods) {
            const auto& key = known_->key(index);
            to.options.push_back("--remove-pod " + names_(index));
            pods.push_back(object{{"namespace", key.name_space},
                                  {"name", key.name},
                                  {"group", known_->key((*known_)[index].gang).name},
                                  {"node", known_->key(*(*known_)[index].node)}});
        }
        to.details["pods"] = std::move(pods);
    }

    void add(const muster::add_nodes& what, change_line& to) const {
        to = added_nodes(known_->key(what.like), what.count,
                         {what.labels.begin(), what.labels.end()});
    }

    void add(const muster::uncordon_nodes& what, change_line& to) const {
        boost::json::array nodes;
        for (const muster::node_index node : what.nodes) {
            to.options.push_back("--uncordon " + known_->key(node));
            nodes.emplace_back(known_->key(node));
        }
        to.details["nodes"] = std::move(nodes);
    }

    void add(const muster::raise_quota& what, change_line& to) const {
        const std::string& queue = known_->key(what.queue);
        const std::string& kind = kinds_->name(what.kind);
        const auto& spec = (*known_)[what.queue].spec;
        const auto& ceilings = what.non_preemptible ? spec.non_preemptible_quota : spec.quota;
        const std::string amount = muster::words::amount_text(kind, what.to);
        to.options = {"--set queue." + queue + (what.non_preemptible ? ".deserved." : ".quota.") +
                      kind + "=" + amount};
        to.details["queue"] = queue;
        to.details["resource"] = kind;
        to.details["from"] = muster::words::amount_text(kind, ceilings[what.kind].value_or(0));
        to.details["to"] = amount;
    }

    void add(const muster::open_queue& what, change_line& to) const {
        const std::string& queue = known_->key(what.queue);
        to.options = {"--set queue." + queue + ".closed=false"};
        to.details["queue"] = queue;
    }

    void add(const muster::tolerate_taint& what, change_line& to) const {
        const std::string taint = muster::words::taint_text(what.what);
        to.options = {set_option(".toleration=" + taint)};
        to.details["taint"] = taint;
    }

    void add(const muster::drop_label& what, change_line& to) const {
        to.options = {set_option(".nodeSelector." + what.key + "=")};
        to.details["label"] = what.key;
    }

    void add(const muster::drop_affinity&, change_line& to) const {
        to.options = {set_option(".nodeAffinity=")};
    }

    void add(const muster::drop_pod_terms& what, change_line& to) const {
        to.options = {set_option(what.which == muster::pod_term_kind::affinity ? ".podAffinity="
                                 : what.which == muster::pod_term_kind::anti_affinity
                                     ? ".podAntiAffinity="
                                     : ".topologySpread=")};
    }

    void add(const muster::drop_domain& what, change_line& to) const {
        const auto& vertex = (*known_)[which_].spec.tree[what.at];
        const bool whole = what.at.value() == 0;
        to.options = {set_option((whole ? "" : ".roles." + vertex.name) + ".topology=")};
        to.details["role"] = !whole && !vertex.name.empty() ? boost::json::value(vertex.name)
                                                            : boost::json::value(nullptr);
        to.details["level"] = vertex.together->within.levels[*vertex.together->required];
    }

    void add(const muster::lower_minimum& what, change_line& to) const {
        const auto& vertex = (*known_)[which_].spec.tree[what.at];
        to = lowered_minimum(names_(which_), what.at.value() == 0 ? "" : vertex.name,
                             vertex.min_member, what.to);
    }

    void add(const muster::ready_volumes&, change_line&) const {}

    [[nodiscard]] change_line ready_volumes() const {
        std::set<std::string> claims;
        std::set<std::string> absent;
        muster::words::unready_claims others;
        for (const muster::pod_index member : (*known_)[which_].members) {
            const auto& pod = (*known_)[member];
            const auto& key = known_->key(member);
            const auto* const volumes = volumes_->find(key);
            if (!volumes || volumes->unusable || !pod.placeable())
                continue;
            const auto name = [&](const std::string& claim) {
                return short_name(key.name_space, claim, names_.default_namespace());
            };
            for (const std::string& claim : volumes->missing)
                claims.insert(name(claim));
            for (const std::string& claim : volumes->absent)
                absent.insert(name(claim));
            for (const std::string& claim : volumes->missing_devices)
                others.to_allocate.insert(name(claim));
            others.to_make.insert(volumes->unmade_devices.begin(), volumes->unmade_devices.end());
        }
        return bound_claims(claims, absent, std::move(others));
    }

    [[nodiscard]] std::string set_option(const std::string& field) const {
        return "--set group." + names_(which_) + field;
    }

    const muster::state<traits>* known_;
    const muster::kind_table* kinds_;
    const muster::codec::volume_plan* volumes_;
    muster::gang_index which_;
    short_names<traits> names_;
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
            changes.push_back(tell(one));
        if (std::ranges::none_of(changes, [](const auto& change) { return change.text.empty(); }))
            line.remedies.push_back(std::move(changes));
    }
    return found.probes;
}

} // namespace cli
