// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include <muster/words/gate_text.hpp>

#include "../plan/report.hpp"
#include "live_cluster.hpp"
#include "live_connect.hpp"

namespace cli {

namespace {

namespace adapter = muster::adapter;
namespace codec = muster::codec;
namespace kube = muster::kube;

/// What Muster would do with a pod that waits.
struct opinion {
    std::string uid;
    /// Empty: let it wait.
    std::string node;
    std::string why;
};

/// Compares what another scheduler does with what Muster would have done a moment before.
class watcher {
public:
    watcher(const live_view& view, live_policy_source how) : view_(&view), how_(how) {}

    /// Says what happened to the pods that waited when asked last.
    void compare() {
        for (auto at = opinions_.begin(); at != opinions_.end();) {
            const auto* const facts = view_->find_pod(at->first, at->second.uid);
            if (facts != nullptr && !facts->on) {
                ++at;
                continue;
            }
            if (facts != nullptr)
                judge(at->first, at->second, *facts->on);
            at = opinions_.erase(at);
        }
    }

    /// Forms an opinion on all that wait now.
    void think(std::int64_t wall) {
        live_state known = view_->known();
        const muster::cycle_result made = decide(known, wall, how_());
        for (auto& [key, each] : opinions_)
            each.node.clear();
        for (const muster::decision& decision : made.decisions) {
            const std::string why(muster::words::gate_text(decision.outcome.at));
            for (const muster::pod_index pod : known[decision.gang].members) {
                const auto* const facts = view_->find_pod(known.key(pod));
                if (facts == nullptr || !facts->ours || facts->on)
                    continue;
                // If surplus is placed in separate turns, a cycle decides a gang more than once.
                opinion& of = opinions_[known.key(pod)];
                of.uid = facts->uid;
                of.why = why;
            }
            if (decision.nominated)
                continue;
            for (const muster::placement& one : decision.placements)
                if (const auto at = opinions_.find(known.key(one.pod)); at != opinions_.end())
                    at->second.node = known.key(one.node);
        }
    }

    void sum_up() const {
        const auto idle = std::ranges::count_if(
            opinions_, [](const auto& each) { return !each.second.node.empty(); });
        std::printf("%zu pods bound: %zu to the same node, %zu to another, %zu that Muster would "
                    "have let wait; %zu still wait that Muster would start\n",
                    same_ + other_ + early_, same_, other_, early_, static_cast<std::size_t>(idle));
    }

private:
    void judge(const codec::object_key& key, const opinion& of, const std::string& node) {
        const std::string name = key.name_space + "/" + key.name;
        if (of.node == node) {
            ++same_;
        } else if (!of.node.empty()) {
            ++other_;
            std::printf("node\t%s\t%s\tMuster: %s\n", name.c_str(), node.c_str(), of.node.c_str());
        } else {
            ++early_;
            std::printf("start\t%s\t%s\tMuster: waits, %s\n", name.c_str(), node.c_str(),
                        of.why.c_str());
        }
    }

    const live_view* view_;
    live_policy_source how_;
    std::map<codec::object_key, opinion> opinions_;
    std::size_t same_ = 0;
    std::size_t other_ = 0;
    std::size_t early_ = 0;
};

} // namespace

int shadow(const shadow_request& asked) {
    process_log() = {asked.format, "shadow"};
    const auto by = connect(asked);
    if (!by)
        return usage;
    live_cluster cluster(*by, options_of(asked));
    live_state known(cluster.objects().pods_kind());
    live_view view(known);
    if (!sync(cluster, view, asked.patience))
        return usage;
    policy_options how = asked.how;
    watcher watches(view, {&cluster, &known, &how});
    watches.think(cluster.now().wall);
    const std::int64_t until =
        asked.seconds > 0 ? cluster.now().steady + asked.seconds * kube::second : kube::never_comes;
    while (!told_to_stop() && cluster.now().steady < until) {
        cluster.pump(std::min(kube::second, until - cluster.now().steady));
        if (!cluster.observe(view).changed)
            continue;
        watches.compare();
        watches.think(cluster.now().wall);
        std::fflush(stdout);
    }
    watches.sum_up();
    return fine;
}

} // namespace cli
