// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/lifecycle/document_fields.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {

/// One thing to tell the API server.
struct object_write {
    enum class verb : std::uint8_t {
        status, ///< the object's status alone
        remove, ///< with all that it owns; of the object only what names it, and its uid
        create,
        replace, ///< all but the status
    };
    verb what = verb::create;
    boost::json::object object;
};

/// Something to tell people about whom a step is for.
struct object_note {
    bool warns = true;
    std::string_view reason; ///< one word, a literal
    std::string message;

    [[nodiscard]] friend bool operator==(const object_note&, const object_note&) = default;
};

/// What one look at an object that owns others asks for. The writes are to be done in their order;
/// whatever of it is not carried out, the next look asks for again.
struct object_step {
    std::vector<object_write> writes;
    /// When to look again though nothing is observed to happen, in nanoseconds since 1970.
    std::optional<std::int64_t> wake;
    std::vector<object_note> notes;

    /// All is as it should be.
    [[nodiscard]] bool is_quiet() const noexcept { return writes.empty(); }
};

namespace detail {

/// What names an object.
[[nodiscard]] inline boost::json::object reference_to(const boost::json::object& object) {
    boost::json::object metadata{{"name", text_at(object, "metadata", "name")},
                                 {"namespace", text_at(object, "metadata", "namespace")}};
    if (const std::string_view uid = text_at(object, "metadata", "uid"); !uid.empty())
        metadata["uid"] = uid;
    return {{"apiVersion", text_at(object, "apiVersion")},
            {"kind", text_at(object, "kind")},
            {"metadata", std::move(metadata)}};
}

} // namespace detail
} // namespace lifecycle
} // namespace v0_1
} // namespace muster
