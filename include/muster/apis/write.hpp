// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/core/pods_writer.hpp>
#include <muster/apis/gang_apis.hpp>
#include <muster/base/assert.hpp>
#include <muster/gangs/check_manifest.hpp>
#include <muster/gangs/expressiveness.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/gangs/target.hpp>
#include <muster/gangs/write_options.hpp>
#include <muster/gangs/write_with.hpp>
#include <muster/gangs/writing.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

namespace detail {

[[nodiscard]] written write_pods(const gang_bundle& bundle, const write_options& options);

} // namespace detail

/// Writes one gang with its pods for `to`, which is one of `targets`. Violations say why its API
/// server would refuse an object; then none of them is to be used.
[[nodiscard]] inline written write(target to, const gang_bundle& bundle,
                                   const write_options& options = {}) {
    if (to == target::pods)
        return detail::write_pods(bundle, options);
    std::optional<written> made;
    const bool known = apis::find_api([&]<class Api>() {
        if constexpr (requires { Api::write(to, bundle, options); })
            made = Api::write(to, bundle, options);
        return made.has_value();
    });
    MUSTER_ASSERT(known, "a target is plain pods, or a record of gang_apis writes it");
    return known ? *std::move(made) : written{};
}

namespace detail {

// Pods that came with marks get them back; those that a job makes get the marks of the API that its
// controller uses. What stands in that API's group object, and not on pods, is lost.
inline written write_pods(const gang_bundle& bundle, const write_options& options) {
    const gang_object& gang = bundle.gang;
    const bool marked =
        std::ranges::any_of(bundle.pods, [](const gang_pod& each) { return !each.marks.empty(); });
    const bool by_origin = !marked && gang.origin && *gang.origin != target::pods;
    written made;
    if (by_origin) {
        made = write(*gang.origin, bundle, options);
        std::erase_if(made.objects, [](const boost::json::object& each) {
            return each.at("kind").as_string() != "Pod";
        });
    } else {
        for (const gang_pod& pod : bundle.pods) {
            made.objects.push_back(with_marks(pod));
            leave_out_owners_to_be(made.objects.back());
        }
        for (const boost::json::object& object : made.objects)
            manifest_check(object, made.violations).metadata();
    }
    writing out(bundle, {}, options);
    said_by_pods(made.objects, out).lose_the_rest();
    // Of what the marks' own API has no words for, its writer has told already.
    std::vector<loss> told = std::move(made.losses);
    made.losses.clear();
    for (loss& each : std::move(out).done().losses)
        made.losses.push_back(std::move(each));
    for (loss& each : told)
        if (std::ranges::none_of(made.losses,
                                 [&](const loss& other) { return other.what == each.what; }))
            made.losses.push_back(std::move(each));
    return made;
}

} // namespace detail

} // namespace translate
} // namespace v0_1
} // namespace muster
