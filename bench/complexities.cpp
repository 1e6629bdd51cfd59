// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "figures.hpp"

namespace bench {

void add_complexities(report& to) {
    // As the headers state them; `terms` are what a pod says of others.
    const auto state = [&to](const std::string& what, const char* steps,
                             const std::string& measured) {
        to.detail("Complexities", {{"what (and where it is measured)",
                                    measured.empty() ? what : what + " (" + measured + ")"},
                                   {"steps", steps}});
    };
    state("a cycle in which nothing happened", "O(1)", "cycle, nothing happened");
    state("following a node that changed", "O(log nodes)", "cycle, 10 nodes changed");
    state("a node for equal pods, packed or spread", "O(log nodes), and O(1) for each node named",
          "ns/pod");
    state("the same by a score that is not ordered", "O(nodes x kinds) for each pod", "A");
    state("queues after a start", "O(depth x (kinds + log siblings))", "a tree of queues");
    state("queues when a cycle begins", "O(queues x kinds)", "a tree of queues");
    state("fair shares, once in a cycle", "O(pods + queues x log queues x kinds)", "");
    state("gangs in line", "O(log gangs) for each that changed", "cycle, a gang came");
    state("gangs in line by an order that moves with time", "O(gangs x log gangs) in a cycle", "");
    state("planning a start (EASY, conservative)",
          "O(pods x log pods) in a cycle, and O(log pods) placements for each", "");
    state("a domain to stand in", "O(domains x kinds), and the nodes of those that are tried",
          "starting in one rack");
    state("a pod with terms on other pods", "O(nodes x terms)", "affinity");
    state("refusing to evict for too little in sum",
          "O(gangs + nodes x kinds + queues x (kinds + depth))", "refusal to reclaim");
    state("victims", "O(gangs + pods x log pods), and O(1) or a placement for each that is tried",
          "preemption, reclaiming");
    state("consolidation", "O(gangs + pods x log pods + moves x nodes x kinds), and bounded repair",
          "consolidation");
}

} // namespace bench
