// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include <muster/apis/core/objects.hpp>
#include <muster/lifecycle/job_plan.hpp>
#include <muster/sim/job_controller.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {

/// Which job of a run a pod is of, and with which code it ends.
class pod_owners {
public:
    struct owner {
        std::size_t job = 0;
        lifecycle::replica_id replica;
    };

    /// Pods that jobs have adopted are theirs from the start.
    explicit pod_owners(std::deque<job_controller>& jobs) : jobs_(&jobs) {
        for (std::size_t job = 0; job < jobs.size(); ++job)
            for (const auto& [name, replica] : jobs[job].adopted())
                add({jobs[job].key().name_space, name}, job, replica);
    }

    /// Null: it is no job's.
    [[nodiscard]] const owner* find(const codec::object_key& pod) const {
        const auto at = owners_.find(pod);
        return at == owners_.end() ? nullptr : &at->second;
    }
    /// The pod as its job has it, or null.
    [[nodiscard]] job_controller::owned_pod* pod(const codec::object_key& key) {
        const owner* const of = find(key);
        return of == nullptr ? nullptr : &(*jobs_)[of->job].pods.at(key.name);
    }

    void add(const codec::object_key& pod, std::size_t job, lifecycle::replica_id replica) {
        owners_[pod] = {job, replica};
    }
    /// It is gone; so it is for its job.
    void forget(const codec::object_key& pod) {
        const auto at = owners_.find(pod);
        if (at == owners_.end())
            return;
        (*jobs_)[at->second.job].pods.erase(pod.name);
        owners_.erase(at);
    }

    /// What a pod that is no job's declares.
    void declare(const codec::object_key& pod, std::int64_t code) { codes_[pod] = code; }

    [[nodiscard]] std::int64_t exit_code(const codec::object_key& pod) const {
        if (const owner* const of = find(pod)) {
            const job_controller& job = (*jobs_)[of->job];
            return job.declared(of->replica.task).exit_code(job.pods.at(pod.name).attempt);
        }
        const auto code = codes_.find(pod);
        return code == codes_.end() ? 0 : code->second;
    }

private:
    std::deque<job_controller>* jobs_;
    std::map<codec::object_key, owner> owners_;
    std::map<codec::object_key, std::int64_t> codes_;
};

} // namespace sim
} // namespace v0_1
} // namespace muster
