// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/serve/answer.hpp>
#include <muster/serve/claim_checks.hpp>
#include <muster/serve/cluster_checks.hpp>
#include <muster/serve/decode_checks.hpp>
#include <muster/serve/invalid.hpp>
#include <muster/serve/json_values.hpp>
#include <muster/serve/kinds.hpp>
#include <muster/serve/metadata_checks.hpp>
#include <muster/serve/pod_checks.hpp>
#include <muster/serve/pod_objects.hpp>
#include <muster/serve/schema.hpp>
#include <muster/serve/storage_objects.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

[[nodiscard]] inline bool is_pod(const kind_info& of) noexcept {
    return of.group.empty() && of.plural == "pods";
}

/// Refuses values of a wrong type and, in strict mode, fields that the kind does not have and that
/// `before` has not either. `before` is null for a new object.
[[nodiscard]] inline std::optional<answer> check_fields(const kind_info& of,
                                                        const json::object& object,
                                                        const json::object* before, bool strict) {
    decode_faults found = decode(of, object);
    if (!found.fault.empty())
        return cannot_decode(of, found.fault);
    if (!strict || found.unknown.empty())
        return std::nullopt;
    if (before) {
        const std::vector<std::string> known = decode(of, *before).unknown;
        std::erase_if(found.unknown, [&](const std::string& each) {
            return std::ranges::find(known, each) != known.end();
        });
    }
    return found.unknown.empty() ? std::nullopt : std::optional(unknown_fields(of, found.unknown));
}

/// Applies the schema of a custom kind: removes unknown fields, fills in defaults, and adds what is
/// wrong. In strict mode refuses unknown fields.
[[nodiscard]] inline std::optional<answer> check_custom(const kind_info& of, json::object& made,
                                                        bool strict,
                                                        std::vector<field_cause>& wrong) {
    if (!of.custom || of.schema.empty())
        return std::nullopt;
    json::value whole = std::move(made);
    std::vector<std::string> unknown;
    prune(of.schema, whole, "", unknown);
    apply_defaults(of.schema, whole);
    check_schema(of.schema, whole, "", wrong);
    made = std::move(whole.get_object());
    if (strict && !unknown.empty())
        return unknown_fields(of, unknown);
    return std::nullopt;
}

/// Adds what is wrong with an object other than its name.
inline void check_object(const kind_info& of, const json::object& object,
                         std::vector<field_cause>& wrong) {
    check_marks(object, wrong);
    if (is_pod(of))
        check_pod(object, wrong);
    if (is_claim(of))
        check_claim(object, wrong);
    if (!of.custom)
        check_cluster_object(of, object, wrong);
}

/// Adds what is wrong with a change of an object that is not a change of its status.
inline void check_change(const kind_info& of, const json::object& before, const json::object& after,
                         std::vector<field_cause>& wrong) {
    check_object(of, after, wrong);
    if (is_pod(of))
        check_pod_change(before, after, wrong);
    if (is_claim(of))
        check_claim_change(before, after, wrong);
    if (!of.custom)
        check_cluster_change(of, before, after, wrong);
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
