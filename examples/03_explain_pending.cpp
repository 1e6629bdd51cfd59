// SPDX-License-Identifier: Apache-2.0
// Why does a gang not start? All reasons, in a fixed order, with numbers for every role.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/muster.hpp>

namespace {

using namespace muster;
constexpr kind_id cpu{0}, gpu{1};
constexpr const char* kind_names[] = {"cpu", "gpu"};
using cluster = state<string_traits<4>>;

void expect_applied(event_result what) {
    if (what != event_result::applied)
        std::exit(EXIT_FAILURE);
}

// Codes are stable, text is the caller's; here for those that this example meets.
constexpr std::pair<reason_code, const char*> texts[] = {
    {reason_code::group_missing, "the group does not exist"},
    {reason_code::not_enough_members, "too few members exist"},
    {reason_code::queue_unknown, "the queue does not exist"},
    {reason_code::unsupported_constraint, "constraints that are not modelled"},
    {reason_code::insufficient_resource, "too little free"},
    {reason_code::quota_exceeded, "too little left of the queue's quota"},
    {reason_code::node_unschedulable, "nodes are cordoned"},
};
constexpr const char* names[] = {"blocking", "blocking together", "contributing"};

void add_node(cluster& to, const char* key, std::int64_t cpus, std::int64_t gpus, bool cordoned) {
    node<4> machine;
    machine.allocatable[cpu] = cpus;
    machine.allocatable[gpu] = gpus;
    machine.unschedulable = cordoned;
    expect_applied(to.upsert_node(key, machine));
}

struct role {
    const char* name;
    std::int64_t minimum, exist, cpus, gpus;
};

void add_gang(cluster& to, const std::string& key, const std::vector<role>& roles,
              const constraints& where = {}, std::optional<std::string> queue = {}) {
    gang<std::string> group;
    group.queue = queue;
    for (const role& each : roles) {
        pod<4> member;
        member.role = group.tree.add(vertex_index{0}, each.minimum, each.name);
        member.request[cpu] = each.cpus;
        member.request[gpu] = each.gpus;
        member.where = where;
        for (std::int64_t rank = 0; rank < each.exist; ++rank)
            expect_applied(to.upsert_pod(key + each.name + std::to_string(rank), key, member));
    }
    expect_applied(to.upsert_gang(key, group));
}

void print(const cluster& known, const decision& made) {
    const bool never = made.outcome.kind == answer::never;
    std::printf("%s %s\n", known.key(made.gang).c_str(), never ? "can never start" : "waits");
    explain_options options;
    // What can never start is explained by what the emptied cluster lacks.
    options.scope = never ? certificate_scope::empty_cluster : certificate_scope::free_now;
    for (const reason& why : explain(known, made.gang, options)) {
        std::printf("  %s:", names[static_cast<int>(why.kind)]);
        for (const auto& [code, text] : texts)
            if (code == why.code)
                std::printf(" %s", text);
        if (why.resource)
            std::printf(", %s: %d needed, %d there", kind_names[why.resource->value()],
                        static_cast<int>(why.amount_needed), static_cast<int>(why.amount_left));
        for (const role_shortage& one : why.roles)
            std::printf("; %s: %d needed, %d possible",
                        known[made.gang].spec.tree[one.role].name.c_str(),
                        static_cast<int>(one.needed), static_cast<int>(one.possible));
        std::printf("\n");
    }
}

} // namespace

int main() {
    cluster known;
    add_node(known, "gpu-1", 8, 8, false);
    add_node(known, "gpu-2", 8, 8, true);
    queue<4> small;
    small.quota.set(gpu, 3);
    expect_applied(known.upsert_queue("small", small));
    constraints with_volume;
    with_volume.unsupported = true;
    pod<4> running;
    running.phase = pod_phase::running;
    running.request[gpu] = 4;
    expect_applied(known.upsert_pod("running-1", "running", running, "gpu-1"));
    running.request[gpu] = 2;
    expect_applied(known.upsert_pod("running-2", "running", running, "gpu-2"));
    expect_applied(known.upsert_gang("running", {}));
    add_gang(known, "too large", {{"worker", 3, 3, 0, 8}});
    add_gang(known, "no room", {{"worker", 3, 3, 0, 4}});
    add_gang(known, "cordon", {{"worker", 2, 2, 0, 4}});
    add_gang(known, "roles", {{"server", 1, 1, 8, 1}, {"worker", 7, 7, 1, 1}});
    add_gang(known, "quota", {{"worker", 2, 2, 0, 2}}, {}, "small");
    add_gang(known, "lost", {{"worker", 1, 1, 1, 0}}, {}, "nowhere");
    add_gang(known, "early", {{"server", 1, 1, 1, 0}, {"worker", 4, 3, 1, 0}});
    add_gang(known, "volume", {{"worker", 2, 2, 1, 0}}, with_volume);
    expect_applied(known.upsert_pod("orphan-0", "orphan", {}));

    for (const decision& made : cycle(known, 0).decisions)
        if (made.outcome.kind != answer::admitted)
            print(known, made);
}
