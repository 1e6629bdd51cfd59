// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/default_spread.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/reading_rules.hpp>
#include <muster/apis/core/spread_owners.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

namespace detail {

inline constexpr std::string_view spread_owner_kinds[] = {"Service", "ReplicationController",
                                                          "ReplicaSet", "StatefulSet"};

template<std::size_t At>
[[nodiscard]] codec::spread_owner_object read_spread_owner(codec::object_reader& object,
                                                           codec::reading_context& context) {
    return codec::detail::read_spread_owner(object, spread_owner_kinds[At], context);
}

/// Returns the reader of one of these kinds.
[[nodiscard]] inline auto spread_owner_reader(std::string_view kind) {
    return kind == spread_owner_kinds[0]   ? &read_spread_owner<0>
           : kind == spread_owner_kinds[1] ? &read_spread_owner<1>
           : kind == spread_owner_kinds[2] ? &read_spread_owner<2>
                                           : &read_spread_owner<3>;
}

} // namespace detail

/// The default spread constraints of a live cluster's waiting pods, and the objects that they
/// depend on.
class live_spread {
public:
    using object_key = codec::object_key;

    explicit live_spread(codec::reading_rules rules) : rules_(std::move(rules)) {}
    live_spread(const live_spread&) = delete;
    live_spread& operator=(const live_spread&) = delete;

    void put(codec::spread_owner_object object) {
        const auto [at, is_new] =
            all_.try_emplace(std::pair(object.kind, object.metadata.key), object);
        if (!is_new && at->second.pods == object.pods)
            return;
        owners_.remove(at->second);
        at->second = std::move(object);
        owners_.add(at->second);
        changed_.insert(at->first.second.name_space);
    }
    void lose(std::string_view kind, const object_key& key) {
        const auto at = all_.find({std::string(kind), key});
        if (at == all_.end())
            return;
        owners_.remove(at->second);
        all_.erase(at);
        changed_.insert(key.name_space);
    }

    /// Touches the waiting pods whose constraints may have changed. `nodes_changed`: some nodes are
    /// new, changed or gone.
    template<class Nodes, class Gangs>
    void renew(const Nodes& nodes, bool nodes_changed, Gangs& gangs) {
        if (rules_.default_spread.empty())
            return;
        if (nodes_changed) {
            auto usable = codec::usable_default_spread(rules_, [&](const std::string& label) {
                return std::ranges::any_of(nodes, [&](const auto& each) {
                    return each.second.metadata.labels.find(label) != nullptr;
                });
            });
            if (usable != usable_) {
                usable_ = std::move(usable);
                touch(gangs, gangs.pods().begin(), [](const object_key&) { return true; });
            }
        }
        for (const std::string& name : std::exchange(changed_, {}))
            touch(gangs, gangs.pods().lower_bound({name, {}}),
                  [&](const object_key& key) { return key.name_space == name; });
    }

    /// Adds the default constraints of a pod to its own.
    void add_to(constraints& where, const codec::pod_object& pod) const {
        codec::add_spread(codec::default_spread_of(pod, owners_, usable_), where);
    }

private:
    template<class Gangs, class At, class Belongs>
    static void touch(Gangs& gangs, At at, const Belongs& belongs) {
        for (; at != gangs.pods().end() && belongs(at->first); ++at)
            if (at->second.waits())
                gangs.touch(at->first);
    }

    codec::reading_rules rules_;
    std::vector<const spread_term*> usable_;
    std::map<std::pair<std::string, object_key>, codec::spread_owner_object> all_;
    codec::spread_owners owners_;
    /// Namespaces with owners that changed.
    std::set<std::string> changed_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
