// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/ack/facts.hpp>
#include <muster/apis/claim_text.hpp>
#include <muster/apis/gang_definition.hpp>
#include <muster/apis/group_conditions.hpp>
#include <muster/apis/group_report.hpp>
#include <muster/apis/koordinator/facts.hpp>
#include <muster/apis/koordinator/gang_group_list.hpp>
#include <muster/apis/scheduler_plugins/facts.hpp>
#include <muster/apis/scheduler_plugins/group_reader.hpp>
#include <muster/apis/scheduler_plugins/status.hpp>
#include <muster/apis/scheduler_plugins/writer.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/gangs/write_options.hpp>
#include <muster/gangs/write_with.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {

/// The family of coscheduling: PodGroups of scheduler-plugins and Koordinator, and the marks on
/// pods that these and ACK share.
struct scheduler_plugins_api {
    static constexpr const translate::api_facts& facts = translate::plugins_facts;

    [[nodiscard]] static translate::gang_claim claim(const boost::json::object& pod) {
        using namespace translate;
        gang_claim made{.api = gang_api::coscheduling};
        const mark_reader read(pod, made);
        read.take(made.group, "labels", keys::plugins_group);
        read.take(made.group, "labels", keys::sigs_group);
        read.take(made.group, "labels", keys::sigs_name);
        read.take(made.group, "annotations", keys::koord_name);
        const std::string_view named = made.key;
        read.take(made.minimum, "labels", keys::sigs_minimum);
        read.take(made.minimum, "annotations", keys::koord_minimum);
        if (named.empty() && !made.key.empty() && made.error.empty())
            made.error =
                std::string(made.key) + " is there, but " +
                std::string(made.key == keys::koord_minimum ? keys::koord_name : keys::sigs_name) +
                " is not (expected both)";
        return made;
    }
    [[nodiscard]] static bool is_group(std::string_view version, std::string_view kind) {
        return kind == "PodGroup" && (version == translate::sigs_group_version ||
                                      version == translate::plugins_group_version);
    }

    template<class Reading>
    static void read_group(const Reading& of) {
        of.define(facts.api, codec::read_coscheduling_group(
                                 of.object, of.version == translate::sigs_group_version, of.context,
                                 of.where, of.out, of.book.stands()));
    }

    [[nodiscard]] static std::string missing(const translate::gang_claim& claim,
                                             const std::string& name_space) {
        namespace keys = translate::keys;
        return missing_text("PodGroup", {name_space, claim.group},
                            claim.key == keys::plugins_group ? translate::plugins_group_version
                                                             : translate::sigs_group_version,
                            (claim.key == keys::koord_name ? "annotation " : "label ") +
                                std::string(claim.key));
    }
    static void describe(const translate::gang_claim&, codec::gang_definition& made) {
        made.gang.origin = translate::target::scheduler_plugins;
    }
    /// ACK's and Koordinator's names without a minimum make no gang: both belong together.
    [[nodiscard]] static bool stands_alone(const translate::gang_claim& claim) {
        return claim.key != translate::keys::sigs_name && claim.key != translate::keys::koord_name;
    }
    /// Describes a gang that only the marks of its pods define.
    static void define(const translate::gang_claim& claim, const boost::json::object& marks,
                       codec::gang_definition& made, codec::diagnostics& out, bool stands) {
        made.gang.origin = claim.key == translate::keys::koord_name ? translate::target::koordinator
                                                                    : translate::target::ack_1_31;
        codec::read_coscheduling_words(marks, made, out, stands);
    }

    [[nodiscard]] static std::optional<translate::written>
    write(translate::target to, const translate::gang_bundle& bundle,
          const translate::write_options& options) {
        using translate::target;
        if (to == target::scheduler_plugins)
            return translate::write_with(translate::scheduler_plugins_writer{}, bundle, options);
        return std::nullopt;
    }
    [[nodiscard]] static boost::json::object status(const group_report& of, std::int64_t wall) {
        return coscheduling_group_status(of, wall);
    }

    /// scheduler-plugins has no such place: its phase goes back when members are lost.
    /// Koordinator's does not.
    [[nodiscard]] static std::optional<bool> reached(std::string_view version, std::string_view,
                                                     const boost::json::object* status) {
        const std::string_view phase =
            translate::find_text(status, "phase").value_or(std::string_view{});
        if (phase == "Scheduled" || phase == "Running" || phase == "Finished" || phase == "Failed")
            return true;
        return version == translate::sigs_group_version ? std::optional(false) : std::nullopt;
    }
};

} // namespace apis
} // namespace v0_1
} // namespace muster
