// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include <muster/apis/gang_definition.hpp>
#include <muster/apis/yunikorn/facts.hpp>
#include <muster/apis/yunikorn/task_groups.hpp>
#include <muster/apis/yunikorn/writer.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/gangs/write_options.hpp>
#include <muster/gangs/write_with.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {

/// YuniKorn's applications with task groups. An application has no object: one of its pods lists
/// its groups. YuniKorn holds room with pods of its own until members come; here the members must
/// be there.
struct yunikorn_api {
    static constexpr const translate::api_facts& facts = translate::yunikorn_facts;

    /// The application of a pod, by the marks that YuniKorn looks at; empty where it has none.
    [[nodiscard]] static std::string_view application_of(const boost::json::object& pod) {
        namespace keys = translate::keys;
        using translate::metadata_entry;
        for (const std::string_view found :
             {metadata_entry(pod, "labels", keys::yunikorn_application),
              metadata_entry(pod, "annotations", keys::yunikorn_application),
              metadata_entry(pod, "labels", keys::yunikorn_old_application),
              metadata_entry(pod, "labels", keys::yunikorn_spark_application)})
            if (!found.empty())
                return found;
        return {};
    }

    [[nodiscard]] static translate::gang_claim claim(const boost::json::object& pod) {
        namespace keys = translate::keys;
        translate::gang_claim made{.api = facts.api};
        const translate::mark_reader read(pod, made);
        read.take(made.role, "annotations", keys::yunikorn_task_group);
        const std::string_view list =
            translate::metadata_entry(pod, "annotations", keys::yunikorn_task_groups);
        if (made.key.empty() && list.data() != nullptr)
            made.key = keys::yunikorn_task_groups;
        if (made.key.empty() || !made.error.empty())
            return made;
        made.group = application_of(pod);
        if (made.group.empty())
            made.error = std::string(made.key) + " is there, but the pod names no application " +
                         "(expected the label " + std::string(keys::yunikorn_application) + ")";
        else if (list.data() != nullptr)
            made.error = codec::read_yunikorn_task_groups(list).wrong;
        return made;
    }
    /// The gang that a pod describes; nothing if it describes none.
    [[nodiscard]] static std::optional<codec::gang_definition>
    described_by(const boost::json::object& pod, const std::string& name_space) {
        return codec::read_yunikorn_application(pod, std::string(application_of(pod)), name_space);
    }
    [[nodiscard]] static std::string missing(const translate::gang_claim& claim,
                                             const std::string& name_space) {
        return "no pod of the application " + claim.group + " in namespace " + name_space +
               " has the annotation " + std::string(translate::keys::yunikorn_task_groups) + ": " +
               std::string(claim.key) + " names a group of it";
    }
    [[nodiscard]] static bool stands_alone(const translate::gang_claim&) { return false; }

    [[nodiscard]] static std::optional<translate::written>
    write(translate::target to, const translate::gang_bundle& bundle,
          const translate::write_options& options) {
        if (to == facts.targets.front())
            return translate::write_with(translate::yunikorn_writer{}, bundle, options);
        return std::nullopt;
    }
};

} // namespace apis
} // namespace v0_1
} // namespace muster
