// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/gang_apis.hpp>
#include <muster/kube/dialect.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// What the object of a group keeps of whether its minima were ever reached, each API in its own
/// place. Absent: it has none, as scheduler-plugins', whose phase goes back when members are lost.
[[nodiscard]] inline std::optional<bool> latch_of(const collection& of,
                                                  const boost::json::value& written) {
    const boost::json::object* const status = written.if_object();
    std::optional<bool> found;
    apis::find_api([&]<class Api>() {
        if constexpr (requires { Api::reached(of.version, of.kind, status); }) {
            if (!Api::is_group(of.version, of.kind))
                return false;
            found = Api::reached(of.version, of.kind, status);
            return true;
        }
        return false;
    });
    return found;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
