// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <muster/apis/core/volumes/supply_assignment.hpp>
#include <muster/apis/core/volumes/volume_demand.hpp>
#include <muster/apis/core/volumes/volume_fit.hpp>
#include <muster/apis/core/volumes/volume_places.hpp>
#include <muster/apis/core/volumes/volume_user.hpp>
#include <muster/resource/resources.hpp>
#include <muster/vocabulary/subtree_status.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// What volume_handout chose.
struct handed_out {
    /// Per claim; absent = it gets nothing.
    std::vector<std::optional<std::size_t>> given;
    /// Per claim: chosen beside what gangs before have.
    std::vector<char> beside;
    /// Per claim that gets nothing: it or another claim of its gang would get something if there
    /// were no gangs before.
    std::vector<char> behind;
    /// Per claim: no node reaches supplies for all claims of one of its pods.
    std::vector<char> split;
};

/// Chooses a supply (a free volume or a storage pool) for each claim, before nodes are chosen, for
/// supplies that several nodes reach. Gangs get supplies beside those of the gangs before them
/// where that is possible for all of their claims, or for enough of their pods to meet their
/// minima. A gang for which less is left gets supplies as if it were alone, and so does a gang with
/// a pod that no node has room for: gangs that do not start never keep others from starting. The
/// caller must add terms that keep such a gang and the gangs with the same supplies apart. Where
/// there is too little for all claims of a gang, the minima of its roles are served first, then as
/// many of its pods as possible, those that ask least first; pods that share a claim ask a part of
/// it each.
class volume_handout {
public:
    /// By claim, `candidates` are supplies in ascending order, preferred ones first, and `sizes`
    /// bytes. The others outlive it.
    volume_handout(const std::vector<volume_demand>& demands,
                   std::vector<std::vector<std::size_t>> candidates,
                   std::vector<std::int64_t> sizes, volume_fit fit, volume_places& places,
                   std::span<const volume_user> users, std::span<const volume_gang> gangs)
        : demands_(&demands),
          candidates_(std::move(candidates)),
          sizes_(std::move(sizes)),
          fit_(std::move(fit)),
          places_(&places),
          users_(users),
          gangs_(gangs) {
        for (const volume_demand& each : demands)
            askers_.push_back(each.askers);
    }

    /// `gangs` in their order, with the claims of each in the order in which they are served.
    /// O(claims × groups of nodes × (claims + supplies)), of gangs too large for that without a
    /// look at how their pods fit nodes.
    [[nodiscard]] handed_out run(const std::map<std::size_t, std::vector<std::size_t>>& gangs) {
        handed_out made;
        made.given.resize(demands_->size());
        made.beside.assign(demands_->size(), 0);
        made.behind.assign(demands_->size(), 0);
        made.split.assign(demands_->size(), 0);
        supply_assignment together(candidates_, sizes_, fit_.supplies());
        for (const auto& [rank, claims] : gangs) {
            const asking_gang gang = asking(rank, claims);
            const choices own = choices_of(gang, claims, made.split);
            if (own.startable && own.of_all && serve_beside(together, claims, own)) {
                for (const std::size_t claim : claims)
                    made.beside[claim] = 1;
                continue;
            }
            serve_less(together, gang, claims, own, made);
        }
        for (std::size_t claim = 0; claim < made.given.size(); ++claim)
            if (made.beside[claim] != 0)
                made.given[claim] = together.given_to(claim);
        return made;
    }

private:
    using candidate_lists = volume_fit::candidate_lists;

    /// A gang's minima, and by leaf its members that may start, without the pods of its claims.
    struct asking_gang {
        const gang_tree* tree;
        std::vector<std::int64_t> others;
    };

    /// Supplies that the claims of a gang may get, in the order of its claims.
    struct choices {
        candidate_lists of_claim;
        /// Each claim has a supply that its pods reach from nodes they may be placed on.
        bool of_all = true;
        /// The pods of the claims that have one meet the gang's minima, together with the members
        /// that have no such claims. If not, the lists ignore where pods may be placed.
        bool startable = true;
    };

    /// Some of a gang's claims, as positions among them.
    struct part {
        std::vector<std::size_t> claims;
        /// Their pods meet the gang's minima together with its members that have no such claims.
        bool starts = false;

        [[nodiscard]] std::vector<std::size_t> of(const std::vector<std::size_t>& all) const {
            std::vector<std::size_t> found;
            for (const std::size_t at : claims)
                found.push_back(all[at]);
            return found;
        }
        [[nodiscard]] choices of(const choices& all) const {
            choices found{{}, true, all.startable};
            for (const std::size_t at : claims)
                found.of_claim.push_back(all.of_claim[at]);
            return found;
        }
    };

    [[nodiscard]] asking_gang asking(std::size_t rank, const std::vector<std::size_t>& claims) {
        asking_gang made{&gangs_[rank].tree, places_->startable_members(gangs_[rank], rank)};
        for (const auto& [user, own] : claims_of_askers(claims))
            --made.others[users_[user].role.value()];
        return made;
    }

    [[nodiscard]] choices choices_of(const asking_gang& gang,
                                     const std::vector<std::size_t>& claims,
                                     std::vector<char>& split) {
        std::set<std::size_t> without; // users that cannot start
        for (const auto& [user, own] : claims_of_askers(claims))
            if (!reaches_all(user, claims, own)) {
                without.insert(user);
                for (const std::size_t at : own)
                    split[claims[at]] = own.size() > 1 ? 1 : 0;
            }
        drop_askers(claims, without);
        choices made;
        for (const std::size_t claim : claims) {
            auto& list = made.of_claim.emplace_back(candidates_[claim]);
            for (const std::size_t user : askers_[claim])
                if (!fit_.keep_reached(list, user))
                    without.insert(user);
        }
        drop_askers(claims, without);
        std::vector<std::int64_t> may_start = gang.others;
        for (const auto& [user, own] : claims_of_askers(claims))
            ++may_start[users_[user].role.value()];
        made.startable = reaches_minima(*gang.tree, may_start);
        for (std::size_t at = 0; at < claims.size(); ++at) {
            if (askers_[claims[at]].empty())
                made.of_claim[at].clear();
            made.of_all = made.of_all && !made.of_claim[at].empty();
            if (!made.startable)
                made.of_claim[at] = candidates_[claims[at]];
        }
        return made;
    }
    void drop_askers(const std::vector<std::size_t>& claims, const std::set<std::size_t>& users) {
        for (const std::size_t claim : claims)
            std::erase_if(askers_[claim], [&](std::size_t user) { return users.contains(user); });
    }
    /// As volume_fit has it. `own` are positions among the claims.
    [[nodiscard]] bool reaches_all(std::size_t user, const std::vector<std::size_t>& claims,
                                   const std::vector<std::size_t>& own) {
        candidate_lists lists;
        std::vector<std::int64_t> sizes;
        for (const std::size_t at : own) {
            lists.push_back(candidates_[claims[at]]);
            sizes.push_back(sizes_[claims[at]]);
        }
        return fit_.reaches_all(user, lists, sizes);
    }
    /// The pods that can start, with the positions of their claims among these.
    [[nodiscard]] std::map<std::size_t, std::vector<std::size_t>>
    claims_of_askers(const std::vector<std::size_t>& claims) const {
        std::map<std::size_t, std::vector<std::size_t>> found;
        for (std::size_t at = 0; at < claims.size(); ++at)
            for (const std::size_t user : askers_[claims[at]])
                found[user].push_back(at);
        return found;
    }
    [[nodiscard]] supply_assignment assignment_of(const std::vector<std::size_t>& claims,
                                                  candidate_lists lists) const {
        std::vector<std::int64_t> sizes;
        for (const std::size_t claim : claims)
            sizes.push_back(sizes_[claim]);
        return {std::move(lists), std::move(sizes), fit_.supplies()};
    }
    [[nodiscard]] bool serve_beside(supply_assignment& together,
                                    const std::vector<std::size_t>& claims, const choices& own) {
        candidate_lists untaken = own.of_claim;
        for (std::size_t at = 0; at < claims.size(); ++at)
            std::erase_if(untaken[at], [&](std::size_t supply) {
                return !together.is_free(supply, claims[at]);
            });
        for (const candidate_lists* const lists : {&std::as_const(untaken), &own.of_claim})
            if (const auto narrow = on_nodes(claims, *lists);
                narrow && assign_all(together, claims, *narrow)) {
                fit_.keep();
                return true;
            }
        return assign_all(together, claims, own.of_claim);
    }

    /// Too little is left for all claims beside the gangs before.
    void serve_less(supply_assignment& together, const asking_gang& gang,
                    const std::vector<std::size_t>& claims, const choices& own, handed_out& made) {
        std::vector<std::size_t> places(claims.size());
        for (std::size_t at = 0; at < places.size(); ++at)
            places[at] = at;
        supply_assignment alone = assignment_of(claims, own.of_claim);
        const part most = assign_part(alone, gang, claims, own.of_claim, places);
        if (own.startable) {
            const auto serve = [&] {
                for (std::size_t at = 0; at < claims.size(); ++at)
                    together.set_candidates(claims[at], own.of_claim[at]);
                return assign_part(together, gang, claims, own.of_claim, claims);
            };
            const part left = serve();
            for (const std::size_t claim : claims) {
                together.release(claim);
                together.set_candidates(claim, {});
            }
            const bool as_many = left.claims.size() == most.claims.size();
            if (left.starts || as_many) {
                if (!serve_beside(together, left.of(claims), left.of(own)))
                    static_cast<void>(serve());
                for (const std::size_t claim : claims) {
                    made.beside[claim] = together.given_to(claim) ? 1 : 0;
                    made.behind[claim] = as_many ? 0 : 1;
                }
                return;
            }
        }
        const std::vector<std::size_t> served = most.of(claims);
        const choices lists = most.of(own);
        const auto narrow =
            own.startable ? on_nodes(served, lists.of_claim) : std::optional<candidate_lists>{};
        supply_assignment given = assignment_of(served, narrow ? *narrow : lists.of_claim);
        bool all = narrow.has_value();
        for (std::size_t at = 0; at < served.size() && all; ++at)
            all = given.assign(at);
        for (std::size_t at = 0; at < served.size(); ++at)
            made.given[served[at]] = all ? given.given_to(at) : alone.given_to(most.claims[at]);
    }

    /// Assigns supplies to the claims of one pod after the other, to all of a pod's claims or to
    /// none. `places[i]` is the place of the i-th claim in the assignment, `lists[i]` its
    /// candidates.
    [[nodiscard]] part assign_part(supply_assignment& in, const asking_gang& gang,
                                   const std::vector<std::size_t>& claims,
                                   const candidate_lists& lists,
                                   const std::vector<std::size_t>& places) {
        const auto claims_of = claims_of_askers(claims);
        // Members by leaf that may start: the others, then those that are served.
        std::vector<std::int64_t> may_start = gang.others;
        std::vector<std::pair<int128, std::size_t>> order;
        for (const auto& [user, own] : claims_of) {
            int128 sum = 0;
            for (const std::size_t at : own)
                sum += (*demands_)[claims[at]].asks->bytes /
                       static_cast<std::int64_t>(askers_[claims[at]].size());
            order.emplace_back(sum, user);
        }
        std::ranges::sort(order);
        std::set<std::size_t> served;
        const auto serve = [&](std::size_t user) {
            if (serve_pod(in, user, claims_of.at(user), lists, places)) {
                served.insert(user);
                ++may_start[users_[user].role.value()];
            }
        };
        for (const auto& [sum, user] : order)
            if (const std::size_t role = users_[user].role.value();
                may_start[role] < (*gang.tree)[role].min_member)
                serve(user);
        for (const auto& [sum, user] : order)
            if (!served.contains(user))
                serve(user);
        part made;
        made.starts = reaches_minima(*gang.tree, may_start);
        for (std::size_t at = 0; at < claims.size(); ++at)
            if (in.given_to(places[at]))
                made.claims.push_back(at);
        return made;
    }

    /// Assigns supplies to all of the pod's claims that have none, of several claims supplies that
    /// one node reaches; or to none. `lists`: candidates by claim.
    [[nodiscard]] bool serve_pod(supply_assignment& in, std::size_t user,
                                 const std::vector<std::size_t>& own, const candidate_lists& lists,
                                 const std::vector<std::size_t>& places) {
        if (own.size() == 1)
            return in.given_to(places[own.front()]) || in.assign(places[own.front()]);
        for (const std::size_t group : fit_.groups_of(user)) {
            std::vector<std::pair<std::size_t, volume_fit::supply_list>> before;
            std::vector<std::size_t> fresh;
            const bool all = std::ranges::all_of(own, [&](std::size_t at) {
                const std::size_t place = places[at];
                const auto has = in.given_to(place);
                if (has && !fit_.reach().reaches(group, *has))
                    return false;
                before.emplace_back(place, in.candidates(place));
                in.set_candidates(place, fit_.reach().reached_from(group, lists[at]));
                if (has)
                    return true;
                fresh.push_back(place);
                return in.assign(place);
            });
            if (all)
                return true;
            for (const std::size_t place : fresh)
                in.release(place);
            for (auto& [place, list] : before)
                in.set_candidates(place, std::move(list));
        }
        return false;
    }
    [[nodiscard]] static bool assign_all(supply_assignment& in,
                                         const std::vector<std::size_t>& claims,
                                         const candidate_lists& lists) {
        for (std::size_t at = 0; at < claims.size(); ++at)
            in.set_candidates(claims[at], lists[at]);
        for (const std::size_t claim : claims)
            if (!in.assign(claim)) {
                for (const std::size_t each : claims) {
                    in.release(each);
                    in.set_candidates(each, {});
                }
                return false;
            }
        return true;
    }

    /// Returns the candidates that nodes for the claims' pods leave; nothing if there are none.
    [[nodiscard]] std::optional<candidate_lists> on_nodes(const std::vector<std::size_t>& claims,
                                                          const candidate_lists& lists) {
        supply_assignment given = assignment_of(claims, lists);
        for (std::size_t at = 0; at < claims.size(); ++at)
            if (!given.assign(at))
                return std::nullopt;
        return fit_.place(claims_of_askers(claims), lists, given);
    }

    const std::vector<volume_demand>* demands_;
    /// Per claim, the pods for which its supply is chosen: fewer than the claim's where no supply
    /// is reached by all of them.
    std::vector<std::vector<std::size_t>> askers_;
    candidate_lists candidates_;
    std::vector<std::int64_t> sizes_;
    volume_fit fit_;
    volume_places* places_;
    std::span<const volume_user> users_;
    std::span<const volume_gang> gangs_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
