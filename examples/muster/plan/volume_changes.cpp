// SPDX-License-Identifier: Apache-2.0
#include "volume_changes.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/advice/least_change.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/input/broken_objects.hpp>
#include <muster/input/cluster.hpp>
#include <muster/vocabulary/node_names.hpp>
#include <muster/words/change_name.hpp>

#include "edits.hpp"
#include "planning.hpp"
#include "remedies.hpp"

namespace cli {
namespace {

using namespace muster::codec;
using muster::words::change_code;

/// Plans changed copies of an input and looks at one group.
class group_trials {
public:
    group_trials(const manifests& objects, const request& asked, const group_key& group,
                 std::int64_t most)
        : objects_(&objects), asked_(&asked), group_(&group), most_(most) {}

    /// True if the next cycle starts the group after the edits. False also after `most` tries.
    [[nodiscard]] bool starts(const std::vector<edit>& edits) {
        if (made_ == most_) {
            complete_ = false;
            return false;
        }
        ++made_;
        manifests changed = *objects_;
        std::vector<std::string> remarks;
        if (!apply_edits(edits, *asked_, changed, remarks).empty())
            return false;
        diagnostics ignored;
        auto known = make_cluster(changed, cluster_options_of(*asked_), ignored);
        if (!known || !ignored.ok())
            return false;
        const auto which = known->state.find_gang(*group_);
        if (!which)
            return false;
        using traits = typename std::remove_cvref_t<decltype(known->state)>::traits;
        static_cast<void>(muster::cycle(known->state, known->now,
                                        policy_of<traits>(*asked_, *known), budget_of(*asked_)));
        return known->state[which->index].last.kind == muster::answer::admitted;
    }
    [[nodiscard]] bool complete() const noexcept { return complete_; }
    [[nodiscard]] std::int64_t made() const noexcept { return made_; }

private:
    const manifests* objects_;
    const request* asked_;
    const group_key* group_;
    std::int64_t most_;
    std::int64_t made_ = 0;
    bool complete_ = true;
};

bool has_kind(const std::vector<change_line>& remedy, change_code kind) {
    const boost::json::string_view name = name_of(kind);
    return std::ranges::any_of(remedy, [&](const change_line& each) {
        const auto* const own = each.details.if_contains("kind");
        return own && *own == name;
    });
}

class volume_changes {
public:
    volume_changes(const manifests& objects, const request& asked, const group_with_volumes& group,
                   std::int64_t most, group_line& line)
        : objects_(&objects),
          group_(&group),
          line_(&line),
          default_namespace_(asked.default_namespace),
          trials_(objects, asked, group.key, most) {}

    std::int64_t correct() {
        std::erase_if(line_->remedies, [&](const auto& each) {
            return has_options(each) && !has_kind(each, change_code::bind_claims) &&
                   !trials_.starts(edits_of(each));
        });
        look_at_claims();
        look_at_zones();
        look_at_copies();
        look_at_minimum();
        line_->changes_complete = line_->changes_complete && trials_.complete();
        return trials_.made();
    }

private:
    [[nodiscard]] static std::vector<edit> edits_of(const std::vector<change_line>& remedy) {
        std::vector<edit> edits;
        for (const change_line& each : remedy)
            for (const std::string& option : each.options)
                if (const auto made = edit_of(option))
                    edits.push_back(*made);
        return edits;
    }

    /// Options of `muster whatif` make all of the changes.
    [[nodiscard]] static bool has_options(const std::vector<change_line>& remedy) {
        return std::ranges::all_of(remedy, [](const change_line& each) {
            return !each.options.empty() && std::ranges::all_of(each.options, [](const auto& one) {
                return edit_of(one).has_value();
            });
        });
    }

    /// The claims that are not bound and may still be, as options spell them. Leaves out claims
    /// that are made with their pods: they cannot be bound before, and their names may be unknown.
    [[nodiscard]] std::vector<std::string> unbound_claims() const {
        std::set<std::string> found;
        const volume_effects* of = nullptr;
        const auto add = [&](const std::vector<std::string>& claims) {
            for (const std::string& claim : claims)
                if (!of->drafts.contains(claim))
                    found.insert(short_name(group_->key.name_space, claim, default_namespace_));
        };
        for (const auto& [name, volumes] : group_->volumes) {
            if (volumes->unusable)
                continue;
            of = volumes;
            add(volumes->missing);
            for (const auto& [storage_class, claims] : volumes->unbound)
                add(claims);
        }
        return {found.begin(), found.end()};
    }

    void look_at_claims() {
        const bool of_devices = std::ranges::any_of(group_->volumes, [](const auto& each) {
            return !each.second->missing_devices.empty() || !each.second->unmade_devices.empty();
        });
        const std::vector<std::string> claims = unbound_claims();
        const bool makes_claims = std::ranges::any_of(
            group_->volumes, [](const auto& each) { return !each.second->drafts.empty(); });
        if (!makes_claims && (claims.empty() || of_devices))
            return;
        std::erase_if(line_->remedies,
                      [](const auto& each) { return has_kind(each, change_code::bind_claims); });
        if (claims.empty() || of_devices)
            return;
        const auto chosen = [&](const std::vector<std::size_t>& which) {
            std::vector<edit> edits;
            for (const std::size_t each : which)
                edits.push_back({edit::kind::bind_claim, claims[each]});
            return edits;
        };
        const auto least = muster::detail::least_subset(
            claims.size(), [&](const auto& which) { return trials_.starts(chosen(which)); });
        if (!least)
            return;
        std::set<std::string> names;
        for (const std::size_t each : *least)
            names.insert(claims[each]);
        std::set<std::string> absent;
        for (const auto& [name, volumes] : group_->volumes)
            for (const std::string& claim : volumes->absent)
                absent.insert(short_name(group_->key.name_space, claim, default_namespace_));
        line_->remedies.insert(line_->remedies.begin(), {bound_claims(names, absent)});
    }

    /// Adds nodes with the labels that the volumes of some pod need and no node has, unless nodes
    /// with fewer labels help. Of a host name there is one node.
    void look_at_zones() {
        if (std::ranges::any_of(line_->remedies, [](const auto& each) {
                return has_kind(each, change_code::add_nodes) &&
                       each.front().details.contains("labels");
            }))
            return;
        std::map<std::string, std::string> labels;
        for (const auto& [name, volumes] : group_->volumes)
            for (const muster::volume_reach& each : volumes->reach)
                if (!each.of_devices && !each.any_of.empty() && !is_reached(each))
                    for (const auto& needed : each.any_of.front().labels.requirements)
                        if (needed.op == muster::label_operator::in && !needed.values.empty())
                            labels.insert_or_assign(needed.key, needed.values.front());
        if (labels.empty())
            return;
        add_copies(labels, labels.contains(std::string(muster::hostname_label))
                               ? 1
                               : static_cast<std::int64_t>(group_->volumes.size()));
    }

    /// Adds copies of a node if no change has any: the core does not know what volumes that pods
    /// share take of added nodes.
    void look_at_copies() {
        if (std::ranges::none_of(line_->remedies, [](const auto& each) {
                return has_kind(each, change_code::add_nodes);
            }))
            add_copies({}, static_cast<std::int64_t>(group_->volumes.size()));
    }

    /// Lowers the minimum as little as helps if no change lowers it: the core tries this only for
    /// groups whose minimum the volumes can meet.
    void look_at_minimum() {
        if (std::ranges::any_of(line_->remedies, [](const auto& each) {
                return has_kind(each, change_code::lower_minimum);
            }))
            return;
        const auto lowered = [&](std::int64_t by) {
            return std::vector{lowered_minimum(
                short_name(group_->key.name_space, group_->key.name, default_namespace_), "",
                line_->minimum, line_->minimum - by)};
        };
        const auto by = muster::detail::least_number(0, line_->minimum - 1, [&](std::int64_t less) {
            return trials_.starts(edits_of(lowered(less)));
        });
        if (by)
            line_->remedies.push_back(lowered(*by));
    }

    /// Adds the fewest copies, at most `most`, of the first node of which some help, with the
    /// labels.
    void add_copies(const std::map<std::string, std::string>& labels, std::int64_t most) {
        for (const node_object* const like : nodes_to_copy()) {
            const auto copies = [&](std::int64_t count) {
                return std::vector{added_nodes(like->metadata.key.name, count, labels)};
            };
            const auto count = muster::detail::least_number(
                0, most, [&](std::int64_t many) { return trials_.starts(edits_of(copies(many))); });
            if (!count)
                continue;
            const auto same = [&](const std::vector<change_line>& each) {
                return each.size() == 1 && each.front().options == copies(*count).front().options;
            };
            if (std::ranges::none_of(line_->remedies, same))
                line_->remedies.push_back(copies(*count));
            return;
        }
    }

    /// Returns one node of each kind, at most four. Nodes differ in kind if their amounts, taints
    /// or limits of CSI drivers do.
    [[nodiscard]] std::vector<const node_object*> nodes_to_copy() const {
        constexpr std::size_t most = 4;
        std::map<std::string_view, const csi_node_object*> drivers;
        for (const csi_node_object& each : objects_->storage.nodes)
            drivers.emplace(each.metadata.key.name, &each);
        const auto limits_of = [&](const node_object& node) {
            std::map<std::string, std::optional<std::int64_t>> limits;
            if (const auto found = drivers.find(node.metadata.key.name); found != drivers.end())
                for (const auto& [name, driver] : found->second->drivers)
                    limits.emplace(name, driver.most);
            return limits;
        };
        std::vector<const node_object*> kinds;
        for (const node_object& like : objects_->nodes) {
            if (kinds.size() == most)
                break;
            const auto alike = [&](const node_object* other) {
                return other->allocatable == like.allocatable && other->taints == like.taints &&
                       limits_of(*other) == limits_of(like);
            };
            if (!is_closed_unread(like) && std::ranges::none_of(kinds, alike))
                kinds.push_back(&like);
        }
        return kinds;
    }

    [[nodiscard]] bool is_reached(const muster::volume_reach& which) const {
        return std::ranges::any_of(objects_->nodes, [&](const node_object& each) {
            muster::node<1> seen;
            seen.name = each.metadata.key.name;
            seen.labels = each.metadata.labels;
            return std::ranges::any_of(
                which.any_of, [&](const muster::node_term& term) { return term.matches(seen); });
        });
    }

    const manifests* objects_;
    const group_with_volumes* group_;
    group_line* line_;
    std::string default_namespace_;
    group_trials trials_;
};

} // namespace

std::int64_t correct_changes(const manifests& objects, const request& asked,
                             const group_with_volumes& group, std::int64_t most, group_line& line) {
    return volume_changes(objects, asked, group, most, line).correct();
}

} // namespace cli
