// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/object.hpp>

#include <muster/apis/claim_text.hpp>
#include <muster/apis/gang_definition.hpp>
#include <muster/apis/grove/facts.hpp>
#include <muster/apis/grove/pod_gang_reader.hpp>
#include <muster/apis/grove/writer.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/gangs/write_options.hpp>
#include <muster/gangs/write_with.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {

/// Grove's PodGangs.
struct grove_api {
    static constexpr const translate::api_facts& facts = translate::grove_facts;
    /// The groups of its backends are made of these objects.
    static constexpr bool makes_groups = true;

    [[nodiscard]] static translate::gang_claim claim(const boost::json::object& pod) {
        using namespace translate;
        gang_claim made{.api = gang_api::grove};
        mark_reader(pod, made).take(made.group, "labels", keys::grove_gang);
        made.role = metadata_entry(pod, "labels", keys::grove_clique);
        return made;
    }
    [[nodiscard]] static bool is_group(std::string_view version, std::string_view kind) {
        return kind == "PodGang" && version == translate::grove_gang_version;
    }

    template<class Reading>
    static void read_group(const Reading& of) {
        codec::pod_gang read = codec::read_pod_gang(of.object, of.context, of.where);
        const std::size_t at = of.define(facts.api, std::move(read.made));
        for (auto& [pod, leaf] : read.pods)
            of.book.refer(std::move(pod), at, leaf);
    }

    [[nodiscard]] static std::string missing(const translate::gang_claim& claim,
                                             const std::string& name_space) {
        return missing_text("PodGang", {name_space, claim.group}, translate::grove_gang_version,
                            "label " + std::string(claim.key));
    }
    static void describe(const translate::gang_claim&, codec::gang_definition& made) {
        made.gang.kind = "PodGang";
        made.gang.origin = translate::target::grove;
    }

    [[nodiscard]] static std::optional<translate::written>
    write(translate::target to, const translate::gang_bundle& bundle,
          const translate::write_options& options) {
        using translate::target;
        if (to == target::grove)
            return translate::write_with(translate::grove_writer{}, bundle, options);
        return std::nullopt;
    }
};

} // namespace apis
} // namespace v0_1
} // namespace muster
