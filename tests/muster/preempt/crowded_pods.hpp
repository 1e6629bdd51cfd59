// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/testing/random.hpp>
#include <support/world.hpp>

namespace crowded_pods {

/// A few nodes in zones and some running pods, and a gang "new" that waits; terms among them.
/// `non_preemptible`: of a hundred pods that run so many have required terms of their own.
[[nodiscard]] inline muster::testing::world make(std::uint64_t seed, std::int64_t non_preemptible) {
    using namespace muster;
    using namespace muster::testing;
    constexpr kind_id cpu{0};
    testing::random draw(seed);
    world made;
    made.seed = seed;
    made.kinds = 2;
    std::vector<std::int64_t> left;
    const auto apps = [&] { return std::string(1, "abc"[draw.below(3)]); };
    for (int at = 0; at < draw.between(2, 3); ++at) {
        node<world_width> spec;
        const std::string key = "n" + std::to_string(at);
        spec.allocatable[cpu] = draw.between(2, 5);
        spec.allocatable[made.pods_kind()] = 10;
        spec.labels.set("host", key);
        if (draw.percent(90))
            spec.labels.set("zone", std::string(1, "xy"[draw.below(2)]));
        left.push_back(spec.allocatable[cpu]);
        made.nodes.push_back({key, spec});
    }
    const auto terms = [&](const std::string& mine) {
        pod_terms some;
        const auto whom = [&] {
            pod_selector one;
            one.labels.requirements.push_back(
                {"app", label_operator::in, {draw.percent(50) ? mine : apps()}});
            return one;
        };
        const auto key = [&] { return draw.percent(50) ? "zone" : "host"; };
        const std::int64_t kind = draw.between(0, 99);
        if (kind < 40)
            some.affinity.push_back({whom(), key()});
        if (kind >= 30 && kind < 75)
            some.anti_affinity.push_back({whom(), key()});
        if (kind >= 70) {
            spread_term one;
            one.pods = whom();
            one.topology = key();
            one.max_skew = static_cast<std::int32_t>(draw.between(1, 2));
            some.spread.push_back(std::move(one));
        }
        return some;
    };
    const auto add_gang = [&](const std::string& key, bool stands, std::size_t most) {
        gang<std::string> spec;
        spec.priority = stands ? draw.between(0, 1) : 2;
        spec.created = draw.between(0, 3);
        const std::size_t pods = 1 + draw.below(most);
        spec.tree =
            gang_tree(stands ? draw.between(1, static_cast<std::int64_t>(pods))
                             : static_cast<std::int64_t>(pods) - (draw.percent(20) ? 1 : 0));
        const std::string app = apps();
        const pod_terms own = terms(app);
        for (std::size_t at = 0; at < pods; ++at) {
            pod<world_width> one;
            one.created = draw.between(0, 3);
            one.request[cpu] = draw.between(1, 3);
            one.request[made.pods_kind()] = 1;
            one.labels.set("app", app);
            if (draw.percent(stands ? non_preemptible : 85))
                one.where.pods = own;
            std::optional<std::string> on;
            if (stands) {
                one.phase = pod_phase::running;
                const std::size_t node = draw.below(left.size());
                if (left[node] < one.request[cpu])
                    continue;
                left[node] -= one.request[cpu];
                on = "n" + std::to_string(node);
            }
            made.pods.push_back({key + "-" + std::to_string(at), key, one, on});
        }
        made.gangs.push_back({key, spec});
    };
    for (int at = 0; at < 6 && made.pods.size() < 6; ++at)
        add_gang("g" + std::to_string(at), true, 3);
    add_gang("new", false, 3);
    return made;
}

} // namespace crowded_pods
