// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include <muster/apis/ack/facts.hpp>
#include <muster/apis/ack/writer.hpp>
#include <muster/apis/claim_text.hpp>
#include <muster/apis/gang_definition.hpp>
#include <muster/apis/group_conditions.hpp>
#include <muster/apis/group_report.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/gangs/write_options.hpp>
#include <muster/gangs/write_with.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {

/// ACK's labels. They are marks of the family that scheduler_plugins_api reads.
struct ack_api {
    static constexpr const translate::api_facts& facts = translate::ack_facts;

    [[nodiscard]] static std::optional<translate::written>
    write(translate::target to, const translate::gang_bundle& bundle,
          const translate::write_options& options) {
        using translate::target;
        if (to == target::ack_1_30)
            return translate::write_with(translate::ack_writer{translate::ack_version::v1_30},
                                         bundle, options);
        if (to == target::ack_1_31)
            return translate::write_with(translate::ack_writer{translate::ack_version::v1_31},
                                         bundle, options);
        return std::nullopt;
    }
};

} // namespace apis
} // namespace v0_1
} // namespace muster
