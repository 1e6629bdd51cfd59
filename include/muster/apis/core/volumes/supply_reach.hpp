// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Groups of nodes that reach the same supplies (free volumes or storage pools): the nodes of a
/// zone, or one node with a local disk.
class supply_reach {
public:
    /// `reaches`: per supply, whether each node reaches it. O(supplies × nodes · log nodes).
    supply_reach(const std::vector<std::vector<char>>& reaches, std::size_t nodes) {
        std::map<std::vector<std::size_t>, std::size_t> known;
        for (std::size_t node = 0; node < nodes; ++node) {
            std::vector<std::size_t> supplies;
            for (std::size_t supply = 0; supply < reaches.size(); ++supply)
                if (reaches[supply][node] != 0)
                    supplies.push_back(supply);
            const auto [group, fresh] = known.try_emplace(supplies, nodes_.size());
            if (fresh) {
                nodes_.emplace_back();
                supplies_.push_back(std::move(supplies));
            }
            nodes_[group->second].push_back(node);
        }
    }

    [[nodiscard]] std::size_t groups() const noexcept { return nodes_.size(); }
    /// In ascending order.
    [[nodiscard]] const std::vector<std::size_t>& nodes_of(std::size_t group) const {
        return nodes_[group];
    }
    [[nodiscard]] bool reaches(std::size_t group, std::size_t supply) const {
        return std::ranges::binary_search(supplies_[group], supply);
    }
    /// Returns those of the supplies that the group reaches. Precondition: they are in ascending
    /// order. O(supplies of the smaller list · log of the larger one).
    [[nodiscard]] std::vector<std::size_t>
    reached_from(std::size_t group, const std::vector<std::size_t>& supplies) const {
        const std::vector<std::size_t>* few = &supplies;
        const std::vector<std::size_t>* many = &supplies_[group];
        if (few->size() > many->size())
            std::swap(few, many);
        std::vector<std::size_t> found;
        std::ranges::copy_if(*few, std::back_inserter(found), [&](std::size_t each) {
            return std::ranges::binary_search(*many, each);
        });
        return found;
    }

private:
    std::vector<std::vector<std::size_t>> nodes_;
    std::vector<std::vector<std::size_t>> supplies_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
