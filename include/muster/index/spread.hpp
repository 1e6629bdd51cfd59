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

/// Puts equal pods one by one where most is free, as nodes come up in that order: those that have
/// been given a pod wait in a heap by what is left of them.
template<std::size_t Width>
class spread {
public:
    struct place {
        std::int64_t rank = 0;
        std::uint64_t label = 0;
        node_index node;
        /// How many more the node can take.
        std::int64_t room = 0;
        resources<Width> free{};
    };

    void begin(const resources<Width>& request, const placement_weights<Width>& weights) {
        request_ = &request;
        weights_ = &weights;
        heap_.clear();
    }

    /// Gives pods to nodes in the heap while they come before `next`; what is left of `count`.
    std::int64_t up_to(const place& next, std::int64_t count, detail::sequence<node_run>& into) {
        while (count > 0 && !heap_.empty() && before(heap_.front(), next)) {
            give(into);
            --count;
        }
        return count;
    }

    /// Gives a pod to the node that came up, which joins the heap when it can take more.
    std::int64_t add(place came, const resources<Width>& free, std::int64_t count,
                     detail::sequence<node_run>& into) {
        came.free = free;
        heap_.push_back(came);
        std::push_heap(heap_.begin(), heap_.end(), after);
        give(into);
        return count - 1;
    }

    /// No more nodes come up.
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

    /// One pod to the first of the heap.
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
