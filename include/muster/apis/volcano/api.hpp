// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include <muster/apis/claim_text.hpp>
#include <muster/apis/gang_definition.hpp>
#include <muster/apis/group_conditions.hpp>
#include <muster/apis/group_report.hpp>
#include <muster/apis/volcano/facts.hpp>
#include <muster/apis/volcano/group_reader.hpp>
#include <muster/apis/volcano/status.hpp>
#include <muster/apis/volcano/writer.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/gangs/write_options.hpp>
#include <muster/gangs/write_with.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {

/// Volcano's PodGroups.
struct volcano_api {
    static constexpr const translate::api_facts& facts = translate::volcano_facts;

    [[nodiscard]] static bool is_version(std::string_view version) {
        return std::ranges::find(translate::volcano_group_versions, version) !=
               translate::volcano_group_versions.end();
    }

    [[nodiscard]] static translate::gang_claim claim(const boost::json::object& pod) {
        using namespace translate;
        gang_claim made{.api = gang_api::volcano};
        const mark_reader read(pod, made);
        read.take(made.group, "annotations", keys::volcano_group);
        read.take(made.group, "annotations", keys::volcano_own_group);
        made.role = metadata_entry(pod, "annotations", keys::volcano_task);
        if (made.role.empty())
            made.role = metadata_entry(pod, "labels", keys::volcano_task);
        return made;
    }
    [[nodiscard]] static bool is_group(std::string_view version, std::string_view kind) {
        return kind == "PodGroup" && is_version(version);
    }
    template<class Reading>
    static void read_group(const Reading& of) {
        of.define(facts.api, codec::read_volcano_group(of.object, of.context, of.where));
    }
    [[nodiscard]] static std::string missing(const translate::gang_claim& claim,
                                             const std::string& name_space) {
        return missing_text("PodGroup", {name_space, claim.group}, translate::volcano_group_version,
                            "annotation " + std::string(claim.key));
    }
    static void describe(const translate::gang_claim&, codec::gang_definition& made) {
        made.gang.origin = translate::target::volcano;
    }
    [[nodiscard]] static std::optional<translate::written>
    write(translate::target to, const translate::gang_bundle& bundle,
          const translate::write_options& options) {
        using translate::target;
        if (to == target::volcano)
            return translate::write_with(translate::volcano_writer{}, bundle, options);
        return std::nullopt;
    }
    [[nodiscard]] static boost::json::object status(const group_report& of, std::int64_t wall) {
        return volcano_group_status(of, wall);
    }
    /// Whether the object keeps that the minima of its gang were reached once.
    [[nodiscard]] static std::optional<bool> reached(std::string_view, std::string_view,
                                                     const boost::json::object* status) {
        return has_condition(status, "conditions", "Scheduled");
    }
};

} // namespace apis
} // namespace v0_1
} // namespace muster
