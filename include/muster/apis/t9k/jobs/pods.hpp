// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/t9k/jobs/commands.hpp>
#include <muster/apis/t9k/jobs/containers.hpp>
#include <muster/apis/t9k/jobs/environment.hpp>
#include <muster/apis/t9k/jobs/gang.hpp>
#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/apis/t9k/jobs/labels.hpp>
#include <muster/apis/t9k/jobs/names.hpp>
#include <muster/apis/t9k/jobs/templates.hpp>
#include <muster/apis/t9k/jobs/variables.hpp>
#include <muster/gangs/gang_object.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// Whether a job was paused before a pod is made: then `resumeSpecs` apply to it.
enum class t9k_start : std::uint8_t { first, resumed };

/// Makes the pods of one job; what they share is made once. The job outlives it.
class t9k_pod_maker {
public:
    explicit t9k_pod_maker(const t9k_job& job, t9k_options options = {})
        : job_(&job),
          options_(options),
          labels_(job, options),
          hostfile_(hostfile_of(job, options)) {
        if (job.kind == t9k_kind::tensorflow)
            cluster_ = tensorflow_cluster(job, options);
    }

    /// The pod of a replica without the marks that tie it to the gang. O(template), and for a
    /// TensorFlowTrainingJob O(replicas), as it names them all.
    [[nodiscard]] boost::json::object make(t9k_replica of,
                                           t9k_start start = t9k_start::first) const {
        const boost::json::object* const from = job_->replica_specs[of.spec].pod_template;
        std::string name = pod_name(*job_, of, options_);
        boost::json::object pod;
        pod.reserve(4);
        pod["apiVersion"] = "v1";
        pod["kind"] = "Pod";
        pod["metadata"] = labels_.metadata(of, name, find_object(from, "metadata"));
        boost::json::object spec = base_spec(*job_, of.spec);
        // The job decides itself about restarts; those of a Flink cluster are left to their owners.
        if (job_->kind != t9k_kind::beam)
            spec["restartPolicy"] = "Never";
        fill(spec, of, start);
        pod["spec"] = std::move(spec);
        return pod;
    }

    /// The same with the marks of the T9k scheduler, if the job is to be scheduled by it.
    [[nodiscard]] boost::json::object make_marked(t9k_replica of,
                                                  t9k_start start = t9k_start::first) const {
        boost::json::object pod = make(of, start);
        labels_.mark(pod, of);
        return pod;
    }

private:
    void fill(boost::json::object& spec, t9k_replica of, t9k_start start) const {
        const t9k_override* const change = override_of(of, start);
        if (change != nullptr && change->skip_init_containers)
            spec.erase("initContainers");
        if (boost::json::array* const own = detail::array_in(spec, "containers");
            own != nullptr && !own->empty()) {
            // The spec gets more fields meanwhile, which may move the others.
            boost::json::array containers = std::move(*own);
            const std::size_t at = training_index(containers, of);
            if (boost::json::object* const training = containers[at].if_object())
                start_training(*training, spec, of, start);
            if (boost::json::object* const first = containers.front().if_object())
                replace_command(*first, of, start);
            spec["containers"] = std::move(containers);
        }
        if (job_->kind == t9k_kind::generic) {
            const t9k_variables variables(*job_, of, options_);
            detail::substitute_in_containers(spec, variables);
        }
    }

    std::size_t training_index(const boost::json::array& containers, t9k_replica of) const {
        const std::string_view name = training_container(job_->kind, job_->first_generation,
                                                         job_->replica_specs[of.spec].part);
        for (std::size_t i = 0; !name.empty() && i < containers.size(); ++i)
            if (find_text(containers[i].if_object(), "name") == name)
                return i;
        return 0;
    }

    void start_training(boost::json::object& container, boost::json::object& spec, t9k_replica of,
                        t9k_start start) const {
        add_environment(container, environment_of(*job_, of, cluster_, options_));
        if (!hostfile_.empty())
            mount_files(*job_, of, group_name(*job_, options_), container, spec);
        if (job_->run_mode.debug)
            return;
        // Whoever brings a command of his own to the resume does not want the controller's.
        const t9k_override* const change = override_of(of, start);
        if (change != nullptr && change->command != nullptr)
            return;
        if (auto command = start_command(*job_, of, container, options_)) {
            container["command"] = std::move(*command);
            container.erase("args");
        }
    }

    /// Debug mode beats a resume.
    const t9k_override* override_of(t9k_replica of, t9k_start start) const {
        const t9k_run_mode& mode = job_->run_mode;
        if (!mode.debug && start == t9k_start::first)
            return nullptr;
        for (const t9k_override& each : mode.debug ? mode.debug_specs : mode.resume_specs)
            if (each.spec == of.spec)
                return &each;
        return nullptr;
    }

    void replace_command(boost::json::object& container, t9k_replica of, t9k_start start) const {
        const t9k_override* const change = override_of(of, start);
        const boost::json::array* const command = change != nullptr ? change->command : nullptr;
        if (command != nullptr)
            container["command"] = *command;
        else if (job_->run_mode.debug)
            container["command"] = debug_command(*job_, of.spec);
        if (command != nullptr || job_->run_mode.debug)
            container.erase("args");
        if (change != nullptr && change->arguments != nullptr)
            container["args"] = *change->arguments;
    }

    const t9k_job* job_;
    t9k_options options_;
    t9k_labels labels_;
    std::string hostfile_;
    std::string cluster_; ///< TF_CONFIG's part that all share
};

/// The pod of one replica, complete: name, labels, owner, environment, commands and the marks of
/// the T9k scheduler. A replica that is started again gets the same.
[[nodiscard]] inline boost::json::object make_pod(const t9k_job& job, t9k_replica of,
                                                  const t9k_options& options = {},
                                                  t9k_start start = t9k_start::first) {
    return t9k_pod_maker(job, options).make_marked(of, start);
}

/// All pods of a job for its gang, by type and rank; they carry no marks of a gang API yet. None
/// while the job is paused.
[[nodiscard]] inline std::vector<gang_pod> pods_of(const t9k_job& job,
                                                   const t9k_options& options = {}) {
    std::vector<gang_pod> pods;
    if (job.run_mode.pause)
        return pods;
    const t9k_pod_maker maker(job, options);
    const std::vector<std::int64_t> counts = replica_counts(job);
    for (std::size_t spec = 0; spec < counts.size(); ++spec)
        for (std::int64_t rank = 0; rank < counts[spec]; ++rank)
            pods.push_back({leaf_of(job, spec), maker.make({spec, rank}), {}});
    return pods;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
