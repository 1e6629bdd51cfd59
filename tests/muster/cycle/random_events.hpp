// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <muster/cluster/state.hpp>
#include <muster/testing/random.hpp>
#include <support/world.hpp>

/// Random events, each in a world as listed and in a state that lives on.
namespace random_events {

using namespace muster;
using namespace muster::testing;

class source {
public:
    source(world& in, world_state& known, testing::random& chance)
        : in_(&in), known_(&known), chance_(&chance) {}

    /// One thing happens, or, where there is nothing for it to happen to, nothing.
    void happen() {
        const std::int64_t what = chance_->between(0, 9);
        if (what < 3)
            change_a_node();
        else if (what == 3 && !in_->queues.empty())
            change_a_queue();
        else if (what == 4)
            change_a_gang();
        else if (!in_->pods.empty())
            what < 8 ? change_a_pod(any(in_->pods)) : end_a_pod(chance_->below(in_->pods.size()));
    }

private:
    template<class Named>
    [[nodiscard]] Named& any(std::vector<Named>& items) {
        return items[chance_->below(items.size())];
    }
    template<class Named>
    void settle(const Named& one) {
        feed(*known_, one);
    }

    void change_a_node() {
        auto& node = any(in_->nodes);
        auto& spec = node.spec;
        const auto zone = [&] { return std::string(chance_->percent(50) ? "a" : "b"); };
        switch (chance_->between(0, 6)) {
        case 0:
            spec.unschedulable = !spec.unschedulable;
            break;
        case 1:
            spec.allocatable[0] = chance_->between(0, 9);
            break;
        case 2:
            spec.labels.set("zone", chance_->percent(50) ? "x" : zone());
            break;
        case 3:
            spec.labels.set("rank", std::to_string(chance_->between(1, 3)));
            break;
        case 4:
            if (spec.taints.empty())
                spec.taints.push_back({"dedicated", zone(), taint_effect::no_schedule});
            else
                spec.taints.clear();
            break;
        case 5:
            return replace(node);
        default:
            spec.allocatable[in_->pods_kind()] = chance_->between(1, 8);
        }
        settle(node);
    }

    /// The node goes, and another comes or the same one comes back.
    void replace(world::named_node& node) {
        expect_applied(known_->remove_node(node.key));
        if (chance_->percent(50))
            node.key = "e-node-" + std::to_string(fresh_++);
        settle(node);
    }

    void change_a_queue() {
        auto& queue = any(in_->queues);
        auto& spec = queue.spec;
        switch (chance_->between(0, 6)) {
        case 0:
            spec.priority = chance_->between(0, 2);
            break;
        case 1:
            spec.strict_order = !spec.strict_order;
            break;
        case 2:
            spec.nodes = {};
            if (chance_->percent(40))
                spec.nodes.requirements.push_back({"zone", label_operator::in, {"a"}});
            break;
        case 3:
            spec.tenants = label_selector{};
            break;
        case 4:
            expect_applied(known_->remove_queue(queue.key));
            break;
        default:
            spec.quota.set(kind_id{0}, chance_->between(0, 14));
            spec.closed = chance_->percent(20);
            if (chance_->percent(30))
                spec.guarantee[0] = chance_->between(0, 4);
            if (chance_->percent(20))
                queue.parent.reset();
        }
        settle(queue);
    }

    void change_a_gang() {
        auto& gang = any(in_->gangs);
        auto& spec = gang.spec;
        switch (chance_->between(0, 4)) {
        case 0: {
            const vertex_index at{chance_->below(spec.tree.size())};
            spec.tree.require_members(at, chance_->between(0, 3));
            break;
        }
        case 1:
            spec.tree.let_apart(vertex_index{chance_->below(spec.tree.size())});
            break;
        case 2:
            spec.fault = gang_fault::none;
            spec.tenant.set("team", "red");
            break;
        case 3:
            expect_applied(known_->remove_gang(gang.key));
            break;
        default:
            spec.priority = chance_->between(0, 2);
            if (!in_->queues.empty())
                spec.queue = any(in_->queues).key;
        }
        settle(gang);
    }

    void change_a_pod(world::named_pod& pod) {
        auto& spec = pod.spec;
        const std::size_t kind = chance_->below(in_->kinds - 1);
        switch (chance_->between(0, 9)) {
        case 0:
            return repeat(pod);
        case 1:
            spec.labels.set("app", chance_->percent(50) ? "a" : "b");
            break;
        case 2:
            spec.terminating = !spec.terminating;
            break;
        case 3:
        case 4:
            spec.request[kind] /= 2;
            break;
        case 5:
            spec.request[kind] += chance_->between(1, kind == 1 ? 1000 : 2);
            break;
        case 6:
            if (pod.on)
                return;
            spec.phase = spec.phase == pod_phase::pending ? pod_phase::gated : pod_phase::pending;
            break;
        case 7:
            spec.where.claims.ports.clear();
            spec.where.unsupported = false;
            break;
        case 8:
            spec.where.selector = {};
            spec.where.affinity.reset();
            break;
        default:
            spec.where.tolerations.push_back({});
        }
        settle(pod);
    }

    void repeat(const world::named_pod& pod) {
        auto one = pod;
        one.key += "-more";
        one.on.reset();
        one.spec.phase = pod_phase::pending;
        one.spec.terminating = false;
        if (std::ranges::any_of(in_->pods, [&](const auto& each) { return each.key == one.key; }))
            return;
        in_->pods.push_back(one);
        settle(in_->pods.back());
    }

    void end_a_pod(std::size_t at) {
        auto& pod = in_->pods[at];
        const std::int64_t how = chance_->between(0, 3);
        if (how == 0) {
            expect_applied(known_->remove_pod(pod.key));
            in_->pods.erase(in_->pods.begin() + static_cast<std::ptrdiff_t>(at));
        } else if (how == 1) {
            if (!(*known_)[known_->find_pod(pod.key)->index].assumed)
                return;
            expect_applied(known_->forget(pod.key));
            pod.spec.phase = pod_phase::pending;
            pod.on.reset();
        } else if (pod.on) {
            pod.spec.phase = how == 2 ? pod_phase::succeeded : pod_phase::failed;
            settle(pod);
        }
    }

    world* in_;
    world_state* known_;
    testing::random* chance_;
    int fresh_ = 0;
};

} // namespace random_events
