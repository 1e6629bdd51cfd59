// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/claim_options.hpp>
#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_claims.hpp>
#include <muster/apis/core/claims/device_counter.hpp>
#include <muster/apis/core/claims/device_sets.hpp>
#include <muster/apis/core/claims/node_devices.hpp>
#include <muster/apis/core/claims/possible_nodes.hpp>
#include <muster/apis/core/claims/spread_effects.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/devices/device_allocation.hpp>
#include <muster/vocabulary/pod_terms.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Plans claims that several waiting pods share and that devices of several nodes can satisfy, such
/// as devices behind a network. The pods of such a claim stand on nodes that all reach one
/// allocation.
///
/// For each claim, the options are found (claim_options). Each option is a domain of a node label,
/// and a term keeps the pods of the claim in one domain. Two claims that cannot both have their
/// devices in some domains are kept apart there by terms. So the core decides which option each
/// claim gets, as exactly as it places pods with other terms. The devices of the options are set
/// aside from all other claims.
///
/// An option counts only if some pod of the claim could use one of its nodes, and if no pod of the
/// claim waits for something else. Claims of older pods that are not planned here keep devices that
/// they can be given beside the options, or, if that is impossible, beside those of older claims.
///
/// Options are left out, so that a gang may wait although it could start, if
/// - two options of one claim overlap and neither contains the other: the nodes that both have
///   belong to the larger one alone;
/// - three claims or more fit in pairs, but not together, or one pod uses two claims that do not
///   fit together: then the younger claim loses the option;
/// - more than `most_contending` claims compete for devices, or they have more than `most_choices`
///   choices: each gets one option in order of age, then more as long as devices are left;
/// - the allocation_budget of the plan is spent;
/// - a claim of an older pod keeps the devices. The pod's gang may be unable to start.
class spread_claims {
public:
    /// Bounds: claims that compete, choices of options of competing claims, claims of older pods
    /// that keep devices, and nodes that are tried for each of these.
    static constexpr std::size_t most_contending = 8;
    static constexpr std::size_t most_choices = 4096;
    static constexpr std::size_t most_older = 64;
    static constexpr std::size_t most_older_nodes = 8;

    /// `served`: devices that count for an extended resource; claims that can get such a device are
    /// not planned. `possible`: of the same nodes as `nodes`. The arguments must outlive this.
    spread_claims(const device_catalog& catalog, const std::vector<pooled_device>& devices,
                  std::span<const node<1>> nodes, const device_set& served,
                  const possible_nodes& possible, node_devices& free)
        : devices_(&devices),
          nodes_(nodes),
          served_(&served),
          possible_(&possible),
          free_(&free),
          left_(free),
          options_(catalog, devices, nodes, budget_) {}

    /// Adds the effects of such claims to the plan, and removes the claims from the demands, which
    /// are in order of age. Returns the devices that are set aside; in `free` they are barred.
    /// O(claims × devices × nodes) and an allocation_budget.
    [[nodiscard]] std::set<device_id> plan(std::vector<device_counter::demand>& demands,
                                           volume_plan& into) {
        find_claims(demands);
        if (claims_.empty())
            return {};
        for (shared& each : claims_)
            find_options(each);
        keep_for_older(demands);
        for (const std::vector<std::size_t>& group : competing())
            settle(group);
        for (const device_id& each : set_aside_)
            free_->bar(each);
        for (const shared& each : claims_)
            restrict_to_options(each, nodes_, into);
        for (const conflict& each : conflicts_)
            keep_apart(claims_[each.first], claims_[each.second], each, nodes_, into);
        remove_claims(demands, into);
        return std::move(set_aside_);
    }

private:
    using shared = spread_claim;
    using conflict = spread_conflict;

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
                shared made{claim.shared_as, &claim.spec->asks, {each.pod}, nullptr, {}, {}};
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
    [[nodiscard]] bool select(shared& to) {
        to.selected = options_.select(*to.asks);
        return to.selected && !free_->are_local(to.selected->any) &&
               are_apart(free_->with_counters_of(to.selected->any), *served_);
    }

    // ---- options -------------------------------------------------------------------------------

    void find_options(shared& of) {
        of.options.clear();
        of.lack.clear();
        if (std::ranges::any_of(of.pods, [&](const auto* pod) { return possible_->is_held(*pod); }))
            return;
        const claim_options::found& found = options_.find(*of.asks, left_);
        if (found.options.empty()) {
            of.lack = found.ended
                          ? "is shared with other waiting pods, and the search for nodes that all "
                            "reach devices for it ended before all were tried"
                          : "is shared with other waiting pods, and no node reaches free devices "
                            "of complete pools that satisfy it";
            return;
        }
        // Without an option the pods can use no node at present, and keep no devices from others.
        for (const claim_option& each : found.options)
            if (std::ranges::any_of(of.pods, [&](const pod_object* pod) {
                    return std::ranges::any_of(
                        each.nodes, [&](std::size_t node) { return possible_->suits(*pod, node); });
                }))
                of.options.push_back(each);
    }

    [[nodiscard]] static device_claim claim_among(const shared& of, const claim_option& in) {
        return codec::claim_among(*of.asks, in);
    }
    [[nodiscard]] bool fit(const std::vector<device_claim>& claims) {
        return budget_.fit(left_, claims);
    }
    /// Returns the devices that the option keeps from other claims.
    void set_aside(const shared& of, const claim_option& in) {
        for (const std::size_t device : of.selected->taken)
            if (const device_id& id = (*devices_)[device].id;
                in.among.contains(id) && !kept_.contains(id))
                set_aside_.insert(id);
    }

    // ---- claims of older pods ------------------------------------------------------------------

    /// Takes the devices that claims of older pods can be given from those for the options.
    void keep_for_older(const std::vector<device_counter::demand>& demands) {
        device_set contended;
        for (const shared& each : claims_)
            if (!each.options.empty())
                contended.insert(contended.end(), each.selected->taken.begin(),
                                 each.selected->taken.end());
        sort_devices(contended);
        contended = free_->with_counters_of(std::move(contended));
        std::size_t older = 0;
        std::size_t kept = 0;
        for (const device_counter::demand& each : demands) {
            std::vector<const device_claim*> own;
            device_set selected;
            bool is_known = !each.waits && !possible_->is_held(*each.pod);
            for (const unallocated_claim& claim : each.claims) {
                if (const auto known = position_.find(claim.shared_as);
                    !claim.shared_as.empty() && known != position_.end()) {
                    older = std::max(older, known->second + 1);
                    continue;
                }
                own.push_back(&claim.spec->asks);
                const auto* const of = is_known ? options_.select(claim.spec->asks) : nullptr;
                is_known = of != nullptr;
                if (is_known)
                    selected.insert(selected.end(), of->taken.begin(), of->taken.end());
            }
            sort_devices(selected);
            if (own.empty() || !is_known || older == claims_.size() ||
                are_apart(free_->with_counters_of(selected), contended))
                continue;
            if (kept++ >= most_older)
                break;
            keep(*each.pod, own, selected, older);
        }
        if (kept_.empty())
            return;
        options_.forget();
        for (shared& each : claims_)
            if (std::ranges::any_of(each.options, [&](const claim_option& one) {
                    return std::ranges::any_of(
                        one.among, [&](const device_id& device) { return kept_.contains(device); });
                }))
                find_options(each);
    }

    /// Keeps devices for the claims of a pod on some node that suits it, if possible beside all
    /// options, else beside those of the first `older` claims.
    void keep(const pod_object& pod, const std::vector<const device_claim*>& own,
              const device_set& selected, std::size_t older) {
        std::size_t tries = 0;
        for (std::size_t node = 0; node < nodes_.size() && tries < most_older_nodes; ++node) {
            if (!possible_->suits(pod, node))
                continue;
            claim_option here;
            for (const std::size_t device : selected)
                if (std::ranges::binary_search(options_.reach_of(device), node))
                    here.among.insert((*devices_)[device].id);
            if (here.among.empty())
                continue;
            ++tries;
            for (const std::size_t count : {claims_.size(), older}) {
                std::vector<device_claim> all;
                for (const device_claim* const each : own)
                    all.push_back(codec::claim_among(*each, here));
                for (std::size_t at = 0; at < count; ++at)
                    for (const claim_option& each : claims_[at].options)
                        all.push_back(claim_among(claims_[at], each));
                const device_allocation made = budget_.allocate(left_, all);
                if (made.outcome != device_outcome::allocated)
                    continue;
                for (std::size_t at = 0; at < own.size(); ++at) {
                    left_.take(made.claims[at]);
                    for (const allocated_device& each : made.claims[at].devices)
                        if (!each.admin_access)
                            kept_.insert(each.id);
                }
                return;
            }
        }
    }

    // ---- competing claims ----------------------------------------------------------------------

    /// Returns groups of claims that compete for devices. The claims of a group are in order of
    /// age.
    [[nodiscard]] std::vector<std::vector<std::size_t>> competing() const {
        std::vector<std::size_t> group(claims_.size());
        std::iota(group.begin(), group.end(), std::size_t{0});
        std::vector<device_set> reach;
        for (const shared& each : claims_)
            reach.push_back(free_->with_counters_of(each.selected->taken));
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
    void settle(const std::vector<std::size_t>& group) {
        std::vector<device_claim> all;
        for (const std::size_t at : group)
            for (const claim_option& each : claims_[at].options)
                all.push_back(claim_among(claims_[at], each));
        if (const device_allocation made = budget_.allocate(left_, all);
            made.outcome == device_outcome::allocated) {
            for (const claim_allocation& each : made.claims)
                set_aside(each);
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
            for (const claim_option& each : claims_[at].options)
                set_aside(claims_[at], each);
    }
    void set_aside(const claim_allocation& of) {
        for (const allocated_device& each : of.devices)
            if (!each.admin_access)
                set_aside_.insert(each.id);
    }

    /// Gives each claim one option in order of age, and then one more as long as devices are left,
    /// each with devices of its own. The options that a claim does not get are lost.
    void hand_out(const std::vector<std::size_t>& group) {
        std::map<std::size_t, std::vector<claim_option>> got;
        std::map<std::size_t, std::size_t> next;
        for (bool any = true; any;) {
            any = false;
            for (const std::size_t claim : group) {
                const std::vector<claim_option>& options = claims_[claim].options;
                bool is_served = false;
                for (std::size_t& at = next[claim]; at < options.size() && !is_served; ++at) {
                    const device_allocation made =
                        budget_.allocate(left_, {claim_among(claims_[claim], options[at])});
                    is_served = made.outcome == device_outcome::allocated;
                    if (!is_served)
                        continue;
                    got[claim].push_back(options[at]);
                    set_aside(made.claims.front());
                    left_.take(made.claims.front());
                }
                any = any || is_served;
            }
        }
        for (const std::size_t claim : group) {
            claims_[claim].options = std::move(got[claim]);
            if (claims_[claim].options.empty())
                drop(claim);
        }
    }

    void drop(std::size_t claim) {
        claims_[claim].options.clear();
        claims_[claim].lack =
            budget_.is_spent()
                ? "is shared with other waiting pods, and the search for devices for all shared "
                  "claims took too many steps"
                : "is shared with other waiting pods, and older claims may get the devices that "
                  "satisfy it";
    }
    /// Returns the number of choices of at most one option for each claim; 0 if there are too many.
    [[nodiscard]] std::size_t choices(const std::vector<std::size_t>& group) const {
        std::size_t count = 1;
        for (const std::size_t at : group) {
            count *= claims_[at].options.size() + 1;
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
                if (claims_[older].options[first].nodes.empty() ||
                    claims_[younger].options[second].nodes.empty() ||
                    fit({claim_among(claims_[older], claims_[older].options[first]),
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

    /// Removes an option of a claim. The positions of the other options stay.
    void bar(std::size_t claim, std::size_t at) {
        claims_[claim].options[at] = {};
        if (std::ranges::all_of(claims_[claim].options,
                                [](const claim_option& each) { return each.nodes.empty(); }))
            drop(claim);
    }

    /// Of claims that fit in pairs but not together, the youngest loses its option.
    void
    drop_larger_conflicts(const std::vector<std::size_t>& group,
                          const std::map<std::pair<std::size_t, std::size_t>, conflict>& pairs) {
        std::vector<std::optional<std::size_t>> chosen(group.size());
        for (std::size_t last = 2; last < group.size(); ++last)
            for (std::size_t option = 0; option < claims_[group[last]].options.size(); ++option) {
                chosen[last] = option;
                if (!claims_[group[last]].options[option].nodes.empty() &&
                    !fits_beside(group, last, 0, chosen, pairs))
                    bar(group[last], option);
            }
    }
    /// True if the choice of claim `last` fits beside every choice of older claims of which each
    /// two fit together. The claims before `at` are chosen; a claim without a choice takes nothing.
    [[nodiscard]] bool
    fits_beside(const std::vector<std::size_t>& group, std::size_t last, std::size_t at,
                std::vector<std::optional<std::size_t>>& chosen,
                const std::map<std::pair<std::size_t, std::size_t>, conflict>& pairs) {
        const auto conflicts = [&](std::size_t older, std::size_t younger) {
            const auto known = pairs.find({group[older], group[younger]});
            return known != pairs.end() &&
                   known->second.options.contains({*chosen[older], *chosen[younger]});
        };
        if (at == last) {
            std::vector<device_claim> all;
            for (std::size_t each = 0; each <= last; ++each)
                if (chosen[each])
                    all.push_back(claim_among(claims_[group[each]],
                                              claims_[group[each]].options[*chosen[each]]));
            return all.size() < 3 || fit(all);
        }
        chosen[at].reset();
        bool is_alone = true;
        for (std::size_t option = 0; option < claims_[group[at]].options.size(); ++option) {
            if (claims_[group[at]].options[option].nodes.empty())
                continue;
            chosen[at] = option;
            bool fits_in_pairs = !conflicts(at, last);
            for (std::size_t other = 0; other < at; ++other)
                fits_in_pairs = fits_in_pairs && (!chosen[other] || !conflicts(other, at));
            if (!fits_in_pairs)
                continue;
            is_alone = false;
            if (!fits_beside(group, last, at + 1, chosen, pairs))
                return false;
        }
        // With one more claim less fits, so a claim is left out only if it has to be.
        chosen[at].reset();
        return (!is_alone && !leaves_room(group, last, at, pairs)) ||
               fits_beside(group, last, at + 1, chosen, pairs);
    }
    /// True if a choice of the claim excludes one of a younger claim before `last`.
    [[nodiscard]] static bool
    leaves_room(const std::vector<std::size_t>& group, std::size_t last, std::size_t at,
                const std::map<std::pair<std::size_t, std::size_t>, conflict>& pairs) {
        for (std::size_t other = at + 1; other < last; ++other)
            if (pairs.contains({group[at], group[other]}))
                return true;
        return false;
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

    const std::vector<pooled_device>* devices_;
    std::span<const node<1>> nodes_;
    const device_set* served_;
    const possible_nodes* possible_;
    node_devices* free_;
    /// `free_` less what claims of older pods keep and what was handed out.
    node_devices left_;
    allocation_budget budget_;
    claim_options options_;
    std::vector<shared> claims_;
    /// Positions in `claims_`, by name.
    std::map<std::string, std::size_t> position_;
    std::vector<conflict> conflicts_;
    std::set<device_id> kept_;
    std::set<device_id> set_aside_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
