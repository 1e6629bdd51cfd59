// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <support/world.hpp>

/// Small clusters for tests: names say what things mean, amounts are plain units.
namespace builders {

inline constexpr muster::kind_id cpu{0};
inline constexpr muster::kind_id gpu{1};

// As random worlds have them: a cycle takes a compiler long, and what splits and merges on few
// nodes is tried wherever a test needs a cluster.
using traits = muster::testing::world_traits;
using cluster = muster::state<traits>;
using amounts = muster::resources<traits::width>;
using muster::answer;
using muster::gate;
using muster::pod_phase;

[[nodiscard]] inline amounts units(std::int64_t cpus, std::int64_t gpus = 0) {
    amounts made;
    made[cpu] = cpus;
    made[gpu] = gpus;
    return made;
}

[[nodiscard]] inline cluster::node_type machine(std::int64_t cpus, std::int64_t gpus = 0) {
    cluster::node_type made;
    made.allocatable = units(cpus, gpus);
    return made;
}

[[nodiscard]] inline cluster::gang_type gang_of(std::int64_t min_member,
                                                std::optional<std::string> queue = {}) {
    cluster::gang_type made;
    made.tree = muster::single_role(min_member);
    made.queue = std::move(queue);
    return made;
}

[[nodiscard]] inline cluster::gang_type gang_of(muster::gang_tree tree,
                                                std::optional<std::string> queue = {}) {
    cluster::gang_type made;
    made.tree = std::move(tree);
    made.queue = std::move(queue);
    return made;
}

[[nodiscard]] inline cluster::pod_type asking(std::int64_t cpus, std::int64_t gpus = 0) {
    cluster::pod_type made;
    made.request = units(cpus, gpus);
    return made;
}

[[nodiscard]] inline cluster::pod_type in_role(muster::vertex_index role, cluster::pod_type spec) {
    spec.role = role;
    return spec;
}

[[nodiscard]] inline cluster::pod_type in_phase(pod_phase phase, cluster::pod_type spec) {
    spec.phase = phase;
    return spec;
}

[[nodiscard]] inline cluster::queue_type quota_of(std::int64_t cpus) {
    cluster::queue_type made;
    made.quota.set(cpu, cpus);
    return made;
}

[[nodiscard]] inline muster::label_selector label_is(std::string key, std::string value) {
    return {{{std::move(key), muster::label_operator::in, {std::move(value)}}}};
}

inline void ok(muster::event_result what) {
    CHECK(what == muster::event_result::applied);
}

/// `count` pods named <gang>-0, <gang>-1, ... like `spec`.
inline void add_members(cluster& to, const std::string& gang, int count,
                        const cluster::pod_type& spec) {
    for (int at = 0; at < count; ++at)
        ok(to.upsert_pod(gang + "-" + std::to_string(at), gang, spec));
}

/// A gang of `count` equal pods that must all start together.
inline void add_gang(cluster& to, const std::string& name, int count, std::int64_t cpus,
                     std::optional<std::string> queue = {}) {
    ok(to.upsert_gang(name, gang_of(count, std::move(queue))));
    add_members(to, name, count, asking(cpus));
}

/// A gang of one, running on `node`.
inline void add_running(cluster& to, const std::string& name, std::int64_t cpus,
                        const std::string& node, std::optional<std::string> queue = {}) {
    ok(to.upsert_gang(name, gang_of(1, std::move(queue))));
    ok(to.upsert_pod(name + "-0", name, in_phase(pod_phase::running, asking(cpus)), node));
}

[[nodiscard]] inline muster::gang_index gang_at(const cluster& in, const std::string& name) {
    const auto found = in.find_gang(name);
    CHECK(found.has_value());
    return found ? found->index : muster::gang_index{};
}

/// The node on which a pod stands or was placed; empty when it has none.
[[nodiscard]] inline std::string node_of(const cluster& in, const std::string& pod) {
    const auto found = in.find_pod(pod);
    if (!found || !in[found->index].node)
        return {};
    return in.key(*in[found->index].node);
}

/// What a gang was answered last.
[[nodiscard]] inline muster::last_verdict answered(const cluster& in, const std::string& gang) {
    return in[gang_at(in, gang)].last;
}

[[nodiscard]] inline bool is(const muster::last_verdict& what, answer kind, gate at = gate::none) {
    return what.is_known && what.kind == kind && what.at == at;
}

[[nodiscard]] inline std::int64_t free_cpu(const cluster& in, const std::string& node) {
    const auto found = in.find_node(node);
    CHECK(found.has_value());
    return found ? in.accounts().free(found->index)[cpu] : 0;
}

[[nodiscard]] inline std::int64_t used_cpu(const cluster& in, const std::string& queue) {
    const auto found = in.find_queue(queue);
    CHECK(found.has_value());
    return found ? in.accounts().used(found->index)[cpu] : 0;
}

[[nodiscard]] inline std::vector<std::string> started(const cluster& in,
                                                      const muster::cycle_result& by) {
    std::vector<std::string> names;
    for (const muster::decision& made : by.decisions)
        if (!made.placements.empty())
            names.push_back(in.key(made.gang));
    return names;
}

[[nodiscard]] inline const muster::decision*
decision_for(const cluster& in, const muster::cycle_result& by, const std::string& gang) {
    for (const muster::decision& made : by.decisions)
        if (in.key(made.gang) == gang)
            return &made;
    return nullptr;
}

} // namespace builders
