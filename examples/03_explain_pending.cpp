// SPDX-License-Identifier: Apache-2.0
// Why does a gang not start? All reasons, in a fixed order, with their stable names and texts; and
// what would start it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <muster/advice/what_helps.hpp>
#include <muster/muster.hpp>
#include <muster/words/change_name.hpp>
#include <muster/words/change_text.hpp>
#include <muster/words/told_reason.hpp>

namespace {

using namespace muster;
constexpr kind_id cpu{0}, gpu{1}; // cpu is counted in thousandths
using cluster = state<string_traits<4>>;

void expect_applied(event_result what) {
    if (what != event_result::applied)
        std::exit(EXIT_FAILURE);
}

kind_table named_kinds() {
    kind_table kinds;
    for (const char* name : {"cpu", "gpu"})
        if (!kinds.intern(name))
            std::exit(EXIT_FAILURE);
    return kinds;
}

void add_node(cluster& to, const char* key, std::int64_t cpus, std::int64_t gpus, bool cordoned) {
    node<4> machine;
    machine.allocatable[cpu] = cpus * 1000;
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
        member.request[cpu] = each.cpus * 1000;
        member.request[gpu] = each.gpus;
        member.where = where;
        for (std::int64_t rank = 0; rank < each.exist; ++rank)
            expect_applied(to.upsert_pod(key + each.name + std::to_string(rank), key, member));
    }
    expect_applied(to.upsert_gang(key, group));
}

void print(const cluster& known, const kind_table& kinds, const decision& made) {
    const bool never = made.outcome.kind == answer::never;
    const words::key_names names(known);
    std::printf("%s %s\n", names(made.gang).c_str(), never ? "can never start" : "waits");
    explain_options options;
    options.kinds = &kinds;
    // What can never start is explained by what the emptied cluster lacks.
    options.scope = never ? certificate_scope::empty_cluster : certificate_scope::free_now;
    for (const words::told_reason& why : words::tell_reasons(
             known, made.gang, explain(known, made.gang, options), {&kinds, *options.scope}, names))
        std::printf("  %s, %s: %s\n", why.code.c_str(), why.kind.c_str(), why.message.c_str());

    const words::change_writer write(known, kinds, made.gang, names);
    for (const remedy& each : what_helps(known, made.gang, 0).remedies) {
        std::string changes;
        std::string texts;
        for (const change& one : each) {
            changes += (changes.empty() ? "" : ", ") + std::string(name_of(words::code_of(one)));
            texts += (texts.empty() ? "" : ", and ") + write(one);
        }
        std::printf("  starts if %s (%s)\n", texts.c_str(), changes.c_str());
    }
}

} // namespace

int main() {
    const kind_table kinds = named_kinds();
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
            print(known, kinds, made);
}
