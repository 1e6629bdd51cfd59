// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/index/node_query.hpp>
#include <muster/preempt/movable_pods.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// Pods on one node that make room together when they leave: for one more member than before, or
/// for several.
struct room_group {
    node_index node;
    /// Their numbers in `movable_pods`.
    detail::sequence<std::size_t> pods;
    /// How many groups of the node must have left before.
    std::size_t after = 0;
    /// The largest number of pods in a group of the node up to this one, and the highest levels of
    /// their pods. `rank` is the highest number of a pod in these groups.
    std::size_t cost = 0;
    std::int64_t queue_level = 0;
    std::int64_t gang_level = 0;
    std::size_t rank = 0;
};

/// Groups the pods that must leave a node so that it can take more pods of one query.
template<class Traits>
class room_groups {
public:
    static constexpr std::size_t width = Traits::width;

    /// Finds groups that make room for up to `missing` more pods. They are ordered by the number of
    /// pods, then by level, then by value, the least first. O(pods · log pods + pods on a node
    /// squared).
    void begin(const cluster_state<Traits>& cluster, const movable_pods<Traits>& pods,
               const node_query<width>& query, std::int64_t missing) {
        cluster_ = &cluster;
        pods_ = &pods;
        query_ = query;
        groups_.clear();
        rates_.clear();
        order_.resize(pods.all().size());
        for (std::size_t at = 0; at < order_.size(); ++at)
            order_[at] = at;
        const auto label = [&](std::size_t at) {
            return cluster.node_labels()[pods.all()[at].node];
        };
        detail::stable_sort(order_, {}, label);
        for (std::size_t first = 0; first < order_.size();) {
            const node_index node = pods.all()[order_[first]].node;
            std::size_t last = first;
            while (last < order_.size() && pods.all()[order_[last]].node == node)
                ++last;
            if (eligible(query, node)) {
                left_.assign(order_.begin() + static_cast<std::ptrdiff_t>(first),
                             order_.begin() + static_cast<std::ptrdiff_t>(last));
                bound(node, missing);
                make(node, missing);
            }
            first = last;
        }
        detail::stable_sort(groups_, [](const room_group& lhs, const room_group& rhs) {
            return std::tuple(lhs.cost, lhs.queue_level, lhs.gang_level, lhs.rank) <
                   std::tuple(rhs.cost, rhs.queue_level, rhs.gang_level, rhs.rank);
        });
    }

    [[nodiscard]] const detail::sequence<room_group>& all() const noexcept { return groups_; }

    /// Returns a lower bound on the number of pods that must leave to make room for `missing` more.
    [[nodiscard]] std::size_t at_least(std::int64_t missing) {
        // The rates with the fewest pods per member come first. No node can be better than its best
        // rate.
        detail::sort_short(rates_, [](const rate& lhs, const rate& rhs) {
            return lhs.pods * rhs.members < rhs.pods * lhs.members;
        });
        std::int64_t sum = 0;
        // Fractions of a pod, rounded down, so that the sum stays a lower bound.
        constexpr std::int64_t parts = 1 << 20;
        for (const rate& node_rate : rates_) {
            const std::int64_t members = std::min(missing, node_rate.most);
            sum += members * (node_rate.pods * parts / node_rate.members);
            missing -= members;
            if (missing == 0)
                break;
        }
        return static_cast<std::size_t>(std::max<std::int64_t>(1, (sum + parts - 1) / parts));
    }

private:
    using amounts = resources<width>;
    struct rate {
        std::int64_t pods = 0;
        std::int64_t members = 1;
        std::int64_t most = 0;
    };

    [[nodiscard]] const amounts& request(std::size_t at) const {
        return cluster_->request(pods_->all()[at].pod);
    }

    /// Returns what is missing for this many members.
    [[nodiscard]] amounts deficit(const amounts& free, std::int64_t members) const {
        amounts out;
        for (std::size_t column = 0; column < width; ++column)
            if ((*query_.request)[column] > 0)
                out[column] = saturate(static_cast<int128>((*query_.request)[column]) * members -
                                       free[column]);
        return out;
    }
    [[nodiscard]] static bool any(const amounts& deficit) noexcept {
        bool found = false;
        for (std::size_t column = 0; column < width; ++column)
            found |= deficit[column] > 0;
        return found;
    }
    void lessen(amounts& deficit, std::size_t leaving) const {
        for (std::size_t column = 0; column < width; ++column)
            deficit[column] =
                saturate(static_cast<int128>(deficit[column]) - request(leaving)[column]);
    }
    [[nodiscard]] bool covers(std::size_t at, const amounts& deficit) const {
        for (std::size_t column = 0; column < width; ++column)
            if (deficit[column] > request(at)[column])
                return false;
        return true;
    }
    /// Returns how much of the deficit the pod covers, in 1,024ths, summed over the kinds.
    [[nodiscard]] std::int64_t part(std::size_t at, const amounts& deficit) const {
        std::int64_t sum = 0;
        for (std::size_t column = 0; column < width; ++column)
            if (deficit[column] > 0)
                sum += static_cast<std::int64_t>(
                    static_cast<int128>(std::min(deficit[column], request(at)[column])) * 1024 /
                    deficit[column]);
        return sum;
    }

    /// Records a lower bound on the pods per member of the node: the fewest pods for each number of
    /// members that every single kind allows.
    void bound(node_index node, std::int64_t missing) {
        const amounts& free = cluster_->accounts().free(node);
        const std::int64_t room = fit_count(*query_.request, free, missing);
        rate best;
        for (std::size_t column = 0; column < width; ++column) {
            sizes_[column].clear();
            for (const std::size_t at : left_)
                sizes_[column].push_back(request(at)[column]);
            detail::sort_short(sizes_[column], {}, [](std::int64_t size) { return -size; });
        }
        for (std::int64_t more = 1; more <= missing; ++more) {
            const amounts short_of = deficit(free, room + more);
            std::size_t count = 0;
            for (std::size_t column = 0; column < width; ++column) {
                int128 left = short_of[column];
                std::size_t used = 0;
                for (; used < sizes_[column].size() && left > 0; ++used)
                    left -= sizes_[column][used];
                if (left > 0) {
                    if (best.most > 0)
                        rates_.push_back(best);
                    return;
                }
                count = std::max(count, used);
            }
            const auto pods = static_cast<std::int64_t>(count);
            if (best.most == 0 || pods * best.members < best.pods * more) {
                best.pods = pods;
                best.members = more;
            }
            best.most = more;
        }
        if (best.most > 0)
            rates_.push_back(best);
    }

    void make(node_index node, std::int64_t missing) {
        amounts free = cluster_->accounts().free(node);
        std::int64_t room = fit_count(*query_.request, free, missing);
        room_group next{node, {}, 0, 0, 0, 0, 0};
        for (std::int64_t gained = 0; gained < missing && !left_.empty();) {
            next.pods.clear();
            amounts short_of = deficit(free, room + 1);
            while (any(short_of) && !left_.empty())
                pick(next.pods, short_of);
            if (any(short_of))
                return;
            drop_needless(next.pods, deficit(free, room + 1));
            next.cost = std::max(next.cost, next.pods.size());
            for (const std::size_t at : next.pods) {
                const movable_pod& leaving = pods_->all()[at];
                const bool first = next.after == 0 && at == next.pods.front();
                next.queue_level =
                    first ? leaving.queue_level : std::max(next.queue_level, leaving.queue_level);
                next.gang_level =
                    first ? leaving.gang_level : std::max(next.gang_level, leaving.gang_level);
                next.rank = std::max(next.rank, at);
                for (std::size_t column = 0; column < width; ++column)
                    free[column] += request(at)[column];
            }
            groups_.push_back(next);
            ++next.after;
            const std::int64_t now = fit_count(*query_.request, free, room + missing);
            gained += now - room;
            room = now;
        }
    }

    /// Picks the smallest of the pods that suffice alone; if none does, the pod that covers most.
    /// Ties go to the least valuable pod.
    void pick(detail::sequence<std::size_t>& into, amounts& short_of) {
        auto best = left_.begin();
        bool enough = covers(*best, short_of);
        for (auto at = left_.begin() + 1; at != left_.end(); ++at) {
            const bool alone = covers(*at, short_of);
            if (alone != enough ? alone
                : enough        ? smaller(*at, *best)
                                : part(*at, short_of) > part(*best, short_of)) {
                best = at;
                enough = alone;
            }
        }
        lessen(short_of, *best);
        into.push_back(*best);
        left_.erase(best);
    }
    [[nodiscard]] bool smaller(std::size_t lhs, std::size_t rhs) const {
        return request(lhs) != request(rhs) && dominates(request(rhs), request(lhs));
    }
    void drop_needless(detail::sequence<std::size_t>& from, const amounts& short_of) {
        for (std::size_t at = from.size(); at-- > 0;) {
            amounts without = short_of;
            for (const std::size_t other : from)
                if (other != from[at])
                    lessen(without, other);
            if (any(without))
                continue;
            left_.push_back(from[at]);
            from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
        }
        detail::sort_short(left_);
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    const movable_pods<Traits>* pods_ = nullptr;
    node_query<width> query_;
    detail::sequence<room_group> groups_;
    detail::sequence<rate> rates_;
    detail::sequence<std::size_t> order_;
    /// For the current node: its pods that are left, and their requests, kind by kind.
    detail::sequence<std::size_t> left_;
    std::array<detail::sequence<std::int64_t>, width> sizes_;
};

} // namespace v0_1
} // namespace muster
