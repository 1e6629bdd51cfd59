// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include <muster/apis/claim_text.hpp>
#include <muster/apis/gang_definition.hpp>
#include <muster/apis/group_conditions.hpp>
#include <muster/apis/group_report.hpp>
#include <muster/apis/koordinator/facts.hpp>
#include <muster/apis/koordinator/writer.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/gangs/write_options.hpp>
#include <muster/gangs/write_with.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {

/// Koordinator's PodGroups and annotations. They are of the family that scheduler_plugins_api
/// reads.
struct koordinator_api {
    static constexpr const translate::api_facts& facts = translate::koordinator_facts;

    [[nodiscard]] static std::optional<translate::written>
    write(translate::target to, const translate::gang_bundle& bundle,
          const translate::write_options& options) {
        using translate::target;
        if (to == target::koordinator)
            return translate::write_with(translate::koordinator_writer{}, bundle, options);
        return std::nullopt;
    }
};

} // namespace apis
} // namespace v0_1
} // namespace muster
