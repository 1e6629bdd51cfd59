// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/exact/domain_search.hpp>
#include <muster/exact/search.hpp>
#include <muster/exact/subgroup.hpp>
#include <muster/greedy/domain_choice.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/problem/members.hpp>
#include <muster/vocabulary/certificate.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Runs the exact search for a subgroup of a gang, given what was already placed of the gang.
/// Memory is reused.
template<class Traits>
class subgroup_search {
    static constexpr std::size_t width = Traits::width;

public:
    /// Returns true if the subgroup at `vertex` fits. `counts` are the members per leaf that hold a
    /// node, `used` the placed members of each class, `domains` the chosen domains. Also returns
    /// false if the members of the subgroup are all of one class, or if the steps ran out.
    [[nodiscard]] bool run(const cluster_state<Traits>& cluster, const gang_members<width>& whole,
                           std::size_t vertex, const detail::sequence<std::int64_t>& counts,
                           const detail::sequence<std::size_t>& used,
                           const domain_choices<Traits>& domains) {
        extract_subgroup(whole, vertex, counts, used, part_);
        if (part_.classes.size() < 2)
            return false;
        constexpr auto now = certificate_scope::free_now;
        in_domains_ = domains.any();
        if (!in_domains_) {
            pose(cluster, part_.members, now, {}, {}, problem_);
            return search_.run(problem_, max_steps) == fit_outcome::fits;
        }
        among_.clear();
        domains.restrict_to(vertex, part_, among_);
        std::int64_t steps = max_steps;
        return within_.run(cluster, part_.members, now, {}, search_, steps, among_) ==
               fit_outcome::fits;
    }

    /// The result of a successful run: `counts()` has, per row of `problem()`, the number of
    /// members of each of `classes()`, which are classes of the whole gang.
    [[nodiscard]] const fit_problem<width>& problem() const noexcept {
        return in_domains_ ? within_.problem() : problem_;
    }
    [[nodiscard]] const detail::sequence<std::int64_t>& counts() const noexcept {
        return in_domains_ ? within_.counts() : search_.counts();
    }
    [[nodiscard]] const detail::sequence<std::size_t>& classes() const noexcept {
        return part_.classes;
    }

private:
    static constexpr std::int64_t max_steps = std::int64_t{1} << 18;

    subgroup<width> part_;
    fit_problem<width> problem_;
    fit_search<width> search_;
    domain_search<Traits> within_;
    std::vector<vertex_domain> among_;
    bool in_domains_ = false;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
