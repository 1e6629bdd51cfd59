// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/document/document.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Finds the objects of a document, through lists of objects and lists of lists.
template<class Visit>
class object_walk {
public:
    explicit object_walk(Visit& visit) : visit_(&visit) {}

    void read(const field& at) {
        object_reader object = at.as_object();
        if (is_object(at, object))
            read_object(object);
    }

private:
    /// What is absent was not reported when it was taken for an object.
    static bool is_object(const field& at, const object_reader& object) {
        if (!at.is_present())
            at.mismatch("an object");
        return object.is_present();
    }

    void read_object(object_reader& object) {
        const auto version = object.required("apiVersion").as_string();
        const auto kind = object.required("kind").as_string();
        if (!version || !kind) {
            object.ignore_rest();
            return;
        }
        if (kind->ends_with("List") && object.value()->get_object().contains("items")) {
            read_list(object, *version, *kind);
            return;
        }
        take(object, *version, *kind);
    }

    void read_list(object_reader& list, std::string_view version, std::string_view kind) {
        const field metadata_at = list.optional("metadata");
        object_reader metadata = metadata_at.as_object();
        const field more_at = metadata.optional("continue");
        if (!more_at.as_string().value_or("").empty())
            more_at.warning("the list goes on elsewhere (expected a whole list)");
        metadata.ignore_rest();
        const field items_at = list.optional("items");
        const array_reader items = items_at.as_array();
        for (std::size_t at = 0; at < items.size(); ++at) {
            items_.push_back(at);
            read_item(items[at], version, kind);
            items_.pop_back();
        }
        list.ignore_rest();
    }

    /// Items of a typed list may leave out what the list's own kind says.
    void read_item(const field& at, std::string_view version, std::string_view list) {
        object_reader object = at.as_object();
        if (!is_object(at, object))
            return;
        if (list == "List" || object.optional("kind").is_present())
            return read_object(object);
        take(object, version, list.substr(0, list.size() - 4));
    }

    void take(object_reader& object, std::string_view version, std::string_view kind) {
        (*visit_)(object, version, kind, object_place{&object.source(), items_});
    }

    Visit* visit_;
    /// The way to the object at hand, through the lists around it.
    std::vector<std::size_t> items_;
};

} // namespace detail

/// Calls `visit(object_reader&, std::string_view version, std::string_view kind, object_place)` for
/// every object of the documents in their order, those in lists too. What has no apiVersion or kind
/// is an error in `out`.
template<class Visit>
void each_object(const std::vector<document>& documents, diagnostics& out, Visit visit) {
    detail::object_walk<Visit> walk(visit);
    for (const document& each : documents)
        walk.read(field(each, out));
}

namespace detail {

template<class Visit>
void visit_below(const field& at, std::span<const std::size_t> items, Visit& visit) {
    object_reader object = at.as_object();
    if (items.empty())
        return visit(object);
    const field items_at = object.optional("items");
    const array_reader list = items_at.as_array();
    visit_below(list[items.front()], items.subspan(1), visit);
}

} // namespace detail

/// Calls `visit(object_reader&)` for the object at a place that each_object() gave.
template<class Visit>
void object_at(const object_place& where, diagnostics& out, Visit visit) {
    const field root(*where.source, out);
    detail::visit_below(root, where.items, visit);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
