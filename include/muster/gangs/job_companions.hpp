// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/gangs/check_manifest.hpp>
#include <muster/gangs/job_object.hpp>
#include <muster/gangs/names.hpp>
#include <muster/gangs/pod_draft.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/gangs/target.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// The beginning of an object that a job's controller makes beside its pods.
[[nodiscard]] inline boost::json::object companion(const job_object& job, std::string_view kind,
                                                   std::string_view name,
                                                   boost::json::object labels,
                                                   const object_reference& owner) {
    boost::json::object metadata{{"name", name}, {"namespace", job.name_space}};
    if (!labels.empty())
        metadata["labels"] = std::move(labels);
    metadata["ownerReferences"] = boost::json::array{owner_document(owner)};
    return {{"apiVersion", "v1"}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

/// A headless Service, by which the pods that `selector` takes are known by their host names. Pods
/// that look each other up to become ready ask for `early`: addresses of those that are not.
[[nodiscard]] inline boost::json::object
headless_service(const job_object& job, std::string_view name, boost::json::object labels,
                 boost::json::object selector, bool early, const object_reference& owner,
                 boost::json::array ports = {}) {
    boost::json::object made = companion(job, "Service", name, std::move(labels), owner);
    boost::json::object spec{{"clusterIP", "None"}, {"selector", std::move(selector)}};
    if (early)
        spec["publishNotReadyAddresses"] = true;
    if (!ports.empty())
        spec["ports"] = std::move(ports);
    made["spec"] = std::move(spec);
    return made;
}

/// Looks at companions as the API server would: a Service's name is a label of DNS.
inline void check_companions(const std::vector<boost::json::object>& objects,
                             std::vector<violation>& out) {
    for (const boost::json::object& each : objects) {
        manifest_check check(each, out);
        check.metadata();
        if (check.is("v1", "Service"))
            check.expect_object_name(dns_label);
    }
}

} // namespace translate
} // namespace v0_1
} // namespace muster
