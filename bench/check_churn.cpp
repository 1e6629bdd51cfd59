// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "books.hpp"
#include "check.hpp"
#include "flat_simd.hpp"
#include "muster_engine.hpp"
#include "pod_by_pod.hpp"
#include "trace.hpp"
#include "workload.hpp"

namespace bench {

namespace {

struct running {
    std::uint32_t gang = 0;
    gang_spec<4> what;
    std::vector<placed> members;
};

/// Forgets what does not wait any more, as the caller of a scheduler does.
template<class Engine>
bool ask(Engine& engine, const gang_spec<4>& what, std::uint32_t& number) {
    number = engine.submit(what);
    if (engine.start(number)) {
        engine.withdraw_surplus(number);
        return true;
    }
    engine.forget(number);
    return false;
}

/// Two of Muster's indexes, one that splits and learns all the time, and a scan of all nodes, pod
/// after pod: every gang stands where the others put it.
void check_churn_of(const workload_options& work, std::size_t gangs) {
    const auto cluster = make_nodes<4>(work);
    muster_engine<4> usual(cluster);
    muster_engine<4, muster::best_fit, small_index_traits<4>> small(cluster);
    books<4> accounts(cluster);
    flat_nodes<4> flat(cluster, accounts.free(), placement_rule::best_fit);
    gang_stream<4> arriving(work);
    std::deque<running> alive;
    std::vector<placed> by_scan;
    std::size_t refused = 0;
    std::size_t searched = 0;
    std::size_t left = 0;
    for (std::size_t asked = 0; asked < gangs; ++asked) {
        while (accounts.utilisation() >= 0.8) {
            const running& oldest = alive.front();
            usual.release(oldest.gang);
            usual.forget(oldest.gang);
            small.release(oldest.gang);
            small.forget(oldest.gang);
            give_all(flat, oldest.what, oldest.members);
            accounts.release(oldest.what, oldest.members);
            alive.pop_front();
            ++left;
        }
        const gang_spec<4> what = arriving.next();
        std::uint32_t number = 0;
        const bool starts = ask(usual, what, number);
        if (ask(small, what, number) != starts)
            fail("the two indexes disagree on gang " + std::to_string(asked));
        const bool scanned = start_pod_by_pod(flat, what, by_scan);
        if (scanned && !starts)
            fail("the scan starts gang " + std::to_string(asked) + ", Muster does not");
        if (!starts) {
            ++refused;
            continue;
        }
        std::vector<placed> members = usual.placements();
        if (!same_placements(members, small.placements()) ||
            (scanned && !same_placements(members, by_scan)))
            fail("gang " + std::to_string(asked) + " is placed in two ways");
        if (!scanned) {
            ++searched;
            take_all(flat, what, members);
        }
        accounts.start(what, members);
        alive.push_back({number, what, std::move(members)});
    }
    if (left * 2 < gangs)
        fail("a cluster that gangs hardly leave shows nothing of churn");
    std::printf("%zu gangs on %zu nodes, %s requests: placed alike by fan-out 64, fan-out 4 and a "
                "scan; %zu left, %zu refused, %zu by the search alone\n",
                gangs, work.nodes, name_of(work.requests), left, refused, searched);
}

} // namespace

void check_churn(std::uint64_t seed, std::size_t gangs) {
    for (const request_regime requests : {request_regime::catalogue, request_regime::random}) {
        workload_options work;
        work.nodes = 10'000;
        work.requests = requests;
        work.seed = seed;
        check_churn_of(work, gangs);
    }
}

} // namespace bench
