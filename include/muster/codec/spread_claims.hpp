// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <muster/codec/allocate_across.hpp>
#include <muster/codec/device_catalog.hpp>
#include <muster/codec/device_claims.hpp>
#include <muster/codec/device_counter.hpp>
#include <muster/codec/device_homes.hpp>
#include <muster/codec/device_sets.hpp>
#include <muster/codec/node_devices.hpp>
#include <muster/codec/volume_plan.hpp>
#include <muster/devices/device_allocation.hpp>
#include <muster/vocabulary/pod_terms.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Plans claims that several waiting pods share and that devices of several nodes can satisfy, such
/// as devices behind a network. The pods of such a claim stand on nodes that all reach one
/// allocation.
///
/// For each claim, the options are found: the largest sets of nodes of which all reach enough free
/// devices for the claim. Each option is a domain of a node label, and a term keeps the pods of the
/// claim in one domain. Two claims that cannot both have their devices in some domains are kept
/// apart there by terms. So the core decides which option each claim gets, as exactly as it places
/// pods with other terms. The devices of the options are set aside from all other claims.
///
/// Options are left out, so that a gang may wait although it could start, if
/// - two options of one claim overlap and neither contains the other: the nodes that both have
///   belong to the larger one alone;
/// - three claims or more fit in pairs, but not together, or one pod uses two claims that do not
///   fit together: then the younger claim loses the option;
/// - more than `most_contending` claims compete for devices: the older ones keep all their options.
class spread_claims {
public:
    /// Bounds: sets of nodes and allocations that are tried for one claim, claims that compete, and
    /// choices of options of competing claims.
    static constexpr std::size_t most_sets = 256;
    static constexpr std::size_t most_tries = 512;
    static constexpr std::size_t most_contending = 8;
    static constexpr std::size_t most_choices = 4096;

    /// `served`: devices that count for an extended resource; claims that can get such a device are
    /// not planned. The arguments must outlive this.
    spread_claims(const device_catalog& catalog, const std::vector<pooled_device>& devices,
                  std::span<const node<1>> nodes, const device_set& served, node_devices& free)
        : catalog_(&catalog), devices_(&devices), nodes_(nodes), served_(&served), free_(&free) {}

    /// Adds the effects of such claims to the plan, and removes the claims from the demands, which
    /// are in order of age. Returns the devices that are set aside; in `free` they are barred.
    /// O(claims × (devices × nodes + `most_tries` allocations) + `most_choices` allocations).
    [[nodiscard]] std::set<device_id> plan(std::vector<device_counter::demand>& demands,
                                           volume_plan& into) {
        find_claims(demands);
        if (claims_.empty())
            return {};
        for (shared& each : claims_)
            find_options(each);
        for (const std::vector<std::size_t>& group : competing())
            settle(group);
        for (const device_id& each : set_aside_)
            free_->bar(each);
        for (std::size_t at = 0; at < claims_.size(); ++at)
            restrict(claims_[at], into);
        for (const conflict& each : conflicts_)
            keep_apart(each, into);
        remove_claims(demands, into);
        return std::move(set_aside_);
    }

private:
    using node_set = std::vector<std::size_t>;

    struct option {
        /// Ascending.
        node_set nodes;
        std::set<device_id> among;
    };
    struct shared {
        std::string name;
        const device_claim* asks = nullptr;
        std::vector<const pod_object*> pods;
        /// The devices that some request selects.
        device_set selected;
        std::vector<option> options;
        /// Why the pods wait, if there are no options.
        std::string lack;
    };
    /// Two claims that cannot have these options together, by position.
    struct conflict {
        std::size_t first = 0;
        std::size_t second = 0;
        std::set<std::pair<std::size_t, std::size_t>> options;
    };

    // ---- claims --------------------------------------------------------------------------------

    void find_claims(const std::vector<device_counter::demand>& demands) {
        std::set<std::string> others;
        for (const device_counter::demand& each : demands)
            for (const unallocated_claim& claim : each.claims) {
                if (each.waits || claim.shared_as.empty() || others.contains(claim.shared_as))
                    continue;
                const auto known = position_.find(claim.shared_as);
                if (known != position_.end()) {
                    claims_[known->second].pods.push_back(each.pod);
                    continue;
                }
                shared made{claim.shared_as, &claim.spec->asks, {each.pod}, {}, {}, {}};
                if (claim.spec->unsupported.empty() && select(made)) {
                    position_.emplace(made.name, claims_.size());
                    claims_.push_back(std::move(made));
                } else {
                    others.insert(claim.shared_as);
                }
            }
    }

    /// Finds the devices that the claim can get. Returns false if these are unknown, are of one
    /// node each, or count for a resource.
    [[nodiscard]] bool select(shared& to) const {
        for (const device_request& request : to.asks->requests)
            for (const device_alternative& one : request.alternatives) {
                const auto of_class = catalog_->classes.find(one.class_name);
                if (of_class == catalog_->classes.end())
                    return false;
                selected_devices found =
                    select_devices(*devices_, of_class->second->selectors, &one);
                if (!found.undecided.empty())
                    return false;
                to.selected.insert(to.selected.end(), found.devices.begin(), found.devices.end());
            }
        sort_devices(to.selected);
        return !free_->are_local(to.selected) &&
               are_apart(free_->with_counters_of(to.selected), *served_);
    }

    // ---- options -------------------------------------------------------------------------------

    [[nodiscard]] const node_set& reach_of(std::size_t device) {
        const device_nodes* const nodes = (*devices_)[device].nodes;
        const auto [at, is_new] = reach_.try_emplace(nodes);
        if (is_new)
            for (std::size_t node = 0; node < nodes_.size(); ++node)
                if (reaches(nodes_[node], *nodes))
                    at->second.push_back(node);
        return at->second;
    }

    /// Returns the sets of nodes that devices of the claim are published for, and what these have
    /// in common, largest first.
    [[nodiscard]] std::vector<node_set> candidates(const shared& of) {
        std::set<node_set> known;
        std::vector<node_set> wide;
        for (const std::size_t device : of.selected) {
            const node_set& nodes = reach_of(device);
            if (!is_of_all_its_nodes((*devices_)[device]))
                for (const std::size_t node : nodes)
                    known.insert({node});
            else if (!nodes.empty() && known.insert(nodes).second && nodes.size() > 1)
                wide.push_back(nodes);
        }
        for (std::size_t at = 0; at < wide.size() && wide.size() < most_sets; ++at)
            for (std::size_t other = 0; other < at && wide.size() < most_sets; ++other) {
                node_set both;
                std::ranges::set_intersection(wide[at], wide[other], std::back_inserter(both));
                if (!both.empty() && known.insert(both).second)
                    wide.push_back(std::move(both));
            }
        std::vector<node_set> sets(known.begin(), known.end());
        std::ranges::stable_sort(sets, std::greater<>{}, &node_set::size);
        return sets;
    }

    void find_options(shared& of) {
        std::set<std::size_t> covered;
        std::size_t tries = 0;
        for (const node_set& nodes : candidates(of)) {
            option made;
            std::ranges::copy_if(nodes, std::back_inserter(made.nodes),
                                 [&](std::size_t node) { return !covered.contains(node); });
            if (made.nodes.empty() || ++tries > most_tries || !takes_all(of, nodes))
                continue;
            for (const std::size_t device : of.selected)
                if ((nodes.size() == 1 || is_of_all_its_nodes((*devices_)[device])) &&
                    std::ranges::includes(reach_of(device), nodes))
                    made.among.insert((*devices_)[device].id);
            if (!fit({{claim_among(of, made)}}))
                continue;
            covered.insert(made.nodes.begin(), made.nodes.end());
            of.options.push_back(std::move(made));
        }
        if (of.options.empty())
            of.lack = "is shared with other waiting pods, and no node reaches free devices of "
                      "complete pools that satisfy it";
    }

    /// A request for all devices gets those that a node reaches, so all nodes must reach the same.
    [[nodiscard]] bool takes_all(const shared& of, const node_set& nodes) {
        const bool asks_all = std::ranges::any_of(of.asks->requests, [](const auto& request) {
            return std::ranges::any_of(request.alternatives, [](const auto& one) {
                return one.mode == device_count_mode::all;
            });
        });
        return !asks_all || std::ranges::all_of(of.selected, [&](std::size_t device) {
            const node_set& reached = reach_of(device);
            const auto is_reached = [&](std::size_t node) {
                return std::ranges::binary_search(reached, node);
            };
            return std::ranges::none_of(nodes, is_reached) ||
                   std::ranges::all_of(nodes, is_reached);
        });
    }

    [[nodiscard]] static device_claim claim_among(const shared& of, const option& in) {
        device_claim made = *of.asks;
        made.among = in.among;
        return made;
    }
    [[nodiscard]] bool fit(const std::vector<device_claim>& claims) const {
        return free_->allocate(claims).outcome == device_outcome::allocated;
    }

    // ---- competing claims ----------------------------------------------------------------------

    /// Returns the claims by groups that can get the same devices, in order of age.
    [[nodiscard]] std::vector<std::vector<std::size_t>> competing() const {
        std::vector<std::size_t> group(claims_.size());
        std::iota(group.begin(), group.end(), std::size_t{0});
        std::vector<device_set> reach;
        for (const shared& each : claims_)
            reach.push_back(free_->with_counters_of(each.selected));
        for (std::size_t at = 0; at < claims_.size(); ++at)
            for (std::size_t other = 0; other < at; ++other)
                if (group[at] != group[other] && !are_apart(reach[at], reach[other])) {
                    const auto [low, high] = std::minmax(group[at], group[other]);
                    std::ranges::replace(group, std::size_t{high}, std::size_t{low});
                }
        std::map<std::size_t, std::vector<std::size_t>> found;
        for (std::size_t at = 0; at < claims_.size(); ++at)
            if (!claims_[at].options.empty())
                found[group[at]].push_back(at);
        std::vector<std::vector<std::size_t>> groups;
        for (auto& [first, each] : found)
            groups.push_back(std::move(each));
        return groups;
    }

    /// Finds which options the claims of a group can have together, and sets devices aside.
    void settle(std::vector<std::size_t> group) {
        std::vector<device_claim> all;
        for (const std::size_t at : group)
            for (const option& each : claims_[at].options)
                all.push_back(claim_among(claims_[at], each));
        if (const device_allocation made = free_->allocate(all);
            made.outcome == device_outcome::allocated) {
            for (const claim_allocation& claim : made.claims)
                for (const allocated_device& each : claim.devices)
                    set_aside_.insert(each.id);
            return;
        }
        if (group.size() > most_contending || choices(group) == 0)
            return hand_out(group);
        std::map<std::pair<std::size_t, std::size_t>, conflict> found;
        for (std::size_t at = 0; at < group.size(); ++at)
            for (std::size_t other = 0; other < at; ++other)
                find_conflicts(group[other], group[at], found);
        drop_larger_conflicts(group, found);
        for (auto& [pair, each] : found)
            if (!claims_[each.first].options.empty() && !claims_[each.second].options.empty())
                conflicts_.push_back(std::move(each));
        for (const std::size_t at : group)
            for (const option& each : claims_[at].options)
                set_aside_.insert(each.among.begin(), each.among.end());
    }

    /// Gives each claim the options that older ones leave, each with devices of its own.
    void hand_out(const std::vector<std::size_t>& group) {
        for (const std::size_t claim : group) {
            for (std::size_t at = 0; at < claims_[claim].options.size(); ++at) {
                const device_allocation made =
                    free_->allocate({claim_among(claims_[claim], claims_[claim].options[at])});
                if (made.outcome != device_outcome::allocated) {
                    bar(claim, at);
                    continue;
                }
                for (const allocated_device& each : made.claims.front().devices) {
                    set_aside_.insert(each.id);
                    free_->bar(each.id);
                }
            }
        }
    }

    void drop(std::size_t claim) {
        claims_[claim].options.clear();
        claims_[claim].lack = "is shared with other waiting pods, and older shared claims may get "
                              "the devices that satisfy it";
    }
    /// Returns the number of choices of one option for each claim; 0 if there are too many.
    [[nodiscard]] std::size_t choices(const std::vector<std::size_t>& group) const {
        std::size_t count = 1;
        for (const std::size_t at : group) {
            count *= claims_[at].options.size();
            if (count > most_choices)
                return 0;
        }
        return count;
    }

    void find_conflicts(std::size_t older, std::size_t younger,
                        std::map<std::pair<std::size_t, std::size_t>, conflict>& found) {
        const std::vector<const pod_object*>& pods = claims_[older].pods;
        const bool is_pod_common =
            std::ranges::any_of(claims_[younger].pods, [&](const pod_object* pod) {
                return std::ranges::find(pods, pod) != pods.end();
            });
        std::set<std::size_t> lost;
        for (std::size_t first = 0; first < claims_[older].options.size(); ++first)
            for (std::size_t second = 0; second < claims_[younger].options.size(); ++second) {
                if (fit({claim_among(claims_[older], claims_[older].options[first]),
                         claim_among(claims_[younger], claims_[younger].options[second])}))
                    continue;
                if (is_pod_common)
                    lost.insert(second);
                else
                    found.try_emplace({older, younger}, conflict{older, younger, {}})
                        .first->second.options.emplace(first, second);
            }
        for (const std::size_t each : lost)
            bar(younger, each);
    }

    /// The claim cannot have the option; the positions of its other options stay.
    void bar(std::size_t claim, std::size_t at) {
        claims_[claim].options[at] = {};
        if (std::ranges::all_of(claims_[claim].options,
                                [](const option& each) { return each.nodes.empty(); }))
            drop(claim);
    }

    /// Of claims that fit in pairs but not together, the youngest loses its option.
    void
    drop_larger_conflicts(const std::vector<std::size_t>& group,
                          const std::map<std::pair<std::size_t, std::size_t>, conflict>& pairs) {
        std::vector<std::size_t> chosen(group.size(), 0);
        for (std::size_t count = 3; count <= group.size(); ++count)
            for_each_choice(group, count, 0, chosen, [&] {
                std::vector<device_claim> all;
                for (std::size_t at = 0; at < count; ++at) {
                    const shared& of = claims_[group[at]];
                    if (chosen[at] >= of.options.size() || of.options[chosen[at]].nodes.empty())
                        continue;
                    for (std::size_t other = 0; other < at; ++other)
                        if (const auto known = pairs.find({group[other], group[at]});
                            known != pairs.end() &&
                            known->second.options.contains({chosen[other], chosen[at]}))
                            return;
                    all.push_back(claim_among(of, of.options[chosen[at]]));
                }
                const std::size_t last = group[count - 1];
                if (chosen[count - 1] < claims_[last].options.size() &&
                    !claims_[last].options[chosen[count - 1]].nodes.empty() && !fit(all))
                    bar(last, chosen[count - 1]);
            });
    }
    template<class Use>
    void for_each_choice(const std::vector<std::size_t>& group, std::size_t count, std::size_t at,
                         std::vector<std::size_t>& chosen, const Use& use) {
        if (at == count)
            return use();
        // A claim without options takes part in no choice.
        const std::size_t options = std::max<std::size_t>(1, claims_[group[at]].options.size());
        for (chosen[at] = 0; chosen[at] < options; ++chosen[at])
            for_each_choice(group, count, at + 1, chosen, use);
        chosen[at] = 0;
    }

    // ---- effects -------------------------------------------------------------------------------

    [[nodiscard]] static std::string mark_of(const shared& of) {
        return std::string(shared_claim_mark) + of.name;
    }

    void restrict(const shared& of, volume_plan& into) const {
        if (of.options.empty())
            return;
        const std::string mark = mark_of(of);
        for (std::size_t at = 0; at < of.options.size(); ++at)
            for (const std::size_t node : of.options[at].nodes)
                into.node_labels[nodes_[node].name].set(mark, std::to_string(at));
        affinity_term near;
        near.pods.labels.requirements.push_back({mark, label_operator::exists, {}});
        near.topology = mark;
        near.of_volume = true;
        near.domains_may_change = true;
        node_term reached;
        reached.labels.requirements.push_back({mark, label_operator::exists, {}});
        for (const pod_object* const pod : of.pods) {
            volume_effects& to = into.pods[pod->metadata.key];
            if (to.labels.find(mark))
                continue;
            to.labels.set(mark, "shared");
            to.near.push_back(near);
            to.reach.push_back({{reached}, false, true});
            to.reach_of.push_back("resource claim " + of.name.substr(of.name.find('/') + 1));
            to.verbs[to.reach.size() - 1] = "can only be allocated";
        }
    }

    /// Nodes of options that two claims cannot have together get one value of a label.
    void keep_apart(const conflict& of, volume_plan& into) const {
        const shared& first = claims_[of.first];
        const shared& second = claims_[of.second];
        std::map<std::size_t, std::size_t> value;
        for (const auto& [one, other] : of.options) {
            node_set nodes = first.options[one].nodes;
            const node_set& more = second.options[other].nodes;
            nodes.insert(nodes.end(), more.begin(), more.end());
            if (first.options[one].nodes.empty() || more.empty())
                continue;
            // Nodes that have a value already join all their nodes to these.
            std::size_t least = nodes.front();
            for (const std::size_t node : nodes)
                if (const auto known = value.find(node); known != value.end())
                    least = std::min(least, known->second);
            for (const std::size_t node : nodes) {
                const auto [known, is_new] = value.try_emplace(node, least);
                if (const std::size_t before = known->second; before != least)
                    for (auto& [each, its] : value)
                        its = its == before ? least : its;
            }
        }
        const std::string label = "apart:" + first.name + " " + second.name;
        for (const auto& [node, its] : value)
            into.node_labels[nodes_[node].name].set(label, std::to_string(its));
        const auto part = [&](const shared& from, const shared& to) {
            affinity_term term;
            term.pods.labels.requirements.push_back({mark_of(to), label_operator::exists, {}});
            term.topology = label;
            term.of_volume = true;
            for (const pod_object* const pod : from.pods)
                into.pods[pod->metadata.key].apart.push_back(term);
        };
        part(first, second);
        part(second, first);
    }

    void remove_claims(std::vector<device_counter::demand>& demands, volume_plan& into) const {
        for (device_counter::demand& each : demands) {
            if (each.waits)
                continue;
            std::vector<unallocated_claim> left;
            for (unallocated_claim& claim : each.claims) {
                const auto known = position_.find(claim.shared_as);
                if (claim.shared_as.empty() || known == position_.end()) {
                    left.push_back(std::move(claim));
                } else if (const std::string& lack = claims_[known->second].lack; !lack.empty()) {
                    wait_for_allocation({claim}, lack, into.pods[each.pod->metadata.key]);
                    each.waits = true;
                }
            }
            each.claims = std::move(left);
        }
        std::erase_if(demands,
                      [](const device_counter::demand& each) { return each.claims.empty(); });
    }

    const device_catalog* catalog_;
    const std::vector<pooled_device>* devices_;
    std::span<const node<1>> nodes_;
    const device_set* served_;
    node_devices* free_;
    std::vector<shared> claims_;
    /// Positions in `claims_`, by name.
    std::map<std::string, std::size_t> position_;
    std::map<const device_nodes*, node_set> reach_;
    std::vector<conflict> conflicts_;
    std::set<device_id> set_aside_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
