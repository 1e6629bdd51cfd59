// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/pod_marks.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// What an object asks of the topology of a vertex, as labels; the Topology that orders them may
/// stand behind it in the input.
struct placement_wish {
    vertex_index of;
    std::string topology; ///< the name of a Topology; empty: none is named
    std::string required;
    std::string preferred;
};

/// Volcano: members that a selector takes are cut into subgroups by the values of some labels.
struct label_subgroups {
    std::string name;
    label_selector selector;
    std::vector<std::string> keys;
    std::int64_t size = 1;
    std::int64_t least = 0; ///< of the subgroups
};

/// A gang as an object of its own, or the labels of its pods, define it, before the pods are known.
struct gang_definition {
    translate::gang_object gang;
    object_place where;
    std::vector<placement_wish> wishes;
    std::vector<label_subgroups> subgroups;
    /// Koordinator: the gangs, itself among them, that start together; empty: only itself.
    std::vector<object_key> together;
    /// Why the gang of an existing cluster waits, if that is no error of the whole input.
    std::string fault{};
    /// Members belong to leaves that are listed; others are worth a warning.
    bool closed = false;
};

/// Adds what asks for something.
inline void wish(gang_definition& to, placement_wish what) {
    if (!what.required.empty() || !what.preferred.empty())
        to.wishes.push_back(std::move(what));
}

/// A root that no API's own total speaks for: as many as the leaves ask for, unless some of them
/// may be missing.
inline void total_from_leaves(gang_tree& tree) {
    int128 sum = 0;
    for (std::size_t at = 0; at < tree.size(); ++at) {
        if (tree[at].min_subgroups)
            return;
        if (tree.is_leaf(at) && at > 0)
            sum += tree[at].min_member;
    }
    tree.require_members(vertex_index{0}, saturate(sum));
}

/// Whether two trees have the same vertices with the same names and minima.
[[nodiscard]] inline bool same_minima(const gang_tree& one, const gang_tree& other) {
    if (one.size() != other.size())
        return false;
    for (std::size_t at = 0; at < one.size(); ++at)
        if (one[at].parent != other[at].parent || one[at].name != other[at].name ||
            one[at].min_member != other[at].min_member ||
            one[at].min_subgroups != other[at].min_subgroups)
            return false;
    return true;
}

/// A whole number of at least `least` from a text such as an annotation's.
[[nodiscard]] inline std::optional<std::int64_t>
parse_count(std::string_view text, std::int64_t least = 0,
            std::int64_t most = std::numeric_limits<std::int32_t>::max()) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
        return std::nullopt;
    return value;
}

/// The owners that an object names.
[[nodiscard]] inline std::vector<translate::object_reference>
owners_of(const boost::json::object& manifest) {
    std::vector<translate::object_reference> owners;
    const auto* metadata = translate::find_object(&manifest, "metadata");
    const auto* list = metadata ? metadata->if_contains("ownerReferences") : nullptr;
    if (!list || !list->is_array())
        return owners;
    for (const auto& each : list->get_array()) {
        if (!each.is_object())
            continue;
        const auto& owner = each.get_object();
        const auto* controls = owner.if_contains("controller");
        owners.push_back({std::string(translate::string_at(owner, "apiVersion")),
                          std::string(translate::string_at(owner, "kind")),
                          std::string(translate::string_at(owner, "name")),
                          std::string(translate::string_at(owner, "uid")),
                          controls && controls->is_bool() && controls->get_bool()});
    }
    return owners;
}

/// Reads what every gang's object has: its name, labels and owners. Labels and annotations listed
/// in `marks` are the API's own and left out.
[[nodiscard]] inline gang_definition start_definition(object_reader& object, std::string_view kind,
                                                      translate::target origin,
                                                      std::initializer_list<std::string_view> marks,
                                                      reading_context& context,
                                                      object_place where) {
    gang_definition made;
    const auto& manifest = object.value()->get_object();
    object_metadata metadata = read_metadata(object, true, context);
    made.gang.kind = kind;
    made.gang.origin = origin;
    made.gang.name_space = std::move(metadata.key.name_space);
    made.gang.name = std::move(metadata.key.name);
    made.gang.uid = std::move(metadata.uid);
    made.gang.owners = owners_of(manifest);
    const auto keep = [&](std::string_view map, boost::json::object& into) {
        const auto* from = translate::find_object(&manifest, "metadata");
        from = translate::find_object(from, map);
        if (!from)
            return;
        for (const auto& [key, value] : *from)
            if (value.is_string() &&
                std::ranges::find(marks, std::string_view(key)) == marks.end() &&
                key != "kubectl.kubernetes.io/last-applied-configuration")
                into[key] = value;
    };
    keep("labels", made.gang.labels);
    keep("annotations", made.gang.annotations);
    made.where = std::move(where);
    object.ignore({"apiVersion", "kind", "status"});
    return made;
}

/// Keeps a field that only this API knows.
inline void keep_word(gang_definition& to, const field& at, translate::gang_api api,
                      std::string_view name, translate::loss_kind what) {
    if (at.is_present())
        to.gang.own_words.push_back({api, what, std::string(name), *at.value()});
}

/// A field that holds amounts by the name of their kind; wrong quantities are errors.
[[nodiscard]] inline std::optional<boost::json::object> read_min_resources(const field& at) {
    object_reader amounts = at.as_object();
    if (!amounts.is_present() || amounts.size() == 0)
        return std::nullopt;
    amounts.for_each(
        [](std::string_view, const field& amount) { static_cast<void>(read_quantity(amount)); });
    return at.value()->get_object();
}

/// Tells of a gang or pod that was read before.
inline void report(diagnostics& out, severity level, const gang_definition& of,
                   std::initializer_list<path_step> below, std::string_view message) {
    report(out, level, of.where, below, message);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
