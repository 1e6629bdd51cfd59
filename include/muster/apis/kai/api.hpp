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
#include <muster/apis/kai/facts.hpp>
#include <muster/apis/kai/group_reader.hpp>
#include <muster/apis/kai/status.hpp>
#include <muster/apis/kai/writer.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/gangs/write_options.hpp>
#include <muster/gangs/write_with.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {

/// KAI's PodGroups.
struct kai_api {
    static constexpr const translate::api_facts& facts = translate::kai_facts;

    [[nodiscard]] static translate::gang_claim claim(const boost::json::object& pod) {
        using namespace translate;
        gang_claim made{.api = gang_api::kai};
        mark_reader(pod, made).take(made.group, "annotations", keys::kai_group);
        made.role = metadata_entry(pod, "labels", keys::kai_subgroup);
        return made;
    }
    [[nodiscard]] static bool is_group(std::string_view version, std::string_view kind) {
        return kind == "PodGroup" && version == translate::kai_group_version;
    }
    template<class Reading>
    static void read_group(const Reading& of) {
        of.define(facts.api, codec::read_kai_group(of.object, of.context, of.where));
    }
    [[nodiscard]] static std::string missing(const translate::gang_claim& claim,
                                             const std::string& name_space) {
        return missing_text("PodGroup", {name_space, claim.group}, translate::kai_group_version,
                            "annotation " + std::string(claim.key));
    }
    static void describe(const translate::gang_claim&, codec::gang_definition& made) {
        made.gang.origin = translate::target::kai_0_15;
    }
    [[nodiscard]] static std::optional<translate::written>
    write(translate::target to, const translate::gang_bundle& bundle,
          const translate::write_options& options) {
        using translate::target;
        if (to == target::kai_0_14)
            return translate::write_with(translate::kai_writer{translate::kai_version::v0_14},
                                         bundle, options);
        if (to == target::kai_0_15)
            return translate::write_with(translate::kai_writer{translate::kai_version::v0_15},
                                         bundle, options);
        return std::nullopt;
    }
    [[nodiscard]] static boost::json::object status(const group_report& of, std::int64_t wall) {
        return kai_group_status(of, wall);
    }
    /// Whether the object keeps that the minima of its gang were reached once.
    [[nodiscard]] static std::optional<bool> reached(std::string_view, std::string_view,
                                                     const boost::json::object* status) {
        return has_condition(status, "schedulingConditions", "Scheduled");
    }
};

} // namespace apis
} // namespace v0_1
} // namespace muster
