// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/claim_text.hpp>
#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_claims.hpp>
#include <muster/apis/core/claims/device_homes.hpp>
#include <muster/apis/core/claims/device_judge.hpp>
#include <muster/apis/core/claims/device_lacks.hpp>
#include <muster/apis/core/claims/device_sets.hpp>
#include <muster/apis/core/claims/node_devices.hpp>
#include <muster/apis/core/claims/pooled_devices.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/base/checked.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Plans the claims that must be allocated as amounts of nodes, so that a gang with claims is
/// placed as exactly as one with any other resource.
///
/// - Requests for whole devices are amounts of sets of devices. All sets that are counted are
///   disjoint or one within the other, and a request counts in its set and in all sets around it.
///   So the devices of a node suffice if and only if the amounts do (Hall's theorem).
/// - Pods with any other request (partitions, shared devices, `All`, alternatives, constraints,
///   admin access) count as pods: a node has room for as many as allocate_devices() finds devices
///   for at once. Their devices must be asked for by equal pods only.
///
/// Claims that fit neither, and claims that several pods share, become device demands, as do those
/// of all pods that can use the same devices; a device_judge decides about them. Pods that share a
/// claim are placed on one node (shared_claims.hpp). If one of these devices can be used by several
/// nodes, or counts for an extended resource too, no demands are made, and the pods wait, with a
/// reason.
class device_counter {
public:
    struct demand {
        const pod_object* pod = nullptr;
        std::vector<unallocated_claim> claims;
        /// The pod waits for another claim, so it takes no devices from others.
        bool waits = false;
    };

    /// Names of the resource kinds that count pods, by the text of the claims.
    using kind_names = std::map<std::string, std::string>;

    /// The arguments must outlive the counter. `names`: names of earlier plans, which are kept and
    /// extended; can be null.
    device_counter(const device_catalog& catalog, const pooled_devices& devices,
                   const device_homes& homes, const node_devices& by_node, volume_plan& into,
                   kind_names* names = nullptr)
        : names_(names),
          catalog_(&catalog),
          devices_(&devices.usable),
          unusable_(&devices.unusable),
          homes_(&homes),
          by_node_(&by_node),
          into_(&into) {}

    /// Adds an extended resource that the devices serve: a claim for one of them counts against
    /// the resource too.
    void add_resource(const std::string& resource, device_set devices) {
        sets_.push_back({resource, std::move(devices), nullptr, true, false});
    }

    /// Adds the amounts or demands of the pods, and the amounts or devices of the nodes. `texts`:
    /// the number of different claims. O(pods × claims × sets + texts² × devices + devices ×
    /// selectors × sets + nodes × devices × allocations).
    void count(const std::vector<demand>& demands) {
        std::map<std::string, alike_pods> all;
        // Sets are named after the first pod that uses them.
        std::vector<std::pair<const demand*, const alike_pods*>> in_order;
        for (const demand& each : demands)
            if (prepare(each) && !each.waits) {
                alike_pods& alike = all[text_of(each)];
                alike.pods.push_back(&each);
                in_order.emplace_back(&each, &alike);
            }
        for (auto& [text, each] : all) {
            each.reach = by_node_->with_counters_of(reached(*each.pods.front()));
            each.is_whole = asks_whole(*each.pods.front());
            each.is_sharing = std::ranges::any_of(each.pods.front()->claims, is_shared);
        }
        find_judged(all);
        hold_sharers(all);
        judge(all);
        std::vector<pod_amounts> whole;
        for (const auto& [pod, alike] : in_order)
            if (!alike->is_judged && !alike->is_sharing && alike->is_whole)
                find_sets(*pod, whole);
        for (const pod_amounts& each : whole)
            charge(each);
        supply_sets();
        for (const auto& [text, each] : all)
            if (!each.is_judged && !each.is_sharing && !each.is_whole)
                count_pods(each.pods);
    }

private:
    /// Pods with equal claims.
    struct alike_pods {
        std::vector<const demand*> pods;
        /// The devices on which the answer for them depends.
        device_set reach;
        bool is_whole = false;
        /// Other pods use some of the claims too.
        bool is_sharing = false;
        bool is_judged = false;
    };
    struct counted_set {
        std::string name;
        device_set devices;
        /// A request that selects these devices; null for an extended resource.
        const device_alternative* asked = nullptr;
        bool is_resource = false;
        /// Some pod counts in it.
        bool is_used = false;
    };
    /// What a pod asks for, by position of the set.
    struct pod_amounts {
        const pod_object* pod = nullptr;
        std::map<std::size_t, std::int64_t> of;
    };

    void hold(const demand& of, const std::string& why) {
        wait_for_allocation(of.claims, why, into_->pods[of.pod->metadata.key]);
    }

    [[nodiscard]] static bool is_shared(const unallocated_claim& of) {
        return !of.shared_as.empty();
    }
    [[nodiscard]] static std::string text_of(const demand& of) {
        std::string text = specs_of(of);
        for (const unallocated_claim& each : of.claims)
            text += is_shared(each) ? "shared " + each.shared_as + "\n" : "own\n";
        return text;
    }
    [[nodiscard]] static std::string specs_of(const demand& of) {
        std::string text;
        for (const unallocated_claim& each : of.claims)
            text += claim_text(each.spec->asks) + "\n";
        return text;
    }

    /// Finds the devices of all requests. Returns false, and the pod waits, if that is impossible.
    [[nodiscard]] bool prepare(const demand& of) {
        for (const unallocated_claim& each : of.claims) {
            std::int64_t total = 0;
            if (!each.spec->unsupported.empty()) {
                hold(of, "has a field that is not known: " + each.spec->unsupported.front());
                return false;
            }
            for (const device_request& request : each.spec->asks.requests)
                for (const device_alternative& one : request.alternatives) {
                    const auto of_class = catalog_->classes.find(one.class_name);
                    if (of_class == catalog_->classes.end()) {
                        hold(of, "names device class " + one.class_name +
                                     ", which does not exist (expected a DeviceClass of that "
                                     "name)");
                        return false;
                    }
                    const selected_devices& found = select(one, *of_class->second);
                    if (!found.undecided.empty()) {
                        hold(of, (found.is_of_class
                                      ? "names device class " + one.class_name +
                                            ", whose selector cannot be decided for "
                                      : "selects devices by a selector that cannot be decided "
                                        "for ") +
                                     found.undecided);
                        return false;
                    }
                    if (!request.is_prioritized && one.mode == device_count_mode::exact)
                        total = saturating_add(total, one.count);
                }
            if (total > max_devices_per_claim) {
                hold(of, "asks for " + std::to_string(total) + " devices (expected at most " +
                             std::to_string(max_devices_per_claim) + ")");
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] const selected_devices& select(const device_alternative& asked,
                                                 const device_class_object& of_class) {
        const auto [at, is_new] = selected_.try_emplace(selection_text(asked));
        if (is_new)
            at->second = select_devices(*devices_, of_class.selectors, &asked);
        return at->second;
    }
    [[nodiscard]] const device_set& selected(const device_alternative& asked) const {
        return selected_.find(selection_text(asked))->second.devices;
    }

    // ---- devices that do not add up ------------------------------------------------------------

    /// Finds the pods of which amounts do not describe the claims, and all pods that can use the
    /// same devices. Pods that share devices with none of them are counted as before, and so are
    /// those of devices that several nodes can use or that count for a resource. O(texts² ×
    /// devices).
    void find_judged(std::map<std::string, alike_pods>& all) {
        std::vector<alike_pods*> each;
        for (auto& [text, one] : all)
            each.push_back(&one);
        std::vector<bool> is_grouped(each.size(), false);
        for (std::size_t first = 0; first < each.size(); ++first) {
            if (is_grouped[first])
                continue;
            is_grouped[first] = true;
            std::vector<alike_pods*> group{each[first]};
            for (std::size_t at = 0; at < group.size(); ++at)
                for (std::size_t other = first + 1; other < each.size(); ++other)
                    if (!is_grouped[other] && !are_apart(group[at]->reach, each[other]->reach)) {
                        is_grouped[other] = true;
                        group.push_back(each[other]);
                    }
            const bool is_judged =
                (std::ranges::any_of(group, &alike_pods::is_sharing) || crosses(group)) &&
                can_be_judged(group);
            for (alike_pods* const one : group)
                one->is_judged = is_judged;
        }
    }
    /// True if amounts do not describe the claims of some pods of the group.
    [[nodiscard]] bool crosses(const std::vector<alike_pods*>& group) const {
        for (std::size_t one = 0; one < group.size(); ++one)
            for (std::size_t other = 0; other < one; ++other)
                if (!are_apart(group[one]->reach, group[other]->reach) &&
                    !add_up(*group[one], *group[other]))
                    return true;
        return false;
    }
    [[nodiscard]] bool can_be_judged(const std::vector<alike_pods*>& group) const {
        return std::ranges::all_of(group, [&](const alike_pods* one) {
            return by_node_->are_local(one->reach) &&
                   std::ranges::all_of(sets_, [&](const counted_set& counted) {
                       return are_apart(counted.devices, one->reach);
                   });
        });
    }

    /// Amounts would count a shared claim once for each of its pods.
    void hold_sharers(const std::map<std::string, alike_pods>& all) {
        for (const auto& [text, each] : all)
            if (each.is_sharing && !each.is_judged)
                for (const demand* const pod : each.pods)
                    hold(*pod, "is shared with other waiting pods, and other nodes or an extended "
                               "resource can use its devices: such claims are not planned yet");
    }

    /// True if the requests of both are for whole devices, and their sets are disjoint or nested.
    [[nodiscard]] bool add_up(const alike_pods& lhs, const alike_pods& rhs) const {
        if (!lhs.is_whole || !rhs.is_whole)
            return false;
        const auto mine = alternatives_of(*lhs.pods.front());
        const auto others = alternatives_of(*rhs.pods.front());
        return std::ranges::all_of(mine, [&](const device_alternative* one) {
            return std::ranges::all_of(others, [&](const device_alternative* other) {
                const device_set& first = selected(*one);
                const device_set& second = selected(*other);
                return are_apart(first, second) || is_within(first, second) ||
                       is_within(second, first);
            });
        });
    }

    /// Sets the demands of the pods that the device_judge decides about, and of the pods that hold
    /// their devices, and adds the devices of the nodes.
    void judge(const std::map<std::string, alike_pods>& all) {
        std::vector<device_claim> claims;
        std::vector<const device_set*> sets;
        device_set contested;
        std::string kind;
        for (const auto& [text, each] : all) {
            if (!each.is_judged)
                continue;
            if (!into_->judge)
                into_->judge = std::make_shared<device_judge>(by_node_->classes());
            kind += specs_of(*each.pods.front());
            const std::vector<device_claim> asked = claims_of(*each.pods.front());
            claims.insert(claims.end(), asked.begin(), asked.end());
            for (const device_alternative* const one : alternatives_of(*each.pods.front())) {
                sets.push_back(&selected(*one));
                std::string why = uncounted_text({one});
                add_part(why, by_node_->spent_counters_text(each.reach));
                if (!why.empty())
                    into_->uncounted.try_emplace(one->class_name, std::move(why));
            }
            contested.insert(contested.end(), each.reach.begin(), each.reach.end());
            std::vector<device_claim> own;
            device_judge::shared_claims shared;
            for (const unallocated_claim& one : each.pods.front()->claims)
                if (is_shared(one))
                    shared.emplace(one.shared_as + "\n" + claim_text(one.spec->asks),
                                   one.spec->asks);
                else
                    own.push_back(one.spec->asks);
            const device_demand number =
                into_->judge->asking(text, std::move(own), std::move(shared));
            for (const demand* const pod : each.pods)
                into_->pods[pod->pod->metadata.key].devices = number;
        }
        if (claims.empty())
            return;
        sort_devices(contested);
        std::map<const pod_object*, std::set<device_id>> held;
        std::set<device_id> standing;
        for (const std::size_t at : contested)
            if (const pod_object* const holder = homes_->of(at).holder) {
                held[holder].insert((*devices_)[at].id);
                standing.insert((*devices_)[at].id);
            }
        for (const auto& each_holder : held) {
            const pod_object* const holder = each_holder.first;
            const std::set<device_id>& ids = each_holder.second;
            std::vector<std::size_t> positions;
            std::size_t at = 0;
            by_node_->for_each_device(holder->node, [&](const pooled_device& each) {
                if (ids.contains(each.id))
                    positions.push_back(at);
                ++at;
            });
            into_->pods[holder->metadata.key].devices = into_->judge->holding(positions);
        }
        by_node_->add_stocks(kind, claims, sets, standing, *into_->judge, into_->stocks);
    }

    [[nodiscard]] static std::vector<device_claim> claims_of(const demand& of) {
        std::vector<device_claim> claims;
        for (const unallocated_claim& each : of.claims)
            claims.push_back(each.spec->asks);
        return claims;
    }

    // ---- whole devices -------------------------------------------------------------------------

    [[nodiscard]] bool is_whole(const device_request& request) const {
        if (request.is_prioritized || request.alternatives.size() != 1)
            return false;
        const device_alternative& only = request.alternatives.front();
        return only.mode == device_count_mode::exact && !only.admin_access &&
               only.capacities.empty() && std::ranges::all_of(selected(only), [&](std::size_t at) {
                   const device& each = *(*devices_)[at].of;
                   return each.consumes.empty() && !each.attributes.allows_multiple_allocations;
               });
    }

    [[nodiscard]] bool asks_whole(const demand& of) const {
        return std::ranges::all_of(of.claims, [&](const unallocated_claim& each) {
            return each.spec->asks.constraints.empty() &&
                   std::ranges::all_of(each.spec->asks.requests,
                                       [&](const device_request& one) { return is_whole(one); });
        });
    }

    /// Adds what the pod asks for. The pod waits if a set crosses another one.
    void find_sets(const demand& of, std::vector<pod_amounts>& to) {
        pod_amounts made{of.pod, {}};
        for (const unallocated_claim& each : of.claims)
            for (const device_request& request : each.spec->asks.requests) {
                const device_alternative& only = request.alternatives.front();
                const std::size_t set = set_of(only);
                if (set == sets_.size())
                    return hold(of, "asks for " + set_name(only) +
                                        ", some of which others ask for in another way: such "
                                        "devices are not counted yet");
                made.of[set] += only.count;
            }
        to.push_back(std::move(made));
    }

    /// Counts the pod in its sets, and in the sets around them.
    void charge(const pod_amounts& asked) {
        volume_effects& to = into_->pods[asked.pod->metadata.key];
        for (const auto& [set, count] : asked.of)
            for (std::size_t at = 0; at < sets_.size(); ++at) {
                counted_set& around = sets_[at];
                const device_set& inner = sets_[set].devices;
                if (at != set && (inner.empty() || !is_within(inner, around.devices)))
                    continue;
                around.is_used = true;
                to.amounts[around.name] += count;
                to.growing.insert(around.name);
            }
    }

    /// Returns the position of the set that the request selects, or the number of sets if it
    /// crosses one of them.
    [[nodiscard]] std::size_t set_of(const device_alternative& asked) {
        const device_set& devices = selected(asked);
        for (std::size_t at = 0; at < sets_.size(); ++at)
            if (!sets_[at].is_resource && sets_[at].devices == devices)
                return at;
        for (const counted_set& each : sets_)
            if (!are_apart(each.devices, devices) && !is_within(devices, each.devices) &&
                (each.is_resource || !is_within(each.devices, devices)))
                return sets_.size();
        std::string name = set_name(asked);
        // Several sets can have one shortened name; kept_name() keeps their names equal in later
        // plans.
        if (names_ && name.ends_with("..."))
            name = kept_name("set " + selection_text(asked), std::move(name));
        sets_.push_back({unused_name(name), devices, &asked, false, false});
        return sets_.size() - 1;
    }

    [[nodiscard]] std::string unused_name(const std::string& name) const {
        std::string made = name;
        const auto is_taken = [&] {
            return std::ranges::any_of(sets_,
                                       [&](const counted_set& each) { return each.name == made; });
        };
        for (int next = 2; is_taken(); ++next)
            made = name + " (" + std::to_string(next) + ")";
        return made;
    }

    /// Adds what nodes have of the sets, and what standing pods hold of them.
    void supply_sets() {
        for (const counted_set& each : sets_) {
            if (each.is_resource || !each.is_used)
                continue;
            volume_supply supply;
            for (const std::size_t at : each.devices) {
                const device_homes::home home = homes_->of(at);
                if (home.node.empty())
                    continue;
                ++supply.on[std::string(home.node)];
                if (!by_node_->are_local({at}))
                    ++supply.not_of_node[std::string(home.node)];
                if (home.holder)
                    ++into_->pods[home.holder->metadata.key].amounts[each.name];
            }
            supply.lack = uncounted_text({each.asked});
            if (each.devices.empty() && supply.lack.empty())
                supply.lack = "no device of a complete pool is one of these";
            into_->kinds.emplace(each.name, std::move(supply));
        }
    }

    [[nodiscard]] std::string
    uncounted_text(const std::vector<const device_alternative*>& asked) const {
        std::vector<const selected_devices*> found;
        for (const device_alternative* const each : asked)
            found.push_back(&selected_.find(selection_text(*each))->second);
        return uncounted_devices_text(asked, found, *catalog_, *unusable_);
    }

    // ---- pods of one kind ----------------------------------------------------------------------

    /// Counts pods with equal claims by how many of them a node has devices for.
    void count_pods(const std::vector<const demand*>& pods) {
        const demand& first = *pods.front();
        device_set all = by_node_->with_counters_of(reached(first));
        const auto others = std::ranges::find_if(
            sets_, [&](const counted_set& each) { return !are_apart(each.devices, all); });
        if (others != sets_.end() || !are_apart(counted_by_pods_, all) ||
            !by_node_->are_local(all)) {
            for (const demand* const each : pods)
                hold(*each, others != sets_.end()
                                ? "asks for devices among the " + others->name +
                                      ", together with others: such devices are not counted yet"
                                : "asks for devices that other pods or other nodes can use "
                                  "in another way: such devices are not counted yet");
            return;
        }
        counted_by_pods_.insert(counted_by_pods_.end(), all.begin(), all.end());
        std::ranges::sort(counted_by_pods_);
        std::string name = "devices for " + first.claims.front().name + " of pod " +
                           first.pod->metadata.key.name_space + "/" + first.pod->metadata.key.name;
        if (names_)
            name = kept_name(text_of(first), std::move(name));
        const std::vector<device_claim> claims = claims_of(first);
        std::vector<const device_set*> sets;
        for (const device_alternative* const each : alternatives_of(first))
            sets.push_back(&selected(*each));
        volume_supply supply =
            by_node_->room_for(claims, sets, static_cast<std::int64_t>(pods.size()));
        supply.lack = uncounted_text(alternatives_of(first));
        if (std::ranges::none_of(supply.on, [](const auto& each) { return each.second > 0; })) {
            add_part(supply.lack, by_node_->spent_counters_text(all));
            if (supply.lack.empty())
                supply.lack = "no node has devices that satisfy it";
        }
        into_->kinds.emplace(name, std::move(supply));
        for (const demand* const each : pods) {
            volume_effects& to = into_->pods[each->pod->metadata.key];
            to.amounts[name] = 1;
            to.growing.insert(name);
        }
    }

    /// Returns the name that the claims had in earlier plans. If they had none, returns `name`,
    /// with quotes appended until it is unused.
    [[nodiscard]] const std::string& kept_name(const std::string& claims, std::string name) {
        const auto is_taken = [&](const auto& each) { return each.second == name; };
        const auto known = names_->find(claims);
        while (known == names_->end() && std::ranges::any_of(*names_, is_taken))
            name += "'";
        return names_->try_emplace(claims, std::move(name)).first->second;
    }

    [[nodiscard]] static std::vector<const device_alternative*> alternatives_of(const demand& of) {
        std::vector<const device_alternative*> all;
        for (const unallocated_claim& each : of.claims)
            for (const device_request& request : each.spec->asks.requests)
                for (const device_alternative& one : request.alternatives)
                    all.push_back(&one);
        return all;
    }

    [[nodiscard]] device_set reached(const demand& of) const {
        device_set all;
        for (const device_alternative* const each : alternatives_of(of)) {
            const device_set& more = selected(*each);
            all.insert(all.end(), more.begin(), more.end());
        }
        sort_devices(all);
        return all;
    }

    kind_names* names_;
    const device_catalog* catalog_;
    const std::vector<pooled_device>* devices_;
    const std::vector<unusable_pool>* unusable_;
    const device_homes* homes_;
    const node_devices* by_node_;
    volume_plan* into_;
    std::map<std::string, selected_devices> selected_;
    std::vector<counted_set> sets_;
    device_set counted_by_pods_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
