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

#include <muster/codec/volume_demand.hpp>
#include <muster/codec/volume_places.hpp>
#include <muster/codec/volume_user.hpp>
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
///
/// `Make(claims)` makes an assignment for these claims: volume_assignment or pool_assignment.
template<class Make>
class volume_handout {
public:
    /// `candidates` are supplies by claim; `reaches` says per supply which nodes reach it.
    volume_handout(const std::vector<volume_demand>& demands,
                   std::vector<std::vector<std::size_t>> candidates,
                   std::vector<std::vector<char>> reaches, volume_places& places,
                   std::span<const volume_user> users, std::span<const volume_gang> gangs,
                   const Make& make)
        : demands_(&demands),
          candidates_(std::move(candidates)),
          reaches_(std::move(reaches)),
          places_(&places),
          users_(users),
          gangs_(gangs),
          make_(&make) {
        for (const volume_demand& each : demands)
            askers_.push_back(each.askers);
    }

    /// `gangs` in their order, with the claims of each in the order in which they are served.
    /// O(claims × candidates × (claims + nodes)), of gangs too large for that without a look at
    /// how their pods fit nodes.
    [[nodiscard]] handed_out run(const std::map<std::size_t, std::vector<std::size_t>>& gangs) {
        handed_out made;
        made.given.resize(demands_->size());
        made.beside.assign(demands_->size(), 0);
        made.behind.assign(demands_->size(), 0);
        made.split.assign(demands_->size(), 0);
        std::vector<std::size_t> all(demands_->size());
        for (std::size_t at = 0; at < all.size(); ++at)
            all[at] = at;
        auto together = (*make_)(all, candidates_);
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
    using candidate_lists = std::vector<std::vector<std::size_t>>;

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
                if (!keep_reached(list, user))
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
    /// Some node that the pod may be placed on reaches supplies for all of its claims. `own` are
    /// positions among the claims. True without a search where that is too much work.
    [[nodiscard]] bool reaches_all(std::size_t user, const std::vector<std::size_t>& claims,
                                   const std::vector<std::size_t>& own) const {
        candidate_lists lists;
        std::vector<std::size_t> asked;
        std::size_t sum = 0;
        for (const std::size_t at : own) {
            asked.push_back(claims[at]);
            lists.push_back(candidates_[claims[at]]);
            sum += lists.back().size();
        }
        std::vector<std::size_t> positions(own.size());
        for (std::size_t at = 0; at < positions.size(); ++at)
            positions[at] = at;
        if (sum * places_->nodes() > most_work)
            return true;
        std::set<candidate_lists> tried;
        const std::vector<char>& admitted = places_->admitted(user);
        for (std::size_t node = 0; node < admitted.size(); ++node) {
            if (admitted[node] == 0)
                continue;
            candidate_lists narrow = narrowed(node, positions, lists);
            if (narrow.empty() || !tried.insert(narrow).second)
                continue;
            auto alone = (*make_)(asked, std::move(narrow));
            if (std::ranges::all_of(positions, [&](std::size_t at) { return alone.assign(at); }))
                return true;
        }
        return false;
    }
    /// Keeps the supplies that the pod reaches from nodes it may be placed on. False, and no
    /// change, if there are none.
    [[nodiscard]] bool keep_reached(std::vector<std::size_t>& supplies, std::size_t user) const {
        std::vector<std::size_t> reached;
        for (const std::size_t supply : supplies)
            if (have_common(places_->admitted(user), reaches_[supply]))
                reached.push_back(supply);
        if (reached.empty())
            return false;
        supplies = std::move(reached);
        return true;
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
    template<class Assignment>
    [[nodiscard]] bool serve_beside(Assignment& together, const std::vector<std::size_t>& claims,
                                    const choices& own) {
        candidate_lists untaken = own.of_claim;
        for (std::size_t at = 0; at < claims.size(); ++at)
            std::erase_if(untaken[at], [&](std::size_t supply) {
                return !together.is_free(supply, claims[at]);
            });
        if (const auto narrow = on_nodes(claims, untaken);
            narrow && assign_all(together, claims, *narrow))
            return true;
        const auto narrow = on_nodes(claims, own.of_claim);
        return assign_all(together, claims, narrow ? *narrow : own.of_claim);
    }

    /// Too little is left for all claims beside the gangs before.
    template<class Assignment>
    void serve_less(Assignment& together, const asking_gang& gang,
                    const std::vector<std::size_t>& claims, const choices& own, handed_out& made) {
        std::vector<std::size_t> places(claims.size());
        for (std::size_t at = 0; at < places.size(); ++at)
            places[at] = at;
        auto alone = (*make_)(claims, own.of_claim);
        const part most = assign_part(alone, gang, claims, places);
        if (own.startable) {
            const auto serve = [&] {
                for (std::size_t at = 0; at < claims.size(); ++at)
                    together.set_candidates(claims[at], own.of_claim[at]);
                return assign_part(together, gang, claims, claims);
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
        auto given = (*make_)(served, narrow ? *narrow : lists.of_claim);
        bool all = narrow.has_value();
        for (std::size_t at = 0; at < served.size() && all; ++at)
            all = given.assign(at);
        for (std::size_t at = 0; at < served.size(); ++at)
            made.given[served[at]] = all ? given.given_to(at) : alone.given_to(most.claims[at]);
    }

    /// Assigns supplies to the claims of one pod after the other, to all of a pod's claims or to
    /// none. `places[i]` is the place of the i-th claim in the assignment.
    template<class Assignment>
    [[nodiscard]] part assign_part(Assignment& in, const asking_gang& gang,
                                   const std::vector<std::size_t>& claims,
                                   const std::vector<std::size_t>& places) const {
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
            std::vector<std::size_t> fresh;
            for (const std::size_t at : claims_of.at(user)) {
                if (in.given_to(places[at]))
                    continue;
                if (!in.assign(places[at])) {
                    for (const std::size_t each : fresh)
                        in.release(places[each]);
                    return;
                }
                fresh.push_back(at);
            }
            served.insert(user);
            ++may_start[users_[user].role.value()];
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

    template<class Assignment>
    [[nodiscard]] static bool assign_all(Assignment& in, const std::vector<std::size_t>& claims,
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

    /// Places the gang's pods one by one, with what is free now or else on emptied nodes, so that
    /// each node reaches supplies for its pods. Returns the candidates that these nodes leave;
    /// nothing when some pod finds no node.
    [[nodiscard]] std::optional<candidate_lists> on_nodes(const std::vector<std::size_t>& claims,
                                                          const candidate_lists& lists) {
        std::size_t sum = 0;
        for (const auto& each : lists)
            sum += each.size() + 1;
        if (sum * (claims.size() + places_->nodes()) > most_work)
            return std::nullopt;
        if (auto found = on_nodes(claims, lists, places_->free_now()))
            return found;
        return on_nodes(claims, lists, places_->emptied());
    }
    [[nodiscard]] std::optional<candidate_lists> on_nodes(const std::vector<std::size_t>& claims,
                                                          candidate_lists lists,
                                                          volume_places::room left) {
        const auto claims_of = claims_of_askers(claims);
        auto given = (*make_)(claims, lists);
        for (std::size_t at = 0; at < claims.size(); ++at)
            if (!given.assign(at))
                return std::nullopt;
        std::size_t tries = most_tries;
        for (const auto& [user, own] : claims_of) {
            const std::vector<char>& admitted = places_->admitted(user);
            bool placed = false;
            for (std::size_t node = 0; node < admitted.size() && !placed; ++node) {
                if (admitted[node] == 0 || !places_->fits(left[node], user))
                    continue;
                const candidate_lists narrow = narrowed(node, own, lists);
                if (narrow.empty())
                    continue;
                if (tries-- == 0)
                    return std::nullopt;
                auto after = given;
                for (const std::size_t at : own)
                    after.release(at);
                for (std::size_t at = 0; at < own.size(); ++at)
                    after.set_candidates(own[at], narrow[at]);
                placed = std::ranges::all_of(own, [&](std::size_t at) { return after.assign(at); });
                if (!placed)
                    continue;
                given = std::move(after);
                for (std::size_t at = 0; at < own.size(); ++at)
                    lists[own[at]] = narrow[at];
                places_->take(left[node], user);
            }
            if (!placed)
                return std::nullopt;
        }
        return lists;
    }
    /// Of these claims, the candidates that the node reaches; empty when some claim has none.
    [[nodiscard]] candidate_lists narrowed(std::size_t node, const std::vector<std::size_t>& own,
                                           const candidate_lists& lists) const {
        candidate_lists made;
        for (const std::size_t at : own) {
            auto& list = made.emplace_back();
            for (const std::size_t supply : lists[at])
                if (reaches_[supply][node] != 0)
                    list.push_back(supply);
            if (list.empty())
                return {};
        }
        return made;
    }

    /// Limits of the search for nodes. Beyond them, the choice ignores how the pods fit nodes: a
    /// gang may then wait although another choice would let it start.
    static constexpr std::size_t most_work = std::size_t{1} << 20;
    static constexpr std::size_t most_tries = 512;

    const std::vector<volume_demand>* demands_;
    /// Per claim, the pods for which its supply is chosen: fewer than the claim's where no supply
    /// is reached by all of them.
    std::vector<std::vector<std::size_t>> askers_;
    candidate_lists candidates_;
    std::vector<std::vector<char>> reaches_;
    volume_places* places_;
    std::span<const volume_user> users_;
    std::span<const volume_gang> gangs_;
    const Make* make_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
