// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <muster/apis/core/disruption_budget_reader.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/input/broken_objects.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The disruption budgets of a live cluster, and which of them changed since the last `tell`.
class live_budgets {
public:
    using object_key = codec::object_key;

    /// Stores a budget. One that could not be read in full (`is_broken`) allows no disruption.
    void put(const object_key& key, codec::disruption_budget_object object, bool is_broken) {
        if (is_broken)
            codec::forbid_disruption(object);
        all_.insert_or_assign(key, std::move(object));
        dirty_.insert(key);
    }
    void lose(const object_key& key) {
        all_.erase(key);
        dirty_.insert(key);
    }
    void note_pods() { pods_changed_ = true; }

    /// Appends copies of all budgets.
    void append_copies(std::vector<codec::disruption_budget_object>& to) const {
        for (const auto& [key, each] : all_)
            to.push_back(each);
    }

    /// Publishes the changed budgets to the view; true if there were any. A budget whose status has
    /// no expectedPods yet counts as changed when pods changed.
    template<class View, class Pods>
    bool tell(View& view, const Pods& pods) {
        std::set<object_key> dirty = std::exchange(dirty_, {});
        if (std::exchange(pods_changed_, false))
            for (const auto& [key, each] : all_)
                if (!each.expected_pods)
                    dirty.insert(key);
        for (const object_key& key : dirty)
            if (const auto at = all_.find(key); at != all_.end())
                view.budget(key, codec::core_budget(at->second, count(at->second, pods)));
            else
                view.budget_gone(key);
        return !dirty.empty();
    }

private:
    template<class Pods>
    [[nodiscard]] static std::int64_t count(const codec::disruption_budget_object& budget,
                                            const Pods& pods) {
        if (budget.expected_pods)
            return *budget.expected_pods;
        std::int64_t found = 0;
        for (const auto& [key, pod] : pods)
            found += codec::counts_for(budget, pod.object) ? 1 : 0;
        return found;
    }

    std::map<object_key, codec::disruption_budget_object> all_;
    std::set<object_key> dirty_;
    bool pods_changed_ = false;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
