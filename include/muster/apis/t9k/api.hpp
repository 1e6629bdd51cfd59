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
#include <muster/apis/t9k/facts.hpp>
#include <muster/apis/t9k/group_reader.hpp>
#include <muster/apis/t9k/status.hpp>
#include <muster/apis/t9k/writer.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/gangs/write_options.hpp>
#include <muster/gangs/write_with.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {

/// T9k Scheduler's PodGroups.
struct t9k_api {
    static constexpr const translate::api_facts& facts = translate::t9k_facts;

    [[nodiscard]] static translate::gang_claim claim(const boost::json::object& pod) {
        using namespace translate;
        gang_claim made{.api = gang_api::t9k};
        mark_reader(pod, made).take(made.group, "labels", keys::t9k_group);
        made.role = metadata_entry(pod, "labels", keys::t9k_role);
        return made;
    }
    [[nodiscard]] static bool is_group(std::string_view version, std::string_view kind) {
        return kind == "PodGroup" && version == translate::t9k_group_version;
    }
    template<class Reading>
    static void read_group(const Reading& of) {
        of.define(facts.api, codec::read_t9k_group(of.object, of.context, of.where));
    }

    [[nodiscard]] static std::string missing(const translate::gang_claim& claim,
                                             const std::string& name_space) {
        return missing_text("PodGroup", {name_space, claim.group}, translate::t9k_group_version,
                            "label " + std::string(translate::keys::t9k_group));
    }
    static void describe(const translate::gang_claim&, codec::gang_definition& made) {
        made.gang.origin = translate::target::t9k;
    }
    [[nodiscard]] static std::optional<translate::written>
    write(translate::target to, const translate::gang_bundle& bundle,
          const translate::write_options& options) {
        using translate::target;
        if (to == target::t9k)
            return translate::write_with(translate::t9k_writer{}, bundle, options);
        return std::nullopt;
    }
    [[nodiscard]] static boost::json::object status(const group_report& of, std::int64_t wall) {
        return t9k_group_status(of, wall);
    }
    /// Whether the object keeps that the minima of its gang were reached once.
    [[nodiscard]] static std::optional<bool> reached(std::string_view, std::string_view,
                                                     const boost::json::object* status) {
        return has_condition(status, "conditions", "GroupScheduled");
    }
};

} // namespace apis
} // namespace v0_1
} // namespace muster
