// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>

namespace muster::inline v0_1 {

/// A 64-bit label per node, ordered as the nodes' keys are, so that ties are decided without
/// looking at keys. A new node gets a label between its neighbours'; where there is none left, the
/// labels around are spread out again. Only their order means anything.
class order_labels {
public:
    [[nodiscard]] std::uint64_t operator[](node_index node) const noexcept {
        return labels_[node.value()];
    }
    /// Moves when labels that were given changed, their order never does.
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

    /// Gives a label to the node at `place`, which has just been put into the ordered `index` of
    /// all nodes. Amortised O(log nodes).
    template<class Index>
    void insert(const Index& index, typename Index::const_iterator place) {
        const std::size_t node = place->second.value();
        if (labels_.size() <= node)
            labels_.resize(node + 1, 0);
        const auto next = std::next(place);
        const std::uint64_t low = place == index.begin() ? 0 : labels_[at(std::prev(place))];
        // Listings mostly come in order: leave room behind the last rather than halve it.
        if (next == index.end() && low < last - step) {
            labels_[node] = low + step;
            return;
        }
        const std::uint64_t high = next == index.end() ? last : labels_[at(next)];
        if (high - low < 2) {
            labels_[node] = low;
            spread(index, place);
            return;
        }
        labels_[node] = low + (high - low) / 2;
    }

    void pop_back() { labels_.pop_back(); }

private:
    template<class Iterator>
    [[nodiscard]] static std::size_t at(Iterator where) noexcept {
        return where->second.value();
    }

    /// Spreads the labels in the smallest aligned range around `place` that is sparse enough: the
    /// wider the range, the sparser it has to be (Bender et al., Two simplified algorithms for
    /// maintaining order in a list, 2002).
    template<class Index>
    void spread(const Index& index, typename Index::const_iterator place) {
        ++epoch_;
        const std::uint64_t label = labels_[at(place)];
        auto first = place;
        auto end = std::next(place);
        std::uint64_t count = 1;
        // How many nodes the range may hold, in 1024ths.
        std::uint64_t most = 1024;
        for (unsigned bits = 1; bits < 63; ++bits) {
            most = most * 10 / 7;
            const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
            const std::uint64_t low = label & ~mask;
            const std::uint64_t high = label | mask;
            while (first != index.begin() && labels_[at(std::prev(first))] >= low) {
                --first;
                ++count;
            }
            while (end != index.end() && labels_[at(end)] <= high) {
                ++end;
                ++count;
            }
            if (count * 1024 > most || mask / (count + 1) < 2)
                continue;
            set(first, end, low, mask / (count + 1));
            return;
        }
        set(index.begin(), index.end(), 0, last / (index.size() + 1));
    }

    template<class Iterator>
    void set(Iterator first, Iterator end, std::uint64_t low, std::uint64_t gap) {
        for (; first != end; ++first) {
            low += gap;
            labels_[at(first)] = low;
        }
    }

    static constexpr std::uint64_t last = ~std::uint64_t{0} >> 1;
    static constexpr std::uint64_t step = std::uint64_t{1} << 36;

    std::vector<std::uint64_t> labels_;
    std::uint64_t epoch_ = 0;
};

} // namespace muster::inline v0_1
