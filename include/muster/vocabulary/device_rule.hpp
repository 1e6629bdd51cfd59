// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace muster {
inline namespace v0_1 {

/// Number of what a pod demands of the devices of its node, e.g. half of a GPU. Only the
/// device_rule knows what the number means. Equal demands have equal numbers.
enum class device_demand : std::uint32_t { none = 0 };

/// Number of the devices of a node. Only the device_rule knows what the number means. Nodes with
/// equal devices have equal numbers.
enum class device_stock : std::uint32_t { none = 0 };

/// Number that a device_rule assigns to the devices of a node together with the demands held there.
/// With it the rule finds its stored answers without comparing the demands. The caller keeps the
/// number with the demands, and sets it back to `unknown` when the demands, the devices or the rule
/// change.
enum class device_state : std::uint32_t { unknown = 0 };

/// Decides how many pods the devices of a node can serve together. It is for demands that do not
/// add up, such as shares of GPUs, partitions, or devices behind one PCIe root. The program that
/// fills the state assigns the numbers; the state does not interpret them.
///
/// It refers to an object with
///
///     std::int64_t room(device_stock has, std::span<const device_demand> held, device_demand more,
///                       std::int64_t most) const
///
/// which returns how many pods with the demand `more` the devices can serve in addition to pods
/// with the demands `held`, at most `most`. `held` is sorted by number. If the devices cannot serve
/// `held` alone, the answer is 0, unless `more` needs none of the devices that `held` lacks. So a
/// set of demands is served if and only if each demand is served in addition to the others.
/// Preconditions: the answer depends on the arguments only, and removing demands from `held` does
/// not make it smaller.
///
/// `room` of an object that stores its answers can have a `device_state&` as its last parameter.
/// Its value is `unknown`, or what an earlier call with equal `has` and `held` stored there.
class device_rule {
public:
    /// Refers to no object: no node serves any demand.
    device_rule() = default;
    /// The object must outlive the rule and every copy of it.
    template<class Object>
    [[nodiscard]] static device_rule of(const Object& object) noexcept {
        device_rule made;
        made.of_ = &object;
        made.room_ = [](const void* from, device_stock has, std::span<const device_demand> held,
                        device_demand more, std::int64_t most, device_state& state) {
            const Object& asked = *static_cast<const Object*>(from);
            if constexpr (requires { asked.room(has, held, more, most, state); })
                return asked.room(has, held, more, most, state);
            else
                return asked.room(has, held, more, most);
        };
        return made;
    }
    /// A temporary would not outlive the rule.
    template<class Object>
    static device_rule of(const Object&&) = delete;

    /// Returns the answer of the object; 0 without an object, or if `most` is not positive. O(1)
    /// plus the work of the object.
    [[nodiscard]] std::int64_t room(device_stock has, std::span<const device_demand> held,
                                    device_demand more, std::int64_t most,
                                    device_state& state) const {
        return room_ && most > 0 ? room_(of_, has, held, more, most, state) : 0;
    }
    [[nodiscard]] std::int64_t room(device_stock has, std::span<const device_demand> held,
                                    device_demand more, std::int64_t most) const {
        device_state state = device_state::unknown;
        return room(has, held, more, most, state);
    }

    /// True if both refer to the same object, or to none.
    [[nodiscard]] friend bool operator==(const device_rule&, const device_rule&) = default;

private:
    const void* of_ = nullptr;
    std::int64_t (*room_)(const void*, device_stock, std::span<const device_demand>, device_demand,
                          std::int64_t, device_state&) = nullptr;
};

} // namespace v0_1
} // namespace muster
