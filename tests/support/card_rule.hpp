// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <muster/vocabulary/device_rule.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

/// A device_rule for tests, by exhaustive search. A node has cards of four quarters each. A pod
/// demands the same number of quarters on each of several different cards.
struct card_rule {
    [[nodiscard]] static constexpr device_stock stock(std::uint32_t cards) {
        return device_stock{cards};
    }
    [[nodiscard]] static constexpr device_demand demand(std::uint32_t cards,
                                                        std::uint32_t quarters) {
        return device_demand{cards * 8 + quarters};
    }

    [[nodiscard]] std::int64_t room(device_stock has, std::span<const device_demand> held,
                                    device_demand more, std::int64_t most) const {
        std::vector<device_demand> all(held.begin(), held.end());
        for (std::int64_t count = 0; count < most; ++count) {
            all.push_back(more);
            if (!fits(has, all))
                return count;
        }
        return most;
    }
    /// True if the cards can serve all of these demands together.
    [[nodiscard]] static bool fits(device_stock has, std::vector<device_demand> all) {
        std::sort(all.begin(), all.end(), std::greater<>{});
        std::vector<std::uint32_t> free(static_cast<std::size_t>(has), 4);
        return serve(all, 0, 0, 0, free);
    }

private:
    /// Places part `part` of demand `at` on a card from `from` on, then the remaining parts and
    /// demands. `free`: free quarters by card.
    static bool serve(const std::vector<device_demand>& all, std::size_t at, std::uint32_t part,
                      std::size_t from, const std::vector<std::uint32_t>& free) {
        if (at == all.size())
            return true;
        const auto asked = static_cast<std::uint32_t>(all[at]);
        if (part == asked / 8)
            return serve(all, at + 1, 0, 0, free);
        for (std::size_t card = from; card < free.size(); ++card) {
            if (free[card] < asked % 8)
                continue;
            std::vector<std::uint32_t> left = free;
            left[card] -= asked % 8;
            if (serve(all, at, part + 1, card + 1, left))
                return true;
        }
        return false;
    }
};
inline constexpr card_rule cards{};

} // namespace testing
} // namespace v0_1
} // namespace muster
