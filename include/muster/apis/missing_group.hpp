// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <muster/apis/claim_text.hpp>
#include <muster/apis/gang_apis.hpp>
#include <muster/gangs/gang_claims.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Returns what is missing if no object in the namespace is the group that a pod claims.
[[nodiscard]] inline std::string missing_group_text(const translate::gang_claim& claim,
                                                    const std::string& name_space) {
    std::string text = "there is no group " + claim.group + " in namespace " + name_space + ": " +
                       std::string(claim.key) + " names it";
    apis::find_api([&]<class Api>() {
        if constexpr (requires { Api::missing(claim, name_space); }) {
            if (Api::facts.api != claim.api)
                return false;
            text = Api::missing(claim, name_space);
            return true;
        }
        return false;
    });
    return text;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
