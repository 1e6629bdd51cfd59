// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <muster/base/id.hpp>
#include <muster/model/state_store.hpp>

namespace muster {
inline namespace v0_1 {

/// Interned properties of the pods of a state: shapes, labels and, once some pod has terms, the
/// pods on each node.
template<std::size_t Width>
class state_population : public state_store<Width> {
    using store = state_store<Width>;

public:
    using typename store::node_record;
    using typename store::pod_type;

protected:
    state_population() = default;
    explicit state_population(kind_id pods_kind) : store(pods_kind) {}

    /// The pod is as `spec` says. Its gang is known.
    void adopt(pod_record& pod, const pod_type& spec) {
        pod.shape = acquire_shape(spec.request, spec.where);
        pod.labels = label_sets_.acquire(spec.labels);
        enter(pod);
    }

    /// The inverse, for a pod that stands nowhere any more.
    void disown(const pod_record& pod) {
        leave(pod);
        label_sets_.release(pod.labels);
        release_shape(pod.shape);
    }

    /// A pod that takes room comes to stand on its node (1), or stands there no more (-1).
    void stand(const pod_record& pod, std::int32_t by) {
        if (!population_.active())
            return;
        const constraint_index where = shapes_[pod.shape].where;
        population_.count(population_.identity_of(pod.labels, gangs_[pod.gang.value()].tenant),
                          constraints_[where].value.pods ? &where : nullptr, *pod.node, by,
                          pod.present_as());
    }

    /// Terms on other pods see no difference between the two.
    [[nodiscard]] bool same_to_others(const pod_record& lhs, const pod_record& rhs) const {
        return lhs.charged() == rhs.charged() && lhs.node == rhs.node && lhs.labels == rhs.labels &&
               lhs.terminating == rhs.terminating && lhs.nominated == rhs.nominated &&
               shapes_[lhs.shape].where == shapes_[rhs.shape].where;
    }

    /// The gang's tenant becomes that. O(1) as long as no pod ever carried terms, else O(members).
    void move_to_tenant(gang_record& group, const label_set& tenant) {
        const label_set_index to = label_sets_.acquire(tenant);
        const label_set_index from = group.tenant;
        if (to != from && population_.active()) {
            for (const pod_index member : group.members) {
                const pod_record& pod = pods_[member.value()];
                if (pod.charged())
                    stand(pod, -1);
                leave(pod);
            }
            group.tenant = to;
            for (const pod_index member : group.members) {
                const pod_record& pod = pods_[member.value()];
                enter(pod);
                if (pod.charged())
                    stand(pod, 1);
            }
            population_.moved();
        }
        group.tenant = to;
        label_sets_.release(from);
    }

private:
    void enter(const pod_record& pod) {
        if (population_.active())
            population_.add_pod(pod.labels, gangs_[pod.gang.value()].tenant, label_sets_);
    }
    void leave(const pod_record& pod) {
        if (population_.active())
            population_.remove_pod(pod.labels, gangs_[pod.gang.value()].tenant);
    }

    [[nodiscard]] shape_index acquire_shape(const resources<Width>& request,
                                            const constraints& value) {
        const constraint_index where = this->acquire(value);
        if (value.pods && constraints_[where].users == 1)
            know_terms(where, *value.pods);
        bool fresh = false;
        const shape_index shape = shapes_.acquire(request, where, fresh);
        // A shape holds its constraints once, however many pods have it.
        if (!fresh)
            constraints_.release(where);
        return shape;
    }

    void release_shape(shape_index shape) {
        const constraint_index where = shapes_[shape].where;
        if (!shapes_.release(shape))
            return;
        if (constraints_[where].users == 1 && constraints_[where].value.pods)
            population_.remove_terms(where, [this](topology_index at) { topologies_.release(at); });
        constraints_.release(where);
    }

    /// The first terms of all make the pods that there are known.
    void know_terms(constraint_index where, const pod_terms& value) {
        if (!population_.active()) {
            population_.activate();
            for (const gang_index which : this->gang_order_)
                for (const pod_index member : gangs_[which.value()].members) {
                    const pod_record& pod = pods_[member.value()];
                    enter(pod);
                    if (pod.charged())
                        stand(pod, 1);
                }
        }
        population_.add_terms(where, value, label_sets_, [this](const std::string& key) {
            return topologies_.acquire(
                topology{{key}}, this->nodes_.size(), this->labels_,
                [this](node_index node) -> const node_record& { return (*this)[node]; });
        });
    }

protected:
    using store::constraints_;
    using store::gangs_;
    using store::label_sets_;
    using store::pods_;
    using store::population_;
    using store::shapes_;
    using store::topologies_;
};

} // namespace v0_1
} // namespace muster
