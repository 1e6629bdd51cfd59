// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/document/document.hpp>
#include <muster/document/field_path.hpp>
#include <muster/document/object_metadata.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Finds a field in the pod templates of an object. A pod template is any object that has a list
/// `containers`.
template<class Visit>
class template_field_finder {
public:
    /// `field` is the path of the field below the pod's spec, as to_text() writes it.
    template_field_finder(std::string_view field, Visit& visit) : field_(field), visit_(&visit) {}

    void find(const object_place& in) {
        for (const std::size_t item : in.items) {
            steps_.emplace_back("items");
            steps_.emplace_back(item);
        }
        if (const auto* const object = value_at(in.source->root(), steps_))
            search(*object);
    }

private:
    void search(const boost::json::value& in) {
        const auto* const object = in.if_object();
        const auto* const containers = object ? object->if_contains("containers") : nullptr;
        if (!containers || !containers->is_array())
            return for_each_below(in, [&](const boost::json::value& below) { search(below); });
        const std::size_t spec = steps_.size();
        for_each_below(in, [&](const boost::json::value& below) { follow(below, spec); });
    }

    /// `spec` is the length of the path to the pod's spec.
    void follow(const boost::json::value& at, std::size_t spec) {
        const std::string text = to_text(path_view(steps_).subspan(spec));
        if (text == field_)
            (*visit_)(path_view(steps_));
        else if (field_.starts_with(text))
            for_each_below(at, [&](const boost::json::value& below) { follow(below, spec); });
    }

    template<class Go>
    void for_each_below(const boost::json::value& of, const Go& go) {
        const auto enter = [&](path_step step, const boost::json::value& below) {
            steps_.push_back(step);
            go(below);
            steps_.pop_back();
        };
        if (const auto* const object = of.if_object())
            for (const auto& member : *object)
                enter(std::string_view(member.key()), member.value());
        else if (const auto* const list = of.if_array())
            for (std::size_t at = 0; at < list->size(); ++at)
                enter(at, (*list)[at]);
    }

    std::string_view field_;
    Visit* visit_;
    std::vector<path_step> steps_;
};

} // namespace detail

/// Calls `visit(path_view)` with the path from the document's root for each place where a pod
/// template of the object has the field. `field` is the path of the field below the pod's spec, as
/// to_text() writes it. O(object).
template<class Visit>
void for_each_template_field(const object_place& object, std::string_view field, Visit visit) {
    if (object.source)
        detail::template_field_finder<Visit>(field, visit).find(object);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
