// SPDX-License-Identifier: Apache-2.0
#include "check_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <muster/apis/core/claims/device_assignment.hpp>
#include <muster/base/checked.hpp>
#include <muster/vocabulary/constraints.hpp>

#include "check_devices.hpp"

namespace cli {
namespace {

using muster::int128;
using namespace muster::codec;

struct load {
    std::map<std::string, int128> milli;
    muster::claimed_on_node claims;
};

/// A capacity in thousandths; requests are rounded up to what the kind is counted in.
int128 capacity_milli(const std::string& kind, std::int64_t amount) {
    return kind == "cpu" ? int128{amount} : int128{amount} * 1000;
}
int128 request_milli(const std::string& kind, int128 milli) {
    return kind == "cpu" ? milli : (milli + 999) / 1000 * 1000;
}

bool alive(const pod_object& pod) {
    return !pod.metadata.terminating && pod.phase != muster::pod_phase::failed &&
           pod.phase != muster::pod_phase::gated;
}

bool occupies(const pod_object& pod) {
    return !pod.node.empty() && pod.phase != muster::pod_phase::failed &&
           pod.phase != muster::pod_phase::succeeded;
}

void add(load& to, const pod_object& pod) {
    for (const auto& [kind, amount] : pod.requests)
        to.milli[kind] += request_milli(kind, amount.milli);
    to.milli["pods"] += 1000;
}

/// Counts are per leaf. A part below its minima counts for nothing above.
bool meets_minima(const muster::gang_tree& tree, std::vector<std::int64_t> counts) {
    std::vector<std::int64_t> parts(tree.size(), 0);
    for (std::size_t vertex = tree.size(); vertex-- > 0;) {
        const auto children = static_cast<std::int64_t>(tree[vertex].children);
        if (parts[vertex] < tree[vertex].min_subgroups.value_or(children) ||
            counts[vertex] < tree[vertex].min_member)
            continue;
        if (vertex == 0)
            return true;
        ++parts[tree[vertex].parent];
        counts[tree[vertex].parent] += counts[vertex];
    }
    return false;
}

class checker {
public:
    checker(const manifests& objects, const std::map<group_key, group_facts>& groups,
            const placements& placed, const std::string& queue_namespace,
            const std::set<object_key>& gone)
        : objects_(&objects),
          groups_(&groups),
          placed_(&placed),
          gone_(&gone),
          devices_(objects),
          assigned_(objects, placed, gone) {
        for (const node_object& node : objects.nodes)
            nodes_.emplace(node.metadata.key.name, &node);
        for (const queue_object& queue : objects.queues)
            if (queue.counts(queue_namespace))
                queues_.emplace(queue.metadata.key.name, &queue);
    }

    std::vector<std::string> run() {
        for (const auto& [key, facts] : *groups_)
            check_group(key, facts);
        for (const pod_object& pod : objects_->pods) {
            const auto to = placed_->find(pod.metadata.key);
            if (stays(pod)) {
                add(on_node_[pod.node], pod);
                on_node_[pod.node].claims.take(pod.where.claims);
            }
            if (to != placed_->end())
                add(on_node_[to->second], pod);
        }
        for (const pod_object& pod : objects_->pods)
            if (const auto to = placed_->find(pod.metadata.key); to != placed_->end())
                check_pod(pod, to->second);
        check_devices();
        for (const std::string& each : assigned_.lacking())
            found_.push_back("node " + each +
                             " has too few devices for the pods that are placed there");
        for (const std::string& each : assigned_.misaligned())
            found_.push_back("the kubelet of node " + each +
                             " can reject pods that are placed there: it cannot align them to its "
                             "NUMA zones");
        check_quotas();
        return std::move(found_);
    }

private:
    [[nodiscard]] bool stays(const pod_object& pod) const {
        return occupies(pod) && !gone_->contains(pod.metadata.key);
    }

    void say(const object_key& pod, const std::string& what) {
        found_.push_back("pod " + pod.name_space + "/" + pod.name + " " + what);
    }

    void check_pod(const pod_object& pod, const std::string& name) {
        const bool is_modelled = std::ranges::all_of(pod.unsupported, [&](const auto& each) {
            return assigned_.shares_gpus(name) &&
                   std::ranges::find(pod.share_marks, each) != pod.share_marks.end();
        });
        if (!pod.node.empty() || pod.phase != muster::pod_phase::pending || !alive(pod) ||
            !is_modelled)
            say(pod.metadata.key, "is placed and must not be");
        const auto at = nodes_.find(name);
        if (at == nodes_.end()) {
            say(pod.metadata.key, "is placed on " + name + ", which does not exist");
            return;
        }
        const node_object& node = *at->second;
        muster::node<1> target;
        target.labels = node.metadata.labels;
        target.taints = node.taints;
        target.unschedulable = node.unschedulable;
        target.name = name;
        if (muster::failed_filters(pod.where, target) != muster::node_filter_none)
            say(pod.metadata.key, "may not use node " + name);
        load& on = on_node_[name];
        for (const auto& [kind, sum] : on.milli) {
            const auto own = pod.requests.find(kind);
            const bool asks =
                kind == "pods" || (own != pod.requests.end() && own->second.milli > 0);
            // What the GPUs of such a node serve is judged by finding them.
            if (!devices_.class_on(node, kind).empty() ||
                (assigned_.shares_gpus(name) && is_gpu_resource(kind)))
                continue;
            const auto has = node.allocatable.find(kind);
            const int128 most =
                has == node.allocatable.end() ? 0 : capacity_milli(kind, has->second);
            if (asks && sum > most)
                say(pod.metadata.key, "overcommits " + kind + " of node " + name);
        }
        if (!muster::compatible(pod.where.claims.ports, on.claims.ports()))
            say(pod.metadata.key, "claims a host port that is taken on node " + name);
        on.claims.take(pod.where.claims);
    }

    /// Judges what placed pods request of nodes that serve it from devices, by the device classes.
    /// Of devices that several nodes reach, each node may hold all, but placed pods not more than
    /// there are.
    void check_devices() {
        struct ask {
            const pod_object* pod;
            const node_object* node;
            const std::string* kind;
            std::string_view serving;
        };
        std::vector<ask> asks;
        std::map<std::string_view, int128> in_cluster;
        for (const pod_object& pod : objects_->pods) {
            const auto to = placed_->find(pod.metadata.key);
            const auto node = to == placed_->end() ? nodes_.end() : nodes_.find(to->second);
            if (node == nodes_.end())
                continue;
            for (const auto& [kind, amount] : pod.requests)
                if (const auto serving = devices_.class_on(*node->second, kind);
                    !serving.empty() && amount.milli > 0) {
                    in_cluster[serving] += request_milli(kind, amount.milli);
                    asks.push_back({&pod, node->second, &kind, serving});
                }
        }
        for (const auto& [pod, node, kind, serving] : asks) {
            const std::string& name = node->metadata.key.name;
            int128 on_node = 0;
            for (const auto& [each, sum] : on_node_[name].milli)
                if (devices_.class_on(*node, each) == serving)
                    on_node += sum;
            if (on_node > capacity_milli(*kind, devices_.on(*node, serving)))
                say(pod->metadata.key, "overcommits " + *kind + " of node " + name);
            else if (in_cluster[serving] > capacity_milli(*kind, devices_.in_cluster(serving)))
                say(pod->metadata.key, "overcommits the devices that serve " + *kind);
        }
    }

    void check_group(const group_key& key, const group_facts& facts) {
        std::vector<std::int64_t> counts(facts.tree.size(), 0);
        std::map<std::string, int128> asks;
        load& held = in_queue_[facts.queue];
        bool starts = false;
        bool loses = false;
        std::int64_t left = 0;
        std::vector<std::int64_t> before = counts;
        for (const std::size_t member : facts.members) {
            const pod_object& pod = objects_->pods[member];
            const bool placed = placed_->contains(pod.metadata.key);
            const std::size_t role = facts.role_of(pod).value();
            starts = starts || placed;
            const bool goes = gone_->contains(pod.metadata.key) && alive(pod);
            loses = loses || goes;
            if (alive(pod) && (placed || pod.phase != muster::pod_phase::pending)) {
                for (auto* count : {&counts, &before}) {
                    if (goes && count == &counts)
                        continue;
                    ++(*count)[role];
                }
                left += !goes && occupies(pod) ? 1 : 0;
            }
            if (placed)
                for (const auto& [kind, amount] : pod.requests)
                    asks[kind] += amount.milli;
            if (placed || stays(pod))
                add(held, pod);
        }
        const auto met = [&](const std::vector<std::int64_t>& with) {
            return meets_minima(facts.tree, with);
        };
        if (loses && left > 0 && met(before) && !met(counts))
            found_.push_back("group " + key.name_space + "/" + key.name +
                             " is left below its minimum");
        if (!starts)
            return;
        started_.push_back({facts.queue, key.name_space + "/" + key.name, std::move(asks)});
        if (!met(counts))
            found_.push_back("group " + started_.back().name + " starts below its minimum");
    }

    void check_quotas() {
        for (const started& one : started_) {
            const auto at = queues_.find(one.queue);
            if (at == queues_.end())
                continue;
            for (const auto& [kind, amount] : at->second->quota) {
                const auto asked = one.asks.find(kind);
                const bool asks = kind == "pods" || (asked != one.asks.end() && asked->second > 0);
                if (asks && in_queue_[one.queue].milli[kind] > capacity_milli(kind, amount))
                    found_.push_back("group " + one.name + " takes queue " + one.queue +
                                     " over its quota of " + kind);
            }
        }
    }

    struct started {
        std::string queue;
        std::string name;
        std::map<std::string, int128> asks;
    };

    const manifests* objects_;
    const std::map<group_key, group_facts>* groups_;
    const placements* placed_;
    const std::set<object_key>* gone_;
    device_room devices_;
    device_assignment assigned_;
    std::map<std::string, const node_object*> nodes_;
    std::map<std::string, const queue_object*> queues_;
    std::map<std::string, load> on_node_;
    std::map<std::string, load> in_queue_;
    std::vector<started> started_;
    std::vector<std::string> found_;
};

} // namespace

std::vector<std::string> violations_of(const manifests& objects,
                                       const std::map<group_key, group_facts>& groups,
                                       const placements& placed, const std::string& queue_namespace,
                                       const std::set<object_key>& gone) {
    return checker(objects, groups, placed, queue_namespace, gone).run();
}

} // namespace cli
