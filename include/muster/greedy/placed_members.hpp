// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/plan/plan.hpp>
#include <muster/problem/members.hpp>
#include <muster/resource/resources.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// One gang's waiting members in the order of their turns, with a journal of steps: members placed
/// in the plan, classes found to be out of room, and steps that a board records for itself. Members
/// of a class are placed oldest first, and undone newest first.
template<std::size_t Width>
class placed_members {
public:
    struct step {
        enum class kind : std::uint8_t {
            /// `count` members of the class `which` were placed on the node.
            placed,
            /// No more members of the class `which` can be placed.
            exhausted,
            /// A step of the board, with its own meaning of `which`.
            noted,
        };
        std::size_t which = 0;
        std::int64_t count = 0;
        savepoint before;
        node_index node;
        kind what = kind::placed;
    };

    /// Starts with no member placed; memory is reused. `turns` has the class of every member in
    /// order, role by role. O(vertices + classes + turns).
    template<class Classes>
    void begin(const gang_members<Width>& members, const detail::sequence<std::uint32_t>& turns,
               const Classes& classes, plan<Width>& into) {
        into_ = &into;
        queue_ = members.queue;
        turns_ = &turns;
        steps_.clear();
        placed_ = 0;
        held_ = members.holding;
        used_.assign(classes.size(), 0);
        places_.resize(turns.size());
        for (std::size_t turn = 0; turn < turns.size(); ++turn)
            places_[turn] = used_[turns[turn]]++;
        roles_.clear();
        classes_in_.assign(held_.size(), 0);
        first_.assign(held_.size() + 1, 0);
        for (const auto& next_class : classes) {
            const std::size_t role = next_class.role.value();
            first_[role + 1] += used_[roles_.size()];
            roles_.push_back(role);
            ++classes_in_[role];
        }
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        cursor_ = first_;
        used_.assign(classes.size(), 0);
        exhausted_.assign(classes.size(), 0);
    }

    [[nodiscard]] plan<Width>& into() const noexcept { return *into_; }
    /// Per vertex (leaves only): members that hold a node, including those placed here.
    [[nodiscard]] const detail::sequence<std::int64_t>& held() const noexcept { return held_; }
    /// Per class: members placed.
    [[nodiscard]] const detail::sequence<std::size_t>& used() const noexcept { return used_; }
    [[nodiscard]] std::int64_t count() const noexcept { return placed_; }
    /// All steps so far, in order. Their number serves as a mark to undo to.
    [[nodiscard]] const sequence<step>& steps() const noexcept { return steps_; }

    // ---- turns ---------------------------------------------------------------------------------

    [[nodiscard]] std::size_t first_turn(std::size_t role) const noexcept { return first_[role]; }
    [[nodiscard]] std::size_t class_at(std::size_t turn) const noexcept { return (*turns_)[turn]; }
    /// Returns true if all waiting members of the role are of one class.
    [[nodiscard]] bool alike(std::size_t role) const noexcept { return classes_in_[role] == 1; }

    /// Returns true if the member is not placed and its class is not exhausted.
    [[nodiscard]] bool is_left(std::size_t turn) const noexcept {
        const std::size_t of_class = (*turns_)[turn];
        return places_[turn] >= used_[of_class] && !exhausted_[of_class];
    }
    /// Returns the role's first turn at or after `from` that is left, or its end if there is none.
    [[nodiscard]] std::size_t next_left(std::size_t role, std::size_t from) const noexcept {
        while (from < first_[role + 1] && !is_left(from))
            ++from;
        return from;
    }
    /// Returns the role's first turn that is left, or its end if there is none. O(1) amortised.
    [[nodiscard]] std::size_t first_left(std::size_t role) noexcept {
        return cursor_[role] = next_left(role, cursor_[role]);
    }

    // ---- steps ---------------------------------------------------------------------------------

    /// Places the next `count` members of the class, whose pods are `pods`, on the node. Returns
    /// false and changes nothing if they do not fit or a quota does not admit them.
    [[nodiscard]] bool put(std::size_t of_class, std::span<const pod_index> pods, node_index node,
                           std::int64_t count, const resources<Width>& request,
                           const node_claims& claims) {
        const savepoint before = into_->mark();
        const auto next = pods.subspan(used_[of_class], static_cast<std::size_t>(count));
        if (!into_->try_place(next, node, request, claims, queue_))
            return false;
        steps_.push_back({of_class, count, before, node, step::kind::placed});
        count_placed(of_class, count);
        return true;
    }
    /// Marks the class as exhausted until this step is undone or `forgive` is called.
    void exhaust(std::size_t of_class) {
        steps_.push_back({of_class, 0, {}, {}, step::kind::exhausted});
        exhausted_[of_class] = 1;
    }
    void note(std::size_t which) { steps_.push_back({which, 0, {}, {}, step::kind::noted}); }

    /// Undoes the newest step and returns it.
    step undo() {
        const step last = steps_.back();
        steps_.pop_back();
        if (last.what == step::kind::placed) {
            into_->rollback(last.before);
            count_placed(last.which, -last.count);
        } else if (last.what == step::kind::exhausted) {
            exhausted_[last.which] = 0;
        }
        if (last.what != step::kind::noted)
            cursor_[roles_[last.which]] = first_[roles_[last.which]];
        return last;
    }
    /// Marks all classes as not exhausted.
    void forgive() {
        exhausted_.assign(exhausted_.size(), 0);
        cursor_ = first_;
    }

private:
    void count_placed(std::size_t of_class, std::int64_t count) noexcept {
        used_[of_class] += static_cast<std::size_t>(count);
        held_[roles_[of_class]] += count;
        placed_ += count;
    }

    plan<Width>* into_ = nullptr;
    std::optional<queue_charge> queue_;
    const detail::sequence<std::uint32_t>* turns_ = nullptr;
    sequence<step> steps_;
    std::int64_t placed_ = 0;
    detail::sequence<std::int64_t> held_;
    /// Per class: placed members, whether it is exhausted, and its role.
    detail::sequence<std::size_t> used_;
    detail::sequence<char> exhausted_;
    detail::sequence<std::size_t> roles_;
    /// Per turn: how many turns of its class come before it.
    detail::sequence<std::size_t> places_;
    /// `first_`, per vertex: the first turn of its role; the next vertex's is the end. `cursor_`,
    /// per vertex: a turn of its role before which none is left.
    detail::sequence<std::size_t> first_;
    detail::sequence<std::size_t> cursor_;
    /// Per vertex (leaves only): the number of classes of its members.
    detail::sequence<std::size_t> classes_in_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
