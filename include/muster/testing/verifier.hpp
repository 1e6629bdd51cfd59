// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/cluster/state.hpp>
#include <muster/testing/meeting_costs.hpp>
#include <muster/testing/node_rules.hpp>
#include <muster/testing/rebuilt_problem.hpp>
#include <muster/testing/rebuilt_terms.hpp>
#include <muster/vocabulary/certificate.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

enum class proof_check : std::uint8_t {
    valid,
    invalid,
    /// Not judged: some node can take too many patterns to list.
    too_large,
};

/// Checks a certificate against the definition that stands beside its type. Of what found it, and
/// of what else judges answers, nothing is used: see `rebuilt_problem`.
template<class Traits>
class certificate_verifier {
    using problem = rebuilt_problem<Traits>;
    using domain = typename problem::domain;
    static constexpr std::size_t width = Traits::width;

public:
    certificate_verifier(const state<Traits>& known, gang_index which, const certificate& proof)
        : proof_(proof),
          asked_(known, which,
                 proof.scope == certificate_scope::empty_cluster ? moment::emptied
                                                                 : moment::now_and_later,
                 {{}, {}, {}, proof.scope == certificate_scope::free_now}),
          terms_(known, which, asked_, proof.scope == certificate_scope::empty_cluster),
          tree_(known[which].spec.tree),
          rule_(known.accounts().rule()) {}

    [[nodiscard]] proof_check check(std::size_t most_patterns = std::size_t{1} << 22U) {
        patterns_left_ = most_patterns;
        limits_by_place any(asked_.places.size());
        for (std::size_t at = 0; at < any.size(); ++at)
            for (const auto& each : asked_.classes) {
                const bool may = asked_.welcome(each.spec.where, *asked_.places[at].spec);
                any[at].push_back({0, may ? each.waiting : 0});
            }
        const limits_by_place uncapped = any;
        const std::vector<std::int64_t> nobody(asked_.classes.size(), 0);
        if (!terms_.narrow(proof_.caps, any, [&](std::size_t at, std::size_t each) {
                return room(at, each, uncapped[at][each].most, nobody, asked_.places[at].free);
            }))
            return proof_check::invalid;
        std::size_t next = 0;
        const bool holds = subtree(next, any, {}) && next == proof_.vertices.size();
        return patterns_left_ == 0 ? proof_check::too_large
               : holds             ? proof_check::valid
                                   : proof_check::invalid;
    }

private:
    struct range {
        std::int64_t least = 0;
        std::int64_t most = 0;
    };
    /// By place and class.
    using limits_by_place = std::vector<std::vector<range>>;
    /// Vertices of the gang's tree, and where the branches above have their members stand.
    using confined = std::vector<std::pair<std::size_t, domain>>;

    [[nodiscard]] bool subtree(std::size_t& next, const limits_by_place& limits,
                               const confined& above) {
        if (next >= proof_.vertices.size() || patterns_left_ == 0)
            return false;
        const certificate::vertex& vertex = proof_.vertices[next++];
        if (vertex.leaf)
            return leaf(vertex, limits);
        if (vertex.together)
            return every_domain(next, vertex.together->value(), limits, above);
        std::size_t at = 0;
        while (at < asked_.places.size() && asked_.places[at].node != vertex.node)
            ++at;
        if (at == asked_.places.size() || vertex.member_class >= asked_.classes.size() ||
            vertex.at_most == std::numeric_limits<std::int64_t>::max())
            return false;
        limits_by_place low = limits;
        limits_by_place high = limits;
        range& fewer = low[at][vertex.member_class];
        range& more = high[at][vertex.member_class];
        fewer.most = std::min(fewer.most, vertex.at_most);
        more.least = std::max(more.least, vertex.at_most + 1);
        return subtree(next, low, above) && subtree(next, high, above);
    }

    /// A branch for each domain open to the vertex of which the branches above leave a node; if
    /// there is none, one in which nobody is placed below it.
    [[nodiscard]] bool every_domain(std::size_t& next, std::size_t vertex,
                                    const limits_by_place& limits, const confined& above) {
        if (vertex >= tree_.size() || !tree_[vertex].together || !tree_[vertex].together->required)
            return false;
        const auto stands_in = [&](const std::pair<std::size_t, domain>& one, std::size_t at) {
            return one.second && asked_.domain_of(one.first, *asked_.places[at].spec) == one.second;
        };
        std::vector<domain> ways;
        for (const domain& where : asked_.domains_open_to(vertex)) {
            bool left = asked_.is_held(vertex);
            for (std::size_t at = 0; at < asked_.places.size() && !left; ++at)
                left = stands_in({vertex, where}, at) &&
                       std::all_of(above.begin(), above.end(), [&](const auto& one) {
                           return !asked_.lies_below(vertex, one.first) || stands_in(one, at);
                       });
            if (left)
                ways.push_back(where);
        }
        if (ways.empty())
            ways.push_back(std::nullopt);
        return std::all_of(ways.begin(), ways.end(), [&](const domain& where) {
            confined here = above;
            here.push_back({vertex, where});
            limits_by_place kept = limits;
            for (std::size_t at = 0; at < kept.size(); ++at)
                for (std::size_t each = 0; each < asked_.classes.size(); ++each)
                    if (asked_.lies_below(asked_.classes[each].spec.role.value(), vertex) &&
                        !stands_in(here.back(), at))
                        kept[at][each].most = 0;
            return subtree(next, kept, here);
        });
    }

    /// D > B + p·left, as the certificate's definition has it.
    [[nodiscard]] bool leaf(const certificate::vertex& by, const limits_by_place& limits) {
        if (by.weights.size() != asked_.classes.size())
            return false;
        std::vector<priced_class> choice;
        for (std::size_t each = 0; each < by.weights.size(); ++each) {
            if (by.weights[each] < 0)
                return false;
            choice.push_back({asked_.classes[each].spec.role.value(), 0, 0, by.weights[each]});
        }
        int128 bound = 0;
        for (const certificate::price& price : by.prices) {
            const std::size_t kind = price.kind.value();
            if (kind >= width || price.value < 0 || !asked_.left[kind])
                return false;
            bound += static_cast<int128>(price.value) * *asked_.left[kind];
            for (std::size_t each = 0; each < choice.size(); ++each)
                choice[each].cost +=
                    static_cast<int128>(price.value) * asked_.classes[each].spec.request[kind];
        }
        for (std::size_t at = 0; at < limits.size(); ++at) {
            std::vector<std::int64_t> beside(choice.size(), 0);
            for (std::size_t each = 0; each < choice.size(); ++each) {
                choice[each].least += limits[at][each].least;
                choice[each].most +=
                    room(at, each, limits[at][each].most, beside, asked_.places[at].free);
            }
            const int128 best =
                heaviest(at, by.weights, limits[at], beside, 0, asked_.places[at].free);
            if (best < 0)
                return patterns_left_ > 0;
            bound += best;
        }
        for (std::size_t each = 0; each < choice.size(); ++each)
            choice[each].most = std::min(choice[each].most, asked_.classes[each].waiting);
        const auto costs = costs_of_meeting(tree_, 0, asked_.holding, choice);
        return std::all_of(costs.begin(), costs.end(),
                           [&](const auto& one) { return one.second > bound; });
    }

    /// How many of the class the place takes beside those, up to `most`.
    [[nodiscard]] std::int64_t room(std::size_t at, std::size_t which, std::int64_t most,
                                    const std::vector<std::int64_t>& beside,
                                    const resources<width>& free) const {
        const muster::pod<width>& asks = asked_.classes[which].spec;
        const auto apart = [&](const std::vector<host_port>& others) {
            return !node_rules::clash(asks.where.claims.ports, others);
        };
        bool may = apart(asked_.places[at].ports);
        for (std::size_t other = 0; other < beside.size(); ++other)
            may = may &&
                  (beside[other] == 0 || (apart(asked_.classes[other].spec.where.claims.ports) &&
                                          !terms_.apart(proof_, which, other, at)));
        if (!apart(asks.where.claims.ports))
            most = std::min<std::int64_t>(most, 1);
        for (std::size_t kind = 0; kind < width; ++kind)
            if (asks.request[kind] > 0)
                most = std::min(most, std::max<std::int64_t>(0, free[kind]) / asks.request[kind]);
        return may ? served(at, which, most, beside) : 0;
    }

    /// How many of the class the devices of the place serve beside those, up to `most`.
    [[nodiscard]] std::int64_t served(std::size_t at, std::size_t which, std::int64_t most,
                                      const std::vector<std::int64_t>& beside) const {
        const device_demand asks = asked_.classes[which].spec.where.claims.devices;
        if (asks == device_demand::none || proof_.scope != certificate_scope::free_now)
            return most;
        std::vector<device_demand> held = asked_.places[at].devices;
        for (std::size_t other = 0; other < beside.size(); ++other)
            if (const device_demand its = asked_.classes[other].spec.where.claims.devices;
                other != which && its != device_demand::none)
                held.insert(held.end(), static_cast<std::size_t>(beside[other]), its);
        std::sort(held.begin(), held.end());
        return rule_.room(asked_.places[at].spec->devices, held, asks, most);
    }

    /// The largest weight of a pattern within the limits, of this class and those behind it beside
    /// those; below 0 = there is none.
    [[nodiscard]] int128 heaviest(std::size_t at, const std::vector<std::int64_t>& weights,
                                  const std::vector<range>& limits,
                                  std::vector<std::int64_t>& beside, std::size_t which,
                                  const resources<width>& free) {
        if (which == weights.size())
            return 0;
        const std::int64_t most = room(at, which, limits[which].most, beside, free);
        // Of the last class as many as go: no weight is negative.
        const bool last = which + 1 == weights.size();
        int128 best = -1;
        for (std::int64_t count = last ? std::max(most, limits[which].least) : limits[which].least;
             count <= most && patterns_left_ > 0; ++count) {
            --patterns_left_;
            resources<width> rest = free;
            for (std::size_t kind = 0; kind < width; ++kind)
                rest[kind] -= count * asked_.classes[which].spec.request[kind];
            beside[which] = count;
            const int128 behind = heaviest(at, weights, limits, beside, which + 1, rest);
            if (behind >= 0)
                best = std::max(best, behind + static_cast<int128>(weights[which]) * count);
        }
        beside[which] = 0;
        return best;
    }

    const certificate& proof_;
    problem asked_;
    rebuilt_terms<Traits> terms_;
    const gang_tree& tree_;
    device_rule rule_;
    std::size_t patterns_left_ = 0;
};

/// Whether the certificate proves that the gang does not fit the state as it stands.
template<class Traits>
[[nodiscard]] proof_check verify(const state<Traits>& known, gang_index which,
                                 const certificate& proof) {
    return certificate_verifier<Traits>(known, which, proof).check();
}

} // namespace testing
} // namespace v0_1
} // namespace muster
