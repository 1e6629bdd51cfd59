// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/input/gang_links.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// Which group or pod of a live cluster.
struct live_object {
    /// Among the collections that are followed; pods' own is `of_pods`.
    std::size_t collection = 0;
    codec::object_key key;

    static constexpr std::size_t of_pods = std::numeric_limits<std::size_t>::max();
    [[nodiscard]] bool is_pod() const noexcept { return collection == of_pods; }
    [[nodiscard]] friend auto operator<=>(const live_object&, const live_object&) = default;
};

/// The components of objects that links connect, and which components changed.
class live_links {
public:
    using links = std::vector<codec::gang_link>;

    /// All objects that links connect, directly or through others. If these are more than
    /// `codec::most_linked_gangs` gangs, each component holds the objects of one gang. `members` is
    /// empty if all objects were removed.
    struct component {
        std::set<live_object> members;
        std::set<codec::gang_link> names;
        /// An object other than a pod changed.
        bool whole = false;
        /// Links connect the gang with more than `codec::most_linked_gangs` gangs.
        bool too_large = false;
    };

    /// An object is new or changed. O((old + new links) · log links).
    void put(const live_object& who, links of) {
        if (const auto at = links_.find(who); at != links_.end() && at->second == of) {
            for (const codec::gang_link& each : of)
                touch(each, !who.is_pod());
            return;
        }
        drop(who);
        for (const codec::gang_link& each : of) {
            members_[each].insert(who);
            touch(each, !who.is_pod());
        }
        links_.insert_or_assign(who, std::move(of));
    }
    void drop(const live_object& who) {
        const auto at = links_.find(who);
        if (at == links_.end())
            return;
        for (const codec::gang_link& each : at->second) {
            const auto known = members_.find(each);
            known->second.erase(who);
            if (known->second.empty())
                members_.erase(known);
            touch(each, !who.is_pod());
        }
        links_.erase(at);
    }
    /// Marks the component of a pod as changed.
    void touch(const live_object& who) {
        if (const auto at = links_.find(who); at != links_.end())
            for (const codec::gang_link& each : at->second)
                touch(each, false);
    }
    void touch_all() {
        for (const auto& [name, who] : members_)
            touch(name, true);
    }

    [[nodiscard]] bool shares_link(const live_object& lhs, const live_object& rhs) const {
        const auto left = links_.find(lhs);
        const auto right = links_.find(rhs);
        return left != links_.end() && right != links_.end() && !left->second.empty() &&
               std::ranges::find(right->second, left->second.front()) != right->second.end();
    }

    /// The components in which something changed since, in the order of their names.
    /// O(what they hold · log).
    [[nodiscard]] std::vector<component> take() {
        std::vector<component> found;
        std::set<codec::gang_link> seen;
        for (const auto& [name, whole] : dirty_)
            if (!seen.contains(name))
                add(gather(name, seen), found);
        dirty_.clear();
        return found;
    }
    [[nodiscard]] bool changed() const noexcept { return !dirty_.empty(); }

private:
    void touch(const codec::gang_link& name, bool whole) { dirty_[name] |= whole; }

    void add(component made, std::vector<component>& to) {
        const auto gangs = std::ranges::count_if(
            made.names, [](const codec::gang_link& each) { return each.is_gang(); });
        if (static_cast<std::size_t>(gangs) > codec::most_linked_gangs)
            return add_apart(made, to);
        for (const codec::gang_link& each : made.names)
            made.whole |= oversized_.erase(each) > 0;
        to.push_back(std::move(made));
    }
    /// Splits a component that is too large into its gangs. Adds those that changed or that were
    /// not in such a component before.
    void add_apart(const component& whole, std::vector<component>& to) {
        std::set<codec::gang_link> lists;
        const std::size_t first = to.size();
        for (const codec::gang_link& name : whole.names) {
            const auto dirty = dirty_.find(name);
            const bool fresh = oversized_.insert(name).second;
            if (dirty == dirty_.end() && !fresh)
                continue;
            if (!name.is_gang()) {
                lists.insert(name);
                continue;
            }
            component made;
            made.too_large = true;
            made.whole = fresh || dirty->second;
            made.names.insert(name);
            if (const auto at = members_.find(name); at != members_.end())
                for (const live_object& who : at->second)
                    if (links_.at(who).front() == name)
                        made.members.insert(who);
            to.push_back(std::move(made));
        }
        if (to.size() > first)
            to[first].names.merge(lists);
    }

    component gather(const codec::gang_link& from, std::set<codec::gang_link>& seen) const {
        component made;
        std::vector<codec::gang_link> open{from};
        seen.insert(from);
        while (!open.empty()) {
            const codec::gang_link name = std::move(open.back());
            open.pop_back();
            if (const auto at = dirty_.find(name); at != dirty_.end())
                made.whole |= at->second;
            if (const auto at = members_.find(name); at != members_.end())
                for (const live_object& who : at->second)
                    if (made.members.insert(who).second)
                        for (const codec::gang_link& next : links_.at(who))
                            if (seen.insert(next).second)
                                open.push_back(next);
            made.names.insert(name);
        }
        return made;
    }

    std::map<live_object, links> links_;
    std::map<codec::gang_link, std::set<live_object>> members_;
    std::map<codec::gang_link, bool> dirty_;
    std::set<codec::gang_link> oversized_; ///< links of components that were too large
};

} // namespace kube
} // namespace v0_1
} // namespace muster
