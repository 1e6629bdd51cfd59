// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/document/diagnostic.hpp>
#include <muster/document/field_path.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// What a reader does with an object that has a part which cannot be read, such as one that is
/// nested too deeply. `error`: the document that holds the object is left out, with an error.
/// `isolate`: the part becomes null, with a warning, and `document::unread()` lists it, if the
/// object is an item of a list or one of several documents; otherwise as `error`.
enum class on_unread : std::uint8_t { error, isolate };

/// A part of an object that could not be read. In the document the part is null.
struct unread_part {
    /// Positions of the object in nested lists, outermost first.
    std::vector<std::size_t> items;
    std::string path; ///< from the object to the part
    std::string message;

    [[nodiscard]] std::string text() const { return path + ": " + message; }
};

namespace detail {

/// A step of a path that owns its key.
struct owned_step {
    std::string key;
    std::size_t index = 0;
    bool is_index = false;

    explicit owned_step(const path_step& from)
        : key(from.key), index(from.index), is_index(from.is_index) {}
    operator path_step() const {
        return is_index ? path_step(index) : path_step(std::string_view(key));
    }
};

/// A value that cannot be read.
struct part_fault {
    std::size_t offset = 0; ///< in the text of the document
    std::size_t end = 0;    ///< offset after the value; 0 if the value itself can be read
    /// The first steps to the value; empty if they are those of the fault before.
    std::vector<owned_step> path;
    std::string_view message;
};

inline constexpr std::string_view too_deep_message =
    "nested too deeply (expected at most 64 levels)";
inline constexpr std::string_view duplicate_key_message = "duplicate key (expected each key once)";

/// Collects faults in the order of the text. A text may hold a fault every few bytes, so their
/// paths are cut off after max_steps, and stored only if they change.
class part_faults {
public:
    void add(std::size_t offset, std::size_t end, const path_frame& frame,
             std::string_view message) {
        constexpr std::size_t max_steps = 16;
        std::vector<path_step> steps = steps_of(frame);
        steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(std::min(max_steps, steps.size())),
                    steps.end());
        const bool is_new = all_.empty() || !std::ranges::equal(steps, all_[last_path_].path, same);
        all_.push_back({offset, end, {}, message});
        if (!is_new)
            return;
        last_path_ = all_.size() - 1;
        all_.back().path.reserve(steps.size());
        for (const path_step& step : steps)
            all_.back().path.emplace_back(step);
    }

    [[nodiscard]] const std::vector<part_fault>& all() const noexcept { return all_; }

private:
    static bool same(const path_step& left, const owned_step& right) {
        return left.is_index == right.is_index && left.index == right.index &&
               left.key == right.key;
    }

    std::vector<part_fault> all_;
    std::size_t last_path_ = 0;
};

/// A warning about a part that was left out.
struct part_finding {
    std::size_t offset = 0; ///< in the text of the document
    std::string path;
    std::string message;
};

/// What a document holds beside its value if parts of it were left out.
struct isolated_parts {
    std::vector<unread_part> unread;
    std::vector<part_finding> findings;
    bool is_whole = false; ///< the document itself is an object with such parts
};

/// Replaces the parts of objects that have faults by null. As in a live cluster, a part is a member
/// of the object or a member of such a member: a list is left out as a whole, since it would mean
/// something else without one of its elements.
class part_remover {
public:
    /// Returns nullopt if a fault lies in no object of a kind, for example in a list itself.
    /// O(faults · nesting).
    [[nodiscard]] static std::optional<isolated_parts> run(boost::json::value& root,
                                                           const std::vector<part_fault>& faults) {
        isolated_parts made;
        for (const part_fault& fault : faults)
            if (!fault.path.empty() && !remove(root, fault, made))
                return std::nullopt;
        std::ranges::stable_sort(made.unread, {}, &unread_part::items);
        return made;
    }

private:
    [[nodiscard]] static std::string_view text_in(const boost::json::value& value,
                                                  std::string_view key) {
        const boost::json::object* const object = value.if_object();
        const boost::json::value* const found = object ? object->if_contains(key) : nullptr;
        return found && found->is_string() ? std::string_view(found->get_string())
                                           : std::string_view{};
    }

    /// The items if the value is a list of objects.
    [[nodiscard]] static boost::json::array* items_of(boost::json::value& value) {
        if (!text_in(value, "kind").ends_with("List"))
            return nullptr;
        boost::json::value* const items = value.get_object().if_contains("items");
        return items ? items->if_array() : nullptr;
    }

    [[nodiscard]] static std::string name_of(const boost::json::value& object) {
        const boost::json::value* const metadata = object.get_object().if_contains("metadata");
        if (!metadata)
            return {};
        const std::string_view home = text_in(*metadata, "namespace");
        const std::string_view name = text_in(*metadata, "name");
        return (home.empty() ? "" : std::string(home) + "/") + std::string(name);
    }

    static bool remove(boost::json::value& root, const part_fault& fault, isolated_parts& made) {
        const std::vector<owned_step>& path = fault.path;
        boost::json::value* object = &root;
        std::string_view kind = text_in(root, "kind");
        std::vector<std::size_t> items;
        std::size_t at = 0;
        while (boost::json::array* const list = items_of(*object)) {
            const bool is_item =
                path.size() > at + 2 && path[at].key == "items" && path[at + 1].is_index;
            if (!is_item || path[at + 1].index >= list->size())
                return false;
            items.push_back(path[at + 1].index);
            object = &(*list)[items.back()];
            const std::string_view own = text_in(*object, "kind");
            kind = !own.empty() ? own : kind == "List" ? own : kind.substr(0, kind.size() - 4);
            at += 2;
        }
        if (!object->is_object() || kind.empty() || path.size() <= at || path[at].is_index)
            return false;
        boost::json::value* part = object->get_object().if_contains(path[at].key);
        if (!part)
            return false;
        std::vector<path_step> below{path[at]};
        if (path.size() > at + 1 && !path[at + 1].is_index && part->is_object())
            if (boost::json::value* const inner =
                    part->get_object().if_contains(path[at + 1].key)) {
                part = inner;
                below.emplace_back(path[at + 1]);
            }
        *part = nullptr;
        const std::string below_text = to_text(path_view(below));
        // It nests as deeply as all other fields together, and most readers do not use it. The
        // others see that it is null.
        if (below_text != "metadata.managedFields")
            note(fault, *object, kind, std::move(items), below_text, made);
        return true;
    }

    static void note(const part_fault& fault, const boost::json::value& object,
                     std::string_view kind, std::vector<std::size_t> items,
                     const std::string& below, isolated_parts& made) {
        if (!made.unread.empty() && made.unread.back().path == below &&
            made.unread.back().items == items)
            return;
        std::vector<path_step> steps;
        for (const std::size_t item : items) {
            steps.emplace_back("items");
            steps.emplace_back(item);
        }
        const std::string name = name_of(object);
        const std::string around = to_text(path_view(steps));
        made.is_whole = made.is_whole || items.empty();
        made.findings.push_back({fault.offset, around + (around.empty() ? "" : ".") + below,
                                 std::string(fault.message) + ", so " + std::string(kind) +
                                     (name.empty() ? " without a name" : " " + in_quotes(name)) +
                                     " is read without this field and counts as broken"});
        made.unread.push_back({std::move(items), below, std::string(fault.message)});
    }
};

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
