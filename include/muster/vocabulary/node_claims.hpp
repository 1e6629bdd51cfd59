// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/base/ranges.hpp>
#include <muster/vocabulary/device_rule.hpp>

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

/// What a pod claims of its node besides amounts, which are `resources`. To add a constraint, add a
/// member here, and a check in `compatible` if it is about pairs of pods, otherwise in
/// `claimed_on_node::room`.
struct node_claims {
    std::vector<host_port> ports{};
    device_demand devices = device_demand::none;

    [[nodiscard]] bool empty() const noexcept {
        return ports.empty() && devices == device_demand::none;
    }
    /// Number of single claims.
    [[nodiscard]] std::size_t size() const noexcept {
        return ports.size() + (devices == device_demand::none ? 0 : 1);
    }

    [[nodiscard]] friend auto operator<=>(const node_claims&, const node_claims&) = default;
};

/// True if a pod with the ports `lhs` and a pod with the ports `rhs` can share a node. O(lhs ×
/// rhs).
[[nodiscard]] inline bool compatible(const std::vector<host_port>& lhs,
                                     const std::vector<host_port>& rhs) noexcept {
    return detail::all_of(lhs, [&](const host_port& one) {
        return detail::all_of(rhs, [&](const host_port& other) { return compatible(one, other); });
    });
}

/// True if two pods with these claims can share a node. Devices are not checked. Symmetric; equal
/// claims need not be compatible. O(lhs × rhs).
[[nodiscard]] inline bool compatible(const node_claims& lhs, const node_claims& rhs) noexcept {
    return compatible(lhs.ports, rhs.ports);
}

/// Returns how many pods with equal claims can share a node, at most `most`: at most 1 if their
/// ports conflict. Devices are not checked.
[[nodiscard]] inline std::int64_t max_beside_itself(const node_claims& each,
                                                    std::int64_t most) noexcept {
    return compatible(each, each) ? most : std::min<std::int64_t>(1, most);
}

/// The claims of all pods on one node. `give` is the inverse of `take`, and does not allocate.
class claimed_on_node {
public:
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// Number of single claims.
    [[nodiscard]] std::size_t size() const noexcept { return ports_.size() + devices_.size(); }
    /// Sorted.
    [[nodiscard]] const std::vector<host_port>& ports() const noexcept { return ports_; }
    /// Sorted; one entry for each pod that demands devices.
    [[nodiscard]] const std::vector<device_demand>& devices() const noexcept { return devices_; }

    /// Returns how many more pods with equal claims the node can take, at most `most`. `has`: the
    /// devices of the node. O(ports of the pod × ports here); the rule is called at most once.
    [[nodiscard]] std::int64_t room(const node_claims& claims, std::int64_t most, device_stock has,
                                    const device_rule& rule) const {
        if (!compatible(claims.ports, ports_))
            return 0;
        most = max_beside_itself(claims, most);
        return claims.devices == device_demand::none ? most
                                                     : device_room(claims.devices, most, has, rule);
    }
    /// Returns how many pods with the demand the devices can serve in addition, at most `most`.
    [[nodiscard]] std::int64_t device_room(device_demand more, std::int64_t most, device_stock has,
                                           const device_rule& rule) const {
        return rule.room(has, devices_, more, most, state_);
    }
    /// True if a pod whose claims are already counted is compatible with all other pods, and the
    /// devices can serve it in addition to them. O(ports of the pod × ports here + devices here);
    /// the rule is called at most once.
    [[nodiscard]] bool admits_others_beside(const node_claims& claims, device_stock has,
                                            const device_rule& rule) const {
        const auto conflicts = [&](const host_port& mine) {
            return detail::count_if(ports_, [&](const host_port& other) {
                       return !compatible(mine, other);
                   }) != 1;
        };
        if (detail::any_of(claims.ports, conflicts))
            return false;
        if (claims.devices == device_demand::none)
            return true;
        std::vector<device_demand> others = devices_;
        if (const auto mine = detail::lower_bound(others, claims.devices);
            mine != others.end() && *mine == claims.devices)
            others.erase(mine);
        return rule.room(has, others, claims.devices, 1) > 0;
    }

    /// Adds the claims of `pods` pods with equal claims. O(claims × (claims here + pods)).
    void take(const node_claims& claims, std::size_t pods = 1) {
        for (const host_port& one : claims.ports)
            ports_.insert(detail::lower_bound(ports_, one), pods, one);
        if (claims.devices != device_demand::none)
            change(devices_).insert(detail::lower_bound(devices_, claims.devices), pods,
                                    claims.devices);
    }
    void give(const node_claims& claims, std::size_t pods = 1) noexcept {
        for (std::size_t pod = 0; pod < pods; ++pod) {
            for (const host_port& one : claims.ports)
                erase(ports_, one);
            if (claims.devices != device_demand::none)
                erase(change(devices_), claims.devices);
        }
    }
    void take(const claimed_on_node& more) {
        for (const host_port& one : more.ports_)
            ports_.insert(detail::lower_bound(ports_, one), one);
        for (const device_demand one : more.devices_)
            change(devices_).insert(detail::lower_bound(devices_, one), one);
    }
    void give(const claimed_on_node& less) noexcept {
        for (const host_port& one : less.ports_)
            erase(ports_, one);
        for (const device_demand one : less.devices_)
            erase(change(devices_), one);
    }
    /// After this, adding up to `more` single claims does not allocate.
    void reserve(std::size_t more) {
        ports_.reserve(ports_.size() + more);
        devices_.reserve(devices_.size() + more);
    }
    void clear() noexcept {
        ports_.clear();
        change(devices_).clear();
    }
    /// Call when the devices of the node or the device rule changed.
    void forget_state() noexcept { state_ = device_state::unknown; }

    [[nodiscard]] friend bool operator==(const claimed_on_node& lhs,
                                         const claimed_on_node& rhs) noexcept {
        return lhs.ports_ == rhs.ports_ && lhs.devices_ == rhs.devices_;
    }

private:
    std::vector<device_demand>& change(std::vector<device_demand>& demands) noexcept {
        forget_state();
        return demands;
    }
    template<class Claim>
    static void erase(std::vector<Claim>& from, const Claim& one) noexcept {
        const auto where = detail::lower_bound(from, one);
        if (where != from.end() && *where == one)
            from.erase(where);
    }

    // Sorted, so that `give` restores the value before `take`.
    std::vector<host_port> ports_;
    std::vector<device_demand> devices_;
    /// What the device rule stored for `devices_`.
    mutable device_state state_ = device_state::unknown;
};

} // namespace v0_1
} // namespace muster
