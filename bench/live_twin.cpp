// SPDX-License-Identifier: Apache-2.0

// What a scheduler that decides nothing would reach on a live cluster: the client of `muster
// schedule`, its watches, its binds, statuses and events, with places that are known beforehand.
// The pods of all gangs, gang by gang in the order of names, go to the nodes in turn.
//   live_twin KUBECONFIG
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <muster/adapter/driver_context.hpp>
#include <muster/adapter/reports.hpp>
#include <muster/kube/cluster.hpp>
#include <muster/kube/group_status.hpp>
#include <muster/kube/kubeconfig.hpp>
#include <muster/kube/transport.hpp>

namespace {

namespace adapter = muster::adapter;
namespace kube = muster::kube;

using cluster_type = kube::cluster<muster::max_kinds, kube::transport, kube::group_status>;
using traits = cluster_type::traits;
using gang_key = traits::gang_key;

class twin {
public:
    twin(cluster_type& cluster, muster::state<traits>& known)
        : cluster_(&cluster), at_(known, {}), reports_(at_), report_orders_(at_.how.reports) {}

    /// False when a bind failed: what is measured is no longer what was meant.
    bool step() {
        at_.now = cluster_->now().steady;
        const bool synced = cluster_->observe(at_.view).synced;
        if (synced && std::exchange(waits_for_all_, false))
            place();
        if (!take_results())
            return false;
        for (const gang_key& gang : at_.view.take_touched()) {
            reports_.note(gang);
            if (const auto which = at_.known().find_gang(gang);
                which && adapter::standing_of(at_.view, which->index).status.holds_minima)
                at_.view.mark_reached(gang);
        }
        give();
        return true;
    }

    /// When to step again if nothing arrives before. Steady.
    [[nodiscard]] std::int64_t next() const { return reports_.next(report_orders_); }

private:
    void place() {
        std::vector<std::string> nodes;
        for (const auto& each : at_.view.nodes())
            nodes.push_back(each.first);
        for (const auto& each : at_.view.gangs()) {
            const auto which = at_.known().find_gang(each.first);
            if (!which)
                continue;
            for (const muster::pod_index member : at_.known()[which->index].members) {
                const auto& pod = at_.known().key(member);
                const auto* const facts = at_.view.find_pod(pod);
                if (facts == nullptr || !facts->ours || facts->on || nodes.empty())
                    continue;
                binds_.push_back(
                    {at_.new_ticket(), pod, facts->uid, nodes[binds_.size() % nodes.size()]});
                of_.emplace(binds_.back().of, each.first);
                ++left_[each.first];
            }
        }
    }

    bool take_results() {
        results_.clear();
        cluster_->take_results(results_);
        for (const auto& each : results_) {
            if (reports_.take(each))
                continue;
            if (each.what != adapter::outcome::applied) {
                std::fprintf(stderr, "a bind failed: %s\n", each.message.c_str());
                return false;
            }
            --under_way_;
            const gang_key& gang = of_.at(each.of);
            if (--left_.at(gang) > 0)
                continue;
            left_.erase(gang);
            const auto* const facts = at_.view.find_gang(gang);
            const auto which = at_.known().find_gang(gang);
            if (facts == nullptr || !which)
                continue;
            const auto bound = static_cast<std::int64_t>(at_.known()[which->index].members.size());
            reports_.tell({0, gang, facts->uid, adapter::event_reason::bound, bound, {}, {}, {}});
            reports_.note(gang);
            reports_.came_to_rest(gang);
        }
        return true;
    }

    void give() {
        orders_.clear();
        for (; given_ < binds_.size() && under_way_ < at_.how.most_under_way;
             ++given_, ++under_way_)
            orders_.binds.push_back(binds_[given_]);
        reports_.give(
            orders_, report_orders_, [this](const gang_key& gang) { return left_.contains(gang); },
            [this](const gang_key& gang, const adapter::gang_status& status) {
                return cluster_->would_change(gang, status);
            },
            [](const auto&, muster::gang_index) { return std::string(); });
        cluster_->bind(orders_.binds);
        cluster_->patch_status(orders_.statuses);
        cluster_->record_event(orders_.events);
    }

    cluster_type* cluster_;
    adapter::driver_context<traits> at_;
    adapter::reports<traits> reports_;
    adapter::token_bucket report_orders_;
    std::vector<adapter::bind_order<traits>> binds_;
    std::map<adapter::ticket, gang_key> of_;
    /// Of gangs that are being bound: how many members are not yet.
    std::map<gang_key, std::size_t> left_;
    std::vector<adapter::order_result<traits>> results_;
    adapter::orders<traits> orders_;
    std::size_t given_ = 0;
    std::size_t under_way_ = 0;
    bool waits_for_all_ = true;
};

} // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "live_twin KUBECONFIG\n");
        return 2;
    }
    muster::codec::diagnostics found;
    auto to = kube::load_kubeconfig({arguments[1]}, {}, found);
    for (const auto& each : found.findings())
        std::fprintf(stderr, "%s\n", to_text(each).c_str());
    if (!to)
        return 2;
    auto by = kube::transport::open(std::move(*to));
    if (!by) {
        std::fprintf(stderr, "%s\n", by.error().c_str());
        return 2;
    }
    kube::cluster_options how;
    how.live.scheduler_names = kube::scheduler_names_of(how.live.dialects);
    how.events.controller = "muster.dev/twin";
    cluster_type cluster(*by.value(), std::move(how));
    muster::state<traits> known(cluster.objects().pods_kind());
    twin runs(cluster, known);
    while (runs.step()) {
        const std::int64_t now = cluster.now().steady;
        cluster.pump(std::clamp<std::int64_t>(runs.next() - now, 0, kube::second));
    }
    return 1;
}
