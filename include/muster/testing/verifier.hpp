// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <muster/admission/certificate.hpp>
#include <muster/base/checked.hpp>
#include <muster/testing/cheapest_choice.hpp>
#include <muster/testing/gang_view.hpp>

namespace muster::inline v0_1 {
namespace testing {

enum class proof_check : std::uint8_t {
    valid,
    invalid,
    /// Not judged: some node can take too many patterns to list.
    too_large,
};

/// Checks a certificate against the definition that stands beside its type, on a problem rebuilt
/// from the state's records. Nothing that found the proof is trusted.
template<class Traits>
class certificate_verifier {
    static constexpr std::size_t width = Traits::width;

public:
    certificate_verifier(const state<Traits>& known, gang_index which, const certificate& proof)
        : proof_(&proof), view_(view_of(known, which, proof.scope)), classes_(kinds_of(view_)) {}

    [[nodiscard]] proof_check check(std::size_t most_patterns = std::size_t{1} << 22U) {
        patterns_left_ = most_patterns;
        too_large_ = false;
        box at_start;
        for (std::size_t node = 0; node < view_.nodes.size(); ++node)
            for (std::size_t at = 0; at < classes_.size(); ++at)
                at_start[{node, at}] = {0, classes_[at].waiting};
        std::size_t next = 0;
        const bool holds = subtree(next, at_start, {});
        if (too_large_)
            return proof_check::too_large;
        return holds && next == proof_->vertices.size() ? proof_check::valid : proof_check::invalid;
    }

private:
    /// (node, class) -> at least, at most.
    using box =
        std::map<std::pair<std::size_t, std::size_t>, std::pair<std::int64_t, std::int64_t>>;

    /// Where the branches above have the members of a vertex stand; nowhere without a place.
    struct domain {
        std::size_t vertex = 0;
        standpoint where;
    };
    using confined = std::vector<domain>;

    [[nodiscard]] bool subtree(std::size_t& next, const box& limits, const confined& above) {
        if (next >= proof_->vertices.size() || too_large_)
            return false;
        const certificate::vertex& vertex = proof_->vertices[next++];
        if (vertex.leaf)
            return leaf(vertex, limits);
        if (vertex.together)
            return every_domain(next, vertex.together->value(), limits, above);
        std::size_t node = 0;
        while (node < view_.nodes.size() && view_.nodes[node].node != vertex.node)
            ++node;
        if (node == view_.nodes.size() || vertex.member_class >= classes_.size() ||
            vertex.at_most == std::numeric_limits<std::int64_t>::max())
            return false;
        box low = limits;
        box high = limits;
        auto& upper = low[{node, vertex.member_class}].second;
        auto& lower = high[{node, vertex.member_class}].first;
        upper = std::min(upper, vertex.at_most);
        lower = std::max(lower, vertex.at_most + 1);
        return subtree(next, low, above) && subtree(next, high, above);
    }

    /// A branch for each domain of the required level in which the vertex may stand and of which
    /// the branches above leave it a node, in the order of the labels' values. When there is none a
    /// single one remains, in which nobody is placed below the vertex.
    [[nodiscard]] bool every_domain(std::size_t& next, std::size_t vertex, const box& limits,
                                    const confined& above) {
        if (vertex >= view_.tree->size())
            return false;
        const auto& how = (*view_.tree)[vertex].together;
        if (!how || !how->required)
            return false;
        const auto at = [&](const domain& one, std::size_t node) {
            const auto& of = *(*view_.tree)[one.vertex].together;
            return one.where &&
                   stands(*view_.nodes[node].spec, of.within, *of.required) == one.where;
        };
        std::vector<standpoint> ways;
        for (const standpoint& where : view_.standpoints(vertex, how->within, *how->required)) {
            bool open = view_.holds_below(vertex);
            for (std::size_t node = 0; node < view_.nodes.size() && !open; ++node)
                open = at({vertex, where}, node) &&
                       std::all_of(above.begin(), above.end(), [&](const domain& one) {
                           return !lies_below(*view_.tree, vertex, one.vertex) || at(one, node);
                       });
            if (open)
                ways.push_back(where);
        }
        if (ways.empty())
            ways.push_back(std::nullopt);
        return std::all_of(ways.begin(), ways.end(), [&](const standpoint& where) {
            confined here = above;
            here.push_back({vertex, where});
            box kept = limits;
            for (auto& [place, counts] : kept)
                if (lies_below(*view_.tree, classes_[place.second].role, vertex) &&
                    !at(here.back(), place.first))
                    counts.second = 0;
            return subtree(next, kept, here);
        });
    }

    [[nodiscard]] bool leaf(const certificate::vertex& by, const box& limits) {
        const auto negative = [](std::int64_t weight) { return weight < 0; };
        if (by.weights.size() != classes_.size() ||
            std::any_of(by.weights.begin(), by.weights.end(), negative))
            return false;
        std::vector<int128> cost(by.weights.begin(), by.weights.end());
        int128 bound = 0;
        for (const certificate::price& price : by.prices) {
            const std::size_t kind = price.kind.value();
            if (kind >= width || price.value < 0 || !view_.quota_left[kind])
                return false;
            bound += static_cast<int128>(price.value) * *view_.quota_left[kind];
            for (std::size_t at = 0; at < classes_.size(); ++at)
                cost[at] += static_cast<int128>(price.value) * classes_[at].spec->request[kind];
        }
        std::vector<std::int64_t> least(classes_.size(), 0);
        std::vector<std::int64_t> most(classes_.size(), 0);
        for (std::size_t node = 0; node < view_.nodes.size(); ++node) {
            std::vector<std::int64_t> counts(classes_.size(), 0);
            best_ = -1;
            list_patterns(node, by.weights, limits, counts, 0, view_.nodes[node].free, 0);
            if (best_ < 0 && !too_large_)
                return true;
            bound += best_;
            for (std::size_t at = 0; at < classes_.size(); ++at) {
                least[at] += limits.at({node, at}).first;
                most[at] += alone(node, at, limits.at({node, at}).second);
            }
        }
        for (std::size_t at = 0; at < classes_.size(); ++at)
            most[at] = std::min(most[at], classes_[at].waiting);
        return !too_large_ && least_cost(cost, least, most) > bound;
    }

    [[nodiscard]] int128 least_cost(const std::vector<int128>& cost,
                                    const std::vector<std::int64_t>& least,
                                    const std::vector<std::int64_t>& most) const {
        std::vector<priced_members> priced;
        for (std::size_t at = 0; at < classes_.size(); ++at)
            priced.push_back({classes_[at].role, cost[at], least[at], most[at]});
        return cheapest_choice(*view_.tree, view_.holding, priced);
    }

    [[nodiscard]] bool may_share(std::size_t node, std::size_t at,
                                 const std::vector<std::int64_t>& counts) const {
        const constraints& where = classes_[at].spec->where;
        if (!view_.welcome(where, *view_.nodes[node].spec) ||
            clash(where.ports, view_.nodes[node].ports))
            return false;
        for (std::size_t other = 0; other < counts.size(); ++other)
            if (counts[other] > 0 && clash(where.ports, classes_[other].spec->where.ports))
                return false;
        return true;
    }

    /// Every pattern within the limits: the largest weight into best_.
    void list_patterns(std::size_t node, const std::vector<std::int64_t>& weights,
                       const box& limits, std::vector<std::int64_t>& counts, std::size_t at,
                       const resources<width>& free, int128 weight) {
        if (patterns_left_ == 0) {
            too_large_ = true;
            return;
        }
        --patterns_left_;
        if (at == classes_.size()) {
            best_ = std::max(best_, weight);
            return;
        }
        const auto [low, high] = limits.at({node, at});
        resources<width> rest = free;
        for (counts[at] = 0; counts[at] <= high && !too_large_;) {
            if (counts[at] >= low)
                list_patterns(node, weights, limits, counts, at + 1, rest,
                              weight + static_cast<int128>(weights[at]) * counts[at]);
            if (!may_share(node, at, counts) || !draw(classes_[at].spec->request, rest))
                break;
            ++counts[at];
        }
        counts[at] = 0;
    }

    [[nodiscard]] std::int64_t alone(std::size_t node, std::size_t at, std::int64_t high) const {
        std::vector<std::int64_t> counts(classes_.size(), 0);
        resources<width> rest = view_.nodes[node].free;
        while (counts[at] < high && may_share(node, at, counts) &&
               draw(classes_[at].spec->request, rest))
            ++counts[at];
        return counts[at];
    }

    const certificate* proof_;
    gang_view<Traits> view_;
    std::vector<member_kind<width>> classes_;
    std::size_t patterns_left_ = 0;
    bool too_large_ = false;
    int128 best_ = -1;
};

/// Whether the certificate proves that the gang does not fit the state as it stands.
template<class Traits>
[[nodiscard]] proof_check verify(const state<Traits>& known, gang_index which,
                                 const certificate& proof) {
    return certificate_verifier<Traits>(known, which, proof).check();
}

} // namespace testing
} // namespace muster::inline v0_1
