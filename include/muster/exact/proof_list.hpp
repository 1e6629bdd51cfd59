// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <muster/problem/reused_list.hpp>
#include <muster/vocabulary/certificate.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// A proof under construction, depth first. `clear` keeps all memory, including that of the
/// vertices.
class proof_list {
public:
    void clear() noexcept { vertices_.clear(); }
    [[nodiscard]] std::size_t size() const noexcept { return vertices_.size(); }
    [[nodiscard]] bool empty() const noexcept { return vertices_.empty(); }

    /// Adds a vertex and returns it: a leaf without weights and prices.
    [[nodiscard]] certificate::vertex& add() {
        certificate::vertex& fresh = vertices_.add();
        fresh.leaf = true;
        fresh.weights.clear();
        fresh.prices.clear();
        fresh.member_class = 0;
        fresh.node = {};
        fresh.at_most = 0;
        fresh.together.reset();
        return fresh;
    }
    void append(std::span<const certificate::vertex> others) {
        for (const certificate::vertex& vertex : others)
            add() = vertex;
    }

    [[nodiscard]] std::span<const certificate::vertex> all() const noexcept {
        return {vertices_.begin(), vertices_.size()};
    }

private:
    reused_list<certificate::vertex> vertices_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
