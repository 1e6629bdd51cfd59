// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/apis/t9k/jobs/gang.hpp>
#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/apis/t9k/jobs/names.hpp>
#include <muster/base/assert.hpp>
#include <muster/gangs/pod_draft.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// The kind in small letters: a label key, and the component.
[[nodiscard]] constexpr std::string_view component_of(t9k_kind kind) {
    switch (kind) {
    case t9k_kind::generic:
        return "genericjob";
    case t9k_kind::tensorflow:
        return "tensorflowtrainingjob";
    case t9k_kind::pytorch:
        return "pytorchtrainingjob";
    case t9k_kind::xgboost:
        return "xgboosttrainingjob";
    case t9k_kind::mpi:
        return "mpijob";
    case t9k_kind::colossal_ai:
        return "colossalaijob";
    case t9k_kind::deepspeed:
        return "deepspeedjob";
    case t9k_kind::beam:
        return "beamjob";
    }
    MUSTER_ASSERT(false, "all kinds are above");
    return {};
}

/// The job as the ownerReferences of what it creates.
[[nodiscard]] inline boost::json::array owner_references(const t9k_job& job) {
    boost::json::array all;
    all.push_back(owner_document(owner_of(job)));
    return all;
}

/// Labels and owners of a job's pods.
class t9k_labels {
public:
    explicit t9k_labels(const t9k_job& job, const t9k_options& options = {})
        : job_(&job),
          group_(group_name(job, options)),
          component_(component_of(job.kind)),
          replica_(std::string(component_) + "-replica"),
          master_(master_of(job)),
          owners_(owner_references(job)) {}

    /// The label by which a Service finds one replica.
    [[nodiscard]] const std::string& replica_key() const noexcept { return replica_; }

    /// A pod's metadata: what its template says, and what the controller adds.
    [[nodiscard]] boost::json::object metadata(t9k_replica of, std::string_view name,
                                               const boost::json::object* from) const {
        boost::json::object made;
        made["name"] = name;
        made["namespace"] = job_->name_space;
        boost::json::object labels;
        if (from != nullptr) {
            for (const auto& field : *from) {
                const std::string_view key(field.key().data(), field.key().size());
                if (key == "labels" && field.value().is_object())
                    labels = field.value().get_object();
                else if (key == "annotations" || key == "finalizers")
                    made[key] = field.value();
            }
        }
        add_labels(labels, of, name);
        made["labels"] = std::move(labels);
        made["ownerReferences"] = owners_;
        return made;
    }

    /// What ties a pod to the job's PodGroup; nothing for a job of the default scheduler.
    void mark(boost::json::object& pod, t9k_replica of) const {
        if (!job_->scheduler)
            return;
        boost::json::object& labels = pod["metadata"].get_object()["labels"].get_object();
        labels[keys::t9k_group] = group_;
        labels[keys::t9k_queue] = job_->scheduler->queue;
        labels[keys::t9k_role] = job_->replica_specs[of.spec].type;
        pod["spec"].get_object()["schedulerName"] = schedulers::t9k;
    }

private:
    void add_labels(boost::json::object& labels, t9k_replica of, std::string_view name) const {
        const t9k_replica_spec& spec = job_->replica_specs[of.spec];
        labels[component_] = job_->name;
        labels[replica_] = name;
        labels["tensorstack.dev/component"] = component_;
        labels["tensorstack.dev/component-type"] = "user";
        if (job_->kind == t9k_kind::generic)
            return;
        labels["tensorstack.dev/owner-kind"] = to_text(job_->kind);
        labels["tensorstack.dev/owner-name"] = job_->name;
        labels["replica-type"] = spec.type;
        labels["replica-index"] = std::to_string(of.rank);
        if (master_ == of)
            labels["job-role"] = "master";
    }

    const t9k_job* job_;
    std::string group_;
    std::string_view component_;
    std::string replica_;
    std::optional<t9k_replica> master_;
    boost::json::array owners_;
};

} // namespace translate
} // namespace v0_1
} // namespace muster
