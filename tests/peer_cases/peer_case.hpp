// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Cases of other schedulers' own test tables, as data: what is there, what the peer did, and what
/// its test asserts.
namespace peer_cases {

/// Thousandths of every kind, by name.
using amounts = std::map<std::string, std::int64_t>;

/// Thousandths, where something is said; absent kinds follow the peer's default.
struct ceilings {
    amounts named;
    /// Kinds that are said to be unlimited.
    std::vector<std::string> unlimited;
};

enum class peer { kai, volcano, coscheduling };

/// What a pod is doing, before or after.
enum class pod_state {
    pending,
    gated,
    /// Has a node and stays there.
    bound,
    /// Has a node as soon as those who leave it are gone.
    nominated,
    /// Evicted or being deleted; still in its node.
    leaving,
    /// As `leaving`, and nobody may count on it.
    stuck,
    succeeded,
    failed,
};

struct task {
    std::string name;
    amounts request;
    pod_state state = pod_state::pending;
    std::string node;
    std::string role;
    std::optional<std::int64_t> priority;
    std::map<std::string, std::string> labels;
    std::map<std::string, std::string> node_selector;
    /// Values of the peer's one label for node affinity.
    std::vector<std::string> affinity_in;
    /// Labels of nodes by whose values the pod stands where others of its labels do, and apart.
    std::string beside;
    std::string apart;
    bool never_preempts = false;
    std::optional<std::int64_t> arrival;
};

/// A topology constraint: names of levels (of `peer_case::topologies`).
struct domain_constraint {
    std::string topology;
    std::string required;
    std::string preferred;
};

/// A vertex of the gang's tree; a leaf holds pods of its role.
struct subgroup {
    std::string name;
    std::int64_t min_member = 0;
    std::optional<std::int64_t> min_subgroups;
    domain_constraint domain;
    std::vector<subgroup> children;
};

/// A policy that divides pods by label values into subgroups of one size.
struct partition {
    std::string name;
    std::int64_t size = 1;
    std::int64_t min_subgroups = 0;
    std::vector<std::string> keys;
    domain_constraint domain;
};

struct gang_case {
    std::string name;
    std::string queue;
    std::int64_t priority = 0;
    bool preemptible = true;
    std::int64_t min_member = 0;
    std::map<std::string, std::int64_t> role_minima;
    std::optional<subgroup> tree;
    std::vector<partition> partitions;
    domain_constraint domain;
    amounts min_resources;
    bool has_min_resources = false;
    /// Volcano's PodGroup phase; empty elsewhere.
    std::string phase;
    std::optional<std::int64_t> age_minutes;
    /// How long it has been below its minima, in nanoseconds; and how long it may be.
    std::optional<std::int64_t> stale_for;
    std::optional<std::int64_t> grace;
    bool deleted_during_test = false;
    /// How long it waits before anybody is moved or evicted for it, in nanoseconds.
    std::int64_t preemption_delay = 0;
    std::vector<task> tasks;
};

struct queue_case {
    std::string name;
    std::string parent;
    ceilings deserved;
    ceilings limit;
    ceilings guarantee;
    std::optional<std::int64_t> weight;
    std::optional<std::int64_t> priority;
    bool closed = false;
    /// Others may have what it holds.
    bool reclaimable = true;
};

struct node_case {
    std::string name;
    amounts allocatable;
    std::map<std::string, std::string> labels;
    /// By topology and level: the domain in which the node stands.
    std::map<std::pair<std::string, std::string>, std::string> domains;
};

/// What became of a pod.
struct pod_result {
    pod_state state = pod_state::pending;
    std::string node;

    friend bool operator==(const pod_result&, const pod_result&) = default;
};

/// What a gang's pods must be; only what the peer's test asserts.
struct expected_gang {
    /// By pod; an empty node is not asserted.
    std::map<std::string, pod_result> pods;
    /// How many stand, where pods are not named: newly bound ones only if `newly`.
    std::optional<std::int64_t> bound;
    std::optional<std::int64_t> pending;
    std::optional<std::int64_t> nominated;
    std::optional<std::int64_t> leaving;
};

struct expectation {
    std::map<std::string, expected_gang> gangs;
    /// Over the whole case, where only totals are asserted: newly bound, evicted.
    std::optional<std::int64_t> bindings;
    std::optional<std::int64_t> evictions;
    /// Pods that must be newly bound, and nobody else; and where.
    std::optional<std::map<std::string, std::string>> bind_map;
    /// Pods that must be evicted, and nobody else.
    std::optional<std::vector<std::string>> evicted;
    /// Gangs that must have somebody nominated, by the nodes on which they are.
    std::optional<std::map<std::string, std::vector<std::string>>> nominated;
    /// Pods that must be bound, others are open; pods that must wait.
    std::vector<std::string> must_bind;
    std::vector<std::string> must_wait;
};

struct peer_case {
    peer from = peer::kai;
    std::string name;
    std::string source;
    std::string test_function;
    std::vector<std::string> actions;
    std::vector<std::string> features;
    bool core = false;
    /// What in it is not understood; empty when it is read. It counts as run, and differs.
    std::string unreadable;
    /// Why the case cannot be run; empty when it can.
    std::string unsupported;
    std::vector<node_case> nodes;
    /// By name (Volcano's only one has none): levels from the widest domain to the narrowest.
    std::map<std::string, std::vector<std::string>> topologies;
    std::vector<queue_case> queues;
    std::vector<gang_case> gangs;
    expectation expected;
    std::int64_t rounds_until_match = 0;
    std::int64_t rounds_after_match = 0;

    [[nodiscard]] bool has(const std::string& feature) const {
        for (const std::string& one : features)
            if (one == feature)
                return true;
        return false;
    }
    [[nodiscard]] bool acts(const std::string& action) const {
        for (const std::string& one : actions)
            if (one == action)
                return true;
        return false;
    }
};

} // namespace peer_cases
