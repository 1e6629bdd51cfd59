// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/base/ranges.hpp>

namespace muster {
inline namespace v0_1 {

/// A port that a pod claims on its node. An empty address means all addresses.
struct host_port {
    std::string protocol = "TCP";
    std::string address;
    std::int32_t port = 0;

    [[nodiscard]] friend auto operator<=>(const host_port&, const host_port&) = default;
};

/// True if two pods that claim these ports can share a node.
[[nodiscard]] inline bool compatible(const host_port& lhs, const host_port& rhs) noexcept {
    return lhs.port != rhs.port || lhs.protocol != rhs.protocol ||
           (lhs.address != rhs.address && !lhs.address.empty() && !rhs.address.empty());
}

/// What a pod claims of its node that does not add up: it has no amount, and a pod with one claim
/// can or cannot share a node with a pod that has another. Amounts are `resources`. A new
/// constraint of this kind is a member here and a rule in `compatible`.
struct node_claims {
    std::vector<host_port> ports;

    [[nodiscard]] bool empty() const noexcept { return ports.empty(); }
    /// Number of single claims.
    [[nodiscard]] std::size_t size() const noexcept { return ports.size(); }

    [[nodiscard]] friend auto operator<=>(const node_claims&, const node_claims&) = default;
};

/// True if two pods with these claims can share a node. Symmetric; equal claims need not be
/// compatible. O(lhs × rhs).
[[nodiscard]] inline bool compatible(const node_claims& lhs, const node_claims& rhs) noexcept {
    return detail::all_of(lhs.ports, [&](const host_port& one) {
        return detail::all_of(rhs.ports,
                              [&](const host_port& other) { return compatible(one, other); });
    });
}

/// Returns how many of `most` pods with equal claims can share a node: all or one.
[[nodiscard]] inline std::int64_t max_beside_itself(const node_claims& each,
                                                    std::int64_t most) noexcept {
    return compatible(each, each) ? most : std::min<std::int64_t>(1, most);
}

/// The claims of all pods on one node. `give` is the inverse of `take`.
class claimed_on_node {
public:
    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
    /// Number of single claims.
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    [[nodiscard]] const node_claims& all() const noexcept { return all_; }

    /// True if a pod with these claims can be added. O(claims of the pod × claims here).
    [[nodiscard]] bool admits(const node_claims& claims) const noexcept {
        return compatible(claims, all_);
    }
    /// True if the pod, whose claims are already counted, is compatible with all other pods.
    [[nodiscard]] bool admits_others_beside(const node_claims& claims) const noexcept {
        return detail::all_of(claims.ports, [&](const host_port& mine) {
            return detail::count_if(all_.ports, [&](const host_port& other) {
                       return !compatible(mine, other);
                   }) == 1;
        });
    }

    void take(const node_claims& claims) {
        for (const host_port& one : claims.ports)
            all_.ports.insert(detail::lower_bound(all_.ports, one), one);
    }
    void give(const node_claims& claims) noexcept {
        for (const host_port& one : claims.ports) {
            const auto where = detail::lower_bound(all_.ports, one);
            if (where != all_.ports.end() && *where == one)
                all_.ports.erase(where);
        }
    }
    /// After this, taking `more` single claims does not allocate.
    void reserve(std::size_t more) { all_.ports.reserve(all_.ports.size() + more); }
    void clear() noexcept { all_.ports.clear(); }

    [[nodiscard]] friend bool operator==(const claimed_on_node&, const claimed_on_node&) = default;

private:
    /// Sorted, so that `give` restores the value before `take`.
    node_claims all_;
};

} // namespace v0_1
} // namespace muster
