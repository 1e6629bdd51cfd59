// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// Finds the heaviest pattern (members per class on one node) that a node can take, by enumeration.
/// Among equal weights, the pattern with the most members. Each vertex of the enumeration is a
/// step.
template<std::size_t Width>
class pattern_finder {
public:
    pattern_finder() = default;
    pattern_finder(const fit_problem<Width>& problem, std::int64_t& steps_left)
        : problem_(&problem), steps_left_(&steps_left) {}

    /// Switches to another problem; memory is reused.
    void reset(const fit_problem<Width>& problem, std::int64_t& steps_left) noexcept {
        problem_ = &problem;
        steps_left_ = &steps_left;
    }

    /// Returns false if `at_least` does not fit a node with the free amounts `free` and the devices
    /// of `node`. If the steps ran out, the result must not be used.
    [[nodiscard]] bool find(node_index node, const resources<Width>& free,
                            const std::int64_t* at_least, const std::int64_t* at_most,
                            const detail::sequence<std::int64_t>& weights) {
        const std::size_t classes = problem_->members.size();
        node_ = node;
        at_least_ = at_least;
        at_most_ = at_most;
        weights_ = &weights;
        current_.assign(classes, 0);
        ahead_weight_.assign(classes + 1, 0);
        ahead_count_.assign(classes + 1, 0);
        for (std::size_t at = classes; at-- > 0;) {
            ahead_weight_[at] =
                ahead_weight_[at + 1] + static_cast<int128>(weights[at]) * at_most[at];
            ahead_count_[at] = ahead_count_[at + 1] + at_most[at];
        }
        found_ = false;
        explore(0, free, 0, 0);
        return found_;
    }

    [[nodiscard]] int128 weight() const noexcept { return best_weight_; }
    [[nodiscard]] const detail::sequence<std::int64_t>& counts() const noexcept { return best_; }

private:
    void explore(std::size_t at, const resources<Width>& free, int128 weight, std::int64_t count) {
        if (--*steps_left_ < 0)
            return;
        const std::size_t classes = problem_->members.size();
        if (found_) {
            const int128 reachable = weight + ahead_weight_[at];
            if (reachable < best_weight_ ||
                (reachable == best_weight_ && count + ahead_count_[at] <= best_count_))
                return;
        }
        if (at == classes) {
            found_ = true;
            best_weight_ = weight;
            best_count_ = count;
            best_ = current_;
            return;
        }
        const resources<Width>& request = problem_->members[at].request;
        std::int64_t upper = fit_count(request, free, at_most_[at]);
        for (std::size_t other = 0; other < at; ++other)
            if (current_[other] > 0 && problem_->apart[at * classes + other])
                upper = 0;
        upper = problem_->devices.room(node_, current_.data(), at, upper);
        // For the last class, as many members as fit is best.
        const std::int64_t lower = at + 1 == classes ? upper : at_least_[at];
        for (std::int64_t take = upper; take >= lower && take >= at_least_[at]; --take) {
            current_[at] = take;
            explore(at + 1, free - request * take,
                    weight + static_cast<int128>((*weights_)[at]) * take, count + take);
        }
        current_[at] = 0;
    }

    const fit_problem<Width>* problem_ = nullptr;
    std::int64_t* steps_left_ = nullptr;
    node_index node_;
    const std::int64_t* at_least_ = nullptr;
    const std::int64_t* at_most_ = nullptr;
    const detail::sequence<std::int64_t>* weights_ = nullptr;
    detail::sequence<std::int64_t> current_;
    detail::sequence<int128> ahead_weight_;
    detail::sequence<std::int64_t> ahead_count_;
    bool found_ = false;
    int128 best_weight_ = 0;
    std::int64_t best_count_ = 0;
    detail::sequence<std::int64_t> best_;
};

} // namespace v0_1
} // namespace muster
