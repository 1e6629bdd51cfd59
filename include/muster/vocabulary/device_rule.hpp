// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace muster {
inline namespace v0_1 {

/// What a pod demands of the devices of its node, e.g. half of a GPU, as a number that means
/// something to the device_rule only. Equal demands have the same number.
enum class device_demand : std::uint32_t { none = 0 };

/// The devices of a node, as a number that means something to the device_rule only. Nodes with
/// equal devices have the same number.
enum class device_stock : std::uint32_t { none = 0 };

/// Decides how many pods the devices of a node can serve together. It is for demands that do not
/// add up, such as shares of GPUs, partitions, or devices behind one PCIe root: whoever fills the
/// state knows what the numbers mean, and the state does not.
///
/// It refers to an object with
///
///     std::int64_t room(device_stock has, std::span<const device_demand> held, device_demand more,
///                       std::int64_t most) const
///
/// which returns how many pods with the demand `more` the devices can serve beside all of `held`,
/// at most `most`; 0 if they cannot serve `held`. `held` is sorted. The answer depends on the
/// arguments alone, and is no smaller with less in `held`.
class device_rule {
public:
    /// A node serves no demand.
    device_rule() = default;
    /// The object must outlive the rule and every copy of it.
    template<class Object>
    [[nodiscard]] static device_rule of(const Object& object) noexcept {
        device_rule made;
        made.of_ = &object;
        made.room_ = [](const void* from, device_stock has, std::span<const device_demand> held,
                        device_demand more, std::int64_t most) {
            return static_cast<const Object*>(from)->room(has, held, more, most);
        };
        return made;
    }
    /// A temporary would not outlive the rule.
    template<class Object>
    static device_rule of(const Object&&) = delete;

    /// See above. O(1) besides the work of the object.
    [[nodiscard]] std::int64_t room(device_stock has, std::span<const device_demand> held,
                                    device_demand more, std::int64_t most) const {
        return room_ && most > 0 ? room_(of_, has, held, more, most) : 0;
    }

    /// True if both refer to one object.
    [[nodiscard]] friend bool operator==(const device_rule&, const device_rule&) = default;

private:
    const void* of_ = nullptr;
    std::int64_t (*room_)(const void*, device_stock, std::span<const device_demand>, device_demand,
                          std::int64_t) = nullptr;
};

} // namespace v0_1
} // namespace muster
