// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <string>

#include <muster/base/id.hpp>
#include <muster/cluster/state.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {

/// Returns the names of a state's objects in texts. It is called only for texts that name the
/// object.
template<class Names>
concept object_names = requires(const Names& names, node_index node, pod_index pod, gang_index gang,
                                queue_index queue) {
    { names(node) } -> std::convertible_to<std::string>;
    { names(pod) } -> std::convertible_to<std::string>;
    { names(gang) } -> std::convertible_to<std::string>;
    { names(queue) } -> std::convertible_to<std::string>;
};

/// The keys of a state as names, for keys that convert to strings. For other keys, write a class
/// with the same calls.
template<class Traits>
class key_names {
public:
    /// The state must outlive the names.
    explicit key_names(const state<Traits>& cluster) : cluster_(&cluster) {}

    [[nodiscard]] std::string operator()(node_index node) const {
        return std::string(cluster_->key(node));
    }
    [[nodiscard]] std::string operator()(pod_index pod) const {
        return std::string(cluster_->key(pod));
    }
    [[nodiscard]] std::string operator()(gang_index gang) const {
        return std::string(cluster_->key(gang));
    }
    [[nodiscard]] std::string operator()(queue_index queue) const {
        return std::string(cluster_->key(queue));
    }

private:
    const state<Traits>* cluster_;
};

} // namespace words
} // namespace v0_1
} // namespace muster
