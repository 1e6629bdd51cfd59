// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/gang_definition.hpp>
#include <muster/apis/koordinator/gang_group_list.hpp>
#include <muster/document/duration.hpp>
#include <muster/gangs/gang_claims.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Reports invalid text of a gang's metadata as an error. For an existing cluster (`stands`), it is
/// a warning and a fault of this gang alone.
inline void report_words(gang_definition& of, const std::string& text, diagnostics& out,
                         bool stands) {
    report(out, stands ? severity::warning : severity::error, of.where, {"metadata"}, text);
    if (stands && of.fault.empty())
        of.fault = text;
}

/// Reads the gang group of a gang: the gangs that start together with it. An invalid list counts as
/// absent.
inline void read_gang_group(const boost::json::object& manifest, gang_definition& to,
                            diagnostics& out, bool stands) {
    gang_group_list list = gang_group_of(manifest);
    const object_key own{to.gang.name_space, to.gang.name};
    if (list.wrong.empty() && !list.gangs.empty() && !list.holds(own))
        list.wrong = "the gang " + own.name_space + "/" + own.name +
                     " is not in its own list (expected it there)";
    if (!list.wrong.empty())
        return report_words(to, std::string(list.key) + ": " + list.wrong, out, stands);
    to.together = std::move(list.gangs);
}

} // namespace detail

/// What ACK's and Koordinator's labels and annotations on a PodGroup, or on pods that have none,
/// say of a gang beside its name and minimum.
inline void read_coscheduling_words(const boost::json::object& manifest, gang_definition& to,
                                    diagnostics& out, bool stands) {
    namespace keys = translate::keys;
    const auto entry = [&](std::string_view key) {
        const std::string_view note = translate::metadata_entry(manifest, "annotations", key);
        return note.data() ? note : translate::metadata_entry(manifest, "labels", key);
    };
    const auto wrong = [&](std::string_view key, std::string_view value,
                           std::string_view expected) {
        detail::report_words(to,
                             std::string(key) + ": " + in_quotes(value) + " (expected " +
                                 std::string(expected) + ")",
                             out, stands);
    };
    detail::read_gang_group(manifest, to, out, stands);
    for (const std::string_view key : {keys::koord_matching, keys::sigs_matching}) {
        const auto text = entry(key);
        if (text == "only-waiting" || text == "waiting-and-running" ||
            text == "waiting-running-succeed")
            to.gang.own_words.push_back(
                {translate::gang_api::coscheduling, translate::loss_kind::matching,
                 std::string(keys::koord_matching), boost::json::value(text)});
        else if (!text.empty() && text != "once-satisfied")
            wrong(key, text,
                  "only-waiting, waiting-and-running, waiting-running-succeed or once-satisfied");
        if (!text.empty())
            break;
    }
    if (const auto text = entry(keys::koord_mode); text == "NonStrict")
        to.gang.own_words.push_back({translate::gang_api::coscheduling,
                                     translate::loss_kind::matching, std::string(keys::koord_mode),
                                     "NonStrict"});
    else if (!text.empty() && text != "Strict")
        report(out, severity::warning, to.where, {"metadata"},
               std::string(keys::koord_mode) + ": " + in_quotes(text) +
                   " counts as Strict (expected Strict or NonStrict)");
    if (const auto text = entry(keys::koord_wait); !text.empty()) {
        const auto wait = parse_duration(text);
        if (!wait)
            wrong(keys::koord_wait, text, "a duration such as 90s or 10m");
        else if (*wait > 0 && !to.gang.wait_seconds)
            to.gang.wait_seconds = (*wait + 999'999'999) / 1'000'000'000;
    }
    if (const auto text = entry(keys::koord_total); !text.empty()) {
        const auto total = parse_count(text);
        if (!total)
            wrong(keys::koord_total, text, "a whole number");
        else if (to.gang.sizes.empty())
            to.gang.sizes.push_back({vertex_index{0}, *total});
    }
    if (const auto text = entry(keys::koord_topology); !text.empty()) {
        const bool hard = text.find("\"MustGather\"") != std::string_view::npos;
        to.gang.own_words.push_back({translate::gang_api::coscheduling,
                                     hard ? translate::loss_kind::topology_required
                                          : translate::loss_kind::topology_preferred,
                                     std::string(keys::koord_topology), boost::json::value(text)});
    }
}

/// A PodGroup of scheduling.x-k8s.io/v1alpha1 (scheduler-plugins) or
/// scheduling.sigs.k8s.io/v1alpha1 (the first scheduler-plugins, Koordinator, ACK up to 1.30).
[[nodiscard]] inline gang_definition read_coscheduling_group(object_reader& object, bool old,
                                                             reading_context& context,
                                                             object_place where, diagnostics& out,
                                                             bool stands) {
    namespace keys = translate::keys;
    const auto& manifest = object.value()->get_object();
    gang_definition made =
        start_definition(object, "PodGroup", translate::target::scheduler_plugins,
                         {keys::koord_groups, keys::koord_matching, keys::koord_mode,
                          keys::koord_wait, keys::koord_total, keys::koord_timeout,
                          keys::koord_topology, keys::sigs_groups, keys::sigs_matching},
                         context, std::move(where));
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const field least_at = spec.optional("minMember");
    // The older API has no lower bound: a part of a gang group may have a minimum of 0.
    made.gang.tree = gang_tree(least_at.as_integer(old ? 0 : 1, most).value_or(old ? 0 : 1));
    made.gang.min_resources = read_min_resources(spec.optional("minResources"));
    const field wait_at = spec.optional("scheduleTimeoutSeconds");
    if (const auto wait = wait_at.as_integer(-most, most); wait && *wait > 0)
        made.gang.wait_seconds = *wait;
    spec.finish();
    object.finish();
    for (const auto& map : {"annotations", "labels"}) {
        const auto* metadata = translate::find_object(&manifest, "metadata");
        const auto* entries = translate::find_object(metadata, map);
        for (std::size_t at = 0; entries && at < entries->size(); ++at)
            if (std::string_view((entries->begin() + at)->key())
                    .starts_with("gang.scheduling.koordinator.sh/"))
                made.gang.origin = translate::target::koordinator;
    }
    read_coscheduling_words(manifest, made, out, stands);
    return made;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
