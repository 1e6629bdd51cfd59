// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <muster/testing/random.hpp>
#include <muster/vocabulary/constraints.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

/// Draws one or two volumes. Each can be used from a zone, from a node, from both or from nowhere;
/// some are still to be bound. Precondition: `nodes` have keys and are in zone a or b.
template<class Nodes>
[[nodiscard]] std::vector<volume_reach> random_volumes(random& chance, const Nodes& nodes) {
    std::vector<volume_reach> made;
    for (std::int64_t volumes = chance.between(1, 2); volumes > 0; --volumes) {
        volume_reach reach;
        reach.bound = chance.percent(60);
        for (std::int64_t terms = chance.between(0, 2); terms > 0; --terms) {
            node_term term;
            if (chance.percent(70))
                term.labels.requirements.push_back(
                    {"zone", label_operator::in, {chance.percent(50) ? "a" : "b"}});
            else
                term.name.push_back(
                    {"metadata.name", label_operator::in, {nodes[chance.below(nodes.size())].key}});
            reach.any_of.push_back(std::move(term));
        }
        made.push_back(std::move(reach));
    }
    return made;
}

} // namespace testing
} // namespace v0_1
} // namespace muster
