// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/cluster/state.hpp>
#include <muster/testing/node_rules.hpp>
#include <muster/testing/rebuilt_problem.hpp>
#include <muster/vocabulary/certificate.hpp>
#include <muster/vocabulary/pod_terms.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

/// What the caps of a certificate may say of required terms between pods, for the verifier alone:
/// from the records of a state, by the definition that stands beside `certificate::cap`.
template<class Traits>
class rebuilt_terms {
    using node_type = muster::node<Traits::width>;
    using cap = certificate::cap;

public:
    rebuilt_terms(const state<Traits>& known, gang_index which,
                  const rebuilt_problem<Traits>& asked, bool emptied)
        : asked_(asked), tenant_(known[which].spec.tenant), emptied_(emptied) {
        for (const auto& [key, pod] : known.pod_keys())
            if (!emptied && asked.takes_room(pod) && known[*known[pod].node].present)
                standing_.push_back({known.spec_of(pod), known[known[pod].gang].spec.tenant,
                                     &known[*known[pod].node].spec,
                                     known[pod].terminating || known[pod].evicted});
    }

    /// Holds the most of each class at each place to what these caps say; false when one of them
    /// may not be said. `alone(place, class)` is how many of a class a place takes alone.
    template<class Limits, class Alone>
    [[nodiscard]] bool narrow(const std::vector<cap>& caps, Limits& limits,
                              const Alone& alone) const {
        return std::all_of(caps.begin(), caps.end(), [&](const cap& one) {
            const bool may = holds(one, alone);
            for (std::size_t at = 0; at < limits.size() && may; ++at) {
                std::int64_t& top = limits[at][one.member_class].most;
                top = std::min(top, most(one, *asked_.places[at].spec));
            }
            return may;
        });
    }

    /// By some cap of the proof, each of which holds, two of these classes may not share the place.
    [[nodiscard]] bool apart(const certificate& proof, std::size_t lhs, std::size_t rhs,
                             std::size_t place) const {
        return std::any_of(proof.caps.begin(), proof.caps.end(), [&](const cap& one) {
            return one.by == cap::rule::apart &&
                   ((one.member_class == lhs && one.other == rhs) ||
                    (one.member_class == rhs && one.other == lhs)) &&
                   node_rules::label(asked_.places[place].spec->labels,
                                     terms_of(one).anti_affinity[one.term].topology);
        });
    }

private:
    struct somebody {
        muster::pod<Traits::width> spec;
        label_set tenant;
        const node_type* on = nullptr;
        bool leaves = false;
    };

    template<class Alone>
    [[nodiscard]] bool holds(const cap& one, const Alone& alone) const {
        if (one.member_class >= asked_.classes.size() || one.other >= asked_.classes.size())
            return false;
        const pod_terms& mine = terms_of(one);
        switch (one.by) {
        case cap::rule::kept_off:
            return true;
        case cap::rule::apart:
            return one.term < mine.anti_affinity.size() &&
                   speaks_of_all(mine.anti_affinity[one.term].pods, one.other);
        case cap::rule::spread:
            return one.term < mine.spread.size() && mine.spread[one.term].required &&
                   speaks_of_all(mine.spread[one.term].pods, one.member_class) &&
                   is_most(one, mine.spread[one.term], alone);
        }
        return false;
    }

    /// How many of its class the cap, which holds, leaves a node at most.
    [[nodiscard]] std::int64_t most(const cap& one, const node_type& on) const {
        constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
        const pod_terms& mine = terms_of(one);
        if (one.by == cap::rule::kept_off)
            return is_kept_off(one, mine, on) ? 0 : all;
        if (one.by == cap::rule::apart) {
            const bool here = node_rules::label(on.labels, mine.anti_affinity[one.term].topology);
            return here && one.other == one.member_class ? 1 : all;
        }
        const spread_term& by = mine.spread[one.term];
        if (!counts(one, by, on))
            return all;
        std::int64_t there = 0;
        for (const somebody& each : standing_)
            there += counts_for(one, by, each) && share(by.topology, *each.on, on) ? 1 : 0;
        return std::max<std::int64_t>(0, by.max_skew + one.fewest - there);
    }

    [[nodiscard]] const constraints& wishes_of(const cap& one) const {
        return asked_.classes[one.member_class].spec.where;
    }
    [[nodiscard]] const pod_terms& terms_of(const cap& one) const {
        static const pod_terms none;
        return wishes_of(one).pods ? *wishes_of(one).pods : none;
    }
    [[nodiscard]] static bool speaks_of(const pod_selector& whom, const label_set& labels,
                                        const label_set& tenant) {
        return node_rules::match(whom.labels, labels) &&
               (!whom.tenants ||
                std::any_of(whom.tenants->begin(), whom.tenants->end(),
                            [&](const auto& one) { return node_rules::match(one, tenant); }));
    }
    [[nodiscard]] bool speaks_of_all(const pod_selector& whom, std::size_t which) const {
        const auto& all = asked_.classes[which].labels;
        return std::all_of(all.begin(), all.end(), [&](const label_set& labels) {
            return speaks_of(whom, labels, tenant_);
        });
    }
    [[nodiscard]] static bool share(const std::string& key, const node_type& lhs,
                                    const node_type& rhs) {
        const std::string* mine = node_rules::label(lhs.labels, key);
        const std::string* theirs = node_rules::label(rhs.labels, key);
        return mine && theirs && *mine == *theirs;
    }

    [[nodiscard]] bool is_kept_off(const cap& one, const pod_terms& mine,
                                   const node_type& on) const {
        const auto lacks = [&](const auto& term) {
            return !node_rules::label(on.labels, term.topology);
        };
        if (std::any_of(mine.affinity.begin(), mine.affinity.end(), lacks) ||
            std::any_of(mine.spread.begin(), mine.spread.end(),
                        [&](const spread_term& term) { return term.required && lacks(term); }))
            return true;
        return std::any_of(standing_.begin(), standing_.end(), [&](const somebody& each) {
            const auto meets = [&](const affinity_term& term) {
                return share(term.topology, *each.on, on) &&
                       speaks_of(term.pods, each.spec.labels, each.tenant);
            };
            const auto repels = [&](const affinity_term& term) {
                return share(term.topology, *each.on, on) &&
                       speaks_of_all(term.pods, one.member_class);
            };
            const auto& theirs = each.spec.where.pods;
            return std::any_of(mine.anti_affinity.begin(), mine.anti_affinity.end(), meets) ||
                   (theirs && std::any_of(theirs->anti_affinity.begin(),
                                          theirs->anti_affinity.end(), repels));
        });
    }

    /// Whoever the term speaks of counts on that node.
    [[nodiscard]] bool counts(const cap& one, const spread_term& by, const node_type& on) const {
        const constraints& who = wishes_of(one);
        for (const spread_term& each : terms_of(one).spread)
            if (each.required && !node_rules::label(on.labels, each.topology))
                return false;
        return (!by.honor_affinity || (node_rules::chosen(who, on) && asked_.is_of_queue(on))) &&
               (!by.honor_taints ||
                std::all_of(on.taints.begin(), on.taints.end(),
                            [&](const taint& what) { return node_rules::endured(who, what); }));
    }
    [[nodiscard]] bool counts_for(const cap& one, const spread_term& by,
                                  const somebody& each) const {
        return !each.leaves && speaks_of(by.pods, each.spec.labels, each.tenant) &&
               counts(one, by, *each.on);
    }

    /// The emptiest domain comes to have no more than the cap says.
    template<class Alone>
    [[nodiscard]] bool is_most(const cap& one, const spread_term& by, const Alone& alone) const {
        // Who stands in a domain, and who could besides.
        std::map<std::string, std::pair<int128, int128>> domains;
        int128 all = 0;
        for (std::size_t at = 0; at < asked_.places.size(); ++at) {
            const node_type& on = *asked_.places[at].spec;
            if (!counts(one, by, on))
                continue;
            auto& here = domains[*node_rules::label(on.labels, by.topology)];
            for (std::size_t each = 0; each < asked_.classes.size(); ++each)
                if (how_many(by, each) > 0)
                    here.second += alone(at, each);
        }
        for (const somebody& each : standing_)
            if (counts_for(one, by, each)) {
                ++domains[*node_rules::label(each.on->labels, by.topology)].first;
                ++all;
            }
        if (static_cast<std::int64_t>(domains.size()) < by.min_domains)
            return one.fewest >= 0 && !(emptied_ && by.honor_taints);
        if (emptied_ || one.fewest < 0)
            return false;
        for (std::size_t each = 0; each < asked_.classes.size(); ++each)
            all += how_many(by, each);
        return domains.empty() || all / static_cast<std::int64_t>(domains.size()) <= one.fewest ||
               std::any_of(domains.begin(), domains.end(), [&](const auto& each) {
                   return each.second.first + each.second.second <= one.fewest;
               });
    }
    [[nodiscard]] std::int64_t how_many(const spread_term& by, std::size_t which) const {
        const auto& all = asked_.classes[which].labels;
        return std::count_if(all.begin(), all.end(), [&](const label_set& labels) {
            return speaks_of(by.pods, labels, tenant_);
        });
    }

    const rebuilt_problem<Traits>& asked_;
    label_set tenant_;
    bool emptied_ = false;
    std::vector<somebody> standing_;
};

} // namespace testing
} // namespace v0_1
} // namespace muster
