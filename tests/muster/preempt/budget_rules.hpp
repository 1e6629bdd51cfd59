// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/testing/random.hpp>
#include <support/world.hpp>

/// Budgets once more, by definition, and worlds with some.
namespace budget_rules {

/// That set of pods may be told to go together: one after the other each could be.
inline bool kept(const muster::testing::world_state& known,
                 const std::vector<muster::pod_index>& gone) {
    for (const auto& [key, which] : known.budget_keys()) {
        const muster::disruption_budget& budget = known.budget(which);
        std::int64_t stay = 0;
        bool protects = false;
        for (const auto& [name, pod] : known.pod_keys()) {
            const auto& record = known[pod];
            const auto spec = known.spec_of(pod);
            if (!budget.pods.matches(spec.labels, known[record.gang].spec.tenant))
                continue;
            const bool goes = std::find(gone.begin(), gone.end(), pod) != gone.end();
            const bool available = spec.phase == muster::pod_phase::running && spec.ready &&
                                   record.node && !spec.terminating && !record.evicted;
            const bool began = spec.phase == muster::pod_phase::running ||
                               spec.phase == muster::pod_phase::unknown;
            stay += available && !goes ? 1 : 0;
            protects = protects || (goes && began && (available || !budget.frees_unready));
        }
        if (protects && stay < budget.keeps)
            return false;
    }
    return true;
}

/// Labels, states and budgets for a world, some of them.
inline void add(muster::testing::world& to, muster::testing::random& draw) {
    using namespace muster;
    const auto label = [&] { return draw.percent(50) ? std::string("x") : std::string("y"); };
    for (auto& pod : to.pods) {
        if (draw.percent(80))
            pod.spec.labels.set("app", label());
        if (draw.percent(30))
            pod.spec.labels.set("tier", label());
        if (!pod.on)
            continue;
        pod.spec.ready = draw.percent(85);
        if (draw.percent(20))
            pod.spec.phase = draw.percent(60) ? pod_phase::bound : pod_phase::unknown;
    }
    for (auto& gang : to.gangs)
        if (draw.percent(60))
            gang.spec.tenant = {{"name", label()}};
    for (std::int64_t at = 0; at < draw.between(1, 3); ++at) {
        disruption_budget spec;
        if (draw.percent(90))
            spec.pods.labels.requirements.push_back(
                {draw.percent(75) ? "app" : "tier", label_operator::in, {label()}});
        if (draw.percent(30))
            spec.pods.tenants = {{{{{"name", label_operator::in, {label()}}}}}};
        spec.keeps = draw.between(0, 4);
        spec.frees_unready = draw.percent(30);
        to.budgets.push_back({"b" + std::to_string(at), spec});
    }
}

} // namespace budget_rules
