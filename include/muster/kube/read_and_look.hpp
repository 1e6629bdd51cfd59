// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/lifecycle/object_step.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {
namespace detail {

/// Reads an object by `read(object_reader&)` and calls `use(what was read)` while what that
/// refers to lives; what is wrong with it becomes a note, and then it is not used.
template<class Read, class Use>
[[nodiscard]] lifecycle::object_step look_with(const boost::json::object& object,
                                               std::string_view reason, const Read& read,
                                               const Use& use) {
    lifecycle::object_step made;
    codec::diagnostics found(4);
    const codec::document source(std::string{}, boost::json::value(object, {}));
    codec::object_reader root(source, found);
    const auto what = read(root);
    if (found.ok())
        return use(what);
    for (const codec::diagnostic& each : found.findings())
        if (each.level == codec::severity::error) {
            made.notes.push_back({true, reason, each.path + ": " + each.message});
            break;
        }
    return made;
}

} // namespace detail
} // namespace kube
} // namespace v0_1
} // namespace muster
