// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/t9k/jobs/gang.hpp>
#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/document/json_text.hpp>
#include <muster/document/transition_id.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/input/membership.hpp>
#include <muster/lifecycle/observation.hpp>
#include <muster/sim/job_controller.hpp>
#include <muster/vocabulary/pod.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {

/// An object as it was written, or null where it was not read from a document.
[[nodiscard]] inline const boost::json::object* manifest_at(const codec::object_place& where) {
    if (!where.source)
        return nullptr;
    const boost::json::value* at = &where.source->root();
    for (const std::size_t item : where.items)
        at = &at->as_object().at("items").as_array().at(item);
    return at->if_object();
}

/// Whether an object names an owner of this kind; with `name` and `uid` that are not empty, this
/// one.
[[nodiscard]] inline bool is_owned_by(const codec::object_place& object, std::string_view kind,
                                      std::string_view name = {}, std::string_view uid = {}) {
    const auto* metadata = translate::find_object(manifest_at(object), "metadata");
    const auto* owners = translate::find_array(metadata, "ownerReferences");
    for (std::size_t at = 0; owners && at < owners->size(); ++at) {
        const auto* owner = (*owners)[at].if_object();
        const auto own_uid = translate::find_text(owner, "uid").value_or("");
        if (translate::find_text(owner, "kind") == kind &&
            (name.empty() || translate::find_text(owner, "name") == name) &&
            (uid.empty() || own_uid.empty() || own_uid == uid))
            return true;
    }
    return false;
}
[[nodiscard]] inline bool has_owner(const codec::object_place& object) {
    const auto* metadata = translate::find_object(manifest_at(object), "metadata");
    const auto* owners = translate::find_array(metadata, "ownerReferences");
    return owners && !owners->empty();
}

/// Whether a group of the input is the job's own: it says so, or names no owner.
[[nodiscard]] inline bool is_own(const codec::pod_group_object& group, const job_input& job) {
    return !has_owner(group.metadata.where) ||
           is_owned_by(group.metadata.where, to_text(job.job.kind), job.job.name, job.job.uid);
}
/// Whether a pod of the input that has the name of a replica is that: it says so, or names no owner
/// but the job's group; and it stays.
[[nodiscard]] inline bool is_own(const codec::pod_object& pod, const job_input& job) {
    const std::string* const group = codec::label(pod, translate::keys::t9k_group);
    const bool in_group = group != nullptr && *group == translate::group_name(job.job);
    if (pod.metadata.terminating || (job.job.scheduler && !in_group))
        return false;
    if (!has_owner(pod.metadata.where))
        return job.job.scheduler.has_value();
    return is_owned_by(pod.metadata.where, to_text(job.job.kind), job.job.name, job.job.uid);
}

/// A pod of the input as its job observes it.
[[nodiscard]] inline job_controller::owned_pod observe(const codec::pod_object& pod) {
    using lifecycle::observed_phase;
    job_controller::owned_pod made;
    made.uid = pod.metadata.uid.empty()
                   ? lifecycle::transition_id(pod.metadata.key.name_space, pod.metadata.key.name,
                                              "observed")
                   : pod.metadata.uid;
    switch (pod.phase) {
    case pod_phase::pending:
    case pod_phase::gated:
        break;
    case pod_phase::bound:
    case pod_phase::running:
        made.phase = observed_phase::running;
        break;
    case pod_phase::succeeded:
        made.phase = observed_phase::succeeded;
        break;
    case pod_phase::failed:
        made.phase = observed_phase::failed;
        made.exit_code = 1;
        break;
    case pod_phase::unknown:
        made.phase = observed_phase::unknown;
        break;
    }
    const auto* status = translate::find_object(manifest_at(pod.metadata.where), "status");
    const auto* containers = translate::find_array(status, "containerStatuses");
    for (std::size_t at = 0; containers && at < containers->size(); ++at) {
        const auto* state = translate::find_object((*containers)[at].if_object(), "state");
        const auto* ended = translate::find_object(state, "terminated");
        if (const auto* code = translate::find(ended, "exitCode");
            made.phase == observed_phase::failed && code && code->is_int64() &&
            code->get_int64() != 0) {
            made.exit_code = code->get_int64();
            break;
        }
    }
    return made;
}

} // namespace sim
} // namespace v0_1
} // namespace muster
