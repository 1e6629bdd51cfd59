// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/index/placement_order.hpp>
#include <muster/index/weights.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Places equal pods one by one on the node with the most free, while a walk delivers nodes in that
/// order. Nodes that have been given a pod wait in a heap, ordered by what they have left.
template<std::size_t Width>
class spread {
public:
    struct place {
        std::int64_t rank = 0;
        std::uint64_t label = 0;
        node_index node;
        /// How many more pods the node can take.
        std::int64_t room = 0;
        resources<Width> free{};
    };

    void begin(const resources<Width>& request, const placement_weights<Width>& weights) {
        request_ = &request;
        weights_ = &weights;
        heap_.clear();
    }

    /// Places pods on the nodes of the heap that come before `next`, at most `count`. Returns how
    /// many of `count` are left.
    std::int64_t up_to(const place& next, std::int64_t count, detail::sequence<node_run>& into) {
        while (count > 0 && !heap_.empty() && before(heap_.front(), next)) {
            give(into);
            --count;
        }
        return count;
    }

    /// Places a pod on the node that the walk delivered, and adds the node to the heap if it can
    /// take more. Returns how many of `count` are left.
    std::int64_t add(place delivered, const resources<Width>& free, std::int64_t count,
                     detail::sequence<node_run>& into) {
        delivered.free = free;
        heap_.push_back(delivered);
        std::push_heap(heap_.begin(), heap_.end(), after);
        give(into);
        return count - 1;
    }

    /// Places pods on the nodes of the heap after the walk has ended. Returns how many of `count`
    /// are left.
    std::int64_t drain(std::int64_t count, detail::sequence<node_run>& into) {
        for (; count > 0 && !heap_.empty(); --count)
            give(into);
        return count;
    }

private:
    [[nodiscard]] static bool before(const place& lhs, const place& rhs) noexcept {
        return lhs.rank != rhs.rank ? lhs.rank < rhs.rank : lhs.label < rhs.label;
    }
    [[nodiscard]] static bool after(const place& lhs, const place& rhs) noexcept {
        return before(rhs, lhs);
    }

    /// Places one pod on the first node of the heap.
    void give(detail::sequence<node_run>& into) {
        std::pop_heap(heap_.begin(), heap_.end(), after);
        place& best = heap_.back();
        into.push_back({best.node, 1});
        if (--best.room == 0) {
            heap_.pop_back();
            return;
        }
        best.free -= *request_;
        best.rank = ~weights_->key(best.free);
        std::push_heap(heap_.begin(), heap_.end(), after);
    }

    const resources<Width>* request_ = nullptr;
    const placement_weights<Width>* weights_ = nullptr;
    sequence<place> heap_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
