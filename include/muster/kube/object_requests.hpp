// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/kube/http.hpp>
#include <muster/kube/object_cache.hpp>
#include <muster/kube/order_requests.hpp>
#include <muster/lifecycle/document_fields.hpp>
#include <muster/lifecycle/object_step.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// A write of a controller, as a request that names what was seen: the uid, and for changes the
/// version, so that the server refuses (409) what was decided on an older state.
struct object_change {
    lifecycle::object_write::verb what = lifecycle::object_write::verb::create;
    object_id of;
    std::string uid; ///< of what was seen; empty for what is created
    boost::json::object body;
};

/// The write, held against the object as it was seen (nullptr: not at all). Merge patches, where an
/// object changes: fields that nobody here knows stay.
[[nodiscard]] inline object_change change_of(lifecycle::object_write write, object_id of,
                                             const object_cache::entry* seen) {
    using lifecycle::object_write;
    object_change made{write.what, std::move(of), {}, {}};
    if (write.what != object_write::verb::create)
        made.uid = seen ? seen->uid
                        : std::string(lifecycle::detail::text_at(write.object, "metadata", "uid"));
    static const boost::json::object nothing;
    switch (write.what) {
    case object_write::verb::create:
        made.body = std::move(write.object);
        break;
    case object_write::verb::remove:
        made.body = {{"apiVersion", "v1"},
                     {"kind", "DeleteOptions"},
                     {"propagationPolicy", "Background"},
                     {"preconditions", {{"uid", made.uid}}}};
        break;
    case object_write::verb::status: {
        const auto* was = seen ? lifecycle::detail::object_at(seen->object, "status") : nullptr;
        const auto* is = lifecycle::detail::object_at(write.object, "status");
        made.body["status"] = merge_patch(was ? *was : nothing, is ? *is : nothing);
        break;
    }
    case object_write::verb::replace: {
        boost::json::object is = std::move(write.object);
        boost::json::object was = seen ? seen->object : nothing;
        is.erase("status");
        was.erase("status");
        made.body = merge_patch(was, is);
        break;
    }
    }
    return made;
}

/// `version`: of the object that is changed, as it is known now; empty: whichever.
[[nodiscard]] inline http_request request_of(const object_change& change, const followed_kind& kind,
                                             const std::string& version) {
    using verb = lifecycle::object_write::verb;
    http_request made;
    made.path = kind.path(change.of.key.name_space);
    made.content_type = json_type;
    if (change.what == verb::create) {
        made.method = http_method::post;
        made.body = boost::json::serialize(change.body);
        return made;
    }
    made.path += "/" + escape(change.of.key.name);
    if (change.what == verb::remove) {
        made.method = http_method::erase;
        made.body = boost::json::serialize(change.body);
        return made;
    }
    if (change.what == verb::status)
        made.path += "/status";
    made.method = http_method::patch;
    made.content_type = merge_patch_type;
    boost::json::object body = change.body;
    boost::json::value& metadata = body["metadata"];
    if (!metadata.is_object())
        metadata.emplace_object();
    metadata.get_object()["uid"] = change.uid;
    if (!version.empty())
        metadata.get_object()["resourceVersion"] = version;
    made.body = boost::json::serialize(body);
    return made;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
