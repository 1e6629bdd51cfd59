// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/document/json_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {
namespace detail {

[[nodiscard]] inline const boost::json::array* containers_of(const boost::json::object* pod) {
    return find_array(find_object(pod, "spec"), "containers");
}

} // namespace detail

/// Whether a pod template lists containers.
[[nodiscard]] inline bool has_containers(const boost::json::object* pod) {
    const boost::json::array* const all = detail::containers_of(pod);
    return all != nullptr && !all->empty();
}

[[nodiscard]] inline bool has_container(const boost::json::object* pod, std::string_view name) {
    const boost::json::array* const all = detail::containers_of(pod);
    if (all == nullptr)
        return false;
    for (const boost::json::value& each : *all)
        if (find_text(each.if_object(), "name") == name)
            return true;
    return false;
}

/// The name of the container in which the job's own program runs, by type of replica; empty where
/// the kind names none. Where no container has it, the first one stands in.
[[nodiscard]] constexpr std::string_view training_container(t9k_kind kind, bool first_generation,
                                                            replica_part part) noexcept {
    switch (kind) {
    case t9k_kind::tensorflow:
        return "tensorflow";
    case t9k_kind::pytorch:
        return "python";
    case t9k_kind::xgboost:
        return "xgboost";
    case t9k_kind::mpi:
        if (part == replica_part::launcher)
            return "launcher";
        return first_generation ? "mpi-worker" : "worker";
    case t9k_kind::colossal_ai:
        return part == replica_part::launcher ? "launcher" : "worker";
    case t9k_kind::deepspeed:
        return "worker";
    case t9k_kind::generic:
    case t9k_kind::beam:
        break;
    }
    return {};
}

} // namespace translate
} // namespace v0_1
} // namespace muster
