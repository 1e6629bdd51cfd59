// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/gang_apis.hpp>
#include <muster/gangs/gang_claims.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// What a pod's marks say, API by API; a pod without marks claims nothing.
[[nodiscard]] inline std::vector<gang_claim> claims_of(const boost::json::object& pod) {
    std::vector<gang_claim> claims;
    apis::find_api([&]<class Api>() {
        if constexpr (requires { Api::claim(pod); })
            if (gang_claim made = Api::claim(pod); !made.key.empty())
                claims.push_back(std::move(made));
        return false;
    });
    return claims;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
