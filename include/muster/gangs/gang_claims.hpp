// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/pod_marks.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// What a pod's marks of one API say: to which gang it belongs, and as what.
struct gang_claim {
    gang_api api = gang_api::none;
    /// The name that pods use. In Kubernetes 1.35 `<workload>/<podGroup>`.
    std::string group{};
    std::string role{}; ///< a leaf of that gang; empty: none is named
    /// Kubernetes 1.35: which copy of the gang.
    std::string copy{};
    /// A minimum that stands on the pod itself, as written.
    std::string minimum{};
    /// The mark by which it was recognised, and what is wrong with it; empty when nothing is.
    std::string_view key{};
    std::string error{};
};

/// Reads a value that may stand under several keys; two that differ are an error.
class mark_reader {
public:
    mark_reader(const boost::json::object& pod, gang_claim& into) : pod_(&pod), into_(&into) {}

    void take(std::string& value, std::string_view map, std::string_view key) const {
        const std::string_view found = metadata_entry(*pod_, map, key);
        if (found.data() == nullptr)
            return;
        if (into_->key.empty())
            into_->key = key;
        if (found.empty())
            into_->error = std::string(key) + " is empty (expected a name)";
        else if (value.empty())
            value = found;
        else if (value != found)
            into_->error = std::string(key) + " says " + std::string(found) + " and " +
                           std::string(into_->key) + " says " + value +
                           " (expected them to be equal)";
    }

private:
    const boost::json::object* pod_;
    gang_claim* into_;
};

/// The queue that a pod's marks name; empty: none does. Of several marks the first counts, in the
/// order of gang_facts.
[[nodiscard]] inline std::string_view queue_mark(const boost::json::object& pod) {
    for (const api_facts& api : gang_facts)
        for (const gang_mark& each : api.marks)
            if (each.use == mark_use::queue)
                if (const std::string_view text = metadata_entry(
                        pod, each.at == mark_place::label ? "labels" : "annotations", each.key);
                    !text.empty())
                    return text;
    return {};
}

/// Takes the name of a gang scheduler off a pod that is in no gang. Other schedulers stay: somebody
/// asked for them.
inline void strip_scheduler(gang_pod& pod) {
    const auto* spec = find_object(&pod.document, "spec");
    if (spec && is_gang_scheduler(string_at(*spec, "schedulerName")))
        mark_remover(pod).field("schedulerName");
}

/// Takes the marks of an API off a pod. The name of a scheduler goes with them if it is that API's.
inline void strip_marks(gang_pod& pod, gang_api of) {
    const mark_remover remove(pod);
    bool owns_scheduler = false;
    for (const api_facts& api : gang_facts) {
        if (api.api != of)
            continue;
        owns_scheduler = owns_scheduler || api.owns_scheduler;
        for (const gang_mark& each : api.marks)
            switch (each.at) {
            case mark_place::label:
                remove.label(each.key);
                break;
            case mark_place::annotation:
                remove.annotation(each.key);
                break;
            case mark_place::field:
                remove.field(each.key);
                break;
            case mark_place::gate:
                remove.gate(each.key);
                break;
            }
    }
    if (owns_scheduler)
        remove.field("schedulerName");
}

} // namespace translate
} // namespace v0_1
} // namespace muster
