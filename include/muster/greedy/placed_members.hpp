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

/// One gang's waiting members in the order of their turns, and a journal of what was done with
/// them: placed into a plan, found to be out of room, and whatever else a board notes. Members of a
/// class are placed oldest first, and taken back newest first.
template<std::size_t Width>
class placed_members {
public:
    struct step {
        enum class kind : std::uint8_t {
            /// `count` members of the class `which` are on the node.
            placed,
            /// No more of the class `which` can be placed.
            exhausted,
            /// For the board alone.
            noted,
        };
        std::size_t which = 0;
        std::int64_t count = 0;
        savepoint before;
        node_index node;
        kind what = kind::placed;
    };

    /// Starts with no member placed; keeps the memory. `turns` are the classes of the members in
    /// their order, which is by role. O(vertices + classes + turns).
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
        for (const auto& each : classes) {
            const std::size_t role = each.role.value();
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
    /// Per vertex (leaves only): members that hold, those placed among them.
    [[nodiscard]] const detail::sequence<std::int64_t>& held() const noexcept { return held_; }
    /// Per class: members placed.
    [[nodiscard]] const detail::sequence<std::size_t>& used() const noexcept { return used_; }
    [[nodiscard]] std::int64_t count() const noexcept { return placed_; }
    /// What was done so far, in order. Their number is a mark to undo to.
    [[nodiscard]] const sequence<step>& steps() const noexcept { return steps_; }

    // ---- turns ---------------------------------------------------------------------------------

    [[nodiscard]] std::size_t first_turn(std::size_t role) const noexcept { return first_[role]; }
    [[nodiscard]] std::size_t class_at(std::size_t turn) const noexcept { return (*turns_)[turn]; }
    /// The role's members are of one class.
    [[nodiscard]] bool alike(std::size_t role) const noexcept { return classes_in_[role] == 1; }

    /// The member is not placed, and its class is not exhausted.
    [[nodiscard]] bool is_left(std::size_t turn) const noexcept {
        const std::size_t of_class = (*turns_)[turn];
        return places_[turn] >= used_[of_class] && !exhausted_[of_class];
    }
    /// The role's first turn from `from` on that is left; its end if there is none.
    [[nodiscard]] std::size_t next_left(std::size_t role, std::size_t from) const noexcept {
        while (from < first_[role + 1] && !is_left(from))
            ++from;
        return from;
    }
    /// The role's first turn that is left; its end if there is none. O(1) amortised.
    [[nodiscard]] std::size_t first_left(std::size_t role) noexcept {
        return cursor_[role] = next_left(role, cursor_[role]);
    }

    // ---- steps ---------------------------------------------------------------------------------

    /// The next `count` members of the class, which has `pods`, onto the node; false and nothing
    /// changed if they do not fit or a quota does not admit them.
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
    /// No more members of the class can be placed, until this is undone or all is forgiven.
    void exhaust(std::size_t of_class) {
        steps_.push_back({of_class, 0, {}, {}, step::kind::exhausted});
        exhausted_[of_class] = 1;
    }
    void note(std::size_t which) { steps_.push_back({which, 0, {}, {}, step::kind::noted}); }

    /// Undoes the newest step, and returns it.
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
    /// No class is exhausted any more.
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
    /// Per class.
    detail::sequence<std::size_t> used_;
    detail::sequence<char> exhausted_;
    detail::sequence<std::size_t> roles_;
    /// Per turn: how many of its class come before it.
    detail::sequence<std::size_t> places_;
    /// Per vertex: the first turn of its role, the next vertex's is the end; and a turn before
    /// which none is left.
    detail::sequence<std::size_t> first_;
    detail::sequence<std::size_t> cursor_;
    /// Per vertex (leaves only): classes of its members.
    detail::sequence<std::size_t> classes_in_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
