// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/input/linked_gangs.hpp>
#include <muster/kube/dialect.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {
namespace detail {

/// Returns a document with the object of a group, without its status. Adds the errors of the object
/// to `wrong`, a line each.
[[nodiscard]] inline codec::document group_document(const collection& of,
                                                    const boost::json::object& object,
                                                    std::vector<std::string>& wrong) {
    boost::json::object whole{{"apiVersion", of.version}, {"kind", of.kind}};
    for (const auto& member : object)
        if (member.key() != "status")
            whole[member.key()] = member.value();
    std::vector<codec::document> alone;
    alone.emplace_back(std::string(of.kind), std::move(whole));
    codec::diagnostics found(4);
    codec::check_gang_objects(alone, found);
    for (const codec::diagnostic& each : found.findings())
        if (each.level == codec::severity::error)
            wrong.push_back(each.path + ": " + each.message);
    return std::move(alone.front());
}

} // namespace detail
} // namespace kube
} // namespace v0_1
} // namespace muster
