// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/gang_facts.hpp>
#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/apis/t9k/jobs/job_reader.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/kube/object_cache.hpp>
#include <muster/kube/queue_ages.hpp>
#include <muster/kube/read_and_look.hpp>
#include <muster/lifecycle/job_controller.hpp>
#include <muster/lifecycle/job_status_reader.hpp>
#include <muster/lifecycle/object_step.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The eight kinds of T9k jobs, for `controllers`.
struct t9k_controller {
    /// Where queues live.
    std::string queue_namespace = "t9k-system";

    [[nodiscard]] std::vector<followed_kind> kinds() const {
        using enum followed_kind::role;
        std::vector<followed_kind> made;
        for (const auto& [kind, plural] : plurals)
            made.push_back({std::string(translate::t9k_job_api),
                            std::string(translate::to_text(kind)), std::string(plural), owner});
        const std::string version(translate::t9k_group_version);
        made.push_back({version, "PodGroup", "podgroups"});
        made.push_back({version, "Queue", "queues", shared});
        made.push_back({"v1", "ConfigMap", "configmaps", owned, {}, true, false, {}, true});
        made.push_back({"v1", "Service", "services", owned, {}, true});
        made.push_back({"v1", "Pod", "pods", owned, {}, true});
        return made;
    }

    [[nodiscard]] static std::optional<translate::t9k_kind> job_kind(const followed_kind& kind) {
        return codec::t9k_job_kind(kind.api_version, kind.kind);
    }

    [[nodiscard]] lifecycle::object_step look(const followed_kind& kind,
                                              const boost::json::object& owner,
                                              std::span<const boost::json::object* const> seen,
                                              std::int64_t wall) const {
        codec::reading_context context;
        return detail::look_with(
            owner, "InvalidJob",
            [&](codec::object_reader& root) {
                return codec::read_t9k_job(root, *job_kind(kind), context);
            },
            [&](const translate::t9k_job& job) {
                static const boost::json::object none;
                return detail::look_with(
                    job.status ? *job.status : none, "InvalidStatus",
                    [](codec::object_reader& root) { return codec::read_job_status(root); },
                    [&](const lifecycle::job_status& stored) {
                        lifecycle::object_step made = lifecycle::reconcile(job, stored, seen, wall);
                        pause_when_too_old(job, owner, seen, queue_namespace, wall, made);
                        return made;
                    });
            });
    }

private:
    static constexpr std::array<std::pair<translate::t9k_kind, std::string_view>, 8> plurals{{
        {translate::t9k_kind::generic, "genericjobs"},
        {translate::t9k_kind::tensorflow, "tensorflowtrainingjobs"},
        {translate::t9k_kind::pytorch, "pytorchtrainingjobs"},
        {translate::t9k_kind::xgboost, "xgboosttrainingjobs"},
        {translate::t9k_kind::mpi, "mpijobs"},
        {translate::t9k_kind::colossal_ai, "colossalaijobs"},
        {translate::t9k_kind::deepspeed, "deepspeedjobs"},
        {translate::t9k_kind::beam, "beamjobs"},
    }};
};

} // namespace kube
} // namespace v0_1
} // namespace muster
