// SPDX-License-Identifier: Apache-2.0
// muster: no-exceptions
// Muster inside another scheduler, with that scheduler's own keys and objects: no names, no copy of
// its tables, no exceptions, no RTTI. Events go in; what changed comes out.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <muster/muster.hpp>

// ---- the other scheduler, which knows nothing of Muster ----------------------------------------

namespace farm {
enum class lane : std::uint8_t { batch, urgent };
struct machine {
    int id, cores, gpus;
};
struct job {
    int id;
    lane in;
    int tasks, cores, gpus; // cores and gpus are those of every task
};
struct task {
    const job* of;
    int rank;
};
} // namespace farm

// ---- what Muster is told about it ---------------------------------------------------------------

namespace {

struct farm_traits {
    using node_key = int;
    using pod_key = farm::task;
    using gang_key = const farm::job*;
    using queue_key = farm::lane;
    static constexpr std::size_t width = 4;

    // Addresses differ from run to run, so these values stand for them wherever an order decides.
    static int order(const farm::job* job) { return job->id; }
    static std::pair<int, int> order(farm::task task) { return {task.of->id, task.rank}; }
};
constexpr muster::kind_id cores{0}, gpus{1};
using cluster = muster::state<farm_traits>;

void must(muster::event_result what) {
    if (what != muster::event_result::applied)
        std::abort();
}

void machine_came(cluster& to, const farm::machine& one) {
    muster::node<farm_traits::width> offer;
    offer.allocatable[cores] = one.cores;
    offer.allocatable[gpus] = one.gpus;
    must(to.upsert_node(one.id, offer));
}

void task_came(cluster& to, farm::task one) {
    muster::pod<farm_traits::width> worker;
    worker.request[cores] = one.of->cores;
    worker.request[gpus] = one.of->gpus;
    must(to.upsert_pod(one, one.of, worker));
}

void job_came(cluster& to, const farm::job& one) {
    muster::gang<farm::lane> group;
    group.queue = one.in;
    group.created = one.id; // this scheduler numbers its jobs as they come
    group.tree = muster::single_role(one.tasks);
    must(to.upsert_gang(&one, group));
    for (int rank = 0; rank < one.tasks; ++rank)
        task_came(to, {&one, rank});
}

/// One cycle. Binds to the machine `broken` fail.
void decide(cluster& known, int now, int broken = 0) {
    std::printf("at %d\n", now);
    for (const muster::decision& made : muster::cycle(known, now).decisions) {
        const muster::answer said = made.outcome.kind;
        std::printf("  job %d %s\n", known.key(made.gang)->id,
                    said == muster::answer::admitted ? "starts"
                    : said == muster::answer::never  ? "is too large for these machines"
                                                     : "waits");
        for (const auto& [pod, node] : made.placements) {
            const bool bound = known.key(node) != broken;
            std::printf("    task %d on machine %d%s\n", known.key(pod).rank, known.key(node),
                        bound ? "" : ", where the bind fails");
            must(bound ? known.confirm_bound(known.key(pod)) : known.forget(known.key(pod)));
        }
    }
}

} // namespace

int main() {
    const farm::job render{1, farm::lane::batch, 3, 4, 1}, train{2, farm::lane::urgent, 2, 8, 4};
    cluster known;
    for (const farm::lane each : {farm::lane::batch, farm::lane::urgent})
        must(known.upsert_queue(each, {}));
    machine_came(known, {11, 16, 4});
    job_came(known, render);
    job_came(known, train);
    decide(known, 1);
    machine_came(known, {12, 16, 4});
    decide(known, 2);
    decide(known, 3); // nothing happened
    for (int rank = 0; rank < render.tasks; ++rank)
        must(known.remove_pod({&render, rank})); // render ended
    must(known.remove_gang(&render));
    decide(known, 4, 12); // train starts, and half of it cannot be bound
    decide(known, 5);     // that half is placed again
    must(known.remove_node(12));
    must(known.remove_pod({&train, 1})); // lost with its machine ...
    task_came(known, {&train, 1});       // ... and created anew
    decide(known, 6);
}
