// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// Interned shapes: what a pod asks for and which nodes it may use. Pods of one shape are alike to
/// every question of placement, so a role of a thousand equal pods is one line of work. Shapes are
/// counted by reference; their numbers follow the order of arrival and decide nothing.
template<std::size_t Width>
class shape_table {
public:
    struct row {
        resources<Width> request;
        constraint_index where;
        std::size_t users = 0;
        /// Differs for every shape that ever stood in this place.
        std::uint64_t stamp = 0;
    };

    /// One more user of the shape; `fresh` tells whether it is the first. O(log shapes), O(1) for
    /// the shape acquired last: members of a role come one after the other.
    shape_index acquire(const resources<Width>& request, constraint_index where, bool& fresh) {
        if (last_.value() < rows_.size()) {
            row& last = rows_[last_.value()];
            if (last.users > 0 && last.where == where && last.request == request) {
                fresh = false;
                ++last.users;
                return last_;
            }
        }
        const auto [found, inserted] = index_.try_emplace(key{request, where});
        fresh = inserted;
        if (inserted) {
            std::size_t slot = rows_.size();
            if (unused_.empty()) {
                rows_.emplace_back();
            } else {
                slot = unused_.back().value();
                unused_.pop_back();
            }
            rows_[slot] = {request, where, 0, ++stamps_};
            found->second = shape_index{slot};
        }
        last_ = found->second;
        ++rows_[last_.value()].users;
        return last_;
    }

    /// One user less; true when it was the last.
    bool release(shape_index index) {
        row& at = rows_[index.value()];
        MUSTER_ASSERT(at.users > 0, "released once per acquire");
        if (--at.users > 0)
            return false;
        index_.erase(key{at.request, at.where});
        unused_.push_back(index);
        return true;
    }

    [[nodiscard]] const row& operator[](shape_index index) const noexcept {
        return rows_[index.value()];
    }
    /// Places in use and places to be used again.
    [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }

private:
    using key = std::pair<resources<Width>, constraint_index>;

    std::map<key, shape_index> index_;
    detail::sequence<row> rows_;
    detail::sequence<shape_index> unused_;
    shape_index last_;
    std::uint64_t stamps_ = 0;
};

} // namespace v0_1
} // namespace muster
