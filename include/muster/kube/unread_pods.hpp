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

#include <muster/apis/core/objects.hpp>
#include <muster/input/broken_objects.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// True if faults of a pod (`arrived::faults`) include a part of its resource requests.
[[nodiscard]] inline bool hide_requests(const std::vector<std::string>& faults) {
    return std::ranges::any_of(faults, [](std::string_view fault) {
        return codec::hides_requests(fault.substr(0, fault.find(':')));
    });
}

/// Nodes that have a pod whose requests cannot be read. Such a node seems to have more free room
/// than it has, so it takes no new pods.
class unread_pods {
public:
    /// Records that the requests of the pod on this node cannot be read; an empty node removes the
    /// record. Returns the nodes whose state may have changed.
    std::set<std::string> put(const codec::object_key& pod, const std::string& node) {
        std::set<std::string> changed;
        if (const auto old = node_of_.find(pod); old != node_of_.end()) {
            changed.insert(old->second);
            if (const auto at = pods_.find(old->second); --at->second == 0)
                pods_.erase(at);
            node_of_.erase(old);
        }
        if (!node.empty()) {
            changed.insert(node);
            node_of_.emplace(pod, node);
            ++pods_[node];
        }
        return changed;
    }
    [[nodiscard]] bool stand_on(const std::string& node) const { return pods_.contains(node); }

private:
    std::map<codec::object_key, std::string> node_of_;
    std::map<std::string, std::size_t> pods_; ///< number of such pods, by node
};

} // namespace kube
} // namespace v0_1
} // namespace muster
