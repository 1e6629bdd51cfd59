// SPDX-License-Identifier: Apache-2.0
#include "figures.hpp"
#include "table.hpp"

int main(int count, char** values) {
    return bench::run_table(count, values, [](bench::report& to, bool quick) {
        bench::say("a tree of queues");
        bench::add_queue_tree(to, quick);
        bench::say("evictions");
        bench::add_evictions(to, quick);
        bench::say("an embedding scheduler with preemption");
        bench::add_embedding(to, quick);
        bench::say("consolidation");
        bench::add_consolidation(to, quick);
#ifdef MUSTER_BENCH_JOBS
        bench::say("jobs");
        bench::add_jobs(to, quick);
        bench::add_device_shares(to, quick);
#endif
        if (quick)
            return;
        bench::say("equal gangs");
        bench::add_uniform_shapes(to);
        bench::say("more of admission");
        bench::add_more_admission(to);
    });
}
